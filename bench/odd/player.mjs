// Plays a kind of job: what the readings of its nodes are while they do what its file says, and when one is ill. A kind
// is a file beside this one, and no code:
//   why        what its nodes do
//   hours      how long a job lasts, from and to
//   gpus       how many a node has
//   exchange   "own": nodes do not share the swings of their traffic
//   swing      how far the traffic of all swings faster than it is read
//   start      seconds in which nodes begin to work, each at a moment of its own
//   node       what all nodes have, else HEALTHY
//   roles      what some nodes have for the whole job: who, set
//   phases     what happens now and then: who, every (s between), lasts (s), set; "at": once, s from the begin or end on,
//              and then on; else: what the others have meanwhile, or for "each" another set by chance
//   wander     readings that each node's own level carries
//   either     one of these, by chance, is part of it
// who: all, first, each (by its own dice), [from, to] as shares of the nodes, {share, chance}: other nodes each time.
// A time is a number, [from, to], or {mean, least}: exponential. A value is a number, [from, to], "*factor" or "+more".

import { readdirSync, readFileSync } from 'node:fs';
import { random } from '../../dist/src/load/simulatednode.js';
import { COMPARED } from '../../dist/src/outliers/readings.js';

const HERE = new URL('./', import.meta.url);

/** All kinds, by name. */
export const KINDS = Object.fromEntries(
  readdirSync(HERE)
    .filter(name => name.endsWith('.json'))
    .map(name => [name.slice(0, -5), JSON.parse(readFileSync(new URL(name, HERE), 'utf8'))]),
);

const Q = COMPARED.length;
const place = Object.fromEntries(COMPARED.map(({ reading }, i) => [reading, i]));

/** What a phase or a role may set. */
const SET = ['cpu', 'gpu_util', 'mhz', 'temp', 'gpu_power', 'gpu_temp', 'net', 'fabric', 'disk', 'pressure_io'];
const HEALTHY = { cpu: 97, gpu_util: 95, mhz: 0, temp: 0, gpu_power: 0, gpu_temp: 0, net: 2e7, fabric: 2e9, disk: 2e5 };

/** What can be wrong with a node, and the readings by which it is found. */
export const FAULTS = {
  clock: ['mhz'],
  clock_half: ['mhz'],
  link: ['fabric_speed'],
  carrier: ['links_up'],
  neighbour: ['pressure_cpu'],
  hang: ['cpu', 'gpu_util'],
  swapping: ['swapping'],
  errors: ['edac_ce'],
  gpu_gone: ['gpus_up'],
  gpu_weak: COMPARED.flatMap(({ reading, gpu }) => (gpu === undefined ? [] : [reading])),
};

/** Normally distributed numbers, drawn beforehand: a bench needs thousands of millions. */
const NORMAL = (() => {
  const uniform = random(1);
  return Float64Array.from({ length: 1 << 16 }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    return radius * Math.cos(2 * Math.PI * uniform());
  });
})();

/** Random numbers from one seed (xorshift). */
class Dice {
  #state;

  constructor(seed) {
    this.#state = Math.floor(random(seed)() * 2 ** 32) | 1;
  }

  #next() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }

  uniform() {
    return this.#next() / 2 ** 32;
  }

  between(least, most) {
    return least + (most - least) * this.uniform();
  }

  normal() {
    return NORMAL[this.#next() >>> 16];
  }

  /** With a heavy tail: one of fifty is three times as far. */
  heavy() {
    return this.uniform() < 0.02 ? 3 * this.normal() : this.normal();
  }

  /** A time as a kind's file tells it. */
  time(told) {
    if (typeof told === 'number') return told;
    if (Array.isArray(told)) return this.between(told[0], told[1]);
    return (told.least ?? 0) - told.mean * Math.log(1 - this.uniform());
  }
}

/** A value as a file tells it: what it is drawn from, and how it is laid over what was. */
function rangeOf(told) {
  if (typeof told === 'number') return { least: told, most: told, how: 'is' };
  if (Array.isArray(told)) return { least: told[0], most: told[1], how: 'is' };
  const number = Number(told.slice(1));
  return { least: number, most: number, how: told[0] === '*' ? 'times' : 'more' };
}

const setsOf = set =>
  Object.entries(set).map(([name, told]) => {
    if (!SET.includes(name)) throw new Error(`not played: ${name}`);
    return { at: SET.indexOf(name), ...rangeOf(told) };
  });

const AT = Object.fromEntries(SET.map((name, i) => [name, i]));
const S = SET.length;

export class PlayedJob {
  ageS = 0;
  /** Who is ill: a fault of FAULTS by node. */
  #faults = new Map();
  #common = 1;
  #swing = 1;
  #hung = false;

