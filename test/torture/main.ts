// Tortures beoboard: inflicts faults in a random order, and compares what every reader shows and what the board counts
// with what was really sent. Runs in its own network and mount namespaces; no datagram leaves this machine.

import { spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { random } from '../../src/load/simulatednode.js';
import { formatDuration, parseDuration } from '../../src/text/durations.js';
import { InputError } from '../../src/text/text.js';
import { FAULTS, type Fault } from './faults.js';
import { hashOf } from './path.js';
import { Broken, Scene } from './scene.js';

const HELP = `npm run torture -- [options]      tortures beoboard, and says whether what was promised holds

  --seed N         what is done, in which order and how; without it a new one, which is printed
  --for TIME       goes on for so long, all faults in turn in rounds of another order each; 10m, 2h
  --rounds N       or for so many rounds; one without either
  --only FAULT     only faults whose name contains this; more than once for more of them
  --brief          each fault for half of the time
  --list           names all faults, and what is promised beyond the usual
  --help           this

Ctrl-C ends it after the fault under way, with its table. Needs namespaces: root, or a kernel on which users may have them.
Exit codes: 0 all held, 1 something did not (the line before the table says what, and how to repeat it), 2 usage or no namespaces.

  npm run torture -- --for 10m
  npm run torture -- --seed 7 --only 'kill -9'
`;

const options = {
  seed: { type: 'string' },
  for: { type: 'string' },
  rounds: { type: 'string' },
  only: { type: 'string', multiple: true },
  brief: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
  // For testing the torture itself: removes a datagram without the receiver's knowledge.
  steal: { type: 'boolean' },
} as const;

const INSIDE = 'BEOBOARD_TORTURE_INSIDE';

class Usage extends Error {}

function readOptions() {
  const { values } = parseArgs({ options });
  const number = (name: 'seed' | 'rounds') => {
    const text = values[name];
    if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new Usage(`--${name} ${text}: write a whole number`);
    return text === undefined ? undefined : Number(text);
  };
  const faults = FAULTS.filter(({ name }) => values.only?.some(part => name.includes(part)) ?? true);
  if (faults.length === 0)
    throw new Usage(`--only ${values.only?.join(' ')}: no fault is called so; --list names them`);
  const forMs = values.for === undefined ? undefined : parseDuration(values.for);
  return {
    ...values,
    faults,
    forMs,
    rounds: number('rounds') ?? (forMs === undefined ? 1 : Number.POSITIVE_INFINITY),
    seed: number('seed') ?? Math.floor(Math.random() * 1e6),
  };
}

/** Runs this program again in its own network and mount namespaces, and returns its exit code. */
async function goInside(): Promise<number> {
  const ways = [
    ['-n', '-m'],
    // For ordinary users.
    ['-r', '-n', '-m'],
  ];
  const tried = ways.map(way => spawnSync('unshare', [...way, 'ip', 'link', 'set', 'lo', 'up'], { encoding: 'utf8' }));
  const way = ways[tried.findIndex(({ status }) => status === 0)];
  if (way === undefined)
    throw new Usage(`no namespaces here; run it as root: ${(tried[0]?.stderr || String(tried[0]?.error)).trim()}`);
  const again = ['setpriv', '--pdeathsig', 'TERM', 'unshare', ...way, process.execPath, ...process.argv.slice(1)];
  const [program = '', ...args] = again;
  // Detached from the terminal's process group, because Ctrl-C is for us and not for the receiver in there.
  const child = spawn(program, args, { stdio: 'inherit', detached: true, env: { ...process.env, [INSIDE]: 'yes' } });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(resolve => child.once('close', (code, signal) => resolve(code ?? (signal === null ? 0 : 1))));
}

/** The results of a fault so far. */
interface Row {
  times: number;
  /** ms */
  worst: number;
  checks: number;
}

function print(rows: ReadonlyMap<Fault, Row>): void {
  const width = Math.max(...[...rows.keys()].map(({ name }) => name.length));
  console.log(`\n${'fault'.padEnd(width)}  times  worst recovery time  checks`);
  for (const [{ name }, { times, worst, checks }] of rows)
    console.log(
      `${name.padEnd(width)}  ${String(times).padStart(5)}  ${formatDuration(worst).padStart(19)}  ${String(checks).padStart(6)}`,
    );
}

/** The faults in another order each round. */
function* shuffled(faults: readonly Fault[], seed: number, rounds: number): Generator<[Fault, chance: () => number]> {
  for (let round = 0; round < rounds; round++) {
    const order = random(seed + round);
    const left = [...faults];
    while (left.length > 0) {
      const [fault] = left.splice(Math.floor(order() * left.length), 1) as [Fault];
      // Each fault has its own generator, so that it gets the same numbers with --only.
      yield [fault, random(hashOf(`${seed} ${round} ${fault.name}`))];
    }
  }
}

async function torture(): Promise<number> {
  const { faults, forMs, rounds, seed, brief, steal } = readOptions();
  let isEnding = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      isEnding = true;
    });
  const began = performance.now();
  const since = () => formatDuration(performance.now() - began).padStart(6);
  console.log(`seed ${seed}`);
  const rows = new Map<Fault, Row>();
  let code = 0;
  let doing = 'the start';
  const scene = await Scene.open(brief ? 0.5 : 1);
  try {
    for (const [fault, chance] of shuffled(faults, seed, rounds)) {
      if (isEnding || (forMs !== undefined && performance.now() - began >= forMs)) break;
      doing = fault.name;
      const before = scene.checks;
      if (steal) scene.standIn.steal();
      const healed = await scene.suffer(() => fault.inflict(scene, chance));
      const row = rows.get(fault) ?? { times: 0, worst: 0, checks: 0 };
      const checks = scene.checks - before;
      rows.set(fault, { times: row.times + 1, worst: Math.max(row.worst, healed), checks: row.checks + checks });
      console.log(`${since()}  ${fault.name}: healed in ${formatDuration(healed)}, ${checks} checks`);
    }
  } catch (error) {
    code = 1;
    const { message, stack } = error as Error;
    const again = `npm run torture -- --seed ${seed}${forMs === undefined ? '' : ` --for ${forMs / 1000}s`}${brief ? ' --brief' : ''}`;
    console.log(`${since()}  ${doing}: BROKEN: ${error instanceof Broken ? message : stack}`);
    const said = scene.receiver.output().stderr.trim().split('\n').slice(-3).join('\n        ');
    console.log(`        the receiver said last: ${said}`);
    console.log(`        repeat: ${again}, or with --only '${doing}'`);
  }
  const { passed, lost, doubled, swapped, delayed, cut, junk } = scene.path.done;
  await scene.close();
  if (rows.size > 0) print(rows);
  const times = [...rows.values()].reduce((sum, row) => sum + row.times, 0);
  console.log(
    `\nseed ${seed}: ${times} faults in ${formatDuration(performance.now() - began)}, ${scene.checks} checks; ${passed} datagrams passed on, ${lost} lost, ${doubled} doubled, ${swapped} swapped, ${delayed} delayed, ${cut} cut, ${junk} of junk; ${scene.looks} looks of readers`,
  );
  return code;
}

async function main(): Promise<number> {
  const { help, list } = readOptions();
  if (help) console.log(HELP.trimEnd());
  else if (list)
    for (const { name, promise } of FAULTS) console.log(promise === undefined ? name : `${name}: ${promise}`);
  else return process.env[INSIDE] === 'yes' ? torture() : goInside();
  return 0;
}

main().then(
  code => process.exit(code),
  (error: Error) => {
    const isUsage = error instanceof Usage || error instanceof InputError || 'code' in error;
    console.error(`torture: ${isUsage || error instanceof Broken ? error.message : error.stack}`);
    process.exit(isUsage ? 2 : 1);
  },
);
