// The load sensor for Grid Engine, c/sensor: what it tells of each host, zeros in full lists whenever nothing is known,
// its lists of hosts from a stand-in of qconf, and its protocol beside a reader as sge_execd is one.
//
// @seconds 15
// @rest

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROBLEMS } from '../../src/shm/problems.js';
import { ended, follow } from '../kit/children.js';
import { builds, CHECKED, compiled, DYNAMIC, INSTALLED, type Make, makeIn, testProgram } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import { beat } from '../kit/linkboard.js';
import { validOf } from '../kit/madeboard.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { type Made, makeBoard, numbered, stall, unborn } from '../kit/stateboard.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

t.setTimeout(600_000);
const SOURCE = join(ROOT, 'c', 'sensor');
const compile = (t: Teardown, how?: Make) => compiled(t, 'sensor', 'beoboard-sensor', how);
const SENSOR = compile(t, CHECKED);

/** A host, its state, and how many problems it has: `n1 2 0`. */
type Row = string;

/** Its rows, the age of each, and to which time each holds. Throws for what is no answer. */
function parseAnswer(text: string): { rows: Row[]; ages: number[]; until: number[] } {
  const lines = text.split('\n');
  if (lines.shift() !== 'begin' || lines.pop() !== '' || lines.pop() !== 'end') throw new Error(`no answer: ${text}`);
  const hosts = new Map<string, string[]>();
  for (const line of lines) {
    const [, host = '', name = '', value = ''] = /^([^:\s]+):(\w+):(\d+)$/.exec(line) ?? [];
    const wanted = ['bb_state', 'bb_age', 'bb_problems', 'bb_until'][hosts.get(host)?.length ?? 0];
    if (name !== wanted) throw new Error(`no value of a host, or not in order: ${JSON.stringify(line)}`);
    hosts.set(host, [...(hosts.get(host) ?? []), value]);
  }
  const all = [...hosts];
  const numbers = (at: number) => all.map(([, values]) => Number(values[at]));
  return { rows: all.map(([host, v]) => `${host} ${v[0]} ${v[2]}`), ages: numbers(1), until: numbers(3) };
}

class Sensor {
  readonly #said: ReturnType<typeof follow>;
  #taken = 0;
  #ended: number | string | undefined;

  constructor(
    t: Teardown,
    readonly args: readonly string[],
    readonly env: Record<string, string> = {},
    readonly program: string = SENSOR,
  ) {
    const [command = '', ...before] = program.split(' ');
    this.child = spawn(command, [...before, ...args], { env: { PATH: process.env.PATH, ...env } });
    this.child.stdin.on('error', () => {});
    this.#said = follow(this.child, t);
    this.#said.exit.then(code => {
      this.#ended = code;
    });
  }

  readonly child: ChildProcessWithoutNullStreams;

  get exit() {
    return this.#said.exit;
  }

  get stderr() {
    return this.#said.stderr;
  }

  /** The answers that came and were not taken yet. */
  answers(): string[] {
    return this.#said.stdout
      .slice(this.#taken)
      .split(/(?<=^end\n)/m)
      .filter(text => /^end\n$/m.test(text));
  }

  /** Writes this, and takes the next answer. */
  async ask(words = '\n') {
    this.child.stdin.write(words);
    return this.next();
  }

  async next() {
    const answer = await until('it has answered', () => {
      const [first] = this.answers();
      if (first === undefined && this.#ended !== undefined) throw new Error(`it has ended: ${this.#ended}`);
      return first;
    });
    this.#taken += answer.length;
    return parseAnswer(answer);
  }

  async end() {
    this.child.stdin.end('quit\n');
    return this.exit;
  }
}

/** A file with these lines, which only its owner can write. */
function file(t: Teardown, lines: readonly string[]): string {
  const path = join(folder(t), 'file');
  writeFileSync(path, lines.map(line => `${line}\n`).join(''));
  chmodSync(path, 0o644);
  return path;
}

/** One answer about a board, whose heartbeat is new. */
async function told(t: Teardown, board: Made | { path: string }, hosts: readonly string[], ...args: string[]) {
  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, hosts), ...args]);
  beat(board.path);
  const { rows } = await sensor.ask();
  await sensor.end();
  return rows;
}

