// beoboard-mon, c/mon: a node says the same as the board's server for the same report, word by word, with every
// compiler; it reads only what is asked for; other programs read its answers; its command line; and a server above
// several of it.
//
// @seconds 12
// @rest

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeReport } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { CATEGORIES, SERVER, STATE } from '../../src/supermon/categories.js';
import { now } from '../kit/clocks.js';
import { builds, compileMon, INSTALLED, makeIn, NO_MUSL } from '../kit/compiling.js';
import { pssOf, say, startMon, statusOf } from '../kit/mon.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { Asker, type Element, elementsOf, LiveBoard, readByOthers, serve } from '../kit/supermon.js';
import { deliver } from '../kit/testwriter.js';
import { machines, parseHexDump, prepare, textOf } from '../kit/tree.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);

const MON = compileMon(t);
/** Categories that cannot be compared: ages, clocks, the server itself, and slow sources, which beoboard-mon lacks. */
const ELSEWHERE = ['time', 'gpu', 'power', STATE.name, SERVER.name];
const PART = CATEGORIES.filter(({ name }) => !ELSEWHERE.includes(name)).reduce((sum, { mask }) => sum | mask, 0);
const ASKED = `0x${PART.toString(16)}S\n`;
const { hostname, cluster_id, flags } = structs.report.fields;
const KEPT = [
  [hostname.offset, hostname.offset + hostname.count],
  [cluster_id.offset, cluster_id.offset + 4],
  [flags.offset, flags.offset + 4],
] as const;

const withoutAge = (elements: readonly Element[]) =>
  elements.map(([node, category, state, , data]) => [node, category, state, data]);

/** For each machine the options for its trees, and the elements of the board's server for a report from these trees. */
const wanted = new Map<string, { argv: string[]; elements: unknown[] }>();

t.test("the board's server", async t => {
  const board = new LiveBoard(t);
  const root = folder(t.parent as typeof t);
  for (const machine of machines()) {
    const own = join(root, machine);
    execFileSync('mkdir', [own]);
    prepare(machine, own);
    // The recorded report, but with the machine as its name, the board's cluster, and without the goodbye flag.
    const report = parseHexDump(textOf(machine, 'report.hex'));
    const like = makeReport({ hostname: machine }, 'test');
    for (const [from, to] of KEPT) report.set(like.subarray(from, to), from);
    const { t_real_ns } = decodeReport(new DataView(report.buffer, report.byteOffset, report.length), 0);
    t.equal(deliver(board.writer, report, now().mono, t_real_ns), 'accepted', machine);
  }
  const { port } = await serve(t, ['--board', board.path]);
  const client = await Asker.open(t, port);
  const all = elementsOf(await client.ask(ASKED));
  for (const machine of machines()) {
    const elements = all.filter(([node]) => node === machine);
    const tree = join(root, machine, 'now');
    const argv = ['--name', machine, '--proc', join(tree, 'proc'), '--sys', join(tree, 'sys')];
    wanted.set(machine, { argv, elements: withoutAge(elements) });
  }
  t.ok(all.length > 5 * machines().length, `${all.length} elements of ${machines().length} machines`);
  const rows = elementsOf(await client.ask('#\n')).map(([, ...row]) => row);
  const own = elementsOf(say(MON, '#\n').stdout).map(([, ...row]) => row);
  t.same(own, rows, 'the schema, row by row');
});

for (const { what, how, under, skip } of builds(['installed', 'sanitized']))
  t.test(`every machine: ${what}`, { skip }, async t => {
    const mon = [...under, compileMon(t, how)].join(' ');
    for (const [machine, { argv, elements }] of wanted) {
      const { status, stdout } = say(mon, ASKED, ...argv);
      t.equal(status, 0);
      t.same(withoutAge(elementsOf(stdout)), elements, machine);
    }
  });