  constructor(name, size, seed) {
    const dice = new Dice(seed);
    this.dice = dice;
    this.size = size;
    const { either = [], ...plain } = KINDS[name];
    const kind = either.length > 0 ? { ...plain, ...either[Math.floor(dice.uniform() * either.length)] } : plain;
    this.kind = kind;
    this.gpus = kind.gpus ?? 0;
    this.lifeS = 3600 * dice.between(...kind.hours);
    const each = value => Float64Array.from({ length: size }, value);
    this.values = new Float64Array(size * Q).fill(Number.NaN);
    const base = { ...HEALTHY, pressure_io: 0.3, ...kind.node };
    this.base = SET.map(reading => rangeOf(base[reading] ?? 0));
    this.roles = (kind.roles ?? []).flatMap(({ who, set }) => setsOf(set).map(one => ({ who, ...one })));
    this.phases = (kind.phases ?? []).map(phase => ({
      ...phase,
      sets: setsOf(phase.set),
      elses: phase.else && setsOf(phase.else.set),
      untilS: each(() => (phase.at ? 0 : dice.time(phase.every))),
      on: new Uint8Array(size),
      drawn: each(() => dice.uniform()),
      who: phase.who,
      common: { untilS: dice.time(phase.every ?? 0), on: 0, drawn: 0.5 },
    }));
    for (const phase of this.phases)
      if (phase.at)
        for (let i = 0; i < size; i++) {
          const [from] = [dice.time(phase.at)];
          phase.untilS[i] = from < 0 ? this.lifeS + from : from;
        }
    const start = kind.start ?? [10, 100];
    const startS = dice.between(...start);
    this.startS = each(() => dice.between(0, startS));
    this.clock = each(() => 2900 * (1 + 0.01 * dice.normal()));
    this.warmth = each(() => 3.5 * dice.normal());
    this.heat = each(() => 35);
    const gpuShare = () => 1 + 0.08 * Math.max(-2.75, Math.min(2.75, dice.normal()));
    this.gpuPower = Float64Array.from({ length: size * this.gpus }, gpuShare);
    this.gpuWarmth = Float64Array.from({ length: size * this.gpus }, () => 3.5 * dice.normal());
    this.gpuHeat = Float64Array.from({ length: size * this.gpus }, () => 32);
    this.level = each(() => 1);
    this.levelTo = each(() => 1);
    this.renewS = each(() => dice.between(0, 10));
    this.renewed = new Int32Array(size * 2).fill(-1);
    const daemon = () => dice.time({ mean: 5400 });
    this.daemonFromS = each(daemon);
    this.daemonUntilS = each(() => 0);
    this.daemon = new Uint8Array(size);
    this.now = new Float64Array(S);
  }

  fail(node, fault) {
    this.#faults.set(node, fault);
    this.#hung = [...this.#faults.values()].includes('hang');
  }

  #isOf(who, node) {
    if (who === 'all' || who === 'each') return true;
    if (who === 'first') return node === 0;
    // At least one, where a share is meant.
    const [from, to] = who;
    const [first, last] = [Math.floor(from * this.size), Math.max(Math.ceil(to * this.size), 1)];
    return node >= first && node < last;
  }

  #turn(phase) {
    const { dice, size, ageS } = this;
    if (phase.at) {
      for (let i = 0; i < size; i++) phase.on[i] = Number(ageS >= phase.untilS[i]);
      return;
    }
    if (phase.who === 'each') {
      for (let i = 0; i < size; i++) {
        if (ageS < phase.untilS[i]) continue;
        const next = phase.every.mean === 0 ? 1 : 1 - Number(phase.on[i] > 0);
        phase.on[i] = next === 1 && phase.elses && dice.uniform() < phase.else.chance ? 2 : next;
        phase.untilS[i] = ageS + dice.time(next === 1 ? phase.lasts : phase.every);
        phase.drawn[i] = dice.uniform();
      }
      return;
    }
    const { common } = phase;
    if (ageS < common.untilS) return;
    const isAgain = phase.every === 0;
    common.on = isAgain ? 1 : 1 - common.on;
    common.untilS = ageS + dice.time(common.on ? phase.lasts : phase.every);
    common.drawn = dice.uniform();
    const { share, chance = 1 } = phase.who;
    if (share === undefined) {
      const other = phase.elses ? 2 : 0;
      for (let i = 0; i < size; i++) phase.on[i] = common.on && (this.#isOf(phase.who, i) ? 1 : other);
      phase.drawn.fill(common.drawn);
      return;
    }
    phase.on.fill(0);
    let some = common.on && dice.uniform() < chance ? Math.round(dice.between(...share) * size) : 0;
    while (some > 0) {
      const i = Math.floor(dice.uniform() * size);
      if (phase.on[i]) continue;
      [phase.on[i], phase.drawn[i]] = [1, dice.uniform()];
      some--;
    }
  }

