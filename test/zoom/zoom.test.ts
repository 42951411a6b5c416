// `beoboard zoom` in lines: shares and rates from given answers, a beoboard-mon that is run or listens, recordings
// there and back, and every way in which a link may end.
//
// @seconds 6
// @waits
// @rest

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Expression, Scanner, treeOf } from '../../src/net/expressions.js';
import { listenAt } from '../../src/net/listening.js';
import { RecordingParser } from '../../src/zoom/recording.js';
import { SampleReader, toldValues } from '../../src/zoom/samplevalues.js';
import { compileMon } from '../kit/compiling.js';
import { startMon } from '../kit/mon.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

const MON = compileMon(t);

const scan = (text: string): Expression => {
  const found = new Scanner(1 << 20).push(Buffer.from(text));
  if (found === undefined) throw new Error('not whole');
  return found;
};

// ---- what answers mean ----

const SCHEMA = scan(`(
(s server 0x8000 0 ((nr 1) nodes cpu_us))
(s cpuinfo 0x1 0 ((nr 1) user nice system idle iowait irq softirq steal))
(s netinfo 0x2 0 ((nr n) rxbytes rxpackets txbytes))
(s avenrun 0x40 0 ((nr 1) avg1 avg5 avg15))
(s pressure 0x200 0 ((nr 1) cpu_some_us mem_some_us mem_full_us io_some_us io_full_us))
(s memory 0x1000 0 ((nr 1) total_mib free_mib avail_mib))
(s disk 0x2000 0 ((nr 1) reads writes rdbytes wrbytes busy_ms inflight))
(s procs 0x4000 0 ((nr 1) running blocked forks)))`);

const valuesOf = (reader: SampleReader, text: string, ms: number) =>
  Object.fromEntries(reader.take(scan(text), ms)?.values ?? []);

t.test('expressions taken apart', async t => {
  const all = scan('((a "b \\"c\\\\" (d (e nil)) ()) (f g (h)))');
  t.same(
    all.elements.map(element => treeOf(all, element)),
    [
      ['a', 'b "c\\', ['d', ['e', 'nil']], []],
      ['f', 'g', ['h']],
    ],
  );
});

t.test('shares and rates', async t => {
  const reader = new SampleReader(SCHEMA, undefined);
  const first = `((n1 cpuinfo live 0 ((nr 1) 100 0 50 800 10 0 5 0))
(n1 netinfo live 0 ((nr 2) (eth0 1000 5 2000) (eth1 10 5 20)))
(n1 pressure live 0 ((nr 1) 1000 0 0 nil nil)) (n1 disk live 0 ((nr 1) 1 1 512 1024 1 0))
(s server ok 0 ((nr 1) 1 1000)))`;
  t.equal(reader.take(scan(first), 0), undefined, 'the first has nothing before it');
  t.equal(reader.cost, undefined);
  const second = `((n1 cpuinfo live 0 ((nr 1) 130 10 60 840 20 0 5 10))
(n1 netinfo live 0 ((nr 2) (eth0 3000 5 2500) (eth2 99999 5 20)))
(n1 avenrun live 0 ((nr 1) 3072 2048 1024)) (n1 pressure live 0 ((nr 1) 101000 0 0 nil nil))
(n1 memory live 0 ((nr 1) 1000 100 400)) (n1 disk live 0 ((nr 1) 1 1 1536 0 1 3))
(n1 procs live 0 ((nr 1) 7 2 99)) (s server ok 0 ((nr 1) 1 3000)))`;
  t.same(valuesOf(reader, second, 200), {
    ...{ cpu_pct: 100 - (50 / 110) * 100, user_pct: (40 / 110) * 100, system_pct: (10 / 110) * 100 },
    ...{ iowait_pct: (10 / 110) * 100, steal_pct: (10 / 110) * 100, running: 7, blocked: 2, load1: 1.5 },
    ...{ mem_used_mib: 600, mem_total_mib: 1000, rx_bytes_s: 10_000, tx_bytes_s: 2500 },
    // There is no rate for a counter that went back, for nil, and for a new interface.
    ...{ disk_read_bytes_s: 5120, disk_inflight: 3, psi_cpu_pct: 50, psi_mem_pct: 0 },
  });
  t.equal(reader.node, 'n1');
  t.equal(reader.cost, 1, '2 ms of CPU in 200 ms');
  // No jiffy has passed since the last sample, so the share is still that of the last 100 ms.
  const third = '((n1 cpuinfo live 0 ((nr 1) 130 10 60 840 20 0 5 10)))';
  t.equal(valuesOf(reader, third, 210).user_pct, (40 / 110) * 100);
  t.same(valuesOf(reader, third, 400), {}, 'then nothing is known');
});

