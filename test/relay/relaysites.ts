// Two complete sites of real programs: three NATS servers, each with its own network, a leaf at the other site, two
// masters with their relays, a mirror at each site; and nodes whose send times are recorded. No test of its own: it
// runs in its own network namespace (lib's inOwnNetwork).

import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mirrorOf } from '../../src/shm/header.js';
import type { State } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { monotonicNs } from '../kit/clocks.js';
import { filled, serve } from '../kit/natsservers.js';
import { Namespace } from '../kit/netns.js';
import { folder, type Teardown } from '../kit/places.js';
import { type Running, run } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { startIn } from '../kit/sampler.js';

const CLUSTER = 'alpha';
const SECOND = 1_000_000_000n;
/** The longest time from a node's send() to a receiver's socket, on one machine. */
const UNDER_WAY_NS = 20_000_000n;

/** A program that can be killed, frozen, and started again. */
export interface Part {
  readonly name: string;
  /** Whether it runs, is frozen or was killed. */
  state: 'runs' | 'frozen' | 'killed';
  kill(): void;
  /** Asks it to end cleanly; `mend` starts it again. */
  end(): void;
  freeze(): void;
  /** Makes it run again, whatever was done to it. */
  mend(): void;
}

/** Makes a part of a running program; `again` starts the program again. */
function partOf(name: string, first: { kill(signal: NodeJS.Signals): unknown }, again: () => typeof first): Part {
  let child = first;
  const part: Part = {
    name,
    state: 'runs',
    kill: () => {
      child.kill('SIGKILL');
      part.state = 'killed';
    },
    end: () => {
      child.kill('SIGTERM');
      part.state = 'killed';
    },
    freeze: () => {
      child.kill('SIGSTOP');
      part.state = 'frozen';
    },
    mend: () => {
      if (part.state === 'frozen') child.kill('SIGCONT');
      if (part.state === 'killed') child = again();
      part.state = 'runs';
    },
  };
  return part;
}

// ---- nodes ----

/** A node: while it is alive, it sends to all masters that it can reach. */
interface Sender {
  readonly name: string;
  dead: boolean;
  /** The numbers of these masters. */
  to: readonly number[];
  seq: number;
  /** The time of each sending. */
  readonly sentNs: bigint[];
  dueNs: bigint;
}

class Fleet {
  readonly senders: Sender[] = [];
  readonly #socket = createSocket('udp4');
  readonly #timer: NodeJS.Timeout;

  constructor(
    t: Teardown,
    readonly ports: readonly number[],
  ) {
    this.#timer = setInterval(() => this.#step(), 25);
    t.teardown(() => {
      clearInterval(this.#timer);
      this.#socket.close();
    });
  }

  add(names: readonly string[], to: readonly number[]): void {
    const now = monotonicNs();
    for (const [i, name] of names.entries()) {
      const dueNs = now + (SECOND * BigInt(i)) / BigInt(names.length);
      this.senders.push({ name, dead: false, to, seq: 0, sentNs: [], dueNs });
    }
  }

  #step(): void {
    for (const sender of this.senders) {
      const now = monotonicNs();
      if (now < sender.dueNs) continue;
      sender.dueNs = sender.dueNs + SECOND > now ? sender.dueNs + SECOND : now + SECOND;
      if (sender.dead) continue;
      sender.seq++;
      const real = BigInt(Date.now()) * 1_000_000n;
      const times = { t_boot_ns: now, t_real_ns: real, start_boot_ns: 1n };
      const report = makeReport({ hostname: sender.name, seq: sender.seq, boot_id: 77n, ...times }, CLUSTER);
      // Recorded before any master can receive it.
      if (sender.to.length > 0) sender.sentNs.push(monotonicNs());
      for (const master of sender.to) this.#socket.send(report, this.ports[master] as number, '127.0.0.1');
    }
  }
}

// ---- mirrors ----

/** A false state on a mirror. */
interface Wrong {
  readonly mirror: string;
  readonly node: string;
  readonly state: State;
  /** The age of its last report: at the board's heartbeat if it was called silent, and now if it was called live. */
  readonly ageMs: number;
}

/** What a mirror shows. */
interface Look {
  readonly states: Map<string, State>;
  readonly master: string | undefined;
  /** The other masters whose relays are heard. */
  readonly heard: readonly string[];
  readonly vetoed: number;
  readonly heartbeatNs: bigint;
}

/**
 * A mirror as its readers see it, and its false states: a node that sends must not be silent, and one that does not
 * must not be live.
 */