const zeros = (hosts: readonly string[]) => hosts.map(host => `${host} 0 0`);

t.test('what is told of each host', async t => {
  const live = numbered(40);
  const nodes = { live, silent: ['s1', 's2'], left: ['l1'], never: ['v1'], uncertain: ['u1'] };
  const board = makeBoard(t, { ...nodes, held: ['h1'], unhealthy: ['i1'] });
  const hosts = ['n001', 's1', 'l1', 'v1', 'u1', 'h1', 'i1', 'nobody', 's2'];
  t.strictSame(await told(t, board, hosts), [
    ...['n001 0 0', 's1 2 0', 'l1 1 0', 'v1 0 0', 'u1 0 0', 'h1 0 1', 'i1 0 1'],
    ...['nobody 0 0', 's2 2 0'],
  ]);
  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, hosts)]);
  const [, silent = 0, left = 0, never, uncertain = 0, , , nobody] = (await sensor.ask()).ages;
  t.ok(silent >= 34 && left >= 70 && uncertain >= 6, 'ages');
  t.strictSame([never, nobody], [0, 0], 'ages of what never reported');
  t.strictSame(await told(t, board, ['h1', 'i1'], '--problems', 'bad_health'), ['h1 0 0', 'i1 0 1']);
  const lasting = { interval_ms: 600_000, valid: validOf('root', 'health'), health: 3 };
  const full = { ...lasting, root_total_mib: 1000, root_avail_mib: 10, root_inodes_free_pm: 900 };
  const { path } = writtenBoard(t, { full: () => full });
  const of = async (...names: string[]) => (await told(t, { path }, ['full'], '--problems', names.join()))[0];
  t.equal(await of('root_full'), 'full 0 1');
  t.equal(await of('ecc'), 'full 0 0');
  t.equal(await of(...PROBLEMS), 'full 0 2');
});

t.test('in doubt each host has zeros', async t => {
  const hosts = ['n001', 's1', 'l1', 'h1', 'nobody'];
  const nodes = { live: numbered(40), silent: ['s1'], left: ['l1'], held: ['h1'] };
  const board = makeBoard(t, nodes);
  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, hosts)]);
  beat(board.path);
  t.strictSame((await sensor.ask()).rows, ['n001 0 0', 's1 2 0', 'l1 1 0', 'h1 0 1', 'nobody 0 0']);
  stall(board, 60);
  t.strictSame((await sensor.ask()).rows, zeros(hosts), 'stalled');
  t.match(sensor.stderr, /^.* 4 of 5 hosts .*\nbeoboard-sensor: .*stalled.*\n$/, 'and says so once');
  await sensor.ask();
  unborn(board);
  t.strictSame((await sensor.ask()).rows, zeros(hosts), 'no heartbeat yet');
  beat(board.path);
  t.equal((await sensor.ask()).rows[1], 's1 2 0', 'known again');
  t.match(sensor.stderr, /^.*\n.*\n.*all is well again\n$/);
  const aside = `${board.path}.aside`;
  renameSync(board.path, aside);
  stall({ ...board, path: aside }, 60);
  t.strictSame((await sensor.ask()).rows, zeros(hosts), 'gone');
  const other = makeBoard(t, { ...nodes, silent: ['n001'], live: [...numbered(40, 2), 's1'] });
  renameSync(other.path, board.path);
  beat(board.path);
  t.strictSame((await sensor.ask()).rows.slice(0, 2), ['n001 2 0', 's1 0 0'], 'another took its place');
  t.equal(await sensor.end(), 0);

  const none = new Sensor(t, ['--board', join(folder(t), 'none'), '--hosts', file(t, hosts)]);
  const { rows, ages, until: until_ } = await none.ask();
  t.strictSame(rows, zeros(hosts), 'no board');
  t.ok(ages.every(age => age === 0));
  t.ok(until_.every(time => time > Date.now() / 1000 + 60 && time <= Date.now() / 1000 + 120));
  const odd = boardPath(t);
  writeFileSync(odd, 'no board');
  t.strictSame(await new Sensor(t, ['--board', odd, '--hosts', file(t, hosts)]).ask().then(a => a.rows), zeros(hosts));

  const two = { live: numbered(40), silent: ['a@eth1', 'b@eth1', 'c@eth2'] };
  const dark = makeBoard(t, two, { dark: true });
  const links = ['a', 'b', 'c'];
  t.match(await told(t, dark, links), ['a 0 0', 'b 0 0', 'c 2 0'], 'a dark link');
  const down = makeBoard(t, two, { down: ['eth2'] });
  t.match(await told(t, down, links), ['a 2 0', 'b 2 0', 'c 0 0'], 'a link that is down');

  const many = makeBoard(t, { live: numbered(10), silent: ['a', 'b', 'c', 'd'], left: ['l'] });
  t.strictSame(await told(t, many, ['a', 'l', 'n001']), ['a 0 0', 'l 0 0', 'n001 0 0'], 'the brake');
  for (const [brake, state] of [
    ['4', 2],
    ['3', 0],
    ['30%', 2],
    ['20%', 0],
  ])
    t.strictSame(await told(t, many, ['a'], '--brake', `${brake}`), [`a ${state} 0`], `--brake ${brake}`);
});

