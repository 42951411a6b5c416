// docs/json.schema.json: what the verbs print with --json has the shapes that it says, and no key that it does not
// name; what is not as it says is found, by our own checker and by Python's.
//
// @seconds 5
// @whole

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parts } from '../../src/parts.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { openWriter } from '../../src/shm/writer.js';
import { node, writeLiveBoard } from '../kit/ganglia.js';
import { keepAlive } from '../kit/heart.js';
import { MadeJournal } from '../kit/journals.js';
import { madeJob, madeState } from '../kit/madejobs.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { unlike } from '../kit/schemacheck.js';
import { makeBoard } from '../kit/stateboard.js';
import { verbChild } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

/** Verbs whose JSON the schema leaves out. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  bridge: 'its state is for people who look after it',
  dump: 'the bytes of a board, for who mends one',
  load: 'a summary of a load that was made',
  zoom: 'readings of one node, as many as it has',
};

const ask = verbChild(t);

/** What verbs printed, by the part of the schema that it has to have. */
const printed: [part: string, what: string, value: unknown][] = [];

/** Returns the first object. */
async function print(part: string, ...argv: string[]): Promise<unknown> {
  const { stdout, stderr } = await ask([...argv, '--json']);
  const lines = argv[0] === 'events' ? stdout.trimEnd().split('\n') : [stdout];
  if (stdout === '') throw new Error(`${argv.join(' ')}: ${stderr}`);
  const values = lines.map(line => JSON.parse(line) as unknown);
  for (const value of values) printed.push([part, argv.join(' '), value]);
  return values[0];
}

function slurmFolder(): string {
  const path = folder(t);
  const nodes = ['n001', 'n002', 'n003', 'n004', 'n099'].map(name => ({
    ...{ name, state: 'ALLOCATED', reason: 'x', cpus: 128, cpus_used: 128, gpus: 8, gpus_used: 8 },
  }));
  const marks = [
    {
      ...{ job: '4711', node: 'n001', reading: 'mhz', value: 1900, peers: 3, median: 2900, lowest: 2900 },
      ...{ highest: 2910, since_ms: Date.now() - 60_000 },
    },
  ];
  const jobs = [madeJob('4711', 'n[001-004]', { cpus: 512 }), madeJob('4712', 'n099', { cpus: 64 })];
  writeFileSync(join(path, 'state'), stateText(madeState(nodes, jobs, { odd: { marks, unjudged: {} } })));
  return path;
}

function journalFolder(): string {
  const journal = new MadeJournal(join(folder(t), 'default'));
  journal.line('03:00:00', { event: 'begin', version: '1.0.0', count: 48, states: { live: 48 } });
  const words = { last_words: ['memory_low'], words_from: '03:04:57' };
  const silent = { event: 'silent', from: '03:04:58', nodes: 'n[1-3]', count: 3, first: 'n2', ...words };
  journal.line('03:05:08', silent, [{ id: '7', user: 'anna', partition: 'batch', name: 'x', nodes: 'n1' }]);
  const again = { from: '03:04:58', from_last: '03:04:59', to: '03:07:14', nodes: 'n[1-2]', count: 2 };
  journal.line('03:07:14', { event: 'heard_again', ...again });
  journal.line('03:08:00', { event: 'boot', from: '03:07:50', nodes: 'n1', count: 1, goodbye: false, ...words });
  journal.line('03:09:00', { event: 'refusal', from: '03:09:00', nodes: 'n4', count: 1, reason: 'tag', more: 4 });
  journal.line('03:09:10', { event: 'order', from: '03:09:00', nodes: 'n4', count: 1, act: 'drain', outcome: 'done' });
  return journal.folder;
}

