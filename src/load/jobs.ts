// Simulates jobs: what readings their nodes have while they compute, train, write checkpoints and wait for each other, and
// what one of them has when something is wrong with it. Seeded, and the caller gives the time. What the judge of jobs is
// measured with is played by bench/odd/, which has more kinds.

import type { FAULTS } from '../options/faults.js';
import { random } from './simulatednode.js';

/** What jobs do. `farm`: each node works on tasks of its own. `uneven`: some nodes serve the others. */
export const KINDS = ['compute', 'training', 'farm', 'uneven', 'checkpointing'] as const;

export type JobKind = (typeof KINDS)[number];

export type Fault = (typeof FAULTS)[number];

/** What is simulated of each node, under the names and in the units of the readings. */
export const QUANTITIES = [
  ...['cpu', 'gpu_util', 'mhz', 'temp', 'gpu_power', 'gpu_temp', 'net', 'fabric', 'disk'],
  ...['pressure_cpu', 'pressure_mem', 'pressure_io', 'swapping', 'link_speed', 'fabric_speed', 'links_up'],
  ...['gpus_up', 'gpus_throttled', 'throttle_events', 'edac_ce', 'edac_ue'],
] as const;

export const GPUS = 4;
const Q = QUANTITIES.length;
const place = Object.fromEntries(QUANTITIES.map((name, i) => [name, i])) as Record<(typeof QUANTITIES)[number], number>;

/** Random numbers of several kinds from one seed. */
class Dice {
  readonly uniform: () => number;

  constructor(seed: number) {
    this.uniform = random(seed);
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.uniform();
  }

  /** Mean 0, standard deviation 1. */
  normal(): number {
    return Math.sqrt(2 * this.time(1)) * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A time of which the mean is that. */
  time(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }
}

type Phase = 'start' | 'work' | 'dip' | 'checkpoint';

/** How long a job of each kind works between what it does together, and how long that takes, s. */
const TOGETHER: Readonly<Record<JobKind, { phase: Phase; every: number; lasts: number }>> = {
  compute: { phase: 'dip', every: 1500, lasts: 20 },
  training: { phase: 'dip', every: 1800, lasts: 40 },
  farm: { phase: 'work', every: 3600, lasts: 1 },
  uneven: { phase: 'dip', every: 2400, lasts: 15 },
  checkpointing: { phase: 'checkpoint', every: 900, lasts: 50 },
};

const NET_BYTES = 2e8;
const FABRIC_BYTES = 2e9;

export class SimulatedJob {
  /** Of each node the quantities, one after another; NaN: not measured. */
  readonly values: Float64Array;
  /** After so many seconds it has ended; who goes on makes another. */
  readonly lifeS: number;
  ageS = 0;
  readonly #dice: Dice;
  #phase: Phase = 'start';
  #phaseUntilS: number;
  readonly #startS: number;
  /** Whether all nodes write the checkpoint, or the first one for all. */
  readonly #isTogether: boolean;
  #common = 1;
  #jitter = 1;
  // What each node is, and what it does.
  readonly #clock: Float64Array;
  readonly #warmth: Float64Array;
  readonly #gpuPower: Float64Array;
  readonly #gpuWarmth: Float64Array;
  readonly #heat: Float64Array;
  readonly #gpuHeat: Float64Array;
  readonly #level: Float64Array;
  readonly #levelUntilS: Float64Array;
  readonly #phaseOwnS: Float64Array;
  readonly #renewed: Int32Array;
  readonly #fault: (Fault | undefined)[];

  constructor(
    readonly kind: JobKind,
    readonly size: number,
    seed: number,
  ) {
    const dice = new Dice(seed);
    this.#dice = dice;
    const each = (value: () => number) => Float64Array.from({ length: size }, value);
    this.values = new Float64Array(size * Q).fill(Number.NaN);
    this.lifeS = dice.between(4, 12) * 3600;
    this.#startS = dice.between(10, 100);
    this.#phaseUntilS = this.#startS;
    this.#isTogether = dice.uniform() < 0.5;
    this.#clock = each(() => 2900 * (1 + 0.01 * dice.normal()));
    this.#warmth = each(() => 3.5 * dice.normal());
    this.#gpuPower = each(() => 1 + 0.02 * dice.normal());
    this.#gpuWarmth = each(() => 3.5 * dice.normal());
    this.#heat = each(() => 35);
    this.#gpuHeat = each(() => 32);
    this.#level = each(() => 0.03);
    this.#levelUntilS = each(() => dice.between(0, this.#startS));
    this.#phaseOwnS = each(() => dice.between(0, 10));
    this.#renewed = new Int32Array(size * 2).fill(-1);
    this.#fault = Array.from({ length: size }, () => undefined);
  }