t.test('this machine', async t => {
  const { port, pid, child, exit, stderr } = await startMon(t, MON, '--name', 'n1');
  const client = await Asker.open(t, port);
  const schema = elementsOf(await client.ask('#\n'));
  const text = await client.ask('S\n');
  const sample = elementsOf(text);
  const of = (name: string) => sample.find(([, category]) => category === name);
  t.match(stderr(), /ready: n1 answers at 127\.0\.0\.1:\d+, at most 200 times a second\n/);
  t.same(of(STATE.name), ['n1', STATE.name, 'live', '0', [['nr', '1'], 'live', '0', '1', '0']]);
  for (const [who, category, state, age, data] of sample) {
    t.same([who, state, age], category === SERVER.name ? [schema[0]?.[0], 'ok', '0'] : ['n1', 'live', '0']);
    const row = schema.find(([, name]) => name === category);
    const [[, nr] = []] = (row?.[4] ?? []) as string[][];
    for (const values of nr === 'n' ? (data.slice(1) as string[][]).map(one => one.slice(1)) : [data.slice(1)])
      t.equal(values.length, (row?.[4].length ?? 0) - 1, `${category}: as many as the schema says`);
  }
  const [seconds = 0, jiffies = 0] = (of('time')?.[4] ?? []).slice(1).map(Number);
  t.ok(Math.abs(seconds - Date.now() / 1000) < 3600, 'seconds since 1970');
  const loads = readFileSync('/proc/loadavg', 'latin1').split(' ').slice(0, 3).map(Number);
  const [one = 0] =
    elementsOf(await client.ask('0x40S'))[0]?.[4]
      .slice(1)
      .map(Number) ?? [];
  t.ok(Math.abs(one / 2048 - (loads[0] ?? 0)) < 1, `a load of 1 is 2048: ${one}, ${loads}`);
  const ticks = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '').split(' ').map(Number);
  const times = (elementsOf(await client.ask('0x1S'))[0]?.[4] ?? []).slice(1).map(Number);
  const sum = (all: number[]) => all.slice(0, 8).reduce((a, b) => a + b, 0);
  t.ok(sum(times) >= sum(ticks) && sum(times) < sum(ticks) + 60_000, 'jiffies as the kernel has them');
  const later = elementsOf(await client.ask('0x8010S'));
  t.ok(Number(later[0]?.[4][2]) >= jiffies, 'time goes on');
  t.ok(Number(later[1]?.[4][2]) > 0, 'what it has used');

  await t.test('masks', async t => {
    for (const { name, mask } of [STATE, SERVER, ...CATEGORIES]) {
      const part = elementsOf(await client.ask(`0x${mask.toString(16)}S\n`));
      const may = of(name) === undefined ? [] : [name];
      t.same(
        part.map(([, category]) => category),
        may,
        name,
      );
    }
    t.same(elementsOf(await client.ask('0x0S\n')), []);
  });

  await t.test('one connection, many commands', async t => {
    client.socket.write('# 0x40S\n0x8S "Sn" \'0x10S\'');
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(elementsOf(await client.next()).length);
    t.same(answers, [schema.length, 1, 1, sample.length, 1]);
    const [[, category, , , [why = '']] = ['', '', '', '', []]] = elementsOf(await client.ask('STATUS\n'));
    t.same(
      [category, why],
      ['error', 'there is no command STATUS; write # for the schema, S for a sample, 0x40S for a part of it'],
    );
    t.equal(elementsOf(await client.ask('S\n')).length, sample.length, 'and goes on');
  });

  await readByOthers(t, text);

  t.equal(Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[16]), 19, 'nice 19');
  t.equal(statusOf(pid, 'NoNewPrivs'), '1');
  if (!NO_MUSL) t.ok(pssOf(pid) <= 320, `${pssOf(pid)} KiB`);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(stderr(), /clean shutdown: \d+ answers, 0 clients cut off\n$/);
});

t.test('it reads only the files that a request needs', async t => {
  const { port, pid } = await startMon(t, MON);
  const client = await Asker.open(t, port);
  const files = () =>
    readdirSync(`/proc/${pid}/fd`)
      .map(fd => readlinkSync(`/proc/${pid}/fd/${fd}`))
      .filter(path => path.startsWith('/proc/'))
      .map(path => path.replace('/proc/self', '/proc').replace(/^\/proc\/\d+/, '/proc'))
      .sort();
  t.same(files(), []);
  await client.ask('#');
  await client.ask('0x10S');
  t.same(files(), [], 'clocks are in no file');
  await client.ask('0x40S');
  t.same(files(), ['/proc/loadavg']);
  await client.ask('0x9S');
  t.same(files(), ['/proc/loadavg', '/proc/stat']);
  await client.ask('0x2S');
  t.same(files(), ['/proc/loadavg', '/proc/net/dev', '/proc/stat']);
});

