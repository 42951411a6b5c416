// Which readings of a job's nodes are compared, and how: the one table for all who sort nodes by their difference or
// mark one. Pure; the values come from the readings of the same name.

import { type Measure, ofGpu } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';

/**
 * A fault is one whenever it is seen: good nodes of the same hardware do not differ in it. A condition (clock, heat,
 * power) depends on the node's part of the work, too, so it is one only if the node had another one earlier in the job.
 * A load tells of its share of the work: a job may share it out as it likes, so a load only sorts, but for `tells`.
 */
type Class = 'fault' | 'condition' | 'load';

/**
 * What a load may tell of a single node that was like the others for ten minutes. `hang`: it does nothing, the others
 * work and exchange nothing. `neighbour`: its tasks wait as they did not. `part`: that it does something else now, so
 * that its condition is not compared.
 */
type Tells = 'hang' | 'neighbour' | 'part';

type BadDirection = 'low' | 'high' | 'both';

export interface Compared {
  /** The reading's name in src/readings, in whose unit the value and `floor` are. */
  readonly reading: string;
  /** In words, before the value: `clock 1.9 GHz`. */
  readonly label: string;
  readonly class: Class;
  readonly tells?: Tells;
  readonly direction: BadDirection;
  /**
   * The least unit of deviation: what differences between good nodes of one job may be (about one standard deviation),
   * whichever is more: so much of the reading, and such a share of the peers' median.
   */
  readonly floor: number;
  readonly floorShare: number;
  /** The reading is compared only among nodes that work as much as their peers, which this other reading tells. */
  readonly atEqual?: 'cpu' | 'gpu_util';
  /** It is compared in proportion to that. */
  readonly fallsWithUse?: true;
  /** It is compared only after so long at equal work, ms. */
  readonly settlesMs?: number;
  /** It is of the GPU of that number, and compared beside the others of its node. */
  readonly gpu?: number;
  /** It only grows: what is compared is the growth of the last minutes. */
  readonly isTally?: true;
  /** It is renewed by the sender only so often, ms; absent: with each report. */
  readonly renewMs?: number;
  /** A difference counts only after so long, ms; absent: after three new readings. */
  readonly lastsMs?: number;
  /** Why it is compared, and why the floor is this one. */
  readonly why: string;
}

/** The period of the slow sources, as the report's contract has it: `sources slow`. */
const [OFTEN_MS, SELDOM_MS] = [5_000, 10_000];

/** What is warm takes so long to follow its load. */
const WARMING_MS = 120_000;

/** What one node of a job does now and then for a while: a daemon's work. */
const SHORT_MS = 20_000;

/** Of each of the first GPUs its power and heat, and its use, by which it is at work. */
const comparedOf = (gpu: number): readonly Compared[] => [
  {
    ...{ reading: `gpu.${gpu}.power_w`, label: `power of GPU ${gpu}`, class: 'condition', direction: 'low', gpu },
    ...{ floor: 0, floorShare: 0.025, atEqual: 'gpu_util', settlesMs: OFTEN_MS, renewMs: OFTEN_MS },
    why: 'GPUs of one kind differ by 8 %, but each keeps its share of its node’s power to a few per cent',
  },
  {
    ...{ reading: `gpu.${gpu}.temp_degc`, label: `temperature of GPU ${gpu}`, class: 'condition' },
    ...{ direction: 'high', gpu },
    ...{ floor: 3, floorShare: 0, atEqual: 'gpu_util', settlesMs: WARMING_MS, renewMs: OFTEN_MS },
    why: 'by its place in the node each is some degrees warmer or cooler than the others, always',
  },
  {
    ...{ reading: `gpu.${gpu}.util_pct`, label: `use of GPU ${gpu}`, class: 'load', direction: 'both', gpu },
    ...{ floor: 5, floorShare: 0, renewMs: OFTEN_MS },
    why: 'it marks nothing: by it a GPU works as much as the others, or not',
  },
];

/** So many GPUs of a node are compared, each. */
const GPUS_EACH = 8;