  /** From now on something is wrong with a node; undefined: nothing is any more. */
  fail(node: number, fault: Fault | undefined): void {
    this.#fault[node] = fault;
  }

  step(seconds: number): void {
    const dice = this.#dice;
    this.ageS += seconds;
    if (this.ageS >= this.#phaseUntilS) this.#nextPhase();
    // Slow and fast swings that all nodes share.
    this.#common += (1 - this.#common) * 0.02 * seconds + 0.03 * Math.sqrt(seconds) * dice.normal();
    this.#common = Math.min(2, Math.max(0.3, this.#common));
    this.#jitter = this.kind === 'training' ? dice.between(0.2, 1.8) : 1 + 0.03 * dice.normal();
    for (let node = 0; node < this.size; node++) this.#move(node, seconds);
  }

  #nextPhase(): void {
    const { phase, every, lasts } = TOGETHER[this.kind];
    const dice = this.#dice;
    this.#phase = this.#phase === 'work' ? phase : 'work';
    // Checkpoints come by the clock, all else when it comes.
    const isTimed = this.kind === 'checkpointing';
    const takes = this.#phase === 'work' ? (isTimed ? every : dice.time(every)) : lasts * dice.between(0.5, 2);
    this.#phaseUntilS = this.ageS + takes;
  }