export class Watched {
  readonly reader: BoardReader;
  readonly wrong: Wrong[] = [];
  readonly looks = { known: 0, unknown: 0 };
  /** How many states of nodes were looked at, by state. */
  readonly states: Partial<Record<State, number>> = {};
  /** The longest age of the heartbeat in ms, since this was last set to 0. */
  longestMs = 0;

  constructor(
    t: Teardown,
    readonly name: string,
    readonly board: string,
    readonly fleet: Fleet,
    readonly limits: { uncertainMs: number; silentMs: number },
  ) {
    this.reader = new BoardReader(board);
    t.teardown(() => this.reader.close());
  }

  /** Undefined: the mirror is stalled or was replaced. */
  look(): Look | undefined {
    const snapshot = this.reader.snapshot();
    const { nowNs, heartbeatNs } = snapshot.evidence;
    this.longestMs = Math.max(this.longestMs, snapshot.heartbeatAgeMs ?? 0);
    if (snapshot.stalled || snapshot.retired) {
      this.looks.unknown++;
      return undefined;
    }
    this.looks.known++;
    const states = new Map<string, State>();
    for (const { name, state } of snapshot.nodes()) {
      states.set(name, state);
      this.states[state] = (this.states[state] ?? 0) + 1;
      const sender = this.fleet.senders.find(other => other.name === name);
      if (sender === undefined) continue;
      // A silent node was not heard during the limit before that heartbeat, except for reports that were still on the
      // way.
      const byNs = state === 'silent' ? heartbeatNs - UNDER_WAY_NS : nowNs;
      const sentNs = sender.sentNs.findLast(ns => ns <= byNs);
      const ageMs = sentNs === undefined ? Number.POSITIVE_INFINITY : Number(byNs - sentNs) / 1e6;
      // 10 ms of tolerance, because the stamps have whole ms.
      const isWrong =
        state === 'silent'
          ? ageMs < this.limits.silentMs - Number(UNDER_WAY_NS) / 1e6
          : state === 'live' && ageMs > this.limits.uncertainMs + 10;
      if (isWrong) this.wrong.push({ mirror: this.name, node: name, state, ageMs });
    }
    const of = mirrorOf(snapshot);
    return { states, master: of?.master, heard: of?.others ?? [], vetoed: of?.vetoed ?? 0, heartbeatNs };
  }

  /** The number of nodes in each state; empty: the mirror is stalled or was replaced. */
  counts(): Partial<Record<State, number>> {
    const counts: Partial<Record<State, number>> = {};
    for (const state of this.look()?.states.values() ?? []) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }
}

// ---- all of it ----

const HUBS = ['hub1', 'hub2', 'hub3'];
const addressOf = (n: number) => `10.87.0.${n}`;
const HOME = 10;
const AWAY = 20;

interface SitesOptions {
  readonly uncertainMs?: number;
  readonly silentMs?: number;
}

export class Sites {
  readonly servers: Part[] = [];
  readonly receivers: Part[] = [];
  readonly relays: Part[] = [];
  readonly mirrors: Part[] = [];
  readonly watched: Watched[] = [];
  readonly boards: string[] = [];
  /** Places that can be cut off from all others: the networks of the servers, and the other site. */
  readonly places = [...HUBS, 'away'];
  readonly cutOff = new Set<string>();
  /** The programs by name, with their output; one entry for each run. */
  readonly written: { name: string; running: Running }[] = [];

  private constructor(
    readonly fleet: Fleet,
    readonly bridge: Namespace,
  ) {}