t.before(async () => {
  const [full, slurm] = [boardPath(t), slurmFolder()];
  const names = ['n001', 'n002', 'n003', 'n004', 'n005'];
  const before = names.map((name, i) => node(name, 0, { os_release: i === 0 ? '5.10' : '6.1.0-21' }));
  writeLiveBoard(t, full, before);
  const of = ['--board', full];
  const jobs = [...of, '--slurm-dir', slurm];
  await print('Status', 'status', ...of);
  await print('Status', 'status', ...jobs, '--jobs', '--by', 'os_release');
  await print('Status', 'status', ...of, '--by', '/^n00/', '-o', 'load,mem_avail_mib,boot_id,problems,valid');
  await print('Status', 'status', ...jobs, '--jobs', '-o', 'load');
  await print('Status', 'show', ...jobs, 'n001');
  await print('Jobs', 'jobs', ...jobs);
  await print('Jobs', 'jobs', ...jobs, '4711');
  await print('Users', 'users', ...jobs);
  await print('OddNodes', 'odd', ...of);
  await print('Described', 'describe');
  await print('Described', 'describe', 'load');
  await print('Drained', 'drain', ...jobs, '-w', 'n[001-009]', '--reason', 'x');
  await print('Drained', 'resume', ...jobs, '-w', 'n001');
  const left = boardPath(t);
  const limits = { cluster: '', capacity: 4, uncertainAfter: 4500, silentAfter: 10_500 };
  openWriter({ path: left, ...limits, nodes: ['n1'] }).close();
  await print('Cleared', 'clear', '--board', left, '-w', 'n1,n2');
  await print('Forgotten', 'forget', '--board', left, 'n1,n2');

  const states = { live: ['n001'], silent: ['n002'], left: ['n003'], never: ['n004'], unhealthy: ['n005@eth1'] };
  const made = makeBoard(t, { ...states, uncertain: ['n006'], held: ['n007'] }, { down: ['eth1'] });
  made.writer.deliver(new Uint8Array(7), process.hrtime.bigint(), 1_700_000_000n * 1_000_000_000n, 'eth0');
  made.lay('n001', 0, { start_boot_ns: 60n * 1_000_000_000n });
  made.writer.survey();
  const { path } = made;
  keepAlive(t, path, []);
  const told = await print('Status', 'status', '--board', path, '--long');
  const { trouble } = told as { trouble: { key: string }[] };
  t.ok(trouble.length > 2, `${trouble.map(({ key }) => key)}`);
  await print('Acks', 'ack', '--board', path, trouble[0]?.key ?? '', '--until', '+1h', '--reason', 'known');
  await print('Status', 'status', '--board', path);
  await print('Event', 'events', '--board', path, '--last', '9', '--for', '10ms');

  const journal = ['--journal-dir', journalFolder()];
  await print('JournalEvent', 'events', ...journal, '--since', '2025-11-27', '--until', '2025-11-28');
  await print('JournalEvent', 'events', ...journal, '--since', '2025-11-27', '--until', '2025-11-28', '-w', 'n[1-2]');
  await print('LastEnd', 'events', ...journal, '--since', '2025-11-27', '--until', '2025-11-28', '--last-end');
});

t.test('every verb with --json is in it, or left out for a reason', async t => {
  const all = await Promise.all(Object.values(parts).map(load => load()));
  const told = all.flatMap(({ verb }) => (verb.options.some(option => option === 'json') ? [verb.name] : []));
  const asked = new Set(printed.map(([, what]) => what.split(' ')[0] ?? ''));
  t.strictSame(told.toSorted(), [...asked, ...Object.keys(LEFT_OUT)].toSorted());
});

t.test('what verbs print is as it says, with no other key', async t => {
  for (const [part, what, value] of printed) t.strictSame(unlike(part, value), [], what);
  const [, , status] = printed[0] as [string, string, { nodes: object[] }];
  const [first] = status.nodes;
  for (const broken of [
    { ...status, schema: 2 },
    { ...status, more: 1 },
    { ...status, nodes: [{ ...first, reports: '1' }] },
    { ...status, board: undefined },
  ])
    t.not(unlike('Status', JSON.parse(JSON.stringify(broken))).length, 0);
});

const PYTHON = `
import json, sys
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
of = lambda part: Draft202012Validator({**{k: v for k, v in schema.items() if k != "anyOf"}, "$ref": "#/$defs/" + part})
whole, status = Draft202012Validator(schema), None
for part, what, value in json.load(sys.stdin):
    for error in of(part).iter_errors(value):
        print(what, error.json_path, error.message[:200])
    if not whole.is_valid(value):
        print(what, "is no answer by the whole schema")
    if part == "Status":
        status = status or value
status["more"] = 1
if not of("Status").is_valid(status):
    print("a later version may have more keys")
status["board"]["stalled"] = "yes"
if whole.is_valid(status):
    print("what is wrong is not found")
`;
const python = ['/usr/bin/python3', 'python3'].find(
  name => spawnSync(name, ['-c', 'import jsonschema'], { stdio: 'ignore' }).status === 0,
);
const skip = python === undefined && !process.env.CI && 'jsonschema missing: apt-get install python3-jsonschema';

t.test("Python's jsonschema says so, too", { skip: NOT_WHOLE || skip }, async t => {
  const path = join(ROOT, 'docs', 'json.schema.json');
  const { stdout, stderr } = spawnSync(python ?? 'python3', ['-c', PYTHON, path], {
    input: JSON.stringify(printed),
    encoding: 'utf8',
  });
  t.strictSame([stdout, stderr], ['', '']);
});
