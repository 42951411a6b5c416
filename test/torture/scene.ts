// The scene of the torture: a receiver in its own network and with its own tmpfs, nodes that report to it over a bad
// path, and readers in C and TypeScript that look all the time. Every look is checked at once.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLOCK, clocks } from '../../src/native/index.js';
import type { State } from '../../src/shm/liveness.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { copyOf, testProgram } from '../kit/compiling.js';
import { ROOT } from '../kit/places.js';
import { type Running, run } from '../kit/program.js';
import { MS, now, pass, S, StandIn, startIn } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import {
  type Counts,
  faultsOfCounts,
  faultsOfLook,
  faultsOfNode,
  type Limits,
  type Look,
  type NodeCounts,
  ROAD,
} from './judge.js';
import { Path } from './path.js';
import { makeSummed } from './report.js';

const RECEIVER = '10.86.77.1';
const SENDER = '10.86.77.2';
const GROUP = '239.255.86.77';
const PORT = 8677;
/** The ends of the line between them. */
export const LINE = { receiver: 'torture1', sender: 'torture0' } as const;
/** Another line between them, with addresses of its own. */
export const OTHER = { receiver: 'torture3', sender: 'torture2' } as const;
const OTHER_RECEIVER = '10.86.78.1';
const OTHER_SENDER = '10.86.78.2';
type Line = typeof LINE | typeof OTHER;
type End = Line[keyof Line];
/** The receiver's socket buffer, bytes: some hundred reports. */
const BUFFER = 512 << 10;
const CAPACITY = 64;
const NODES = 12;
const INTERVAL_MS = 200;
const LIMITS: Limits = { uncertainAfter: 900 * MS, silentAfter: 2100 * MS, interval: INTERVAL_MS * MS };
/** The name of a sender in its own process. */
export const SENDER_NAME = 'real1';
/** The user nobody: readers run as another user than the receiver, as schedulers and users do. */
const STRANGER = '65534';

/** A broken promise. */
export class Broken extends Error {}

