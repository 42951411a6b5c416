// A master, its network and a cluster of nodes in a test's own namespaces: interfaces that go down, come back and are
// made again, and a program that asks libbeoboard about each node and prints every change. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { bits, enums } from '../../src/layout/layout.gen.js';
import type { State } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { endWith } from './children.js';
import { testProgram } from './compiling.js';
import { boardPath } from './places.js';
import type { Running } from './program.js';
import { MS, now, S, type Surroundings, startIn } from './sampler.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

interface Test extends Teardown {
  same(found: unknown, wanted: unknown, ...more: [string]): boolean;
}

/** Why no test with namespaces can run here; in CI they are required. */
export function noNamespaces(): string | false {
  const tried = spawnSync('unshare', ['-n', 'ip', 'link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1'], {
    encoding: 'utf8',
  });
  if (tried.status === 0 || process.env.CI === 'true') return false;
  return `no network namespaces with veth here: ${(tried.stderr || String(tried.error)).trim()}`;
}

/** Whether this kernel also has interfaces of this kind. */
export function lacksKind(...words: string[]): string | false {
  const below = words[0] === 'vlan' ? ['link', 'lo'] : [];
  const tried = spawnSync('unshare', ['-n', 'ip', 'link', 'add', ...below, 'x0', 'type', ...words], {
    encoding: 'utf8',
  });
  return tried.status !== 0 && `this kernel has no interfaces of type ${words[0]}: ${tried.stderr.trim()}`;
}

// ---- namespaces ----

/** A network namespace; it ends with the process that holds it, which always ends with this one. */
export class Namespace {
  private constructor(readonly pid: number) {}

  static async make(t: Teardown): Promise<Namespace> {
    const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exit = once(holder, 'close');
    t.teardown(async () => {
      holder.stdin.end();
      await exit;
    });
    await once(holder.stdout, 'data');
    const namespace = new Namespace(holder.pid as number);
    namespace.ip('link set lo up');
    return namespace;
  }

  /** The prefix of a command that runs in it. */
  get prefix(): string[] {
    return ['nsenter', '-t', String(this.pid), '-n', '--'];
  }