  static async make(t: Teardown, { uncertainMs = 4500, silentMs = 10_500 }: SitesOptions = {}): Promise<Sites> {
    const at = folder(t);
    const ports = [9101, 9102];
    const bridge = await Namespace.make(t);
    const sites = new Sites(new Fleet(t, ports), bridge);
    bridge.ip('link add lan type bridge', 'link set lan up');
    const place = async (name: string, address: string) => {
      const namespace = await Namespace.make(t);
      bridge.ip(
        `link add ${name} type veth peer name eth0 netns ${namespace.pid}`,
        `link set ${name} master lan`,
        `link set ${name} up`,
      );
      namespace.ip(`addr add ${address}/24 dev eth0`, 'link set eth0 up');
      return namespace;
    };
    const [home, away, ...hubs] = await Promise.all([
      place('home', addressOf(HOME)),
      place('away', addressOf(AWAY)),
      ...HUBS.map((name, i) => place(name, addressOf(i + 1))),
    ]);
    const server = (name: string, namespace: Namespace, config: string) => {
      const server = serve(t, at, name, 4222, config, namespace.prefix);
      const again = () => {
        server.restart();
        return server.child;
      };
      sites.servers.push(partOf(name, server.child, again));
    };
    for (const [i, name] of HUBS.entries()) {
      const routes = HUBS.flatMap((_, k) => (k === i ? [] : [`nats-route://${addressOf(k + 1)}:6222`]));
      const config = filled('server.conf', [
        [/<m1>/, name],
        [/<nats-route:[^>]*>, <nats-route:[^>]*>/, routes.join(', ')],
      ]).replaceAll(/<(0\.0\.0\.0:\d+)>/g, '$1');
      server(name, hubs[i] as Namespace, config);
    }
    const leafConfig = filled('leaf.conf', [
      [/<away>/, 'away'],
      [/<127\.0\.0\.1:4222>/, '127.0.0.1:4222'],
      [/<"nats-leaf:[^>]*>/, `"nats-leaf://leaf-away:leaf-password@${addressOf(1)}:7422"`],
      [/<"nats-leaf:[^>]*>/, `"nats-leaf://leaf-away:leaf-password@${addressOf(2)}:7422"`],
    ]);
    server('leaf', away as Namespace, leafConfig);

    const program = (name: string, argv: string[], prefix: readonly string[], parts: Part[]) => {
      const once = () => {
        const running = startIn(t, { prefix }, argv);
        // It may be killed before it is ready.
        running.exit.catch(() => undefined);
        sites.written.push({ name, running });
        return running;
      };
      const first = once();
      parts.push(partOf(name, first.child, () => once().child));
      return first;
    };
    const toHubs = HUBS.flatMap((_, i) => ['--nats', `nats://${addressOf(i + 1)}:4222`]);
    const ready: Promise<unknown>[] = [];
    for (const [i, name] of ['m1', 'm2'].entries()) {
      const board = join(at, name, 'board');
      sites.boards.push(board);
      const limits = ['--uncertain-after', `${uncertainMs}ms`, '--silent-after', `${silentMs}ms`];
      const argv = ['receive', '--board', board, '--listen', `127.0.0.1:${ports[i]}`, '--cluster', CLUSTER, ...limits];
      ready.push(program(`receiver ${name}`, [...argv, '--capacity', '64'], [], sites.receivers).ready);
    }
    await Promise.all(ready);
    const login = (who: string, text: string) => {
      const path = join(at, `${who}.login`);
      writeFileSync(path, `${text}\n`, { mode: 0o600 });
      return ['--nats-login', path];
    };
    for (const [i, name] of ['m1', 'm2'].entries()) {
      const key = join(at, `${name}.key`);
      const made = await run(['keygen', '--relay', key]);
      if (made.code !== 0) throw new Error(made.stderr);
      const argv = [
        'relay',
        '--board',
        sites.boards[i] as string,
        '--site',
        'home',
        '--master',
        name,
        '--key-file',
        key,
      ];
      const as = login(`relay-${name}`, `relay-${name}:relay-${name}-password`);
      program(`relay ${name}`, [...argv, ...toHubs, ...as], (home as Namespace).prefix, sites.relays);
    }
    const trust = ['m1', 'm2'].flatMap(name => ['--trust', `${name}=${join(at, `${name}.key.pub`)}`]);
    for (const name of ['home', 'away']) {
      const board = join(at, `mirror-${name}`, 'board');
      const servers = name === 'home' ? toHubs : ['--nats', 'nats://127.0.0.1:4222'];
      const argv = ['mirror', '--board', board, '--site', 'home', '--cluster', CLUSTER, ...trust, '--name', 'login1'];
      const as = login(`mirror-${name}`, 'mirror-login1:mirror-password');
      const prefix = (name === 'home' ? home : away) as Namespace;
      await program(`mirror ${name}`, [...argv, ...servers, ...as], prefix.prefix, sites.mirrors).ready;
      sites.watched.push(new Watched(t, name, board, sites.fleet, { uncertainMs, silentMs }));
    }
    return sites;
  }

  /** Drops all traffic from and to a place; nobody gets an error. */
  cut(place: string): void {
    this.bridge.ip(`link set ${place} down`);
    this.cutOff.add(place);
  }

  join(place: string): void {
    this.bridge.ip(`link set ${place} up`);
    this.cutOff.delete(place);
  }

  /** All output of a program, from all its runs. */
  said(name: string): string {
    const runs = this.written.filter(other => other.name === name);
    return runs.map(({ running }) => running.output().stderr).join('');
  }
}
