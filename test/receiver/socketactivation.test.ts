// A receiver whose socket is bound and kept by a service manager: what is sent while no receiver runs is on the board
// afterwards, with the stamp of its arrival or not at all. A line of Python plays systemd; receivers are real.
//
// @rest
// @days 3

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { BulkSender } from '../../src/native/index.js';
import { isShared, parseUdp } from '../../src/receiver/sharedport.js';
import { passedSockets } from '../../src/service/service.js';
import { BoardReader } from '../../src/shm/reader.js';
import { lacks } from '../kit/lacking.js';
import { Manager } from '../kit/manager.js';
import { boardPath } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { countsOf, MS, now, StandIn, settled } from '../kit/sampler.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
t.jobs = 3;
const skip = lacks('python3', 'python3');

/** Binds a socket as systemd does, reads nothing, and starts programs on demand with the socket as descriptor 3. */
const HOLD = `
import ctypes, json, os, socket, struct, sys, threading
kind = sys.argv[1]
if kind == 'tcp': s = socket.create_server(('127.0.0.1', 0))
else:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind(('127.0.0.1', 0))
def say(what): print(json.dumps(what), flush=True)
say({'port': s.getsockname()[1]})
def wait(pid): say({'ended': pid, 'code': os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})
for line in sys.stdin:
    order = json.loads(line)
    if order.get('filter'): # drops all
        code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0))
        s.setsockopt(socket.SOL_SOCKET, 26, struct.pack('HxxxxxxQ', 1, ctypes.addressof(code)))
        say({'filtered': True})
        continue
    pid = os.fork()
    if pid == 0:
        if s.fileno() != 3: os.dup2(s.fileno(), 3)
        os.set_inheritable(3, True)
        os.dup2(os.open('/dev/null', os.O_RDWR), 0)
        os.dup2(2, 1)
        env = dict(os.environ, LISTEN_FDS='1', LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES='x', **order['env'])
        os.execvpe(order['argv'][0], order['argv'], env)
    say({'started': pid})
    threading.Thread(target=wait, args=(pid,), daemon=True).start()
`;

type Said = Partial<{ port: number; started: number; ended: number; code: number; filtered: boolean }>;

/** A stand-in for systemd with one socket. */
class Holder {
  readonly #said: Said[] = [];
  stderr = '';
  port = 0;
  order: (words: object) => void = () => undefined;

