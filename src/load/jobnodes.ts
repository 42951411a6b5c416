// The nodes of a simulated cluster at the work of simulated jobs: which job has which nodes, what that makes of their
// reports, and the file that tells a reader of schedulers of them (docs/schedulers.md). Pure; the caller gives the time.

import type { Encodable } from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { json } from '../text/output.js';
import { type Fault, GPUS, type JobKind, KINDS, QUANTITIES, SimulatedJob } from './jobs.js';
import { add, at, CPUS, random, validOf, type Work } from './simulatednode.js';

/** Jobs have these sizes in turn, as far as there are nodes. */
const SIZES = [8, 16, 4, 64, 12, 32, 2, 24];
/** One of so many nodes has no job. */
const IDLE = 10;
const USERS = ['anna', 'bert', 'chen', 'dora', 'emil', 'fatima', 'george', 'hana'];
const Q = QUANTITIES.length;

const inside = (field: 'net' | 'fabric' | 'group' | 'gpu', of: string) => {
  const { offset, type } = structs.report.fields[field];
  return offset + (structs[type].fields as Record<string, { offset: number }>)[of]!.offset;
};

const SETS = ['groups', 'group_share', 'vmstat', 'psi_mem', 'fabric', 'throttle', 'edac', 'hw_hash'] as const;
const VALID = validOf(SETS);
const GPU_VALID = validOf(['gpu']);
const [PRESENT, GONE] = [1 << bits.gpu_flags.present, 1 << bits.gpu_flags.off_the_bus];
const IN_USE = 1 << bits.gpu_flags.in_use;

/** How a quantity becomes a field: times a factor, as u8, u16, u32 or i16. */
const LEVELS: readonly [
  quantity: (typeof QUANTITIES)[number],
  offset: number,
  set: 'setUint16' | 'setInt16' | 'setUint32',
  factor: number,
][] = [
  ['cpu', at('cpu_busy_pm'), 'setUint16', 10],
  ['cpu', at('load1_c'), 'setUint32', CPUS],
  ['cpu', inside('group', 'busy_pm'), 'setUint16', 10],
  ['mhz', inside('group', 'mhz'), 'setUint16', 1],
  ['temp', at('temp_hottest_dc'), 'setInt16', 10],
  ['pressure_cpu', at('psi_cpu_some10'), 'setUint16', 100],
  ['pressure_mem', at('psi_mem_some10'), 'setUint16', 100],
  ['pressure_io', at('psi_io_some10'), 'setUint16', 100],
  ['link_speed', inside('net', 'mbps'), 'setUint32', 1],
  ['fabric_speed', inside('fabric', 'mbps'), 'setUint32', 1],
  ['throttle_events', at('throttle_events'), 'setUint32', 1],
  ['edac_ce', at('edac_ce'), 'setUint32', 1],
  ['edac_ue', at('edac_ue'), 'setUint32', 1],
];
/** Rates, which become counters. */
const COUNTERS: readonly [quantity: (typeof QUANTITIES)[number], offset: number, part: number][] = [
  ['net', inside('net', 'rx_bytes'), 0.5],
  ['net', inside('net', 'tx_bytes'), 0.5],
  ['net', inside('net', 'rx_packets'), 0.0005],
  ['net', inside('net', 'tx_packets'), 0.0005],
  ['fabric', inside('fabric', 'rx_bytes'), 0.5],
  ['fabric', inside('fabric', 'tx_bytes'), 0.5],
  ['disk', at('disk_read_bytes'), 0.3],
  ['disk', at('disk_write_bytes'), 0.7],
  ['swapping', at('swapin_pages'), 0.5],
  ['swapping', at('swapout_pages'), 0.5],
];
const placeOf = (quantity: (typeof QUANTITIES)[number]) => QUANTITIES.indexOf(quantity);
const [CPU, GPU, POWER, GPU_TEMP, GPUS_UP] = (['cpu', 'gpu_util', 'gpu_power', 'gpu_temp', 'gpus_up'] as const).map(
  placeOf,
) as [number, number, number, number, number];