  #run(argv: string[], input = ''): string {
    const [command = '', ...args] = [...this.prefix, ...argv];
    const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${argv.join(' ')}: ${error ?? stderr}\n${input}`);
    return stdout;
  }

  /** Runs several ip commands; returns the times before and after. */
  ip(...commands: string[]): [before: number, after: number] {
    const before = now();
    this.#run(['ip', '-batch', '-'], `${commands.join('\n')}\n`);
    return [before, now()];
  }

  sh(script: string): string {
    return this.#run(['sh', '-ec', script]);
  }
}

/**
 * A pair of interfaces with the same name, on the master and in the nodes' namespace: number n is v<n>, 10.86.n.0/24
 * and fd86:n::/64.
 */
export const interfaceOf = (n: number): string => `v${n}`;
export const masterAt = (n: number): string => `10.86.${n}.1`;
export const masterAt6 = (n: number): string => `fd86:${n}::1`;
const mac = (side: number, n: number) => `02:86:00:00:0${side}:${n.toString(16).padStart(2, '0')}`;

/**
 * The commands that make a pair, on the master's side and on the nodes' side. The nodes get fixed neighbour entries for
 * the master, so that they never have to resolve it.
 */
function pair(n: number, far: Namespace): { master: string[]; far: string[] } {
  const v = interfaceOf(n);
  return {
    master: [
      `link add ${v} address ${mac(1, n)} type veth peer name ${v} address ${mac(2, n)} netns ${far.pid}`,
      `addr add ${masterAt(n)}/24 dev ${v}`,
      `addr add ${masterAt6(n)}/64 dev ${v} nodad`,
      `link set ${v} up`,
    ],
    far: [
      `addr add 10.86.${n}.2/24 dev ${v}`,
      `addr add fd86:${n}::2/64 dev ${v} nodad`,
      `link set ${v} up`,
      ...neighbours(n),
    ],
  };
}

/** The nodes' neighbour entries for the master: their interface loses them when it goes down. */
const neighbours = (n: number): string[] =>
  [masterAt(n), masterAt6(n)].map(address => `neigh replace ${address} lladdr ${mac(1, n)} dev ${interfaceOf(n)}`);

// ---- the watcher ----

/** See c/test/linkwatcher.c. */
export interface StateChange {
  what: 'state';
  name: string;
  from: State;
  to: State;
  link: number;
  stamp: number;
  began: number;
  ended: number;
  heartbeat: [number, number];
  since: [number, number];
}

interface LinkChange {
  what: 'link';
  number: number;
  name: string;
  index: number;
  state: number;
  changed: number;
  downs: number;
  nodes: number;
  darkSince: number;
  darkNodes: number;
  since: number;
  address: string;
  heartbeat: number;
  at: number;
}

interface Told {
  what: 'event';
  number: number;
  kind: number;
  subject: number;
  detail: number;
  at: number;
}

interface Counts {
  what: 'counts';
  kernelDrops: number;
  unfitDrops: number;
  overflows: number;
  instance: string;
  since: number;
  flags: number;
  at: number;
}

type EventKind = (typeof enums.event_kind)[number];

export class Watcher {
  readonly changes: StateChange[] = [];
  readonly links: LinkChange[] = [];
  readonly events: Told[] = [];
  readonly counts: Counts[] = [];
  /** Known at its end: how often it looked, and in how many looks the heartbeat was older than a fifth of a second. */
  looks = 0;
  late = 0;
  readonly #last = new Map<string, StateChange>();

  private constructor(
    readonly child: ChildProcess,
    readonly exit: Promise<unknown>,
  ) {}

  static async start(t: Teardown, board: string, everyMs = 3): Promise<Watcher> {
    const child = spawn(testProgram('test/linkwatcher'), [board, String(everyMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exit = endWith(t, child);
    const watcher = new Watcher(child, exit);
    createInterface(child.stdout).on('line', line => {
      const told = JSON.parse(line);
      if (told.what === 'state') {
        watcher.changes.push(told);
        watcher.#last.set(told.name, told);
      } else if (told.what === 'link') watcher.links.push(told);
      else if (told.what === 'event') watcher.events.push(told);
      else if (told.what === 'counts') watcher.counts.push(told);
      else Object.assign(watcher, { looks: told.looks, late: told.late });
    });
    await until('it watches', () => watcher.counts.length > 0);
    return watcher;
  }

  async end(): Promise<void> {
    this.child.stdin?.end();
    const code = await this.exit;
    if (code !== 0) throw new Error(`the watcher ended with ${code}`);
  }

  /** The last change that was seen of a node, a link, the board. */
  node(name: string): StateChange | undefined {
    return this.#last.get(name);
  }

  link(name: string): LinkChange | undefined {
    return this.links.findLast(link => link.name === name);
  }

  count(): Counts {
    return this.counts.at(-1) as Counts;
  }

  /** The consecutive states of a node. */
  statesOf(name: string): State[] {
    const states = this.changes.filter(change => change.name === name).map(({ to }) => to);
    return states.filter((state, i) => state !== states[i - 1]);
  }

  eventsOf(kind: EventKind): Told[] {
    return this.events.filter(event => enums.event_kind[event.kind] === kind);
  }
}

/** The names of the bits in a link's state; a link is down if `up` is not among them. */
export const linkWords = ({ state }: { state: number }): string[] =>
  Object.entries(bits.link_state).flatMap(([word, bit]) => (((state >> bit) & 1) === 1 ? [word] : []));

// ---- nodes ----

/** A running c/test/cluster.c: all nodes of a test. */
class Nodes {
  readonly #answers: string[] = [];
  /** The times in which it was kept from sending. */
  readonly gaps: [from: number, to: number][] = [];
  /** The times in which a node did not report; its last report was at the beginning of such a time, or before. */
  readonly stopped = new Map<string, { from: number; to: number }[]>();
  #orders: Promise<unknown> = Promise.resolve();

  private constructor(readonly child: ChildProcess) {}

  static async start(t: Teardown, intervalMs: number, nets: Record<string, number>): Promise<Nodes> {
    const child = spawn(testProgram('test/cluster'), [String(intervalMs)], { stdio: ['pipe', 'pipe', 'inherit'] });
    endWith(t, child);
    const nodes = new Nodes(child);
    createInterface(child.stdout).on('line', line => {
      const [kind, ...words] = line.split(' ');
      if (kind === 'gap') nodes.gaps.push(words.map(Number) as [number, number]);
      else nodes.#answers.push(line);
    });
    for (const [name, pid] of Object.entries(nets)) await nodes.order(`net ${name} ${pid}`);
    return nodes;
  }

  /** Gives one order; returns the times before and after it was carried out. */
  order(words: string): Promise<[before: number, after: number]> {
    const given = this.#orders.then(async () => {
      this.child.stdin?.write(`${words}\n`);
      const answer = await until(`it has done: ${words}`, () => this.#answers.shift(), 2);
      const [kind, ...times] = answer.split(' ');
      if (kind !== 'done') throw new Error(`${words}: ${answer}`);
      return times.map(Number) as [number, number];
    });
    this.#orders = given.catch(() => undefined);
    return given;
  }

  /** The number of datagrams with wrong checksums that it has sent. */
  async bad(): Promise<number> {
    const given = this.#orders.then(async () => {
      this.child.stdin?.write('count\n');
      const answer = await until('it has counted', () => this.#answers.shift(), 2);
      await until('it is done', () => this.#answers.shift(), 2);
      return Number(answer.split(' ')[1]);
    });
    this.#orders = given.catch(() => undefined);
    return given;
  }

  /** From now on, the node cannot be heard, for whatever reason. */
  mute(name: string, from: number): void {
    this.stopped.set(name, [...(this.stopped.get(name) ?? []), { from, to: Number.POSITIVE_INFINITY }]);
  }

  async stop(...names: string[]): Promise<void> {
    for (const name of names) this.mute(name, (await this.order(`stop ${name}`))[1]);
  }

  async go(...names: string[]): Promise<void> {
    for (const name of names) {
      const [, to] = await this.order(`go ${name}`);
      Object.assign(this.stopped.get(name)?.at(-1) ?? {}, { to });
    }
  }

  async bye(...names: string[]): Promise<void> {
    for (const name of names) this.mute(name, (await this.order(`bye ${name}`))[1]);
  }
}

// ---- passed sockets ----

/**
 * A stand-in for a service manager: binds a socket in the namespace of one process, as systemd does, and then becomes
 * the receiver in that of another. The first passed descriptor has to be 3, which Node uses for its channel, so the
 * channel moves.
 */
const PASS = `
import ctypes, os, socket, sys
socket_pid, receiver_pid, host, port = sys.argv[1:5]
def enter(pid):
    fd = os.open('/proc/%s/ns/net' % pid, os.O_RDONLY | os.O_CLOEXEC)
    if ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000) != 0: sys.exit('setns: %d' % ctypes.get_errno())