  #wander(seconds) {
    const { minutes, between } = this.kind.wander;
    const [dice, { level, levelTo }] = [this.dice, this];
    for (let i = 0; i < this.size; i++) {
      if (dice.uniform() < seconds / (60 * minutes)) levelTo[i] = dice.between(...between);
      level[i] += (levelTo[i] - level[i]) * Math.min(1, seconds / 40);
    }
  }

  step(seconds) {
    const { dice, kind } = this;
    this.ageS += seconds;
    for (const phase of this.phases) this.#turn(phase);
    if (kind.wander) this.#wander(seconds);
    this.#common += (1 - this.#common) * 0.02 * seconds + 0.03 * Math.sqrt(seconds) * dice.normal();
    this.#common = Math.min(2, Math.max(0.3, this.#common));
    this.#swing = kind.swing ? dice.between(...kind.swing) : 1 + 0.03 * dice.normal();
    for (let node = 0; node < this.size; node++) this.#move(node, seconds);
  }

  #lay(sets, drawn) {
    const { now } = this;
    for (const { at, least, most, how } of sets) {
      const value = least + (most - least) * drawn;
      now[at] = how === 'is' ? value : how === 'times' ? now[at] * value : now[at] + value;
    }
  }

  #daemonOf(node) {
    const { dice, ageS } = this;
    if (ageS < this.daemonFromS[node]) return 0;
    if (this.daemonUntilS[node] === 0) {
      this.daemonUntilS[node] = ageS + dice.between(5, 60);
      this.daemon[node] = 1 + Math.floor(dice.uniform() * 3);
    } else if (ageS >= this.daemonUntilS[node]) {
      this.daemonUntilS[node] = 0;
      this.daemonFromS[node] = ageS + dice.time({ mean: 5400 });
      return 0;
    }
    return this.daemon[node];
  }

  #move(node, seconds) {
    const { dice, now, values, kind } = this;
    const at = node * Q;
    const fault = this.#faults.get(node);
    const daemon = this.#daemonOf(node);
    for (let i = 0; i < S; i++) {
      const { least, most } = this.base[i];
      now[i] = least === most ? least : dice.between(least, most);
    }
    const idle = this.ageS < this.startS[node];
    now[AT.mhz] = this.clock[node];
    now[AT.gpu_power] = 1;
    for (const one of this.roles) if (this.#isOf(one.who, node)) this.#lay([one], dice.uniform());
    for (const { on, sets, elses, drawn } of this.phases)
      if (on[node] > 0) this.#lay(on[node] === 2 ? elses : sets, drawn[node]);
    if (kind.wander) for (const name of kind.wander.carries) now[AT[name]] *= this.level[node];
    if (idle) [now[AT.cpu], now[AT.gpu_util]] = [6, 0];
    if (fault === 'hang') [now[AT.cpu], now[AT.gpu_util]] = [2, 0];
    let cpu = now[AT.cpu] / 100;
    cpu = cpu * (1 + ((kind.noise?.cpu ?? 0.8) / 100) * dice.heavy()) + (daemon > 0 ? 0.02 : 0);
    if (fault === 'neighbour') cpu = 1;
    cpu = Math.min(1, Math.max(0.002, cpu));
    values[at + place.cpu] = Math.round(cpu * 1000) / 10;
    // Who waits for a rank that hangs exchanges nothing, and burns its time.
    const flows = this.#hung ? 0.004 : cpu > 0.1 ? 1 : 0.01;
    const shared = kind.exchange === 'own' ? flows : flows * this.#common * this.#swing;
    values[at + place.net] = now[AT.net] * shared * (1 + 0.06 * dice.heavy()) + 3e5 * dice.uniform();
    values[at + place.fabric] = now[AT.fabric] * shared * Math.max(0, 1 + 0.05 * dice.heavy());
    values[at + place.disk] =
      now[AT.disk] * (now[AT.disk] > 1e7 ? 1 + 0.1 * dice.normal() : -Math.log(1 - dice.uniform())) +
      (daemon === 1 ? 6e7 * dice.uniform() : 0) +
      (idle ? 5e7 * dice.uniform() : 0);
    this.#waits(at, cpu, daemon, fault);
    const heat = 35 + 42 * cpu + this.warmth[node] + now[AT.temp];
    this.heat[node] += (heat - this.heat[node]) * Math.min(1, seconds / 25);
    const since = this.ageS + this.renewS[node];
    if (this.gpus > 0) this.#gpus(node, at, fault, Math.floor(since / 5), seconds);
    if (this.renewed[2 * node] !== Math.floor(since / 5)) {
      this.renewed[2 * node] = Math.floor(since / 5);
      values[at + place.temp] = Math.round(10 * (this.heat[node] + 0.7 * dice.heavy())) / 10;
    }
    if (this.renewed[2 * node + 1] !== Math.floor(since / 10)) {
      this.renewed[2 * node + 1] = Math.floor(since / 10);
      this.#renew(node, at, cpu, fault);
    }
  }

  #waits(at, cpu, daemon, fault) {
    const { dice, values, now } = this;
    const small = () => Math.round(100 * Math.abs(0.4 * dice.heavy())) / 100;
    // Averages of ten seconds follow slowly.
    const follow = (where, target) => {
      const last = values[at + where];
      values[at + where] = Number.isNaN(last) ? target : last + (target - last) * 0.4;
    };
    const busy = small() + 2 * cpu + (daemon === 2 ? 12 : 0);
    follow(place.pressure_cpu, fault === 'neighbour' ? 75 + 5 * dice.normal() : busy);
    follow(place.pressure_mem, fault === 'swapping' ? 45 + 10 * dice.normal() : small());
    follow(place.pressure_io, now[AT.pressure_io] + (daemon === 1 ? 15 * dice.uniform() : 0) + small());
    values[at + place.swapping] =
      fault === 'swapping' ? 3000 + 12_000 * dice.uniform() : daemon === 3 ? 300 * dice.uniform() : 0;
  }

  #gpus(node, at, fault, fifth, seconds) {
    const { dice, values, now, gpus } = this;
    const busy = now[AT.gpu_util] / 100;
    const use = Math.min(1, Math.max(0, busy + (busy > 0 ? 0.02 * dice.heavy() : 0)));
    values[at + place.gpu_util] = Math.round(100 * use);
    for (let i = 0; i < gpus; i++) {
      const gpu = node * gpus + i;
      const heat = 32 + 36 * use + this.gpuWarmth[gpu] + now[AT.gpu_temp];
      this.gpuHeat[gpu] += (heat - this.gpuHeat[gpu]) * Math.min(1, seconds / 40);
    }
    if (this.renewed[2 * node] === fifth) return;
    let [sum, hottest] = [0, 0];
    for (let i = 0; i < gpus; i++) {
      const gpu = node * gpus + i;
      const isGone = fault === 'gpu_gone' && i === gpus - 1;
      const part = now[AT.gpu_power] * (fault === 'gpu_weak' && i === 0 ? 0.75 : 1);
      const watts = part * (60 + 340 * use * (1 + 0.02 * dice.heavy())) * this.gpuPower[gpu];
      const warm = this.gpuHeat[gpu] + 0.7 * dice.heavy();
      values[at + place[`gpu.${i}.power_w`]] = isGone ? Number.NaN : Math.round(watts);
      values[at + place[`gpu.${i}.util_pct`]] = isGone ? Number.NaN : Math.round(100 * use);
      values[at + place[`gpu.${i}.temp_degc`]] = isGone ? Number.NaN : Math.round(warm);
      if (isGone) continue;
      sum += watts;
      hottest = Math.max(hottest, warm);
    }
    values[at + place.gpu_power] = Math.round(sum);
    values[at + place.gpu_temp] = Math.round(hottest);
    values[at + place.gpus_up] = fault === 'gpu_gone' ? gpus - 1 : gpus;
    values[at + place.gpus_throttled] = 0;
  }

  /** What the sender renews only every 10 s. */
  #renew(node, at, cpu, fault) {
    const { dice, values, now } = this;
    // Clocks of idle nodes are anywhere, where the kind does not tell.
    const isTold = now[AT.mhz] !== this.clock[node];
    const mhz = cpu < 0.4 && !isTold ? dice.between(800, 3500) : now[AT.mhz] * (1 + 0.004 * dice.heavy());
    values[at + place.mhz] = Math.round(mhz * (fault === 'clock' ? 0.8 : fault === 'clock_half' ? 0.5 : 1));
    values[at + place.link_speed] = 25_000;
    values[at + place.fabric_speed] = fault === 'link' ? 20_000 : 200_000;
    values[at + place.links_up] = fault === 'carrier' ? 0 : 1;
    for (const tally of [place.throttle_events, place.edac_ce, place.edac_ue]) values[at + tally] ||= 0;
    // A processor at its limit throttles now and then, and a memory error comes from outside once a month.
    if (dice.uniform() < 0.001) values[at + place.throttle_events]++;
    if (dice.uniform() < 4e-6) values[at + place.edac_ce]++;
    if (fault === 'errors') values[at + place.edac_ce] += 5;
  }
}