  static async start(t: Test, kind = 'udp'): Promise<Holder> {
    const holder = new Holder();
    const child = spawn('python3', ['-c', HOLD, kind], { stdio: ['pipe', 'pipe', 'pipe'] });
    const exit = once(child, 'exit');
    child.stderr.on('data', data => {
      holder.stderr += data;
    });
    createInterface(child.stdout).on('line', line => holder.#said.push(JSON.parse(line)));
    holder.order = words => child.stdin.write(`${JSON.stringify(words)}\n`);
    t.teardown(async () => {
      for (const { started } of holder.#said)
        if (started !== undefined && !holder.#said.some(({ ended }) => ended === started))
          process.kill(started, 'SIGKILL');
      child.kill('SIGKILL');
      await exit;
    });
    holder.port = (await holder.hear(said => said.port)) as number;
    return holder;
  }

  /** Waits for a message for which `what` gives a value, and returns the newest such value. */
  hear<T>(what: (said: Said) => T | undefined): Promise<T> {
    return until('the holder has said it', () => this.#said.map(what).findLast(found => found !== undefined));
  }

  /** Starts a receiver, and returns its process id. */
  async receive(board: string, env: Record<string, string> = {}, more: string[] = []): Promise<number> {
    const before = this.#said.filter(({ started }) => started !== undefined).length;
    this.order({ argv: [process.execPath, PROGRAM, 'receive', '--board', board, ...more], env });
    return until('it is started', () => this.#said.flatMap(({ started }) => started ?? [])[before]);
  }

  /** The exit code of a process, or a negative number for a signal. */
  ended(pid: number): Promise<number> {
    return this.hear(({ ended, code }) => (ended === pid ? code : undefined));
  }
}

/** A holder, the messages of its receivers, a board, and a node that reports. */
async function world(t: Test, kind = 'udp') {
  const [manager, holder, board] = [await Manager.start(t), await Holder.start(t, kind), boardPath(t)];
  const socket = new BulkSender('127.0.0.1', holder.port);
  t.teardown(() => socket.close());
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const find = () => [...reader.snapshot().nodes()].find(({ name }) => name === 'node1');
  return {
    holder,
    board,
    reader,
    find,
    /** Starts a receiver, and waits until it is ready. */
    async start(env: Record<string, string> = {}, more: string[] = [], at = board): Promise<number> {
      const pid = await holder.receive(at, { ...manager.env(), ...env }, more);
      await until('it is ready', () => manager.of(pid).some(({ READY }) => READY === '1'));
      return pid;
    },
    async end(pid: number, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
      process.kill(pid, signal);
      t.equal(await holder.ended(pid), signal === 'SIGTERM' ? 0 : -9);
    },
    /** Sends a report, and returns two times between which it arrived. */
    send(seq: number): [number, number] {
      const from = now();
      const report = makeReport({ seq, t_boot_ns: 100_000_000_000n + BigInt(seq) * 1_000_000_000n });
      if (socket.send(report, report.length, 0, 1) !== 1) throw new Error('not sent');
      return [from, now()];
    },
    shows: (seq: number) => until(`number ${seq} is there`, () => find()?.report?.seq === seq && find()),
  };
}

/** To convert a stamp, two clocks are read one after the other; this is the error that is allowed for that. */
const SLACK = 2 * MS;

t.test('nothing is lost over a restart, and its stamps are those of its arrival', { skip }, async t => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { start, end, send, shows, reader } = await world(t);
    const first = await start();
    send(0);
    await shows(0);
    await end(first, signal);
    send(1);
    const [from, to] = send(2);
    const began = now();
    await start();
    const node = await shows(2);
    await settled(reader);
    t.same(countsOf(node), { accepted: 3 }, `${signal}: all were heard`);
    const stamp = Number(node.stampNs);
    t.ok(stamp <= to + SLACK, `not younger than it is, but by ${(stamp - to) / MS} ms`);
    t.ok(stamp >= from - SLACK, `not older than it is, but by ${(from - stamp) / MS} ms`);
    t.ok(stamp < began + SLACK, 'it had come before the receiver was started');
    t.ok(Number(reader.snapshot().evidence.listeningSinceNs) >= began, 'which does not say that it listened then');
    send(4);
    await shows(4);
    send(5);
    await shows(5);
  }
});

t.test('datagrams from before the first receiver are left out: their arrival is not known', { skip }, async t => {
  const { start, send, shows, reader } = await world(t);
  send(0);
  send(1);
  await start();
  const [, to] = send(2);
  const node = await shows(2);
  await settled(reader);
  t.same(countsOf(node), { accepted: 1 });
  t.ok(Number(node.stampNs) <= to + SLACK);
});

t.test('so are waiting datagrams if there is no board with the offset of the clocks', { skip }, async t => {
  const { start, end, send, shows, board, reader } = await world(t);
  const other = `${board}-of-another`;
  const first = await start({}, [], other);
  await end(first);
  send(1);
  await start();
  send(2);
  const node = await shows(2);
  await settled(reader);
  t.same(countsOf(node), { accepted: 1 });
});

for (const step of [100n, -100n, 3_600_000n, -3_600_000n])
  t.test(`so is what waits while the wall clock steps by ${step} ms`, { skip }, async t => {
    const standIn = new StandIn(t);
    const { start, end, send, shows, reader } = await world(t);
    const first = await start(standIn.env);
    send(0);
    await shows(0);
    await end(first);
    send(1);
    await standIn.step(step * 1_000_000n);
    await start(standIn.env);
    const [from, to] = send(2);
    const node = await shows(2);
    await settled(reader);
    t.same(countsOf(node), { accepted: 2, unheard: 1 }, 'it counts as not heard, and not as lost');
    const stamp = Number(node.stampNs);
    t.ok(stamp >= from - SLACK && stamp <= to + SLACK, 'the next one is exact');
  });

t.test('once a receiver has had the socket, nobody else can bind its port', { skip }, async t => {
  const bind = async (port: number) => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    t.teardown(() => socket.close());
    socket.bind(port, '127.0.0.1');
    return once(socket, 'listening').then(
      () => 'bound',
      error => (error as NodeJS.ErrnoException).code,
    );
  };
  const { holder, board, start, end } = await world(t);
  const first = await start();
  t.equal(await bind(holder.port), 'EADDRINUSE');
  await end(first);
  t.equal(await bind(holder.port), 'EADDRINUSE', 'nor while none runs');

  const early = await world(t);
  t.equal(await bind(early.holder.port), 'bound', 'before that anybody can');
  t.equal(await early.holder.ended(await early.holder.receive(board)), 1);
  t.match(
    early.holder.stderr,
    /another program also listens at 127\.0\.0\.1:\d+ too, and may take reports; .*restart the \.socket unit\n/,
  );
});

t.test('a filter that a killed receiver left is taken off', { skip }, async t => {
  const { holder, start, send, shows } = await world(t);
  holder.order({ filter: true });
  await holder.hear(({ filtered }) => filtered);
  await start();
  send(0);
  await shows(0);
  t.pass('it is heard');
});

t.test('what is not a UDP socket, and what was meant for another process', { skip }, async t => {
  const wrong = await Holder.start(t, 'tcp');
  t.equal(await wrong.ended(await wrong.receive(boardPath(t))), 1);
  t.match(
    wrong.stderr,
    /beoboard receive: the passed descriptor 3 is not a UDP socket with an address; see ListenDatagram=/,
  );
  const env = { LISTEN_PID: '1', LISTEN_FDS: '1', LISTEN_FDNAMES: 'x', HOME: '/' };
  t.same(passedSockets(env), []);
  t.same(env, { HOME: '/' }, 'no child takes it for its own either');
  const pid = String(process.pid);
  t.same(passedSockets({ LISTEN_PID: pid, LISTEN_FDS: '2' }), [3, 4]);
  for (const count of ['-1', 'x', '1.5', '17', ''])
    t.same(passedSockets({ LISTEN_PID: pid, LISTEN_FDS: count }), [], count);
});

t.test("neighbours, in the kernel's list", async t => {
  const list = (...lines: string[]) => parseUdp(['  sl  local_address …', ...lines, ''].join('\n'));
  const line = (local: string, inode: number) =>
    `  45: ${local} 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 2 ffff 0`;
  const [any, one, two] = ['00000000:21E5', '0100007F:21E5', '0A00000A:21E5'];
  for (const [ours, other, shared] of [
    [any, any, true],
    [any, one, true],
    [one, any, true],
    [one, one, true],
    [one, two, false],
    [any, '00000000:21E6', false],
    [any, `${'0'.repeat(32)}:21E5`, true],
  ] as const)
    t.equal(isShared(list(line(ours, 7), line(other, 8)), '7'), shared, `${ours} beside ${other}`);
  t.equal(isShared(list(line(any, 7)), '7'), false, 'alone');
  t.equal(isShared(list(), '7'), false, 'nowhere');
});