  /** How busy a node's CPUs are, 0 to 1. */
  #cpuOf(node: number): number {
    const dice = this.#dice;
    const isServer = this.kind === 'uneven' && node < Math.max(1, this.size / 16);
    switch (this.#phase) {
      case 'start':
        // Each node starts to compute at a moment of its own; until then it is nearly idle.
        return this.ageS < (this.#levelUntilS[node] as number) ? 0.06 : this.kind === 'training' ? 0.2 : 0.96;
      case 'dip':
        return this.kind === 'training' ? 0.3 : 0.25;
      case 'checkpoint':
        if (this.#isTogether) return 0.3;
        return node === 0 ? 0.9 : 0.96;
      default:
    }
    switch (this.kind) {
      case 'training':
        return 0.2;
      case 'uneven':
        return isServer ? 0.3 : 0.9;
      case 'farm':
        if (this.ageS >= (this.#levelUntilS[node] as number)) this.#nextLevel(node, dice);
        return this.#level[node] as number;
      default:
        return 0.97;
    }
  }

  #nextLevel(node: number, dice: Dice): void {
    this.#level[node] = dice.uniform() < 0.1 ? 0.03 : dice.between(0.25, 0.99);
    this.#levelUntilS[node] = this.ageS + 20 + dice.time(400);
  }

  #move(node: number, seconds: number): void {
    const dice = this.#dice;
    const { values } = this;
    const at = node * Q;
    const fault = this.#fault[node];
    let cpu = this.#cpuOf(node) * (1 + (this.kind === 'farm' ? 0.04 : 0.008) * dice.normal());
    if (fault === 'neighbour') cpu = 1;
    cpu = Math.min(1, Math.max(0.002, cpu));
    values[at + place.cpu] = Math.round(cpu * 1000) / 10;
    const gpu = this.#gpuOf(cpu);
    values[at + place.gpu_util] = gpu < 0 ? Number.NaN : Math.round(100 * gpu);
    this.#traffic(node, cpu);
    this.#waits(node, cpu, fault);
    const heat = 35 + 42 * cpu + (this.#warmth[node] as number);
    this.#heat[node] = (this.#heat[node] as number) + (heat - (this.#heat[node] as number)) * Math.min(1, seconds / 25);
    if (gpu >= 0) {
      const gpuHeat = 32 + 36 * gpu + (this.#gpuWarmth[node] as number);
      this.#gpuHeat[node] =
        (this.#gpuHeat[node] as number) + (gpuHeat - (this.#gpuHeat[node] as number)) * Math.min(1, seconds / 40);
    }
    const since = this.ageS + (this.#phaseOwnS[node] as number);
    this.#renew(node, cpu, gpu, fault, Math.floor(since / 5), Math.floor(since / 10));
  }

  /** How busy its GPUs are, 0 to 1; -1: it has none. */
  #gpuOf(cpu: number): number {
    if (this.kind !== 'training') return -1;
    if (this.#phase === 'dip' || cpu < 0.1) return 0.1;
    return Math.min(1, Math.max(0, 0.95 + 0.02 * this.#dice.normal()));
  }

  #traffic(node: number, cpu: number): void {
    const dice = this.#dice;
    const { values, kind } = this;
    const at = node * Q;
    const isServer = kind === 'uneven' && node < Math.max(1, this.size / 16);
    const isAlone = kind === 'farm';
    const working = cpu > 0.1 ? this.#common * this.#jitter : 0.01;
    values[at + place.net] = NET_BYTES * (isAlone ? 0.05 * dice.uniform() : isServer ? 8 * working : 0.1 * working);
    values[at + place.net] = (values[at + place.net] as number) * (1 + 0.06 * dice.normal()) + 3e5 * dice.uniform();
    values[at + place.fabric] = isAlone ? 0 : FABRIC_BYTES * working * Math.max(0, 1 + 0.05 * dice.normal());
    let disk = 2e5 * dice.time(1);
    if (this.#phase === 'start') disk += 5e7 * dice.uniform();
    if (kind === 'farm' && dice.uniform() < 0.1) disk += 1e8 * dice.uniform();
    if (this.#phase === 'checkpoint' && (this.#isTogether || node === 0))
      disk += (this.#isTogether ? 3e8 : 1.2e9) * (1 + 0.1 * dice.normal());
    values[at + place.disk] = disk;
  }

  #waits(node: number, cpu: number, fault: Fault | undefined): void {
    const dice = this.#dice;
    const { values } = this;
    const at = node * Q;
    const small = () => Math.round(100 * Math.abs(0.4 * dice.normal())) / 100;
    // Averages of ten seconds follow slowly.
    const follow = (where: number, target: number) => {
      const last = values[at + where] as number;
      values[at + where] = Number.isNaN(last) ? target : last + (target - last) * 0.4;
    };
    const isWriting = this.#phase === 'checkpoint' && (this.#isTogether || node === 0);
    follow(place.pressure_cpu, fault === 'neighbour' ? 75 + 5 * dice.normal() : small() + 2 * cpu);
    follow(place.pressure_mem, fault === 'swapping' ? 45 + 10 * dice.normal() : small());
    follow(place.pressure_io, (isWriting ? 35 : 0) + small());
    values[at + place.swapping] = fault === 'swapping' ? 3000 + 12_000 * dice.uniform() : 0;
  }

  /** What the sender renews only every 5 and every 10 s. */
  #renew(node: number, cpu: number, gpu: number, fault: Fault | undefined, fifth: number, tenth: number): void {
    const dice = this.#dice;
    const { values } = this;
    const at = node * Q;
    if (this.#renewed[2 * node] !== fifth) {
      this.#renewed[2 * node] = fifth;
      values[at + place.temp] = Math.round(10 * ((this.#heat[node] as number) + 0.7 * dice.normal())) / 10;
      if (gpu >= 0) {
        const part = fault === 'gpu_power' ? 0.75 : 1;
        const up = fault === 'gpu_gone' ? GPUS - 1 : GPUS;
        const power = up * (60 + 340 * gpu * (1 + 0.02 * dice.normal())) * (this.#gpuPower[node] as number);
        values[at + place.gpu_power] = Math.round(part * power);
        values[at + place.gpu_temp] = Math.round((this.#gpuHeat[node] as number) + 0.7 * dice.normal());
        values[at + place.gpus_up] = up;
        values[at + place.gpus_throttled] = 0;
      }
    }
    if (this.#renewed[2 * node + 1] === tenth) return;
    this.#renewed[2 * node + 1] = tenth;
    // Clocks of idle nodes are anywhere.
    const mhz = cpu < 0.4 ? dice.between(800, 3500) : (this.#clock[node] as number) * (1 + 0.004 * dice.normal());
    values[at + place.mhz] = Math.round(fault === 'clock' ? 0.8 * mhz : mhz);
    values[at + place.link_speed] = 25_000;
    values[at + place.fabric_speed] = fault === 'link' ? 20_000 : 200_000;
    values[at + place.links_up] = 1;
    for (const tally of [place.throttle_events, place.edac_ce, place.edac_ue])
      if (Number.isNaN(values[at + tally] as number)) values[at + tally] = 0;
    // A processor at its limit throttles now and then, and a memory error comes from outside once a month.
    if (dice.uniform() < 0.001) values[at + place.throttle_events] = (values[at + place.throttle_events] as number) + 1;
    if (dice.uniform() < 4e-6) values[at + place.edac_ce] = (values[at + place.edac_ce] as number) + 1;
  }
}