t.test('a board that is cut short while it is read', async t => {
  const hosts = numbered(2000);
  const board = makeBoard(t, { live: hosts });
  board.writer.close();
  const env = { LD_PRELOAD: testProgram('test/cutshort.so'), CUT_AT_LOOK: board.path };
  const args = ['--board', board.path, '--hosts', file(t, hosts)];
  const sensor = new Sensor(t, args, env, compile(t, DYNAMIC));
  beat(board.path);
  t.strictSame((await sensor.ask()).rows, zeros(hosts));
  t.match(sensor.stderr, /^beoboard-sensor: the board was cut short\n$/);
  t.strictSame((await sensor.ask()).rows, zeros(hosts), 'and goes on');
  t.equal(await sensor.end(), 0);
});

t.test('a board that cannot be mapped', { skip: NOT_WHOLE || lacks('musl-tools', 'musl-gcc') }, async t => {
  const { path } = makeBoard(t, { live: numbered(4000), silent: ['s1'] });
  const args = ['--board', path, '--hosts', file(t, ['s1', 'n001'])];
  const limited = ['-c', 'ulimit -v 4000; exec "$0" "$@"', compile(t, INSTALLED), ...args];
  const sensor = new Sensor(t, limited, {}, 'sh');
  t.strictSame((await sensor.ask()).rows, ['s1 0 0', 'n001 0 0']);
  await sensor.ask();
  t.equal(await sensor.end(), 0);
  t.equal(sensor.stderr, 'beoboard-sensor: out of memory\n', 'said once');
  const check = spawnSync('sh', [...limited, '--check'], { encoding: 'utf8' });
  t.match([check.status, check.stderr], [1, /out of memory/], check.stdout);
});

