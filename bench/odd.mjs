// False marks and found faults of the judge of jobs (src/outliers/), with jobs that bench/odd/ plays in made time: parts
// that are appended to odd.jsonl, of which odd.bench.mjs tells the sum. A part counts only for the sources it was
// measured with.
//   node bench/odd.mjs --minutes 30 [--kinds compute,farm] [--sizes 4,16] [--look 1] [--hours 3000]

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { random } from '../dist/src/load/simulatednode.js';
import { Judge } from '../dist/src/outliers/judge.js';
import { FAULTS as FINDS, KINDS as PLAYED, PlayedJob } from './odd/player.mjs';

const KINDS = Object.keys(PLAYED);
const FAULTS = Object.keys(FINDS);
const at = path => fileURLToPath(new URL(path, import.meta.url));
const KEPT = at('./odd.jsonl');
export const SIZES = [4, 16, 64];
/** Seconds between looks. */
const LOOK_S = 5;

/** What the results depend on. */
const SOURCES = ['cells', 'deviation', 'judge', 'ownparts', 'peers', 'readings', 'tallies', 'traffic'].map(
  name => `../src/outliers/${name}.ts`,
);

/** Of which sources results are. */
export function rules() {
  const hash = createHash('sha256');
  const played = readdirSync(at('./odd'))
    .sort()
    .map(name => `./odd/${name}`);
  for (const name of [...SOURCES, ...played]) hash.update(readFileSync(at(name)));
  return hash.digest('hex').slice(0, 12);
}

/** One simulated job before the judge. */
class Judged {
  constructor(kind, size, seed) {
    this.job = new PlayedJob(kind, size, seed);
    this.judge = new Judge();
    this.nodes = Array.from({ length: size }, (_, i) => `n${i}`);
    this.places = Int32Array.from({ length: size }, (_, i) => i);
    this.seen = {
      nowMs: 0,
      live: new Uint8Array(size).fill(1),
      alone: new Uint8Array(size).fill(1),
      stampMs: new Float64Array(size),
      hardware: new Float64Array(size).fill(7),
      gpus: new Float64Array(size).fill(this.job.gpus),
      values: this.job.values,
    };
  }

  look(seconds) {
    const { job, seen } = this;
    job.step(seconds);
    seen.nowMs += seconds * 1000;
    seen.stampMs.fill(seen.nowMs);
    return this.judge.look(seen, [{ id: 'j', startMs: 0, nodes: this.nodes, places: this.places }]);
  }
}

/** Judges jobs of a kind without faults for so many job-hours; returns how many marks began, by reading. */
function falseMarks(kind, size, hours, seed, lookS, untilMs) {
  const marks = {};
  let [seconds, looks, unjudged] = [0, 0, 0];
  for (let i = 0; seconds < hours * 3600 && performance.now() < untilMs; i++) {
    const judged = new Judged(kind, size, seed + i);
    let before = new Set();
    const life = Math.min(judged.job.lifeS, hours * 3600 - seconds);
    while (judged.job.ageS < life && (looks & 1023 || performance.now() < untilMs)) {
      const { marks: now, unjudged: not } = judged.look(lookS);
      looks++;
      if (not.size > 0) unjudged++;
      if (now.length === 0 && before.size === 0) continue;
      const next = new Set(now);
      for (const mark of next) if (!before.has(mark)) marks[mark.reading] = (marks[mark.reading] ?? 0) + 1;
      before = next;
    }
    seconds += judged.job.ageS;
  }
  return { hours: seconds / 3600, marks, unjudged: unjudged / looks };
}

const FOUND_S = 60;
/** A GPU that is weak is one among several that differ by nature, and its job goes on as fast as it: it has ten minutes. */
const GPU_FOUND_S = 600;

/**
 * Makes a fault on a node of so many jobs, after twenty minutes or so, or before they begin; returns how many were found
 * within 60 s, or of those before, within the first six minutes.
 */
function found(kind, size, fault, when, times, seed) {
  const next = random(seed);
  let count = 0;
  for (let i = 0; i < times; i++) {
    const judged = new Judged(kind, size, seed + i);
    const node = Math.floor(next() * size);
    const beginS = when === 'before' ? 0 : Math.min(900 + 600 * next(), 0.7 * judged.job.lifeS);
    while (judged.job.ageS < beginS) judged.look(LOOK_S);
    judged.job.fail(node, fault);
    const lastsS = when === 'before' ? 300 + FOUND_S : fault === 'gpu_weak' ? GPU_FOUND_S : FOUND_S;
    for (const endS = judged.job.ageS + lastsS; judged.job.ageS < endS; ) {
      const { marks } = judged.look(LOOK_S);
      if (!marks.some(mark => mark.node === `n${node}` && FINDS[fault].includes(mark.reading))) continue;
      count++;
      break;
    }
  }
  return count;
}

/** Whether jobs of a kind have what a fault is of. */
const canHave = (kind, fault) => !fault.startsWith('gpu') || PLAYED[kind].gpus > 0;

/** What is found whether it began in the job or before. */
const BEFORE = ['link', 'carrier', 'errors', 'gpu_gone', 'swapping'];