/** A job, with the numbers of its nodes: `first` and those after it. */
interface Placed {
  readonly kind: JobKind;
  readonly first: number;
  readonly size: number;
  readonly odd: Fault | undefined;
  id: number;
  job: SimulatedJob;
  startMs: number;
  movedMs: number;
}

export class JobWork implements Work {
  readonly #jobs: Placed[] = [];
  readonly #jobOf: (Placed | undefined)[];
  readonly #seconds: number;
  readonly #random: () => number;
  #nextId = 4711;

  /** `count` nodes with so many jobs, or as many as have room; `odd`: what is wrong with a node of the first. */
  constructor(
    readonly count: number,
    jobs: number,
    intervalMs: number,
    seed: number,
    odd: readonly Fault[],
    nowMs: number,
  ) {
    this.#seconds = intervalMs / 1000;
    this.#random = random(seed + 2);
    this.#jobOf = Array.from({ length: count }, () => undefined);
    const busy = count - Math.floor(count / IDLE);
    for (let i = 0, first = 0; i < jobs && first < busy; i++) {
      const size = Math.min(SIZES[i % SIZES.length] as number, busy - first);
      // A job that is to have a fault of GPUs needs nodes with GPUs: it is a training.
      const kind = odd[i]?.startsWith('gpu') ? 'training' : (KINDS[i % KINDS.length] as JobKind);
      const fixed = { kind, first, size, odd: odd[i] };
      const placed = { ...fixed, ...this.#begin(fixed, nowMs, true) };
      this.#jobs.push(placed);
      this.#jobOf.fill(placed, first, first + size);
      first += size;
    }
  }

  /** `isOld`: it has run for hours, so that it can be judged at once. */
  #begin({ kind, size, odd }: Pick<Placed, 'kind' | 'size' | 'odd'>, nowMs: number, isOld = false) {
    const job = new SimulatedJob(kind, size, Math.floor(this.#random() * 2 ** 32));
    // It is odd from the begin, so that whoever looks sees it at once.
    job.fail(Math.min(2, size - 1), odd);
    const ranS = isOld ? Math.min(job.lifeS / 2, 3600) : 0;
    if (isOld) for (let s = 0; s < ranS; s += 5) job.step(5);
    return { id: this.#nextId++, job, startMs: nowMs - ranS * 1000, movedMs: nowMs };
  }

  begin(index: number): { valid: bigint; fields: Encodable<'report'> } {
    const hasGpus = this.#jobOf[index]?.kind === 'training';
    return {
      valid: VALID | (hasGpus ? GPU_VALID : 0n),
      fields: {
        groups: 1,
        mem_avail_mib: 120_000,
        mem_free_mib: 90_000,
        group: [{ cpus: CPUS, mhz: 1200 }],
        hw_hash: hasGpus ? 0x5ca1_ab1e : 0x0dd_ba11,
        fabric: { name: 'fabric', mbps: 200_000, state: 0x1_0003 },
        ...(hasGpus && {
          ...{ gpu_count: GPUS, gpu_vendor: 1, gpu_flags: Array.from({ length: GPUS }, () => PRESENT) },
          gpu: Array.from({ length: GPUS }, () => ({ mem_total_mib: 81_920 })),
        }),
      },
    };
  }

  write(view: DataView, base: number, index: number, nowMs: number): void {
    const placed = this.#jobOf[index];
    if (placed === undefined) {
      this.#idle(view, base);
      return;
    }
    if (nowMs - placed.movedMs >= 1000 * this.#seconds - 1) this.#step(placed, nowMs);
    const { values } = placed.job;
    const own = (index - placed.first) * Q;
    for (const [quantity, offset, set, factor] of LEVELS) {
      const value = values[own + placeOf(quantity)] as number;
      if (!Number.isNaN(value)) view[set](base + offset, Math.max(0, Math.round(value * factor)), true);
    }
    for (const [quantity, offset, part] of COUNTERS)
      add(
        view,
        base + offset,
        Math.round(Math.max(0, values[own + placeOf(quantity)] as number) * part * this.#seconds),
      );
    this.#spend(view, base, (values[own + CPU] as number) / 100);
    if (placed.kind === 'training') this.#gpus(view, base, values, own);
  }

  #step(placed: Placed, nowMs: number): void {
    placed.job.step(this.#seconds);
    placed.movedMs = nowMs;
    if (placed.job.ageS < placed.job.lifeS) return;
    Object.assign(placed, this.#begin(placed, nowMs));
  }

  #idle(view: DataView, base: number): void {
    view.setUint16(base + at('cpu_busy_pm'), 4, true);
    view.setUint32(base + at('load1_c'), 10, true);
    view.setUint16(base + inside('group', 'mhz'), 1200, true);
    view.setInt16(base + at('temp_hottest_dc'), 360, true);
    view.setUint32(base + inside('net', 'mbps'), 25_000, true);
    this.#spend(view, base, 0.004);
  }

  #spend(view: DataView, base: number, busy: number): void {
    const ms = this.#seconds * 1000 * CPUS;
    add(view, base + at('cpu_user_ms'), Math.round(busy * 0.95 * ms));
    add(view, base + at('cpu_system_ms'), Math.round(busy * 0.05 * ms));
    add(view, base + at('cpu_idle_ms'), Math.round((1 - busy) * ms));
    view.setUint16(base + at('power_node_w'), Math.round(220 + 480 * busy), true);
    add(view, base + at('energy_cpu_mj'), Math.round((150 + 350 * busy) * this.#seconds) * 1000);
  }

  #gpus(view: DataView, base: number, values: Float64Array, own: number): void {
    const [use = 0, power = 0, temp = 0, up = 0] = [GPU, POWER, GPU_TEMP, GPUS_UP].map(q => values[own + q] as number);
    const isKnown = !Number.isNaN(power);
    for (let i = 0; i < GPUS; i++) {
      const entry = base + i * structs.gpu_slot.bytes;
      const isUp = !isKnown || i < up;
      view.setUint8(base + at('gpu_flags') + i, isUp ? PRESENT | (use > 0 ? IN_USE : 0) : GONE);
      view.setUint8(entry + inside('gpu', 'util_pct'), isUp ? use : 0);
      view.setUint8(entry + inside('gpu', 'temp_degc'), isKnown ? temp - (i === 0 ? 0 : 3) : 30);
      view.setUint16(entry + inside('gpu', 'power_w'), isUp && isKnown ? Math.round(power / up) : 0, true);
      view.setUint32(entry + inside('gpu', 'mem_used_mib'), isUp ? Math.round(800 * use) : 0, true);
    }
    view.setUint8(base + at('gpu_busy'), use > 0 ? up : 0);
  }

  /**
   * The file of a scheduler that has these jobs. `monoMs` and `nowMs`: the same moment, of `write` and since 1970; `beside`: a node
   * that it knows and gives no jobs.
   */
  text(nameOf: (index: number) => string, everyS: number, monoMs: number, nowMs: number, beside = ''): string {
    const lines: object[] = [{ schema: 1, scheduler: 'the simulation', cluster: 'simulated', every_s: everyS }];
    if (beside !== '') lines.push({ node: beside, state: 'login', cpus: 0 });
    for (let i = 0; i < this.count; i++) {
      const placed = this.#jobOf[i];
      const gpus = placed?.kind === 'training' ? { gpus: GPUS, gpus_used: GPUS } : {};
      const state = placed === undefined ? 'idle' : 'allocated';
      lines.push({ node: nameOf(i), state, cpus: CPUS, cpus_used: placed === undefined ? 0 : CPUS, ...gpus });
    }
    for (const { id, kind, first, size, startMs } of this.#jobs)
      lines.push({
        ...{ job: String(id), user: USERS[id % USERS.length], name: kind, cpus: size * CPUS },
        nodes: Array.from({ length: size }, (_, i) => nameOf(first + i)).join(','),
        start_s: Math.floor((nowMs - (monoMs - startMs)) / 1000),
      });
    lines.push({ end: true });
    return lines.map(line => `${json(line)}\n`).join('');
  }
}