t.test('hosts that the board does not have', async t => {
  const hosts = ['s1.cluster.example.org', 'N001.Cluster.example.org', 'n002.elsewhere.org', 's1.cluster.example.orgs'];
  const nodes = { live: numbered(40), silent: ['s1'] };
  const board = makeBoard(t, nodes);
  const rows = (state: number) => hosts.map((host, i) => `${host} ${i === 0 ? state : 0} 0`);
  const domain = ['--domain', 'cluster.Example.org'];
  t.strictSame(await told(t, board, hosts), rows(0), 'no short name is guessed');
  t.strictSame(await told(t, board, hosts, ...domain), rows(2), 'that of hosts of the stated domain is used');
  const mixed = makeBoard(t, { ...nodes, left: ['other.example.org'] });
  t.strictSame(await told(t, mixed, hosts, ...domain), rows(0), 'never where the board has names with domains');

  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, hosts.slice(0, 2))]);
  for (let i = 0; i < 3; i++) {
    beat(board.path);
    await sensor.ask();
  }
  await sensor.end();
  const unguarded = '0 of 2 hosts are on the board, the others are not guarded: see beoboard-sensor --check';
  t.equal(sensor.stderr, `beoboard-sensor: ${unguarded}\n`, 'said once');
  const check = (...args: string[]) => {
    beat(board.path);
    const { status, stdout, stderr } = spawnSync(SENSOR, ['--check', ...args], { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  const at = ['--board', board.path, '--hosts', file(t, hosts.slice(0, 2))];
  t.strictSame(check(...at), {
    status: 1,
    stdout:
      's1.cluster.example.org is not on the board (for --names: s1.cluster.example.org s1)\n' +
      'N001.Cluster.example.org is not on the board (for --names: N001.Cluster.example.org n001)\n' +
      '0 of 2 hosts are on the board\n',
    stderr: `beoboard-sensor: ${unguarded}\n`,
  });
  t.strictSame(check(...at, ...domain), { status: 0, stdout: '2 of 2 hosts are on the board\n', stderr: '' });
  const names = file(t, ['s1.cluster.example.org s1', 'gone.example.org nobody']);
  const named = check(...at, ...domain, '--names', names);
  t.equal(named.status, 0);
  t.match(named.stdout, /^nobody, which --names has for gone\.example\.org, is not on the board\n2 of 2 hosts/);
  stall(board, 60);
  const { status, stdout, stderr } = spawnSync(SENSOR, ['--check', ...at], { encoding: 'utf8' });
  t.match({ status, stdout, stderr }, { status: 1, stdout: '', stderr: /stalled/ }, 'nothing is known');
});

t.test('names', async t => {
  const board = makeBoard(t, { live: numbered(40), silent: ['cn7', 'x'.repeat(63), 'node8', 'global'] });
  const long = `${'x'.repeat(63)}y`;
  const hosts = ['CN7', 'cn7.example.org', 'Node8', long, 'other.example.org', '  node8\t# twice'];
  const names = file(t, ['# ours', 'cn7.example.org CN7', 'other.example.org node8']);
  const row = (host: string, state = 2) => `${host} ${state} 0`;
  t.strictSame(await told(t, board, hosts.slice(0, 5), '--brake', '9', '--names', names), [
    ...[row('CN7'), row('cn7.example.org'), row('Node8'), row(long, 0), row('other.example.org')],
  ]);
  t.strictSame(
    await told(t, board, hosts.slice(0, 2), '--brake', '9'),
    [row('CN7'), row('cn7.example.org', 0)],
    'what stands before a dot is not taken for the name',
  );
  t.strictSame(await told(t, board, ['', '# none', hosts[5] ?? ''], '--brake', '9'), [row('node8')]);
  const hostile = [
    ...['a:bb_state:2', 'a b', 'end', 'global', 'template', 'begin:', '-x', '.x', 'n\u001b[2J', 'n\0m', 'ä', ':'],
    ...['x'.repeat(256), 'n1,n2', 'n[1-1000000]', '$(reboot)', '../x', 'cn7\rn1'],
  ];
  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, [...hostile, 'CN7', 'y'.repeat(255)])]);
  beat(board.path);
  t.strictSame(
    (await sensor.ask()).rows.map(row => row.split(' ')[0]),
    ['end', 'CN7', 'y'.repeat(255)],
    'a host may be called end, and has its colon',
  );
  const left = `beoboard-sensor: ${hostile.length - 1} lines are not the name of a host\n`;
  t.equal(sensor.stderr.replace(/^.* 1 of 3 hosts are on the board.*\n/m, ''), left);
});

