// A cluster in memory for the bridge: a board and a Slurm that do what a test says, with simulated time. No test of its
// own.

import { match } from '../../src/schedulerfile/matching.js';
import { type Controller, type HoldOrder, NoAnswer, type OrderedNode } from '../../src/schedulerfile/scheduler.js';
import type { BoardLook, SeenLink, SeenNode } from '../../src/schedulers/bridge/boardlook.js';
import type { BridgeContext, Settings } from '../../src/schedulers/bridge/context.js';
import { type BridgeJournal, readLines } from '../../src/schedulers/bridge/journal.js';
import { Ledger } from '../../src/schedulers/bridge/ownership.js';
import type { BridgeRecord } from '../../src/schedulers/bridge/records.js';
import type { Policy, Situation } from '../../src/schedulers/bridge/rules.js';
import { Bridge } from '../../src/schedulers/bridge/tick.js';
import { meaningOf } from '../../src/schedulers/slurm/nodestate.js';
import { orderedNode, slurmOrders } from '../../src/schedulers/slurm/orders.js';

export const POLICY: Policy = {
  drainAfterMs: 30_000,
  resumeAfterMs: 120_000,
  drainUnhealthy: [],
  unsigned: false,
  witness: false,
  groupOf: () => undefined,
};

const SILENT_AFTER_MS = 10_500;
/** 20 November 2026, 12:00:00 UTC. */
const NOON_MS = Date.UTC(2026, 10, 20, 12);

/** A node that is live, and always was. */
export function seenNode(name: string, more: Partial<SeenNode> = {}): SeenNode {
  return {
    name,
    state: 'live',
    bootId: '00000000000000aa',
    reports: 1000,
    lost: 0,
    unheardMs: 300,
    silentForMs: 300 - SILENT_AFTER_MS,
    lastRealMs: NOON_MS - 300,
    link: 1,
    isProved: true,
    ...{ problems: [], unsettled: [], unknown: [] },
    ...more,
  };
}

/** A node that has been silent for so many seconds. */
export function silentNode(name: string, seconds: number, more: Partial<SeenNode> = {}): SeenNode {
  const unheardMs = seconds * 1000 + SILENT_AFTER_MS;
  return seenNode(name, {
    state: 'silent',
    unheardMs,
    silentForMs: seconds * 1000,
    lastRealMs: NOON_MS - unheardMs,
    ...more,
  });
}

export function slurmNode(name: string, state = 'IDLE', more: Partial<OrderedNode> = {}): OrderedNode {
  const daemon_start_s = NOON_MS / 1000 - 86_400;
  return orderedNode({ name, state, ...meaningOf(state), cpus: 4, daemon_start_s, ...more });
}

export const ETH0: SeenLink = { name: 'eth0' };

/** Everything that a decision depends on, for these nodes. */
export function situationOf(
  seen: readonly SeenNode[],
  slurm: readonly OrderedNode[],
  more: Partial<Omit<Situation, 'board'>> & { board?: Partial<BoardLook> } = {},
): Situation {
  const { board, ...rest } = more;
  const nodes = new Map(seen.map(node => [node.name, node] as const));
  return {
    policy: POLICY,
    board: { heartbeatAgeMs: 50, opened: 1, links: new Map([[1, ETH0]]), ...board, nodes },
    slurm: new Map(slurm.map(node => [node.name, node] as const)),
    matched: match(slurm, [...nodes.keys()]),
    ledger: new Ledger(),
    watched: new Map(),
    watchingSinceMs: 0,
    monoMs: 1_000_000,
    nowMs: NOON_MS,
    requested: new Set<string>(),
    ...rest,
  };
}

/** Thrown at the point at which the bridge is to be killed. */
class Killed extends Error {}

/** A journal that is kept as text, and parsed again from text. */
class Lines implements BridgeJournal {
  readonly ledger: Ledger;

  constructor(readonly cluster: Cluster) {
    this.ledger = readLines(cluster.journal, 'journal').ledger;
  }

  isThere(): boolean {
    return this.cluster.hasJournal;
  }

  write(entries: readonly BridgeRecord[]): void {
    for (const entry of entries) {
      this.cluster.point();
      const timed = { ...entry, time_ms: this.cluster.nowMs };
      const line = `${JSON.stringify(timed)}\n`;
      // Killed in the middle of a line.
      if (this.cluster.killAt === this.cluster.points) this.cluster.journal += line.slice(0, line.length / 2);
      this.cluster.point();
      this.cluster.journal = this.cluster.journal.slice(0, this.cluster.journal.lastIndexOf('\n') + 1) + line;
      this.ledger.apply(timed);
    }
  }
}