t.test('stdin and stdout', async t => {
  const { status, stdout, stderr } = say(MON, '0x40S 0x8S\n0x10S');
  t.same([status, stderr], [0, ''], 'it ends with stdin, and says nothing');
  t.same(
    stdout.match(/^\(\(\S+ \w+/gm)?.map(begin => begin.split(' ')[1]),
    ['avenrun', 'switch', 'time'],
  );
  t.same(say(MON, '').status, 0);
  const half = say(MON, 'x'.repeat(70));
  t.match(half.stdout, /^\(\(\S+ error bad 0 \("there is no command x{64}; write[^\n]+\n$/, 'once, by its own name');
  t.equal(half.status, 0);
  for (const [said, word] of [
    ['STATUS', 'STATUS'],
    ['0x4', '0x4'],
    ['S S', undefined],
    ['0x10S\\n', undefined],
    ['y'.repeat(400), 'y'.repeat(64)],
  ] as const) {
    const [, named] = /there is no command (\S*); write/.exec(say(MON, said).stdout) ?? [];
    t.equal(named, word, `the last word needs no newline: ${said.slice(0, 20)}`);
  }
  // The reader of its output has gone: it ends with 0, because there is nobody to tell.
  const script = '{ yes S | "$0" --stdio --most 100000; echo $? >&2; } | head -c 100 > /dev/null';
  const gone = spawnSync('bash', ['-c', script, MON], { encoding: 'utf8', timeout: 60_000 });
  t.equal(gone.stderr, '0\n');
  if (existsSync('/dev/full')) {
    const full = spawnSync('bash', ['-c', 'echo S | "$0" --stdio > /dev/full', MON], { encoding: 'utf8' });
    t.same([full.status, full.stderr], [74, 'beoboard-mon: cannot write to stdout: ENOSPC\n']);
  }
});

t.test('its command line', async t => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const call = (...argv: string[]) => {
    const { status, stdout, stderr } = spawnSync(MON, argv, { encoding: 'utf8', timeout: 60_000 });
    return [status, stdout, stderr];
  };
  t.same(call('--version'), [0, `${version}\n`, '']);
  t.same(call('-V'), [0, `${version}\n`, '']);
  const [, help = ''] = call('--help') as [number, string, string];
  t.match(help, /^Usage: beoboard-mon \[options\]\n/);
  t.same(call('--most', 'x', '-h'), [0, help, '']);
  const page = readFileSync(join(ROOT, 'c', 'mon', 'beoboard-mon.8'), 'utf8').replaceAll('\\-', '-');
  for (const [, option = ''] of help.matchAll(/^ {2}(--[a-z]+)/gm))
    t.ok(page.includes(`\\fB${option}\\fR`), `${option} stands in the manual page`);
  for (const [argv, says] of [
    [['--lisen', 'x'], "unknown option '--lisen'; did you mean --listen?"],
    [['-x'], "unknown option '-x'; see beoboard-mon --help"],
    [['x'], "'x' is one argument too many; see beoboard-mon --help"],
    [['--stdio=yes'], '--stdio takes no value; write --stdio'],
    [['--most'], '--most has no value; write --most N'],
    [['--most', '--stdio'], '--most has no value, --stdio follows it; write --most N'],
    [['-', 'x'], "'-' is one argument too many; see beoboard-mon --help"],
    [
      ['--name', '--of'],
      "--name: '--of' is not a node name; write 1 to 63 of a-z 0-9 . _ - that begin with a letter or digit",
    ],
    [Array<string>(9).fill('--listen=127.0.0.1'), '--listen is given 9 times; give it at most 8 times'],
    [Array<string>(257).fill('--stdio'), 'there are more than 256 values; write fewer'],
    [['--most', '0'], "--most: '0' is not a rate; write 1 to 100000, answers a second"],
    [['--most', '1e3'], "--most: '1e3' is not a rate; write 1 to 100000, answers a second"],
    [['--most', '1', '--most', '2'], '--most is given 2 times; give it once'],
    [
      ['--listen', 'node1'],
      "--listen: 'node1' is a name; write an address of this machine, as in 127.0.0.1 or [::]:2710",
    ],
    [['--listen', '127.0.0.1:70000'], "--listen: port '70000' of '127.0.0.1:70000' is not a port; write 0 to 65535"],
    [
      ['--name', 'A b'],
      "--name: 'A b' is not a node name; write 1 to 63 of a-z 0-9 . _ - that begin with a letter or digit",
    ],
    [['--user', 'nobody of that name'], "--user: 'nobody of that name' is not a user; write a user name or a user id"],
    [
      ['--user', 'nobody-of-that-name'],
      "--user: there is no user 'nobody-of-that-name' in /etc/passwd; name one that is there, or write an id",
    ],
    [['--proc', ''], "--proc: '' is not a file name; write a path"],
    [['--stdio', '--listen', '127.0.0.1'], '--stdio answers only on stdout; leave out --listen'],
  ] as const)
    t.same(call(...argv), [2, '', `beoboard-mon: ${says}\n`], argv.join(' '));
  const { port } = await startMon(t, MON);
  t.same(call('--listen', `127.0.0.1:${port}`), [
    1,
    '',
    `beoboard-mon: cannot listen on 127.0.0.1:${port}: another program listens there already; stop it, or choose another port\n`,
  ]);
});

t.test('the log as JSON names the program', async t => {
  const env = { ...process.env, BEOBOARD_LOG: 'json' };
  const { stderr } = spawnSync(MON, ['--stdio', '--proc', '/none"\\'], { input: 'S', encoding: 'utf8', env });
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  t.ok(lines.some(({ msg }) => msg.startsWith('cannot read /none"\\/')));
  for (const line of lines) t.match(line, { level: 40, time: Number, pid: Number, verb: 'mon', msg: String });
});

t.test('it logs that others can connect', async t => {
  const { stderr } = await startMon(t, MON, '--listen', '0.0.0.0:0', '--listen', '[::1]:0');
  t.match(stderr(), /^beoboard-mon: there are no passwords: whoever reaches 0\.0\.0\.0:\d+ can ask\n/);
  t.equal(stderr().match(/no passwords/g)?.length, 1, 'not of loopback');
});

t.test(
  'another user, and no system calls that it does not need',
  { skip: process.getuid?.() !== 0 && 'needs root' },
  async t => {
    const { port, pid, child, exit, stderr } = await startMon(t, MON, '--user', '65534', '--seccomp');
    t.same(
      [statusOf(pid, 'Uid'), statusOf(pid, 'Groups'), statusOf(pid, 'Seccomp')],
      ['65534\t65534\t65534\t65534', '', '2'],
    );
    for (let i = 0; i < 3; i++) {
      const client = await Asker.open(t, port);
      t.ok(elementsOf(await client.ask('S\n')).length >= 9, 'all of it');
      client.socket.destroy();
    }
    child.kill('SIGINT');
    t.equal(await exit, 0, stderr());
  },
);

t.test('a server above nodes, and a board above all', async t => {
  const nodes = await Promise.all(['a1', 'a2'].map(name => startMon(t, MON, '--name', name)));
  const rack = await serve(
    t,
    nodes.flatMap(({ port }) => ['--from', `127.0.0.1:${port}`]),
  );
  const board = new LiveBoard(t, ['n1']);
  const top = await serve(t, ['--board', board.path, '--from', `127.0.0.1:${rack.port}`]);
  const client = await Asker.open(t, top.port);
  const names = await until('all are there', async () => {
    const found = elementsOf(await client.ask('0x100S')).filter(([, category]) => category === STATE.name);
    return found.length === 3 && found.every(([, , state]) => state === 'live') && found.map(([name]) => name);
  });
  t.same(names.sort(), ['a1', 'a2', 'n1']);
  const own = await Asker.open(t, nodes[0]?.port ?? 0);
  const steady = (elements: Element[]) => elements.filter(([name]) => name === 'a1').map(([, category]) => category);
  t.same(steady(elementsOf(await client.ask('S'))), steady(elementsOf(await own.ask('S'))), 'without loss');
  // On a busy machine one of them may be left out for not having answered in time.
  const servers = async () => new Set(elementsOf(await client.ask('#')).map(([server]) => server));
  await until('there are two nodes, two servers', async () => (await servers()).size === 4);
  nodes[0]?.child.kill('SIGKILL');
  await until('nothing is known of one', async () =>
    elementsOf(await client.ask('0x100S')).some(([name, , state]) => name === 'a1' && state === 'unknown'),
  );
});

t.test('what is installed has no symbols', { skip: NO_MUSL }, async t => {
  const root = memoryFolder(t);
  makeIn('mon', INSTALLED, 'install', `DESTDIR=${join(root, 'to')}`, 'PREFIX=/usr');
  const { size } = statSync(join(root, 'to', 'usr', 'sbin', 'beoboard-mon'));
  t.ok(size < 96 * 1024, `${Math.round(size / 1024)} KiB`);
  t.notMatch(
    execFileSync('readelf', ['-l', join(root, 'to', 'usr', 'sbin', 'beoboard-mon')], { encoding: 'utf8' }),
    /INTERP/,
    'static',
  );
  t.ok(existsSync(join(root, 'to', 'usr', 'share', 'man', 'man8', 'beoboard-mon.8')));
});