t.test('names that cannot be used', async t => {
  const board = makeBoard(t, { live: numbered(40), silent: ['s1', 's2'] });
  const hosts = ['n001', 'S1', 's2.example.org'];
  const names = file(t, ['s2.example.org s2 # one too many', 'oops']);
  const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, hosts), '--names', names]);
  const rounds = async (wanted: readonly Row[]) => {
    for (let i = 0; i < 5; i++) {
      beat(board.path);
      t.strictSame((await sensor.ask()).rows, wanted);
    }
  };
  await rounds(zeros(hosts));
  writeFileSync(names, 's2.example.org s2\n');
  await rounds(['n001 0 0', 'S1 2 0', 's2.example.org 2 0']);
  writeFileSync(names, 's2.example.org\n');
  await rounds(['n001 0 0', 'S1 2 0', 's2.example.org 2 0']);
  t.equal(await sensor.end(), 0);
  const said = sensor.stderr.split('\n');
  t.match(said, [/:2: two names are wanted/, /: all is well again$/, /:1: two names are wanted/, '']);
  t.equal(said.length, 4, 'each once');
});

t.test('hosts of qconf', async t => {
  const board = makeBoard(t, { live: numbered(40), silent: ['s1'] });
  const place = folder(t);
  const [list, count, qconf] = ['list', 'count', 'qconf'].map(name => join(place, name)) as [string, string, string];
  /** A stand-in that says what `list` has, and how it ends. */
  const stand = (end: string) => {
    writeFileSync(`${qconf}.new`, `#!/bin/sh\necho "$@" >>${count}; cat ${list}; ${end}\n`, { mode: 0o755 });
    renameSync(`${qconf}.new`, qconf);
  };
  const calls = () => (existsSync(count) ? readFileSync(count, 'utf8') : '');
  writeFileSync(list, 'n001\nS1\n');
  stand('exit 0');
  const sensor = new Sensor(t, ['--board', board.path, '--brake', '9'], { PATH: `${place}:${process.env.PATH}` });
  const hosts = async () => {
    beat(board.path);
    return (await sensor.ask()).rows.map(row => row.split(' ')[0]).join();
  };
  t.equal(await hosts(), 'n001,S1');
  t.equal(calls(), '-sel\n');
  writeFileSync(list, 'n001\nS1\nn002\n');
  for (let i = 0; i < 4; i++) t.equal(await hosts(), 'n001,S1', 'the list of before');
  t.equal(calls(), '-sel\n', 'which is not asked for in each round');
  t.equal(await hosts(), 'n001,S1,n002', 'but in each fifth');
  t.equal(calls(), '-sel\n-sel\n');
  for (const [end, says] of [
    ['exit 1', "'qconf' -sel: failed"],
    ['kill -9 $$', "'qconf' -sel: failed"],
    ['echo; exit 0', "'qconf' -sel names no hosts"],
    ['sleep 100', "'qconf' -sel: does not answer within 5 s"],
    ['exec yes', "'qconf' -sel: writes more than 8 MiB"],
  ] as const) {
    writeFileSync(list, end.startsWith('echo') ? '' : 'n003\n');
    stand(end);
    for (let i = 0; i < 5; i++) t.equal(await hosts(), 'n001,S1,n002', `${end}: the list of before`);
    await until('it has said so', () => sensor.stderr.endsWith(`beoboard-sensor: ${says}\n`));
  }
  writeFileSync(list, 'n004\n');
  stand('exit 0');
  for (let i = 0; i < 5; i++) await hosts();
  t.equal(await hosts(), 'n004', 'and the next one that is whole');
  t.equal(await sensor.end(), 0);

  const absent = new Sensor(t, ['--board', board.path, '--qconf', join(place, 'none')]);
  t.strictSame(
    await absent.ask(),
    { rows: [], ages: [], until: [] },
    'an answer without hosts: execd would not ask again',
  );
  t.match(absent.stderr, /none' -sel: cannot be run\n$/);
  writeFileSync(join(place, 'none'), '#!/bin/sh\necho n001\n', { mode: 0o755 });
  beat(board.path);
  t.strictSame((await absent.ask()).rows, ['n001 0 0'], 'asked for in each round while there are none');
  const open = file(t, ['n001']);
  chmodSync(open, 0o666);
  const untrusted = new Sensor(t, ['--board', board.path, '--hosts', open]);
  t.strictSame((await untrusted.ask()).rows, []);
  t.match(untrusted.stderr, /cannot read .*: others than its owner can write it\n$/);
});

t.test('the protocol', async t => {
  const board = makeBoard(t, { live: numbered(10) });
  const args = ['--board', board.path, '--hosts', file(t, ['n001'])];
  const rows: [what: string, words: string[], answers: number][] = [
    ['the end of stdin', [''], 0],
    ['quit', ['quit\n'], 0],
    ['quit in pieces', ['q', 'ui', 't', '\n'], 0],
    ['a line, and quit', ['\nquit\n'], 1],
    ['nothing after quit', ['\nquit\n\n\n'], 1],
    ['three lines', ['\n\n\n'], 3],
    ['whatever is in it', ['load\n', 'QUIT\n', ' quit\n', 'quit \n', 'quit\r\n', 'quitquit\n', 'qquit\n', 'qui\n'], 8],
    ['no whole line', ['\n', 'quit'], 1],
    ['bytes', ['\0\xff\x1b[2J\n'], 1],
    ['a very long line', [`${'x'.repeat(1 << 20)}\n`, `${'quit'.repeat(1 << 18)}\n`], 2],
    ['a flood', ['\n'.repeat(5000)], 1000],
  ];
  for (const [what, words, answers] of rows) {
    const child = spawn(SENSOR, args);
    const said = ended(child);
    for (const word of words) child.stdin.write(word, 'latin1');
    child.stdin.end();
    const { code, stdout } = await said;
    const found = stdout.match(/^end$/gm)?.length ?? 0;
    if (answers === 1000) t.ok(found >= answers, `${what}: ${found}`);
    else t.equal(found, answers, what);
    t.equal(code, 0, what);
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const sensor = new Sensor(t, args, {}, `nohup ${SENSOR}`);
    await sensor.ask();
    sensor.child.kill(signal);
    t.equal(await sensor.exit, signal);
  }
  const unread = spawn(SENSOR, args);
  const said = ended(unread);
  unread.stdout.destroy();
  unread.stdin.on('error', () => {});
  unread.stdin.write('\n\n\n');
  t.equal((await said).code, 0, 'nobody reads it');
});

// What sge_execd does at each of its times: it reads lines until the pipe is empty or a list ends, takes what it has of
// the last line for a whole one, and asks for the next.
const EXECD = `
import fcntl, os, subprocess, sys, time
size, *argv = sys.argv[1:]
p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
fd = p.stdout.fileno()
os.set_blocking(fd, False)
if int(size) > 0: fcntl.fcntl(fd, 1031, int(size))
p.stdin.write(b'\\n'); p.stdin.flush()
times, lines, rest = 0, [], b''
while b'end' not in lines:
  times += 1
  time.sleep(0.001)
  while True:
    try: got = os.read(fd, 4096)
    except BlockingIOError: break
    if got == b'': sys.exit('it has ended')
    rest += got
    whole, rest = rest.rsplit(b'\\n', 1) if b'\\n' in rest else (b'', rest)
    lines += whole.split(b'\\n')
  if rest != b'': sys.exit('half a line: %r' % rest)
p.stdin.write(b'quit\\n'); p.stdin.flush()
print(times, lines.index(b'begin'), len(lines), p.wait())
`;

t.test('execd never reads half a line', async t => {
  const hosts = Array.from({ length: 10_000 }, (_, i) => `node${i}.cluster.example.org`);
  const list = file(t, hosts);
  for (const size of ['0', '4096']) {
    const args = ['-c', EXECD, size, SENSOR, '--board', '/nowhere', '--hosts', list];
    const { code, stdout, stderr } = await ended(spawn('python3', args));
    t.strictSame([code, stderr.replace(/^beoboard-sensor: .*\n/, '')], [0, '']);
    t.match(stdout, /^\d+ 0 40002 0\n$/, `a pipe of ${size} bytes`);
  }
});

t.test('a reader that takes nothing, and wants it to end', async t => {
  const hosts = Array.from({ length: 50_000 }, (_, i) => `node${i}.cluster.example.org`);
  // As execd is not: the pipe is never read, and cannot be made large enough.
  const script = `
import os, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=65534, group=65534)
p.stdin.write(b'\\n'); p.stdin.flush()
os.read(p.stdout.fileno(), 5)
p.stdin.write(b'quit\\n'); p.stdin.flush()
print(p.wait())`;
  const path = file(t, hosts);
  chmodSync(join(path, '..'), 0o755);
  const root = process.getuid?.() === 0;
  const run = root ? script : script.replace(/, user=\d+, group=\d+/, '');
  const args = ['-c', run, SENSOR, '--board', '/nowhere', '--hosts', path];
  const { stdout, code } = await ended(spawn('python3', args));
  t.strictSame([code, stdout], [0, '0\n'], 'it ends by itself, before execd would kill it');
});

t.test('wrong options', async t => {
  for (const [args, says] of [
    [['--foo'], "unknown option '--foo'; see beoboard-sensor --help"],
    [['--brke', '3'], "unknown option '--brke'; did you mean --brake?"],
    [['extra'], "'extra' is one argument too many; see beoboard-sensor --help"],
    [['--problems', 'full'], "--problems: 'full' is not a problem; did you mean one of"],
    [['--brake', '200%'], "--brake: '200%' is more than all nodes; write 0% to 100%"],
    [['--hosts', ''], "--hosts: '' is not a file name; write a path"],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(SENSOR, args, { encoding: 'utf8' });
    t.strictSame([status, stdout], [2, '']);
    t.ok(stderr.startsWith(`beoboard-sensor: ${says.replace(/; did you mean one of$/, '')}`), stderr);
  }
});

// ---- how it is built ----

t.test('other compilers, C libraries and processors', { skip: NOT_WHOLE }, async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'] });
  for (const { what, how, under, skip } of builds(['installed', 'clang']))
    await t.test(what, { skip }, async t => {
      const program = [...under, compile(t, how)].join(' ');
      const sensor = new Sensor(t, ['--board', board.path, '--hosts', file(t, ['n001', 's001'])], {}, program);
      beat(board.path);
      t.strictSame((await sensor.ask()).rows, ['n001 0 0', 's001 2 0']);
      t.equal(await sensor.end(), 0);
    });
});

t.test('make install, and the manual page', async t => {
  const to = folder(t);
  makeIn('sensor', DYNAMIC, 'install', 'PREFIX=/opt/beo', `DESTDIR=${to}`);
  t.strictSame(
    readdirSync(to, { recursive: true, encoding: 'utf8' })
      .filter(path => path.includes('sensor'))
      .sort(),
    ['opt/beo/sbin/beoboard-sensor', 'opt/beo/share/man/man8/beoboard-sensor.8'],
  );
  const page = readFileSync(join(SOURCE, 'beoboard-sensor.8'), 'utf8').replaceAll('\\-', '-');
  const { stdout: help } = spawnSync(SENSOR, ['--help'], { encoding: 'utf8' });
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = '']) => name);
  t.ok(options.length > 8);
  for (const option of options) t.ok(page.includes(option), `the page tells of ${option}`);
  const groff = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', join(SOURCE, 'beoboard-sensor.8')], {
    encoding: 'utf8',
  });
  if (groff.error === undefined) t.strictSame([groff.status, groff.stdout, groff.stderr], [0, '', '']);
});