/** The real state of a node. */
interface Real {
  /** What its reports say of problems; absent: that it has none. */
  says?: Partial<Pick<SeenNode, 'problems' | 'unsettled' | 'unknown'>>;
  /** The time since which it does not report, by CLOCK_MONOTONIC; undefined: it reports. */
  silentSince?: number | undefined;
  boot: number;
  reports: number;
  slurmdStartMs: number;
  isSlurmdUp: boolean;
  state: string;
  reason?: string | undefined;
}

/** Board, Slurm, clocks, and an administrator, as a test sets them. */
export class Cluster {
  readonly nodes = new Map<string, Real>();
  monoMs = 5_000_000;
  nowMs = NOON_MS;
  journal = '';
  readonly orders: string[] = [];
  readonly printed: string[] = [];
  readonly log: string[] = [];
  board: { trouble?: string | undefined; opened: number; links: Map<number, SeenLink> } = {
    opened: 1,
    links: new Map([[1, ETH0]]),
  };
  policy: Policy = POLICY;
  /** When its slurmctld was started, s since 1970. */
  startedS = NOON_MS / 1000 - 3600;
  primary: string | undefined;
  isSlurmSilent = false;
  /** As Slurm does from 23.11 on without slurmdbd. */
  keepsReasons = false;
  isOnly = true;
  hasJournal = true;
  stop: AbortSignal | undefined;
  killSwitch = '/nonexistent/off';
  /** Whether requests are why its ticks are now. */
  isEarly = false;
  /**
   * What happens to the next order: it is done; it is reported as done, but is not; it is done, but reported as failed.
   */
  next: 'done' | 'lost' | 'unsaid' = 'done';
  /** Called when an order is prepared: it is written down, and the last look comes afterwards. */
  beforeLastLook: () => void = () => undefined;
  /** Called before each order, after all queries. */
  beforeOrder: () => void = () => undefined;
  /** The points passed so far at which a bridge may be killed, and the one at which it is. */
  points = 0;
  killAt = -1;
  #bridge: Bridge | undefined;

  constructor(count: number) {
    for (let i = 1; i <= count; i++)
      this.nodes.set(`n${i}`, {
        boot: 1,
        reports: 1000,
        slurmdStartMs: NOON_MS - 86_400_000,
        isSlurmdUp: true,
        state: 'IDLE',
      });
  }

  point(): void {
    if (this.killAt === this.points++) throw new Killed();
  }