t.test('invalid numbers', async t => {
  const answer = (number: string, us: string) => `((n1 cpuinfo live 0 ((nr 1) ${`${number} `.repeat(8)}))
(n1 netinfo live 0 ((nr 1) (eth0 ${number} ${number} ${number}))) (n1 avenrun live 0 ((nr 1) ${number} 1 1))
(n1 memory live 0 ((nr 1) ${number} ${number} ${number})) (n1 procs live 0 ((nr 1) ${number} ${number} 1))
(n1 disk live 0 ((nr 1) 1 1 ${number} ${number} 1 ${number})) (s server ok 0 ((nr 1) 1 ${us})))`;
  for (const number of ['1e400', 'Infinity', '-Infinity', 'NaN', '9'.repeat(400), '9007199254740992', '0x10', 'nil']) {
    const reader = new SampleReader(SCHEMA, undefined);
    reader.take(scan(answer('0', '0')), 0);
    t.same(valuesOf(reader, answer(number, number), 100), {}, number);
    t.equal(reader.cost, undefined);
  }
  // Samples at the same time, and so close that a rate would be infinite.
  for (const ms of [0, 5e-324]) {
    const reader = new SampleReader(SCHEMA, undefined);
    reader.take(scan(answer('0', '0')), 0);
    for (const value of Object.values(valuesOf(reader, answer('9007199254740991', '9007199254740991'), ms)))
      t.ok(Number.isFinite(value));
    t.equal(reader.cost, undefined);
  }
  const back = new SampleReader(SCHEMA, undefined);
  back.take(scan(answer('0', '9')), 0);
  back.take(scan(answer('0', '1')), 100);
  t.equal(back.cost, undefined, 'a counter that went back');
});

t.test('of several nodes', async t => {
  const both =
    '((n1 procs live 0 ((nr 1) 1 0 0)) (n2 procs live 0 ((nr 1) 2 0 0)) (a server ok 0 ((nr 1) 1 1)) (b server ok 0 ((nr 1) 1 1)))';
  const reader = new SampleReader(SCHEMA, 'n2');
  reader.take(scan(both), 0);
  t.equal(valuesOf(reader, both, 1).running, 2);
  t.equal(reader.cost, undefined, 'what two servers take tells nothing of one node');
  for (const [wanted, text, says] of [
    [undefined, both, 'it has 2 nodes; name one of them: n1, n2'],
    ['n3', both, 'it has 2 nodes; name one of them: n1, n2'],
    ['n3', '()', 'it has no node'],
  ] as const)
    t.throws(() => new SampleReader(SCHEMA, wanted).take(scan(text), 0), { message: says });
  const other = new SampleReader(SCHEMA, 'alias');
  other.take(scan('((n1 procs live 0 ((nr 1) 1 0 0)))'), 0);
  t.equal(other.node, 'n1', 'the only one');
  t.throws(() => new SampleReader(scan('((x y z (a)))'), undefined), /does not serve nodes/);
});

// ---- the verb ----