enter(socket_pid)
v6 = ':' in host
s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if v6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
s.bind((host, int(port)))
enter(receiver_pid)
os.dup2(int(os.environ['NODE_CHANNEL_FD']), 10)
os.environ['NODE_CHANNEL_FD'] = '10'
if s.fileno() != 3: os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='x')
os.execvp(sys.argv[5], sys.argv[5:])
`;

/** The prefix for a receiver that is passed a socket of one namespace, and runs in the other. */
const passing = (from: Namespace, to: Namespace, host: string): string[] => [
  ...['python3', '-c', PASS, String(from.pid), String(to.pid), host, String(PORT)],
];

// ---- the whole test setup ----

export const PORT = 9000;

export interface Options {
  /** The number of pairs of interfaces, from number 1 on. */
  pairs?: number;
  uncertainMs?: number;
  silentMs?: number;
  intervalMs?: number;
  capacity?: number;
  /** Where the receiver listens, and its other options; undefined: it is not started. */
  listen?: string[];
  more?: string[];
  env?: Record<string, string>;
  /** Goes before the receiver's command, within its namespace. */
  wrap?: string[];
  /** The receiver is passed a socket of this namespace, bound to the first address. */
  passed?: 'master' | 'far';
}

/** A time in which an interface certainly received nothing. */
interface Down {
  name: string;
  from: number;
  to: number;
}

export class World {
  receiver!: Running;
  reader!: BoardReader;
  watcher!: Watcher;
  nodes!: Nodes;
  readonly board: string;
  readonly downs: Down[] = [];

  private constructor(
    readonly t: Test,
    readonly options: Required<Omit<Options, 'passed'>> & Pick<Options, 'passed'>,
    readonly master: Namespace,
    readonly far: Namespace,
  ) {
    this.board = boardPath(t);
  }

  /** Makes a master with so many interfaces, the nodes' namespace, a receiver, and its watcher. */
  static async make(t: Test, options: Options = {}, receives = true): Promise<World> {
    const all = {
      pairs: 2,
      uncertainMs: 500,
      silentMs: 1500,
      intervalMs: 100,
      capacity: 256,
      listen: ['0.0.0.0'],
      more: [],
      env: {},
      wrap: [],
      ...options,
    };
    const world = new World(t, all, await Namespace.make(t), await Namespace.make(t));
    const { master, far } = world;
    const pairs = Array.from({ length: all.pairs }, (_, i) => pair(i + 1, far));
    master.ip(...pairs.flatMap(({ master }) => master));
    far.ip(...pairs.flatMap(({ far }) => far));
    world.nodes = await Nodes.start(t, all.intervalMs, { far: far.pid, master: master.pid });
    if (receives) {
      await world.receive();
      await world.watch();
    }
    return world;
  }

  /** The limit in ns. */
  get silentAfter(): number {
    return this.options.silentMs * MS;
  }

  get uncertainAfter(): number {
    return this.options.uncertainMs * MS;
  }

  get argv(): string[] {
    const { uncertainMs, silentMs, capacity, more } = this.options;
    const limits = ['--uncertain-after', `${uncertainMs}ms`, '--silent-after', `${silentMs}ms`];
    return ['receive', '--board', this.board, '--capacity', String(capacity), ...limits, ...more];
  }

  async receive(): Promise<void> {
    const { listen, env, passed } = this.options;
    if (passed !== undefined) {
      const prefix = [...passing(this[passed], this.master, listen[0] ?? ''), ...this.options.wrap];
      this.receiver = startIn(this.t, { prefix, env }, this.argv);
      await this.receiver.ready;
      return;
    }
    const surroundings: Surroundings = { prefix: [...this.master.prefix, ...this.options.wrap], env };
    const where = listen.flatMap(host => ['--listen', host.includes(':') ? `[${host}]:${PORT}` : `${host}:${PORT}`]);
    this.receiver = startIn(this.t, surroundings, [...this.argv, ...where]);
    await this.receiver.ready;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.receiver.child.kill(signal);
    await this.receiver.exit;
  }

  async watch(): Promise<void> {
    this.watcher = await Watcher.start(this.t, this.board);
    this.reader = new BoardReader(this.board);
    this.t.teardown(() => this.reader.close());
  }

  /** Starts nodes that report by interface number n. */
  async begin(n: number, ...names: string[]): Promise<void> {
    for (const name of names) await this.nodes.order(`road ${name} far ${masterAt(n)} ${PORT}`);
  }

  /** Makes a pair of interfaces, again or for the first time; returns the times before and after. */
  plug(n: number): [before: number, after: number] {
    const { master, far } = pair(n, this.far);
    const [before] = this.master.ip(...master);
    const [, after] = this.far.ip(...far);
    this.#endOf(interfaceOf(n), before);
    return [before, after];
  }

  unplug(n: number): [before: number, after: number] {
    return this.#down(n, this.master.ip(`link delete ${interfaceOf(n)}`));
  }

  /** Records that the master cannot hear anything on this interface after a change, or (`hears`) that it can again. */
  deaf(n: number, times: [before: number, after: number]): [before: number, after: number] {
    this.#endOf(interfaceOf(n), times[0]);
    return this.#down(n, times);
  }

  hears(n: number, times: [before: number, after: number]): [before: number, after: number] {
    this.#endOf(interfaceOf(n), times[0]);
    return times;
  }

  #down(n: number, times: [before: number, after: number]): [before: number, after: number] {
    this.downs.push({ name: interfaceOf(n), from: times[1], to: Number.POSITIVE_INFINITY });
    return times;
  }

  #endOf(name: string, at: number): void {
    const down = this.downs.findLast(down => down.name === name);
    if (down !== undefined) down.to = Math.min(down.to, at);
  }

  /** Sets the master's own interface down, and (`up`) up. */
  down(n: number): [before: number, after: number] {
    return this.#down(n, this.master.ip(`link set ${interfaceOf(n)} down`));
  }

  up(n: number): [before: number, after: number] {
    const times = this.master.ip(`link set ${interfaceOf(n)} up`);
    this.#endOf(interfaceOf(n), times[0]);
    return times;
  }

  /** Sets the far end down, so that the master's interface loses its carrier, and (`wire`) up again. */
  unwire(n: number): [before: number, after: number] {
    return this.#down(n, this.far.ip(`link set ${interfaceOf(n)} down`));
  }

  wire(n: number): [before: number, after: number] {
    const addresses = [`addr replace fd86:${n}::2/64 dev ${interfaceOf(n)} nodad`];
    const times = this.far.ip(`link set ${interfaceOf(n)} up`, ...addresses, ...neighbours(n));
    this.#endOf(interfaceOf(n), times[0]);
    return times;
  }

  /** Removes addresses of the master, and (`dress`) adds them again. */
  strip(n: number, ...addresses: string[]): [before: number, after: number] {
    return this.#down(n, this.master.ip(...addresses.map(address => `addr del ${address} dev ${interfaceOf(n)}`)));
  }

  dress(n: number, ...addresses: string[]): [before: number, after: number] {
    return this.hears(
      n,
      this.master.ip(
        ...addresses.map(
          address => `addr add ${address} dev ${interfaceOf(n)}${address.includes(':') ? ' nodad' : ''}`,
        ),
      ),
    );
  }

  // ---- waiting ----

  /** Waits until a node is in one of these states; returns the change. */
  is(name: string, ...states: State[]): Promise<StateChange> {
    return until(`${name} is ${states.join(' or ')}`, () => {
      const found = this.watcher.node(name);
      return found !== undefined && states.includes(found.to) && found;
    });
  }

  async are(state: State, ...names: string[]): Promise<void> {
    for (const name of names) await this.is(name, state);
  }

  /** Waits until the receiver has read everything that was sent until then, on all links that are up. */
  async heard(ns: number): Promise<void> {
    await until('it has heard everything', () => Number(this.reader.snapshot().evidence.heartbeatNs) > ns);
  }

  /** Waits until so many silent-limits have passed for the receiver since a time. */
  async limits(count: number, since = now()): Promise<void> {
    await this.heard(since + count * this.silentAfter);
  }

  /** The master's address to which the nodes of a link report, as on the board; `::` while it is unknown. */
  addressOf(name: string): string {
    return this.watcher.link(name)?.address ?? '::';
  }

  /** Waits until a link fulfils a condition; returns what is seen of it. */
  linkIs(name: string, what: string, is: (link: LinkChange) => boolean): Promise<LinkChange> {
    return until(`${name} is ${what}`, () => {
      const found = this.watcher.link(name);
      return found !== undefined && is(found) && found;
    });
  }

  isUp(name: string): Promise<LinkChange> {
    return this.linkIs(name, 'up', link => linkWords(link).includes('up'));
  }

  /** Waits until a link is down, with exactly these other bits. */
  isDown(name: string, ...words: string[]): Promise<LinkChange> {
    return this.linkIs(name, `down ${words}`, link => linkWords(link).join() === words.join());
  }

  /** Waits until a node reports by the link of that name. */
  async reportsBy(name: string, link: string): Promise<void> {
    await until(`${name} reports by ${link}`, () => {
      const number = this.watcher.node(name)?.link;
      return number !== undefined && this.watcher.links.some(l => l.number === number && l.name === link);
    });
  }

  /** The names of the links in the table, by number. */
  get table(): string[] {
    const names = new Map(this.watcher.links.map(({ number, name }) => [number, name]));
    names.delete(31);
    return [...names].sort(([a], [b]) => a - b).map(([, name]) => name);
  }

  // ---- judging ----

  /** Whether neither the nodes nor the receiver were delayed: only then must everything be seen exactly. */
  get steady(): boolean {
    return this.nodes.gaps.length === 0 && this.watcher.late === 0;
  }

  /** False statements about nodes, as sentences. */
  *faults(): Generator<string> {
    const names = new Map(this.watcher.links.map(({ number, name }) => [number, name]));
    for (const { name, to, link, stamp, ended, heartbeat, since } of this.watcher.changes) {
      if (to !== 'silent') continue;
      // The latest start and the earliest end of the silence that was judged.
      const [from, until] = [Math.max(stamp, since[1]), heartbeat[0]];
      for (const down of this.downs)
        if (down.name === names.get(link) && Math.min(until, down.to) - Math.max(from, down.from) > 0)
          yield `${name} was called silent for a time in which ${down.name} was down`;
      const over = heartbeat[1] + MS - Math.max(stamp, since[0]) - this.silentAfter;
      if (over < 0) yield `${name} was called silent ${-over / MS} ms before the limit`;
      const stopped = this.nodes.stopped.get(name) ?? [];
      if (stopped.some(({ from, to }) => stamp < from + S && ended < to + 2 * S)) continue;
      const kept = this.nodes.gaps.some(
        ([gapFrom, gapTo]) => Math.min(gapTo, heartbeat[1]) - Math.max(gapFrom, stamp) > this.silentAfter / 2,
      );
      if (!kept) yield `${name}, which reports, was called silent by ${names.get(link)}`;
    }
  }

  /** Ends the watcher, and compares what it saw with the truth: no node was called silent without reason. */
  async judge(): Promise<void> {
    await this.watcher.end();
    this.t.same([...this.faults()].slice(0, 10), [], 'nobody is called silent who reports, or could not be heard');
  }
}