  node(name: string): Real {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`there is no ${name}`);
    return node;
  }

  // ---- what happens ----

  /** The machine dies. */
  kill(name: string): void {
    this.node(name).silentSince ??= this.monoMs;
    this.node(name).isSlurmdUp = false;
  }

  /** It comes back; `boots`: after a reboot. */
  revive(name: string, boots = true): void {
    const node = this.node(name);
    node.silentSince = undefined;
    node.isSlurmdUp = true;
    if (boots) [node.boot, node.slurmdStartMs] = [node.boot + 1, this.nowMs];
  }

  /** What an administrator sets with scontrol. */
  admin(name: string, state: string, reason?: string): void {
    Object.assign(this.node(name), { state, reason });
  }

  /** slurmctld starts again, and has forgotten all drains, reasons and jobs. */
  forget(): void {
    this.startedS = this.nowMs / 1000;
    for (const node of this.nodes.values()) Object.assign(node, { state: 'IDLE', reason: undefined });
  }

  // ---- what is seen ----

  look(): BoardLook {
    const nodes = [...this.nodes].map(([name, { silentSince, boot, reports, says }]) => {
      const bootId = boot.toString(16).padStart(16, '0');
      const unheardMs = silentSince === undefined ? 300 : this.monoMs - silentSince;
      const state =
        unheardMs <= 4500
          ? ('live' as const)
          : unheardMs <= SILENT_AFTER_MS
            ? ('uncertain' as const)
            : ('silent' as const);
      const lastRealMs = this.nowMs - unheardMs;
      const silentForMs = unheardMs - SILENT_AFTER_MS;
      return [name, seenNode(name, { state, bootId, reports, unheardMs, silentForMs, lastRealMs, ...says })] as const;
    });
    return { heartbeatAgeMs: 50, ...this.board, nodes: new Map(nodes) };
  }

  /** What was listed of nodes that nothing has been said of; most stay so. */
  readonly #usual = new Map<string, OrderedNode>();

  listed(name: string): OrderedNode {
    const { state, reason, slurmdStartMs, isSlurmdUp } = this.node(name);
    const usual = `${name} ${slurmdStartMs}`;
    const isUsual = state === 'IDLE' && reason === undefined;
    const before = isUsual ? this.#usual.get(usual) : undefined;
    if (before !== undefined) return before;
    const down = state.startsWith('DOWN') && !isSlurmdUp ? '+NOT_RESPONDING' : '';
    const node = slurmNode(name, `${state}${down}`, {
      cpus_used: /^(?:MIXED|ALLOCATED)/.test(state) ? 1 : undefined,
      reason,
      reason_s: reason === undefined ? undefined : this.nowMs / 1000,
      daemon_start_s: Math.floor(slurmdStartMs / 1000),
    });
    if (isUsual) this.#usual.set(usual, node);
    return node;
  }

  get slurm(): Controller {
    const answer = async <T>(value: () => T): Promise<T> => {
      this.point();
      if (this.isSlurmSilent) throw new NoAnswer('scontrol took longer than 5.0s');
      return value();
    };
    const node = (name: string) =>
      answer(() => {
        // Like scontrol: an error instead of an empty answer.
        if (!this.nodes.has(name)) throw new NoAnswer(`Node ${name} not found`);
        return this.listed(name);
      });
    const { lineOf, asHeld } = slurmOrders();
    return {
      lineOf,
      asHeld,
      nodes: () => answer(() => new Map([...this.nodes.keys()].map(name => [name, this.listed(name)] as const))),
      node,
      readBack: node,
      notPrimary: () => answer(() => this.primary),
      startedS: () => answer(() => this.startedS),
      prepare: () => {
        this.beforeLastLook();
        return { order: order => this.#order(order), drop: async () => this.point() };
      },
    };
  }

  async #order({ act, node: name, reason }: HoldOrder) {
    this.beforeOrder();
    this.point();
    const node = this.node(name);
    this.orders.push(`${act} ${name}`);
    const how = this.next;
    this.next = 'done';
    if (how !== 'lost') {
      if (act === 'drain') Object.assign(node, { state: `${node.state}+DRAIN`, reason });
      else {
        node.state = node.state.replace('+DRAIN', '');
        if (!node.state.startsWith('DOWN') && !this.keepsReasons) node.reason = undefined;
      }
    }
    this.point();
    return how === 'unsaid' ? { rc: null, said: 'scontrol took longer than 5.0s' } : { rc: 0, said: '' };
  }

  // ---- the bridge ----

  /** Starts a bridge with the existing journal. */
  begin(more: Partial<Settings> = {}): void {
    const world: BridgeContext = {
      slurm: this.slurm,
      lookAtAll: () => this.look(),
      lookAtOne: name => {
        const board = this.look();
        return { ...board, nodes: new Map([...board.nodes].filter(([other]) => other === name)) };
      },
      isOnly: () => this.isOnly,
      monoMs: () => this.monoMs,
      nowMs: () => this.nowMs,
    };
    const settings: Settings = {
      ...{ policy: this.policy, exceptions: {}, killSwitch: this.killSwitch, requests: undefined, isRehearsal: false },
      ...more,
    };
    const say = (line: string) => void this.log.push(line);
    const log = { info: say, warn: say, error: say, seldom: (_: string, line: string) => say(line) };
    this.#bridge = new Bridge(world, settings, new Lines(this), log, line => this.printed.push(line));
  }

  /** Lets so many seconds pass, with a tick every five; a bridge that is killed in between is started again. */
  async pass(seconds: number): Promise<void> {
    for (let s = 0; s < seconds; s += 5) {
      this.monoMs += 5000;
      this.nowMs += 5000;
      for (const node of this.nodes.values()) if (node.silentSince === undefined) node.reports += 5;
      try {
        if (this.#bridge === undefined) this.begin();
        await this.#bridge?.tick(this.stop, this.isEarly);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.killAt = -1;
        this.#bridge = undefined;
      }
    }
  }

  async giveAllBack(): Promise<string[]> {
    return (await this.#bridge?.giveAllBack()) ?? [];
  }

  /** All entries of the journal of one kind. */
  entries(what: BridgeRecord['what']): BridgeRecord[] {
    return readLines(this.journal, 'journal').entries.filter(entry => entry.what === what);
  }
}
