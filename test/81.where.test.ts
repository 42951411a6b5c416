// Conditions over the fields of nodes: what they mean, and one line with the column for what is none.

import fc from 'fast-check';
import t from 'tap';
import { fieldNames, fieldOf } from '../src/cli/fields.js';
import { parseCondition } from '../src/cli/where.js';
import { InputError } from '../src/common/text.js';
import { busy, madeBoard, validOf } from './madeboard.js';

const SEED = Number(process.env.SEED ?? 8677);

const snapshot = madeBoard([
  { name: 'node1', age: 0.5, ...busy(12), record: { lost: 3, offset_us: -2500 } },
  { name: 'node2', age: 60, ...busy(0.25, { mem_avail_mib: 512, cpus_online: 8 }) },
  { name: 'node3', age: 1, report: { valid: validOf('load', 'health', 'gpu'), load1_c: 800, health: 2, gpu_count: 0 } },
  { name: 'node4' },
]);

function matching(condition: string): string {
  const holds = parseCondition(condition);
  return [...snapshot.nodes()]
    .filter(holds)
    .map(({ name }) => name.slice(4))
    .join('');
}

t.test('what conditions mean', async t => {
  const table: [condition: string, nodes: string][] = [
    ['load1_c > 100', '13'],
    ['load > 10', '1'],
    ['10 < load', '1'],
    ['load >= 8', '13'],
    ['load <= 8', '23'],
    ['load == 8', '3'],
    ['load != 8', '12'],
    ['mem_avail_mib < 1024 && state == silent', '2'],
    ['mem_avail_mib < 1024 && state == live', ''],
    ['state == live || state == never', '134'],
    ['state != live', '24'],
    ['!(state == live)', '24'],
    ['!state == live', '24'],
    ['state == "live"', '13'],
    ["name == 'node2'", '2'],
    ['name >= node3', '34'],
    ['age_ms > 900 && age < 2', '3'],
    ['lost > 0', '1'],
    ['lost', '1'],
    ['offset_us < -1e3', '1'],
    ['skew < 0', '1'],
    ['cpus < load', ''],
    ['load > cpus || mem_avail_mib < mem_total_mib', '12'],
    ['load1_c > 0 && (cpus == 8 || cpus == 64)', '12'],
    ['state == live && load < 9 || cpus == 8', '23'],
    ['state == live && (load < 9 || cpus == 8)', '3'],
    ['rates.ctxt > 1000', '12'],
    ['in > 1e6', '12'],
    ['mem > 99', '2'],
    ['os_release == "6.1.0-25-amd64"', '12'],
    ['boot_id == "0000000000000007"', '123'],
    ['boot_id', '123'],
    ['!boot_id', '4'],
    // What was not measured compares with nothing; alone it is false.
    ['gpu > 0', ''],
    ['gpu <= 0', ''],
    ['swap != 0', ''],
    ['cpus', '12'],
    ['!cpus', '34'],
  ];
  for (const [condition, nodes] of table) {
    t.equal(matching(condition), nodes, condition);
  }
});

t.test('words of enums stand for their numbers', async t => {
  const health = fieldOf('health')?.words ?? [];
  t.ok(health.length > 2);
  t.equal(matching(`health == ${health[2]}`), '3');
  t.equal(matching('health == 2'), '3');
});

t.test('what is wrong, where, and what to write', async t => {
  const table: [condition: string, says: string][] = [
    ['mem_avial_mib < 1', "column 1: there is no field 'mem_avial_mib'; did you mean mem_avail_mib?"],
    ['load > 1 && xyzzy', "column 13: there is no field 'xyzzy'; beoboard describe lists them"],
    ['state == slient', "column 10: 'slient' is no state; did you mean silent?"],
    ['load = 1', "column 6: a single '='; write == to compare"],
    ['load > 1 & cpus', "column 10: a single '&'; write && for and"],
    ['load > 1 | cpus', "column 10: a single '|'; write || for or"],
    ['load >', 'column 7: it ends where a value is missing; write FIELD < VALUE, as in load > 10'],
    ['(load > 1', "column 1: a '(' that is not closed; write ')'"],
    ['load > 1)', "column 9: a ')' without its '('; leave it out"],
    ['load > 1 cpus', "column 10: 'cpus' after a whole condition; join conditions by && or ||"],
    ['1 < 2', 'column 1: no field is compared; write FIELD < VALUE, as in load > 10'],
    ['5', "column 1: '5' alone; compare it with a field, as in load > 10"],
    ['load > "x"', "column 8: load is a number, 'x' is a text; write a number"],
    ['name == 5', 'column 9: name is a text, \'5\' is a number; write "5"'],
    ['name == "x', 'column 9: a text that is not closed; write "text"'],
    ['load > 10G', "column 8: '10G' is no number; write digits, as in 1024 or 0.5"],
    ['load > 1 ; rm', "column 10: ';' cannot stand here; write FIELD < VALUE, as in load > 10"],
    ['load > \u001b', "column 8: '\\u{1b}' cannot stand here; write FIELD < VALUE, as in load > 10"],
    ['&& load', "column 1: '&&' where a value is missing; write FIELD < VALUE, as in load > 10"],
    [`${'!'.repeat(200)}load`, 'column 101: too deep; nest at most 100 times'],
    [`${'('.repeat(100_000)}load`, 'column 101: too deep; nest at most 100 times'],
  ];
  for (const [condition, says] of table) {
    try {
      parseCondition(condition);
      t.fail(`taken: ${condition}`);
    } catch (error) {
      t.type(error, InputError);
      t.equal((error as Error).message, says);
    }
  }
});

t.test('every field has a value or none, and can be compared', async t => {
  t.ok(fieldNames().length > 150, `${fieldNames().length} fields`);
  for (const name of fieldNames()) {
    const field = fieldOf(name);
    for (const node of snapshot.nodes()) {
      const value = field?.value(node);
      const type = field?.isText ? 'string' : 'number';
      if (value !== undefined && typeof value !== type) t.fail(`${name} of ${node.name} is a ${typeof value}`);
    }
    parseCondition(field?.isText ? `${name} == ${name === 'state' ? 'live' : 'x'}` : `${name} < 1`);
  }
});

t.test('any text is a condition or refused in one line', async t => {
  t.comment(`SEED=${SEED}`);
  const words = [
    'load',
    'state',
    'live',
    'cpus',
    '1',
    '-2.5',
    '"x"',
    '&&',
    '||',
    '!',
    '(',
    ')',
    '==',
    '<',
    '=',
    ' ',
    '\n',
    'é',
  ];
  const soup = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map(parts => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 20 })), text => {
      try {
        for (const node of snapshot.nodes()) parseCondition(text)(node);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const column = Number(/^column (\d+): .+; .+$/.exec(error.message)?.[1]);
        if (!(column >= 1 && column <= text.length + 1)) throw new Error(`${error.message} of ${JSON.stringify(text)}`);
      }
    }),
    { seed: SEED, numRuns: 3000 },
  );
  t.pass('3000 texts');
});