/** Runs a program to its end. */
function command(...[program = '', ...args]: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Runs ip(8), after a prefix that may enter another network. */
const ip = (words: string, where: readonly string[] = []) => command(...where, 'ip', ...words.split(' '));

/** A node that reports until it ends, and never starts again. */
class Node {
  #seq = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly name: string,
    readonly path: Path,
  ) {
    this.send();
    this.#timer = setInterval(() => this.send(), INTERVAL_MS);
  }

  send(): void {
    clocks(Node.#time);
    this.path.take(
      makeSummed({
        hostname: this.name,
        seq: this.#seq++,
        interval_ms: INTERVAL_MS,
        t_real_ns: Node.#time[CLOCK.real] ?? 0n,
        t_boot_ns: Node.#time[CLOCK.boot] ?? 0n,
      }),
    );
  }

  /** The number of the last report. */
  get sent(): number {
    return this.#seq - 1;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  static readonly #time = new BigUint64Array(3);
}

/** A reader in its own process, which is started again whenever it ends. */
export class Watcher {
  child: ChildProcess;
  /** The last look, and the time of it; undefined: there was no board. */
  last: { at: number; state: string; look: Look | undefined } | undefined;
  looks = 0;
  /** For each node the highest number that it has shown. */
  readonly #shown = new Map<string, number>();
  /** Whether this process has had a board. */
  #reads = false;
  #isEnding = false;

  constructor(
    readonly what: string,
    /** Runs a program as the reader's user. */
    readonly as: readonly string[],
    readonly argv: readonly string[],
    readonly scene: Scene,
  ) {
    this.child = this.#start();
  }

  #start(): ChildProcess {
    const [program = '', ...args] = [...this.as, 'setpriv', '--pdeathsig', 'KILL', '--', ...this.argv];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => this.#take(line));
    this.#reads = false;
    child.once('close', (code, signal) => {
      if (this.#isEnding) return;
      this.scene.readerEnded(this.what, code ?? signal ?? '');
      this.child = this.#start();
    });
    return child;
  }

  #take(line: string): void {
    const [state = '', at = '0', ...words] = line.split(' ');
    this.looks++;
    if (state !== 'ready') {
      this.last = { at: Number(at), state, look: undefined };
      // Between a retired board and the next one there may be a moment without a board.
      if (this.#reads && state !== 'retired') this.scene.readerMisses(this.what, state);
      return;
    }
    this.#reads = true;
    const [took, heartbeat, since, stalled] = words.map(Number) as [number, number, number, number];
    const nodes = new Map(
      words.slice(4).map(word => {
        const [name = '', state, seq, whole, ...by] = word.split(':');
        const [number, heartbeat, since, sinceAfter] = by.map(Number) as [number, number, number, number];
        const link = { number, heartbeat, since, sinceAfter };
        return [name, { state: state as State, seq: Number(seq), whole: whole === '1', link }];
      }),
    );
    const { stepped, blameless } = this.scene;
    const look = { now: Number(at), took, heartbeat, since, stalled: stalled === 1, stepped, blameless, nodes };
    this.last = { at: Number(at), state, look };
    this.scene.judge(this.what, look, this.#shown);
  }

  /** Ends it with SIGKILL. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.child.kill('SIGKILL');
    await once(this.child, 'close');
    this.#isEnding = false;
  }

  /** Ends it with SIGKILL, and starts another. */
  async kill(): Promise<void> {
    await this.end();
    this.child = this.#start();
  }

  /** Waits for a look that began after this time. */
  async next(after = now()): Promise<void> {
    await until(`${this.what} looks`, () => (this.last?.at ?? 0) > after);
  }
}

/** What happened to the receiver since the counters were last compared with the truth. */
interface Since {
  kills: number;
  lossy: boolean;
  /** The board was made again: its counters began at 0. */
  fresh: boolean;
  /** Readers may find no board, or one that was cut. */
  blind: boolean;
  /** The receiver's wall clock has stepped. */
  stepped: boolean;
  /** No node may be called silent. */
  blameless: boolean;
}

export class Scene {
  readonly board: string;
  readonly nodes: Node[] = [];
  readonly watchers: Watcher[] = [];
  receiver!: Running;
  sender!: Running;
  standIn!: StandIn;
  path!: Path;
  /** The number of checks. */
  checks = 0;
  readonly #broken: string[] = [];
  readonly #ends: (() => void | Promise<void>)[] = [];
  #reader!: BoardReader;
  #before!: Counts;
  #since: Since = { kills: 0, lossy: false, fresh: false, blind: false, stepped: false, blameless: false };
  /** A process in the receiver's network, and the prefix that runs a program there. */
  #network = 0;
  #inside: string[] = [];
  readonly #t = { teardown: (end: () => void | Promise<void>) => void this.#ends.push(end) };

  private constructor(
    readonly shm: string,
    /** A factor for the time that faults last. */
    readonly part: number,
  ) {
    this.board = join(shm, 'beoboard', 'board');
  }

  /** Sets everything up. Needs its own network and mount namespaces; see main.ts. */
  static async open(part: number): Promise<Scene> {
    const shm = mkdtempSync(join(tmpdir(), `beoboard-torture.${process.pid}.`));
    const scene = new Scene(shm, part);
    try {
      await scene.#set();
    } catch (error) {
      await scene.close();
      throw error;
    }
    return scene;
  }

  async #set(): Promise<void> {
    const { shm } = this;
    this.#ends.push(() => rmSync(shm, { recursive: true, force: true }));
    // So small that a fault can fill it.
    command('mount', '-t', 'tmpfs', '-o', 'size=2m,mode=755', 'torture', shm);
    this.#ends.push(() => command('umount', '--lazy', shm));
    await this.#makeNetwork();
    this.standIn = new StandIn(this.#t, { buffer: BUFFER });
    await this.startReceiver();
    const roads = [RECEIVER, GROUP].map(host => ({ host, port: PORT }));
    this.path = await Path.open(roads, { host: OTHER_RECEIVER, port: PORT }, [SENDER_NAME]);
    this.#ends.push(() => this.path.close());
    for (let i = 0; i < NODES; i++) this.nodes.push(new Node(`node${String(i).padStart(2, '0')}`, this.path));
    this.#ends.push(() => {
      for (const node of this.nodes) node.end();
    });
    await this.startSender();
    this.#reader = new BoardReader(this.board);
    this.#ends.push(() => this.#reader.close());
    await until('all nodes are there', () => this.#reader.snapshot().count === NODES + 1);
    this.path.freeze();
    this.#before = await this.#count();
    this.#begin();
    this.path.thaw();
    this.#watch();
    await this.healed(now());
  }

  /** Makes a network for the receiver, and a line to it. */
  async #makeNetwork(): Promise<void> {
    const own = spawnSync('readlink', ['/proc/self/ns/net'], { encoding: 'utf8' }).stdout.trim();
    // A network namespace exists as long as a process is in it.
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', '-n', 'cat'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    this.#ends.push(() => void holder.kill('SIGKILL'));
    const network = `/proc/${holder.pid}/ns/net`;
    await until('the network is there', () => {
      const { stdout } = spawnSync('readlink', [network], { encoding: 'utf8' });
      return stdout.trim() !== own && stdout !== '';
    });
    this.#inside = ['nsenter', `--net=${network}`, '--'];
    ip('link set lo up');
    this.#network = holder.pid as number;
    this.makeLine();
    ip(`link add ${OTHER.sender} type veth peer name ${OTHER.receiver} netns ${this.#network}`);
    ip(`addr add ${OTHER_SENDER}/24 dev ${OTHER.sender}`);
    ip(`addr add ${OTHER_RECEIVER}/24 dev ${OTHER.receiver}`, this.#inside);
    this.line(OTHER.receiver, 'up');
    this.line(OTHER.sender, 'up');
  }

  /** Makes a line from us to the receiver's network. */
  makeLine(): void {
    ip(`link add ${LINE.sender} type veth peer name ${LINE.receiver} netns ${this.#network}`);
    ip(`addr add ${SENDER}/24 dev ${LINE.sender}`);
    ip(`addr add ${RECEIVER}/24 dev ${LINE.receiver}`, this.#inside);
    this.line(LINE.receiver, 'up');
    this.line(LINE.sender, 'up');
  }

  /** Removes both ends of the line. */
  removeLine(): void {
    ip(`link delete ${LINE.receiver}`, this.#inside);
  }

  /** Takes one end of the line down, or up again. */
  line(end: End, state: 'up' | 'down'): void {
    ip(`link set ${end} ${state}`, end === LINE.receiver || end === OTHER.receiver ? this.#inside : []);
    // An interface that goes down loses its routes, but keeps its address.
    if (end === LINE.sender && state === 'up') ip(`route replace ${GROUP}/32 dev ${end}`);
  }

  #watch(): void {
    const program = copyOf(this.#t, testProgram('test/torturereader'));
    const stranger = ['--reuid', STRANGER, '--clear-groups', '--'];
    // If we are root only in a user namespace, there may be no other user.
    const as = spawnSync('setpriv', [...stranger, 'true']).status === 0 ? ['setpriv', ...stranger] : [];
    const typescript = join(ROOT, 'dist', 'test', 'torture', 'torturereader.js');
    this.watchers.push(
      new Watcher('C', as, [program, this.board], this),
      new Watcher('TypeScript', [], [process.execPath, typescript, this.board], this),
    );
    this.#ends.push(async () => {
      for (const watcher of this.watchers) await watcher.end();
    });
  }

  /** Ends everything that was started, and removes what was made. */
  async close(): Promise<void> {
    for (const end of this.#ends.reverse().splice(0)) await end();
  }

  // ---- the receiver, and the sender in a process of its own ----

  /** Starts a receiver; throws if it does not start. */
  async startReceiver(): Promise<void> {
    const { uncertainAfter, silentAfter } = LIMITS;
    const limits = `--uncertain-after ${uncertainAfter / MS}ms --silent-after ${silentAfter / MS}ms`;
    const listen = `--listen ${RECEIVER}:${PORT} --listen ${OTHER_RECEIVER}:${PORT} --group ${GROUP}:${PORT} --interface ${LINE.receiver}`;
    this.receiver = startIn(
      this.#t,
      { prefix: ['setpriv', '--pdeathsig', 'KILL', ...this.#inside], env: this.standIn.env },
      ['receive', '--board', this.board, ...`--capacity ${CAPACITY} ${limits} ${listen}`.split(' ')],
    );
    await this.receiver.ready;
  }

  /** Starts a receiver again and again until one keeps running, as a service manager does. */
  async reviveReceiver(): Promise<void> {
    await until(
      'a receiver stays',
      () =>
        this.startReceiver().then(
          () => true,
          () => false,
        ),
      100,
    );
    this.path.hear();
  }

  /** Ends the receiver with this signal, and waits until it is gone. */
  async endReceiver(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.receiver.child.kill(signal);
    await this.receiverEnded();
    if (signal === 'SIGKILL') this.#since.kills++;
  }

  /** Waits until the receiver has ended. Reports after its last heartbeat may not have reached the board. */
  async receiverEnded(): Promise<number | string> {
    const ended = await this.receiver.exit;
    this.path.deafen(this.#heartbeat() - ROAD);
    return ended;
  }

  /** The heartbeat of the board; 0 if there is no board. */
  #heartbeat(): number {
    try {
      return Number(this.#reader.snapshot().evidence.heartbeatNs);
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      return 0;
    }
  }

  /** Waits until the receiver has run for so long, by its heartbeat. */
  async beats(ms: number): Promise<void> {
    const from = now();
    await until(`the receiver goes on for ${ms} ms`, () => this.#heartbeat() > from + ms * MS);
  }

  /** Waits for the duration of a fault, which is random between these numbers of seconds. */
  async lasts(chance: () => number, least: number, most: number): Promise<void> {
    await pass(now() + this.part * (least + chance() * (most - least)) * S);
    this.check();
  }

  /** From now on reports may be lost, and counted as lost. */
  mayLose(): void {
    this.#since.lossy = true;
  }

  /** From now on no node may be called silent, until everything has recovered. */
  blamesNobody(): void {
    this.#since.blameless = true;
  }

  /** Whether no node may be called silent. */
  get blameless(): boolean {
    return this.#since.blameless;
  }

  /** The link by which a node was last heard; undefined: the readers differ. */
  linkOf(name: string): number | undefined {
    const links = new Set(this.watchers.map(({ last }) => last?.look?.nodes.get(name)?.link?.number));
    return links.size === 1 ? [...links][0] : undefined;
  }

  /** Whether the last report of a node is on the board. */
  hasLast({ name, sent }: { readonly name: string; readonly sent: number }): boolean {
    const [node] = [...this.#reader.snapshotOf(name).nodes()];
    return node?.report?.seq === sent;
  }

  /** The link number of a line; undefined: it has none yet. */
  linkNumber({ receiver }: Line): number | undefined {
    return this.#reader.links().find(({ name }) => name === receiver)?.number;
  }

  /** What the kernel has dropped: for lack of room, and as unfit. */
  get drops(): { room: number; unfit: number } {
    const { header } = this.#reader.snapshot();
    return { room: header.kernel_drops ?? 0, unfit: header.unfit_drops ?? 0 };
  }

  /** Sends datagrams with wrong checksums, one every so many us; the returned function ends that and counts them. */
  async badChecksums(everyUs: number): Promise<() => Promise<number>> {
    const words = ['--pdeathsig', 'KILL', testProgram('test/badsums'), SENDER, RECEIVER, String(PORT), String(everyUs)];
    const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = follow(child);
    this.#ends.push(() => void child.kill('SIGKILL'));
    await until('wrong checksums come', () => {
      if (child.exitCode !== null) throw new Error('no datagrams with wrong checksums can be sent');
      return said.stdout.startsWith('ready');
    });
    return async () => {
      child.kill('SIGTERM');
      await said.exit;
      return Number(said.stdout.split('\n')[1]);
    };
  }

  /** Steps the receiver's wall clock by so many ns. */
  async step(by: bigint): Promise<void> {
    this.#since.stepped = true;
    await this.standIn.step(by);
  }

  /** Whether the wall clock has stepped since the last recovery. */
  get stepped(): boolean {
    return this.#since.stepped;
  }

  /** From now on readers may find no board, or one that was cut. */
  mayMiss(): void {
    this.#since.blind = true;
  }

  /** The receiver has ended, and the next one begins another board: nothing on this one counts any more. */
  forgetBoard(): void {
    this.#since.fresh = true;
    this.path.doubt(0);
  }

  /** Forgets a node, and waits until it is on the board again. */
  async forgetNode(name: string): Promise<void> {
    const truth = this.path.truthOf(name);
    truth.mistrusted = true;
    truth.doubt(0);
    this.#before = { ...this.#before, nodes: new Map([...this.#before.nodes].filter(([other]) => other !== name)) };
    const { code, stderr } = await run(['forget', '--board', this.board, name]);
    if (code !== 0) throw new Broken(`beoboard forget ended with ${code}: ${stderr}`);
    await until('it is back', () => [...this.#reader.snapshot().nodes()].some(node => node.name === name));
    truth.mistrusted = false;
  }

  /** Waits until a new report of every node has arrived. */
  async isHeard(): Promise<void> {
    const before = new Map([...this.path.truths].map(([name, { highest }]) => [name, highest]));
    await until('all are heard again', () =>
      [...this.#reader.snapshot().nodes()].every(({ name, report }) => (report?.seq ?? -1) > (before.get(name) ?? 0)),
    );
    this.path.hear();
  }

  /** Waits until every reader shows a node in this state. */
  async isSeen(name: string, state: State): Promise<void> {
    await until(`${name} is ${state} for all readers`, () => {
      this.check();
      return this.watchers.every(({ last }) => last?.look?.nodes.get(name)?.state === state);
    });
  }

  /** After the board's file was cut: waits until the receiver has repaired it, or has ended; then starts it again. */
  async outlive(): Promise<void> {
    const hasEnded = () => this.receiver.child.exitCode !== null || this.receiver.child.signalCode !== null;
    await until('the receiver has ended, or mended the board', () => hasEnded() || this.#anew() === undefined);
    if (!hasEnded()) return;
    const ended = await this.receiverEnded();
    if (ended !== 'SIGBUS') throw new Broken(`the receiver ended with ${ended}: ${this.receiver.output().stderr}`);
    this.#since.kills++;
    this.forgetBoard();
    await this.reviveReceiver();
  }

  /** Checks that no receiver can be started on this board, and that it says why in one line. */
  async cannotStart(why: RegExp): Promise<void> {
    const other = startIn(this.#t, { prefix: this.#inside }, [
      ...['receive', '--board', this.board, '--capacity', String(CAPACITY), '--listen', `${RECEIVER}:0`],
    ]);
    const ready = other.ready.then(
      () => true,
      () => false,
    );
    const { stderr } = (await ready) ? { stderr: '' } : other.output();
    other.child.kill('SIGKILL');
    await other.exit;
    if (!why.test(stderr)) throw new Broken(`another receiver starts, or says not why not: ${stderr}`);
    this.checks++;
  }

  async startSender(): Promise<void> {
    this.sender = startIn(this.#t, { prefix: ['setpriv', '--pdeathsig', 'KILL', '--'] }, [
      'send',
      ...`--to 127.0.0.1:${this.path.port} --name ${SENDER_NAME} --interval ${INTERVAL_MS}ms`.split(' '),
    ]);
    await this.sender.ready;
  }

  // ---- promises ----

  #fail(what: string): void {
    this.#broken.push(what);
  }

  /** Called when a reader ended by itself. */
  readerEnded(who: string, how: number | string): void {
    if (!this.#since.blind || how !== 'SIGBUS') this.#fail(`${who} reader: ended with ${how}`);
  }

  /** Called when a reader that has had a board has none. */
  readerMisses(who: string, state: string): void {
    if (!this.#since.blind) this.#fail(`${who} reader: lost its board: ${state}`);
  }

  /** Checks one look of a reader. `shown`: for each node the highest number that this reader has shown. */
  judge(who: string, look: Look, shown: Map<string, number>): void {
    this.path.heartbeat = look.heartbeat;
    // A board that was cut may look stalled.
    for (const fault of this.#since.blind ? [] : faultsOfLook(look)) this.#fail(`${who} reader: the board ${fault}`);
    this.checks++;
    for (const [name, truth] of this.path.truths) {
      const seen = look.nodes.get(name);
      const before = shown.get(name) ?? -1;
      for (const fault of faultsOfNode(look, seen, truth, before, LIMITS))
        this.#fail(`${who} reader: ${name} ${fault}`);
      this.checks++;
      if (seen !== undefined) shown.set(name, seen.seq);
    }
    for (const name of look.nodes.keys())
      if (!this.path.truths.has(name)) this.#fail(`${who} reader: ${name}: nobody of that name has ever reported`);
  }

  /** Throws the first broken promise. */
  check(): void {
    const [first, ...more] = this.#broken;
    if (first !== undefined) throw new Broken(`${first}${more.length > 0 ? `, and ${more.length} more` : ''}`);
  }

  get looks(): number {
    return this.watchers.reduce((sum, { looks }) => sum + looks, 0);
  }

  /** Inflicts a fault, waits for recovery, and returns how long that took, ms. Throws a broken promise. */
  async suffer(inflict: () => Promise<void>): Promise<number> {
    try {
      await inflict();
    } finally {
      // The first broken promise says more than an error that followed from it.
      this.check();
    }
    return this.healed(now());
  }

  /** Waits until everything has recovered, and returns how long after `from` that was, ms. */
  async healed(from: number): Promise<number> {
    const began = now();
    const missing = () => {
      const { exitCode, signalCode } = this.receiver.child;
      if (exitCode !== null || signalCode !== null)
        throw new Broken(`the receiver ended with ${exitCode ?? signalCode}: ${this.receiver.output().stderr.trim()}`);
      const found = this.#anew();
      if (found !== undefined) return found;
      for (const { what, last } of this.watchers) {
        if (last === undefined || last.at < began) return `a look of the ${what} reader`;
        if (last.look === undefined) return `a board for the ${what} reader, for which it is ${last.state}`;
        if (last.look.stalled) return `a heartbeat for the ${what} reader`;
        for (const [name, truth] of this.path.truths) {
          const { state, seq = -1 } = last.look.nodes.get(name) ?? {};
          if (state !== 'live') return `${name}, which is ${state} for the ${what} reader`;
          // A new report is needed, because lost reports are counted only when the next one arrives.
          const first = truth.firstAfter(began);
          if (first === undefined || seq < first || seq > truth.highest)
            return `a new report of ${name} for the ${what} reader`;
        }
      }
      return undefined;
    };
    let waits: string | undefined;
    await until('all is healed', () => {
      this.check();
      waits = missing();
      return waits === undefined;
    }).catch(error => {
      throw error instanceof Broken ? error : new Broken(`does not heal: waits a minute in vain for ${waits}`);
    });
    const healed = (now() - from) / MS;
    await this.#settle();
    this.check();
    return healed;
  }

  /** What a new reader lacks; undefined: nothing. */
  #anew(): string | undefined {
    const reader = new BoardReader(this.board);
    try {
      const { stalled } = reader.snapshot();
      const mode = statSync(this.board).mode & 0o7777;
      this.checks++;
      return stalled
        ? 'a heartbeat'
        : mode !== 0o644
          ? `a board that has mode 644, not ${mode.toString(8)}`
          : undefined;
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      return `a board: ${error.message}`;
    } finally {
      reader.close();
    }
  }

  // ---- counters ----

  /** The counters of the board, once the receiver has processed everything. */
  async #count(): Promise<Counts> {
    const asked = now() + ROAD;
    const snapshot = await until('the receiver has done all there was', () => {
      const snapshot = this.#reader.snapshot();
      return Number(snapshot.evidence.heartbeatNs) > asked && snapshot;
    });
    const { header, refused } = snapshot;
    const nodes = new Map<string, NodeCounts>();
    for (const { name, record } of snapshot.nodes()) {
      const { accepted = 0, lost = 0, unheard = 0, duplicate = 0, late = 0, refused = 0 } = record;
      nodes.set(name, {
        ...{ accepted, lost, unheard, duplicate, late, refused },
        historySeq: Number(record.history_seq),
        history: BigInt(record.history),
        historyLost: BigInt(record.history_lost),
      });
    }
    return {
      received: header.received ?? 0,
      drops: header.kernel_drops ?? 0,
      accepted: header.accepted ?? 0,
      duplicate: header.duplicate ?? 0,
      refused: Object.values(refused).reduce((sum, count) => sum + count, 0),
      nodes,
    };
  }

  /** Compares the counters with what was passed on since the last time; meanwhile nothing is passed on. */
  async #settle(): Promise<void> {
    this.path.flush();
    this.path.freeze();
    try {
      const { fresh, kills, lossy } = this.#since;
      const after = await this.#count();
      const nothing = { received: 0, drops: 0, accepted: 0, duplicate: 0, refused: 0, nodes: new Map() };
      const before = fresh ? nothing : this.#before;
      const account = { ...this.path.account, kills, lossy };
      for (const fault of faultsOfCounts(before, after, account)) this.#fail(`counters: ${fault}`);
      this.checks += 2 + after.nodes.size;
      this.#before = after;
      this.#begin();
    } finally {
      this.path.thaw();
    }
  }

  #begin(): void {
    const lasting = [...this.#before.nodes].filter(([name]) => name !== SENDER_NAME);
    this.path.begin(new Map(lasting));
    this.#since = { kills: 0, lossy: false, fresh: false, blind: false, stepped: false, blameless: false };
  }
}