/** Kinds of which all nodes work equally all the time, or together. */
const ALIKE = ['compute', 'starting', 'checkpointing', 'climate', 'vectors', 'writer', 'serial'];

/** Whether at least 95 % of a fault are to be found in time: docs/jobs.md tells what is found later, or never. */
export function isFoundSoon(kind, fault) {
  if (BEFORE.includes(fault)) return true;
  if (fault === 'gpu_weak' || (fault === 'hang' && kind === 'starting')) return false;
  return ALIKE.includes(kind);
}

/** The parts measured with the present sources. */
export function parts() {
  const now = rules();
  if (!existsSync(KEPT)) return [];
  const all = readFileSync(KEPT, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
  return all.filter(part => part.rules === now);
}

const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
const marksOf = part => sum(Object.values(part.marks), count => count);

/** The upper end of the 95 % interval of the mean of a Poisson count, one-sided. */
export function upper95(count) {
  let [low, high] = [0, 10 + 3 * count];
  const below = mean => {
    let [term, all] = [Math.exp(-mean), 0];
    for (let i = 0; i <= count; i++) {
      all += term;
      term *= mean / (i + 1);
    }
    return all;
  };
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (below(middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** Sums of all parts, by kind, size and time between looks. */
export function sums(all = parts()) {
  const cells = KINDS.flatMap(kind => SIZES.map(size => ({ kind, size })));
  return cells.map(({ kind, size }) => {
    const those = all.filter(part => part.kind === kind && part.size === size);
    const of = look => {
      const some = those.filter(part => part.hours !== undefined && part.look === look);
      const by = {};
      for (const { marks } of some) for (const [of, count] of Object.entries(marks)) by[of] = (by[of] ?? 0) + count;
      return { hours: sum(some, part => part.hours), marks: sum(some, marksOf), by };
    };
    const faults = Object.fromEntries(
      FAULTS.flatMap(fault => [fault, `${fault} before`])
        .map(fault => {
          const some = those.filter(part => part.fault === fault);
          return [fault, { found: sum(some, part => part.found), times: sum(some, part => part.times) }];
        })
        .filter(([, { times }]) => times > 0),
    );
    return { kind, size, ...of(LOOK_S), everySecond: of(1), faults };
  });
}

/** Measures for so many minutes, where the fewest hours are first; appends what it has found. */
export function measure({
  minutes,
  kinds = KINDS,
  sizes = SIZES,
  look = LOOK_S,
  hours = 3000,
  times = 200,
  say = () => {},
}) {
  const endMs = performance.now() + minutes * 60_000;
  const keep = part => appendFileSync(KEPT, `${JSON.stringify({ rules: rules(), ...part })}\n`);
  const cells = kinds.flatMap(kind => sizes.map(size => ({ kind, size, done: 0 })));
  const had = parts();
  const seedOf = (kind, size) => 1e6 * (1 + KINDS.indexOf(kind)) + 1000 * size + 7919 * had.length;
  for (const { kind, size } of cells)
    for (const fault of FAULTS.flatMap(one => (BEFORE.includes(one) ? [one, `${one} before`] : [one]))) {
      if (!canHave(kind, fault) || performance.now() > endMs || look !== LOOK_S || times === 0) continue;
      if (had.some(part => part.kind === kind && part.size === size && part.fault === fault)) continue;
      const seed = seedOf(kind, size);
      const n = Math.min(times, Math.ceil((times * 16) / size));
      const [what, when] = fault.split(' ');
      const part = { kind, size, fault, seed, times: n, found: found(kind, size, what, when, n, seed) };
      keep(part);
      say(`${kind} ${size} ${fault}: ${part.found} of ${part.times}`);
    }
  for (const cell of cells)
    cell.done = sum(
      had.filter(p => p.kind === cell.kind && p.size === cell.size && p.look === look),
      p => p.hours,
    );
  for (let round = 0; performance.now() < endMs; round++) {
    const todo = cells.filter(cell => cell.done < hours).sort((a, b) => a.done * a.size - b.done * b.size);
    const cell = todo[0];
    if (cell === undefined) break;
    const { kind, size } = cell;
    const seed = seedOf(kind, size) + 50_000 + 9973 * round;
    const part = falseMarks(kind, size, Math.min(hours - cell.done, 20_000 / size), seed, look, endMs);
    cell.done += part.hours;
    keep({ kind, size, look, seed, ...part });
    say(
      `${kind} ${size}: ${cell.done.toFixed(0)} h, ${JSON.stringify(part.marks)}, not judged ${part.unjudged.toFixed(2)}`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      ...{ minutes: { type: 'string', default: '10' }, kinds: { type: 'string' }, sizes: { type: 'string' } },
      ...{
        look: { type: 'string', default: '5' },
        hours: { type: 'string', default: '3000' },
        times: { type: 'string' },
      },
    },
  });
  measure({
    minutes: Number(values.minutes),
    kinds: values.kinds?.split(',') ?? KINDS,
    sizes: values.sizes?.split(',').map(Number) ?? SIZES,
    look: Number(values.look),
    hours: Number(values.hours),
    times: Number(values.times ?? 200),
    say: line => console.log(line),
  });
}