/** A replacement for ssh: takes the node's name, and runs the command on this machine. */
function fakeSsh(t: Test, mon = MON, before = ''): string {
  const script = join(folder(t), 'ssh');
  const words = `node="$1"; shift 3; [ "$1" = beoboard-mon ] || exit 99; shift`;
  writeFileSync(script, `#!/bin/sh\n${before}\n${words}\nexec ${mon} --name "$node" "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}

/** Starts a server that calls `say` for every question, and returns its port. */
async function saying(t: Test, say: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', () => say(socket));
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (await listenAt(server, { host: '127.0.0.1', port: 0 })).port;
}

const NAMES = ['t_ms', ...toldValues.map(({ name }) => name)];
const rowsOf = (csv: string) => {
  const [head = '', ...lines] = csv.trimEnd().split('\n');
  return {
    head: head.split(','),
    rows: lines.map(line => line.split(',').map(cell => (cell === '' ? Number.NaN : Number(cell)))),
  };
};

t.test('a node by a replacement for ssh', async t => {
  const via = fakeSsh(t);
  const { code, stdout, stderr } = await run(['zoom', 'n7', '--via', via, '--rate', '50', '--for', '500ms', '--csv']);
  t.equal(code, 0, stderr);
  const { head, rows } = rowsOf(stdout);
  t.same(head, NAMES);
  t.ok(rows.length >= 2 && rows.length <= 25, `${rows.length} samples`);
  for (const [i, row] of rows.entries()) {
    t.equal(row.length, NAMES.length);
    if (i > 0) t.ok((row[0] ?? 0) > (rows[i - 1]?.[0] ?? 0), 'time goes on');
  }
  const last = rows.at(-1) ?? [];
  const of = (name: string) => last[NAMES.indexOf(name)] ?? Number.NaN;
  t.ok(of('cpu_pct') >= 0 && of('cpu_pct') <= 100);
  const [, kib = ''] = /MemTotal: +(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  t.equal(of('mem_total_mib'), Math.floor(Number(kib) / 1024));
  t.match(
    stderr,
    /^beoboard zoom: n7: \d+ samples? in \d+ms, 50 a second(; \d+ left out, because earlier answers came late)?; it costs the node \d+\.\d% of a CPU\n$/,
  );
});

t.test('as JSON, recorded and played', async t => {
  const file = join(folder(t), 'kept.jsonl');
  const via = fakeSsh(t);
  const first = await run(['zoom', 'n7', '--via', via, '--for', '300ms', '--json', '--record', file]);
  t.equal(first.code, 0, first.stderr);
  const lines = first.stdout.trimEnd().split('\n');
  for (const line of lines) t.ok(Object.keys(JSON.parse(line)).every(name => NAMES.includes(name)));
  const again = await run(['zoom', '--play', file, '--json']);
  t.same([again.code, again.stdout], [0, first.stdout], 'the same, to the byte');
  t.match(again.stderr, /n7: \d+ samples? in [\d.]+m?s, recorded; it costs the node/);
  const half = await run(['zoom', '--play', file, '--json', '--for', '100ms']);
  t.ok(first.stdout.startsWith(half.stdout) && half.stdout.length < first.stdout.length, 'as long as is asked for');
  t.equal(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '').form, 'beoboard zoom 1');

  const kept = readFileSync(file, 'utf8');
  t.match(await run(['zoom', 'n7', '--via', via, '--json', '--record', file]), {
    code: 2,
    stderr: `beoboard zoom: --record: ${file} is there already; name a new file\n`,
  });
  t.equal(readFileSync(file, 'utf8'), kept, 'and is as it was');

  writeFileSync(file, `${kept}{"ms":299,"answer":"()"}\n{"ms":298,"answer":"()"}\n`);
  const back = await run(['zoom', '--play', file, '--csv']);
  t.equal(back.code, 1);
  t.match(
    back.stderr,
    /:\d+: the time 29[89] ms is before that of the line before, [\d.]+ ms; give a file that --record has written\n$/,
  );
  // As if the writer had been killed: the complete lines are used.
  writeFileSync(file, kept.slice(0, -20));
  const cut = await run(['zoom', '--play', file, '--json']);
  t.same([cut.code, cut.stdout], [0, `${lines.slice(0, -1).join('\n')}\n`]);
  t.match(await run(['zoom', '--play', '/nowhere', '--csv']), {
    code: 2,
    stderr: /--play: cannot read \/nowhere: ENOENT; give a file/,
  });
});

t.test('invalid recordings', async t => {
  const head = '{"form":"beoboard zoom 1","schema":"((x y z (a)))"}';
  const rows: [lines: string[], says: string][] = [
    [['x'], '1: no object of JSON'],
    [['{}'], '1: no recording'],
    [['{"form":"beoboard zoom 1","schema":"(("}'], '1: no answer of a server, since it is not whole'],
    [[head, '{"ms":1,"answer":"hello"}'], '2: no answer of a server, since it is not a list'],
    [[head, '{"ms":1,"answer":"()"}', '{"ms":2,"answer":7}'], '3: no answer of a server'],
    [[head, `{"ms":1,"answer":[${'[],'.repeat(200)}[]]}`], '2: no object of JSON'],
    [[head, '{"answer":"()"}'], '2: no time'],
    [[head, '{"ms":1e400,"answer":"()"}'], '2: no time'],
    [[head, '{"ms":-1,"answer":"()"}'], '2: the time -1 ms is before that of the line before, 0 ms'],
    [[head, '{"ms":1e300,"answer":"()"}'], '2: the time 1e+300 ms is more than a day after 0 ms'],
    [
      [head, '{"ms":5,"answer":"()"}', '{"ms":4.9,"answer":"()"}'],
      '3: the time 4.9 ms is before that of the line before, 5 ms',
    ],
  ];
  for (const [[first, ...more], says] of rows) {
    const parser = new RecordingParser('FILE');
    const read = () => {
      parser.head(first);
      for (const line of more) parser.next(line);
    };
    t.throws(read, { message: `FILE:${says}; give a file that --record has written`, exitCode: 1 }, says);
  }
  t.throws(() => new RecordingParser('FILE').head(undefined), /^FILE:1: no recording;/);
  const parser = new RecordingParser('FILE');
  t.match(parser.head(head), { node: undefined });
  for (const ms of [0, 0, 0.5, 86_400_000, 172_800_000]) t.equal(parser.next(`{"ms":${ms},"answer":"()"}`).ms, ms);
});

t.test('a recording that is not a plain file', async t => {
  const fifo = join(folder(t), 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Nobody writes to the FIFO, so opening it in the usual way would block forever.
  for (const file of [fifo, '/dev/zero', folder(t)])
    t.match(await run(['zoom', '--play', file, '--csv']), {
      code: 2,
      stderr: `beoboard zoom: --play: cannot read ${file}: it is not a plain file; give a file that --record has written\n`,
    });
  const steering = await run(['zoom', '--play', `${fifo}\x1b[2J`, '--csv']);
  t.equal(
    steering.stderr,
    `beoboard zoom: --play: cannot read ${fifo}\\u{1b}[2J: ENOENT; give a file that --record has written\n`,
  );
});

t.test('answers that would take much memory', async t => {
  const file = join(folder(t), 'hostile.jsonl');
  const head = JSON.stringify({ form: 'beoboard zoom 1', schema: '((s cpuinfo 0x1 0 ((nr 1) user)))' });
  // An earlier version used 1.3 GB for 15 MiB of such a file.
  for (const [answer, says] of [
    [`((a b c(${'()'.repeat(7_500_000)})))`, 'has an element of more than 4096 atoms and lists'],
    [`(${'(a b())'.repeat(2_100_000)})`, 'has more than 262144 elements'],
  ] as const) {
    writeFileSync(file, `${head}\n${JSON.stringify({ ms: 1, answer })}\n`);
    const { code, stderr } = await run(['zoom', '--play', file, '--csv'], { NODE_OPTIONS: '--max-old-space-size=160' });
    t.same([code, stderr.match(/:2: no answer of a server, since it (.*); give/)?.[1]], [1, says], stderr.slice(-500));
  }
});

t.test('--record leaves no file if there was no sample', async t => {
  const file = join(folder(t), 'kept.jsonl');
  const { port } = await startMon(t, MON);
  for (const argv of [
    ['n1', '--via', fakeSsh(t, MON, 'exit 255')],
    ['n1', '--via', '/nowhere/ssh'],
    ['--at', `127.0.0.1:${await saying(t, socket => socket.write('((x y z (a)))\n'))}`],
  ]) {
    t.equal((await run(['zoom', ...argv, '--csv', '--record', file])).code, 1);
    t.notOk(existsSync(file), argv.join(' '));
  }
  // zoom is ended while it waits for the first sample.
  const quiet = fakeSsh(t, MON, 'echo "((x cpuinfo 0x1 0 ((nr 1) user)))"; cat >/dev/null');
  const zoom = start(t, ['zoom', 'n1', '--via', quiet, '--csv', '--record', file]);
  await until('it has heard the schema', () => zoom.output().stdout.includes('t_ms'));
  zoom.child.kill('SIGTERM');
  t.equal(await zoom.exit, 0);
  t.notOk(existsSync(file));
  const { code, stderr } = await run(['zoom', '--at', `127.0.0.1:${port}`, '--for', '50ms', '--csv', '--record', file]);
  t.equal(code, 0, stderr);
  t.ok(existsSync(file), 'and the same name can be used again');
  t.match(await run(['zoom', '--at', `127.0.0.1:${port}`, '--csv', '--record', '/nowhere/x']), {
    code: 2,
    stderr: /^beoboard zoom: --record: ENOENT: .*\n$/,
  });
});

t.test('a beoboard-mon that listens', async t => {
  const { port, child } = await startMon(t, MON, '--name', 'n1');
  const zoom = start(t, ['zoom', '--at', `127.0.0.1:${port}`, '--json']);
  const lines = () => zoom.output().stdout.split('\n').length - 1;
  await until('it tells', () => lines() > 3);
  zoom.child.kill('SIGINT');
  t.equal(await zoom.exit, 0, 'Ctrl-C is an end like others');
  t.match(zoom.output().stderr, /^beoboard zoom: n1: \d+ samples? in /);
  // The connection breaks.
  const other = start(t, ['zoom', '--at', `127.0.0.1:${port}`, '--csv']);
  await until('it tells', () => other.output().stdout.split('\n').length > 4);
  child.kill('SIGKILL');
  t.equal(await other.exit, 1);
  t.match(
    other.output().stderr,
    new RegExp(
      `n1: \\d+ samples? in .*\\nbeoboard zoom: 127\\.0\\.0\\.1:${port}: (it closed the connection|.*ECONNRESET)\\n$`,
    ),
  );
  t.ok(other.output().stdout.endsWith('\n'), 'what was told is whole');
  t.match(await run(['zoom', '--at', `127.0.0.1:${port}`, '--csv']), { code: 1, stderr: /connection refused/ });
  const unknown = await run(['zoom', '--at', 'no-such-host.invalid', '--csv']);
  t.match(unknown, {
    code: 1,
    stderr: /no-such-host\.invalid:2710: the name (is not known|cannot be looked up now)\n$/,
  });
});

t.test('processes that ssh leaves behind, and an ssh that does not end', async t => {
  const left = join(folder(t), 'left');
  const stays = fakeSsh(t, MON, `sleep 600 >/dev/null </dev/null & echo $! >${left}`);
  const { code, stderr } = await run(['zoom', 'n1', '--via', stays, '--for', '100ms', '--csv']);
  const pid = Number(readFileSync(left, 'utf8'));
  t.teardown(() => process.kill(pid, 'SIGKILL'));
  t.equal(code, 0, stderr);
  t.ok(process.kill(pid, 0), 'it has our stderr as long as it lives, and is not waited for');
  // A shell that ignores SIGTERM, and continues after its program has ended.
  const stubborn = join(folder(t), 'stubborn');
  writeFileSync(
    stubborn,
    `#!/bin/sh\ntrap '' TERM\nnode="$1"; shift 4\n${MON} --name "$node" "$@"\nexec sleep 600 >/dev/null 2>&1\n`,
  );
  chmodSync(stubborn, 0o755);
  t.equal((await run(['zoom', 'n1', '--via', stubborn, '--for', '100ms', '--csv'])).code, 0, 'killed after a while');
  // A second SIGINT ends zoom without waiting for that shell.
  const zoom = start(t, ['zoom', 'n1', '--via', stubborn, '--csv']);
  await until('it tells', () => zoom.output().stdout.split('\n').length > 4);
  let ended: number | string | undefined;
  void zoom.exit.then(code => {
    ended = code;
  });
  await until('it ends', () => ended !== undefined || (zoom.child.kill('SIGINT') && false));
  t.equal(ended, 1);
});

t.test('a reader that leaves', async t => {
  const zoom = start(t, ['zoom', 'n1', '--via', fakeSsh(t), '--rate', '1000', '--csv']);
  await until('it tells', () => zoom.output().stdout.length > 100);
  const ended = once(zoom.child, 'exit');
  zoom.child.stdout?.destroy();
  t.same(await ended, [0, null]);
});

const INSTALL = 'install it (docs/supermon.md)';
const NOISE = 'a shell on the way must not print anything on stdout; look into .bashrc and similar files';

t.test('connections that end, and invalid answers', async t => {
  for (const [before, says] of [
    ['echo "ssh: no such host" >&2; exit 255', 'ssh ended with 255: ssh: no such host'],
    [
      'echo "bash: beoboard-mon: command not found" >&2; exit 127',
      `ssh ended with 127: bash: beoboard-mon: command not found; if beoboard-mon is not installed there, ${INSTALL}`,
    ],
    ['exit 126', `ssh ended with 126; if beoboard-mon may not be run there, ${INSTALL}`],
    ['kill -9 $$', 'ssh ended by SIGKILL'],
    ['echo "Welcome to node n1"; cat >/dev/null', `what it answers is not a list: 'Welcome to node n1'; ${NOISE}`],
    [
      "printf '\\033[31m(base) \\007\\302\\233%0300d' 1; cat >/dev/null",
      `what it answers has the byte 27, which is not allowed in this protocol: '\\u{1b}[31m(base) \\u{7}\\u{9b}${'0'.repeat(45)}…'; ${NOISE}`,
    ],
    [`printf '\\033[2J%0900d' 1 >&2; exit 1`, `ssh ended with 1: \\u{1b}[2J${'0'.repeat(195)}…`],
    ['sleep 0; echo "((a b"; exit 0', 'ssh ended with 0'],
  ] as const) {
    const via = fakeSsh(t, MON, before);
    const { code, stderr } = await run(['zoom', 'n1', '--via', via, '--csv']);
    t.equal(code, 1);
    t.equal(stderr.replaceAll(via, 'ssh'), `beoboard zoom: n1: ${says}\n`, before);
  }
  t.match(await run(['zoom', 'n1', '--via', '/nowhere/ssh', '--csv']), {
    code: 1,
    stderr:
      'beoboard zoom: n1: cannot run /nowhere/ssh: there is no such program; install it, or name another one with --via\n',
  });
  // Without a node zoom runs beoboard-mon on this machine, and here does not find it.
  const nothing = folder(t);
  for (const program of ['sh', 'env']) symlinkSync(`/bin/${program}`, join(nothing, program));
  const local = await run(['zoom', '--csv', '--for', '1ms'], { PATH: nothing });
  if (!['/usr/local/sbin', '/usr/sbin', '/sbin'].some(path => existsSync(join(path, 'beoboard-mon'))))
    t.match(local, {
      code: 1,
      stderr: /^beoboard zoom: this machine: sh ended with 127: .*beoboard-mon.*; if .* install it/,
    });
  for (const [say, says] of [
    [(socket: Socket) => socket.end(), /it closed the connection|ECONNRESET/],
    [
      (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /what it answers is not a list: 'HTTP\/1\.1 400 Bad Request'; give the address of a beoboard-mon/,
    ],
    [(socket: Socket) => socket.write('((x error bad 0 ("no")))\n'), /reports no CPU time: it does not serve nodes/],
    [(socket: Socket) => socket.write('('.repeat(100)), /what it answers has lists more than 16 deep/],
  ] as const)
    t.match(await run(['zoom', '--at', `127.0.0.1:${await saying(t, say)}`, '--csv']), { code: 1, stderr: says });
});

t.test('it leaves no process behind', async t => {
  const pidFile = join(folder(t), 'pid');
  const via = fakeSsh(t, MON, `echo $$ > ${pidFile}`);
  const zoom = start(t, ['zoom', 'n1', '--via', via, '--csv']);
  await until('it tells', () => zoom.output().stdout.split('\n').length > 4);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  t.ok(existsSync(`/proc/${pid}`));
  zoom.child.kill('SIGTERM');
  t.equal(await zoom.exit, 0);
  t.notOk(existsSync(`/proc/${pid}`), 'what it had run has ended before it');
});

t.test('wrong uses', async t => {
  for (const [argv, says] of [
    [['--csv', '--json'], '--csv and --json are two forms of the same; leave one out'],
    [['n1'], 'stdout is not a terminal to draw on; write --csv or --json'],
    [
      ['--play', 'x', '--at', '127.0.0.1', '--csv'],
      '--play shows what was recorded; leave --at, --via, --rate and --record out',
    ],
    [['--at', '127.0.0.1', '--via', 'ssh', '--csv'], '--at asks a server that listens; leave --via out'],
    [['--rate', '1001', '--csv'], "--rate: '1001' is out of bounds; write 1 to 1000"],
    [['--csv', '--', '-oProxyCommand=x'], 'a node is not an option: write its name, not -oProxyCommand=x'],
  ] as const)
    t.match(await run(['zoom', ...argv]), { code: 2, stdout: '', stderr: `beoboard zoom: ${says}\n` });
});