export const COMPARED: readonly Compared[] = [
  {
    ...{ reading: 'mhz', label: 'clock', class: 'condition', direction: 'low', floor: 25, floorShare: 0.025 },
    ...{ atEqual: 'cpu', settlesMs: SELDOM_MS, renewMs: SELDOM_MS },
    why: 'processors of one kind under equal load run within some per cent of one clock rate; one that is held back runs a fifth slower or more',
  },
  {
    ...{ reading: 'temp', label: 'CPU temperature', class: 'condition', direction: 'high', floor: 3, floorShare: 0 },
    ...{ atEqual: 'cpu', settlesMs: WARMING_MS, renewMs: OFTEN_MS },
    why: 'places in a rack and sockets in a row differ by some degrees; a fan or a heat sink that fails makes twenty',
  },
  {
    ...{ reading: 'throttle_events', label: 'thermal throttling', class: 'fault', direction: 'high' },
    ...{ floor: 3, floorShare: 0.2, isTally: true, renewMs: SELDOM_MS },
    why: 'a processor at its limit throttles now and then; one that does twenty times in some minutes when its peers do not is not cooled',
  },
  {
    ...{ reading: 'gpu_power', label: 'GPU power', class: 'condition', direction: 'low', floor: 10, floorShare: 0.03 },
    ...{ atEqual: 'gpu_util', fallsWithUse: true, settlesMs: OFTEN_MS, renewMs: OFTEN_MS },
    why: 'GPUs of one kind differ by some per cent each, and less as the sum of a node; a power limit or a lost supply takes a quarter',
  },
  {
    ...{ reading: 'gpu_temp', label: 'GPU temperature', class: 'condition' },
    ...{ direction: 'high', floor: 3, floorShare: 0 },
    ...{ atEqual: 'gpu_util', settlesMs: WARMING_MS, renewMs: OFTEN_MS },
    why: 'the hottest of several GPUs differs by some degrees from node to node; without its fan it is twenty hotter',
  },
  {
    ...{ reading: 'gpus_up', label: 'GPUs that work', class: 'fault', direction: 'low', floor: 0.1, floorShare: 0 },
    ...{ renewMs: OFTEN_MS },
    why: 'a count: good nodes do not differ',
  },
  {
    ...{ reading: 'gpus_throttled', label: 'GPUs throttled', class: 'fault', direction: 'high' },
    ...{ floor: 0.1, floorShare: 0, renewMs: OFTEN_MS },
    why: 'a count, which is told only for heat and supply, never for the power limit that all share',
  },
  {
    ...{ reading: 'links_up', label: 'links with carrier', class: 'fault', direction: 'low' },
    ...{ floor: 0.1, floorShare: 0 },
    why: 'a count: good nodes do not differ',
  },
  {
    ...{ reading: 'link_speed', label: 'link speed', class: 'fault', direction: 'low', floor: 0, floorShare: 0.05 },
    ...{ renewMs: SELDOM_MS },
    why: 'it is negotiated, so good nodes do not differ; half of it is ten floors',
  },
  {
    ...{ reading: 'fabric_speed', label: 'fabric speed', class: 'fault', direction: 'low' },
    ...{ floor: 0, floorShare: 0.05, renewMs: SELDOM_MS },
    why: 'as of the other links',
  },
  {
    ...{ reading: 'swapping', label: 'swapping', class: 'fault', direction: 'high', floor: 100, floorShare: 0 },
    why: 'pages a second, in and out: the kernel moves some hundred of old ones without harm, a node that is out of memory thousands',
  },
  {
    ...{ reading: 'edac_ce', label: 'memory errors, corrected', class: 'fault', direction: 'high' },
    ...{ floor: 2, floorShare: 0.2, isTally: true, renewMs: SELDOM_MS },
    why: 'a few come from outside; a failing module has many in some minutes',
  },
  {
    ...{ reading: 'edac_ue', label: 'memory errors, uncorrected', class: 'fault', direction: 'high' },
    ...{ floor: 0.1, floorShare: 0, isTally: true, renewMs: SELDOM_MS },
    why: 'each is one too many',
  },
  {
    ...{ reading: 'cpu', label: 'CPU', class: 'load', tells: 'hang', direction: 'both', floor: 5, floorShare: 0 },
    why: 'ranks of one job that wait for each other are busy alike, to some points',
  },
  {
    ...{ reading: 'gpu_util', label: 'GPU use', class: 'load' },
    ...{ tells: 'hang', direction: 'both', floor: 5, floorShare: 0 },
    ...{ renewMs: OFTEN_MS },
    why: 'as of the CPU',
  },
  {
    ...{ reading: 'net', label: 'network', class: 'load' },
    ...{ tells: 'part', direction: 'both', floor: 1e6, floorShare: 0.15 },
    why: 'below some MB/s it is what all nodes have, daemons and file systems; who writes for all others does not for long',
  },
  {
    ...{ reading: 'fabric', label: 'fabric', class: 'load' },
    ...{ tells: 'part', direction: 'both', floor: 1e6, floorShare: 0.15 },
    why: 'as of the network',
  },
  {
    ...{ reading: 'disk', label: 'disk', class: 'load', direction: 'both', floor: 5e6, floorShare: 0.15 },
    why: 'below that it is logs and caches written back; one rank may write a checkpoint for all, for a while',
  },
  {
    ...{ reading: 'pressure_cpu', label: 'waits for CPU', class: 'load' },
    ...{ tells: 'neighbour', direction: 'high', floor: 4, floorShare: 0 },
    ...{ lastsMs: SHORT_MS },
    why: 'some tasks always wait for some per cent of the time; who competes with the job makes it tens, a daemon for some seconds',
  },
  {
    ...{ reading: 'pressure_mem', label: 'waits for memory', class: 'load', tells: 'neighbour', direction: 'high' },
    ...{ floor: 4, floorShare: 0, lastsMs: SHORT_MS },
    why: 'as of the CPU',
  },
  {
    ...{ reading: 'pressure_io', label: 'waits for I/O', class: 'load' },
    ...{ tells: 'part', direction: 'high', floor: 4, floorShare: 0 },
    why: 'as of the disk',
  },
  ...Array.from({ length: GPUS_EACH }, (_, gpu) => comparedOf(gpu)).flat(),
];

/** How a reading is taken from a node. */
export function measureOf({ reading, gpu }: Pick<Compared, 'reading' | 'gpu'>): Measure {
  if (gpu === undefined) return readingOf(reading)?.measure as Measure;
  return ofGpu(reading.split('.')[2] as Parameters<typeof ofGpu>[0], gpu);
}
