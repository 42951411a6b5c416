// The sender in C as the kernel sees it: its memory, its user and its permissions. Its system calls: csendercalls.
//
// @seconds 15
// @waits
// @rest
// @days 3

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { compileSender, DYNAMIC, INSTALLED, makeIn, NO_MUSL } from '../kit/compiling.js';
import { Hearer, startIn, statOf } from '../kit/hanging.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { prepare, readable, trees } from '../kit/tree.js';
import { askC } from '../kit/twosenders.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
// These tests mostly wait, so several run at the same time.
t.jobs = 6;

const isRoot = process.getuid?.() === 0;
const needsRoot = !isRoot && 'needs root, to become another';
const sender = compileSender(t);
/** Another user, for `--user`, and as /proc shows it. */
const NOBODY = '65534';

/** Runs the sender, with commands in front of it if given, until the test ends. */
const begin = (
  t: Parameters<typeof folder>[0],
  argv: string[],
  prefix: string[] = [],
  more: { env?: Record<string, string>; sender?: string } = {},
) => startIn(t, { prefix, sender, ...more }, ['send', '--name', 'node1', ...argv]);

const status = (pid: number) =>
  new Map(
    [...readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(\w+):[ \t]*(.*)$/gm)].map(([, key, value]) => [
      key,
      value,
    ]),
  );
const pss = (pid: number) => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
const threads = (pid: number) => readdirSync(`/proc/${pid}/task`).map(Number);

/** A private copy of the sender, which an ordinary user can run. */
function copy(t: Parameters<typeof folder>[0]): string {
  const place = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(place, { recursive: true, force: true }));
  chmodSync(place, 0o755);
  execFileSync('cp', [sender, place]);
  return join(place, 'beoboard-send');
}

for (const [what, most, more] of [
  ['a master by its address', 300, 'nothing'],
  // This row also has a master that cannot be reached.
  ['an option file, a key, SIGHUP', 330, 'options'],
  ['512 CPUs', 450, 'cpus'],
] as const)
  t.test(`its memory: ${what}`, { buffered: true, skip: NO_MUSL }, async t => {
    const own = folder(t);
    const [key, config] = [join(own, 'key'), join(own, 'send.toml')];
    writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
    writeFileSync(config, `cluster = "alpha"\nkey-file = "${key}"\n`);
    const hearer = await Hearer.open(t);
    const others = {
      nothing: [],
      options: ['--config', config, '--to', '127.0.0.1:9'],
      cpus: more === 'cpus' ? trees('cpus-512', own) : [],
    };
    const { pid, child } = begin(t, ['--to', hearer.address, ...others[more]], [], { sender: copy(t) });
    await hearer.next('it is warm', ({ seq }) => seq === 2);
    if (more === 'options') child.kill('SIGHUP');
    const seen: number[] = [];
    for (const { seq } = hearer.last; hearer.last.seq < seq + 12; ) {
      await hearer.more(1);
      seen.push(pss(pid));
    }
    t.comment(`${what}: PSS ${seen.join(', ')} KiB`);
    t.ok(Math.max(...seen) <= most, `${Math.max(...seen)} of ${most} KiB`);
  });

/** What the sender says and reports of a machine of test/fixtures, with so many KiB of address space. */
function within(t: Parameters<typeof folder>[0], kib: number, net: string) {
  const root = memoryFolder(t);
  const argv = prepare('vm', root).filter(word => word !== 'send');
  for (const tree of ['before', 'now']) writeFileSync(join(root, tree, 'proc/net/dev'), net);
  const told = askC('sh', ['-c', `ulimit -v ${kib}; exec "$@"`, 'sh', sender, ...argv]);
  const sets = told.report === '' ? [] : (readable(Buffer.from(told.report, 'hex')).valid as string[]);
  return { code: told.code, said: told.said.replaceAll(root, 'ROOT'), sets };
}

t.test('memory is asked for when it is needed', { skip: NO_MUSL }, async t => {
  const net = (count: number) =>
    `|\n|\n${Array.from({ length: count }, (_, i) => `i${i}:${' 0'.repeat(16)}\n`).join('')}`;
  const program = askC('sh', ['-c', 'ulimit -v 8192; exec "$@" --version', 'sh', sender]);
  t.equal(program.code, 0, program.said);
  const few = within(t, 8192, net(5));
  t.strictSame([few.code, few.said, few.sets.includes('net')], [0, '', true], 'an ordinary machine');
  const many = within(t, 8192, net(30_000));
  t.strictSame(
    [many.code, many.said],
    [0, 'the kernel gives no memory for so many network interfaces: they are not measured\n'],
    'more than there is memory for',
  );
  t.strictSame(
    many.sets,
    few.sets.filter(set => set !== 'net'),
    'and all else is measured',
  );
  const larger = within(t, 8192, net(90_000));
  t.strictSame(
    [larger.code, larger.said, larger.sets],
    [0, ['before', 'now'].map(tree => `cannot read ROOT/${tree}/proc/net/dev: ENOMEM\n`).join(''), many.sets],
    'even its text',
  );
  t.strictSame(within(t, 80_000, net(90_000)).said.includes('memory'), false, 'more memory is enough for them');
});

t.test('what is installed has no symbols', { buffered: true, skip: NO_MUSL }, t => {
  const root = memoryFolder(t);
  makeIn('sender', INSTALLED, 'install', `DESTDIR=${join(root, 'to')}`, 'PREFIX=/usr');
  const installed = join(root, 'to', 'usr', 'sbin', 'beoboard-send');
  const { size } = statSync(installed);
  t.ok(size < 192 * 1024, `${Math.round(size / 1024)} KiB`);
  t.notMatch(execFileSync('readelf', ['-l', installed], { encoding: 'utf8' }), /INTERP/, 'static');
  t.equal(
    execFileSync(installed, ['--version'], { encoding: 'utf8' }),
    execFileSync(sender, ['-V'], { encoding: 'utf8' }),
  );
  t.end();
});

/** Writes into a pipe, if somebody reads it now. */
function feed(pipe: string, text: string): void {
  try {
    const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, text);
    closeSync(fd);
  } catch {}
}

// No name is found before the options were read again: the file of hosts is a pipe.
t.test(
  'SIGHUP before the first report: it is ready with the new options',
  { buffered: true, skip: needsRoot },
  async t => {
    const own = folder(t);
    const [config, hosts] = [join(own, 'send.toml'), join(own, 'hosts')];
    execFileSync('mkfifo', [hosts]);
    const write = (name: string) => writeFileSync(config, `to = ["slow.example"]\nname = "${name}"\n`);
    write('alpha');
    const prefix = ['unshare', '-m', 'sh', '-ec', 'mount --bind "$0" /etc/hosts\nexec "$@"', hosts];
    const { pid, child, exit, lines } = startIn(t, { prefix, sender }, ['send', '--config', config]);
    await until('it asks for the name', () => statOf(pid) !== undefined && threads(pid).length > 2);
    write('beta');
    child.kill('SIGHUP');
    await until('it has read them', () => lines().some(line => / read its options again: /.test(line)));
    // The pipe is opened twice, for an address of each kind.
    await until('it is ready', () => {
      feed(hosts, '127.0.0.1 slow.example\n::1 slow.example\n');
      return lines().some(line => / ready: /.test(line));
    });
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    t.match(
      lines().join('\n'),
      / read its options again: beta reports every 1\.0s to slow\.example:8677\n[\s\S]* ready: beta reports every 1\.0s to slow\.example:8677\n/,
    );
  },
);

const CONFINED = {
  NoNewPrivs: '1',
  CapInh: '0'.repeat(16),
  CapPrm: '0'.repeat(16),
  CapEff: '0'.repeat(16),
  CapAmb: '0'.repeat(16),
};

t.test('--user and --seccomp: no thread can undo them', { buffered: true, skip: needsRoot }, async t => {
  const hearer = await Hearer.open(t);
  const key = join(folder(t), 'key');
  writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
  const { pid, child, exit } = begin(t, ['--to', hearer.address, '--user', NOBODY, '--seccomp', '--key-file', key]);
  const report = await hearer.next(
    'a round is closed',
    ({ slow_boot_ns, auth_alg }) => slow_boot_ns > 0n && auth_alg === 1,
  );
  t.ok(threads(pid).length > 1, 'the slow side has a thread');
  for (const thread of threads(pid)) {
    const seen = Object.fromEntries(status(thread));
    t.match(seen, { ...CONFINED, Uid: `${NOBODY}\t${NOBODY}\t${NOBODY}\t${NOBODY}`, Seccomp: '2' }, `thread ${thread}`);
    t.equal(seen.Groups?.trim(), '', 'no other groups');
    t.match(seen.Gid, /^(\d+)(?:\t\1){3}$/);
  }
  for (const set of ['stat', 'memory', 'net', 'disk', 'taint', 'root', 'scratch', 'hw_hash'])
    t.ok(report.sets.includes(set), `${set} is measured all the same`);
  // The key file belongs to root, and the sender is no longer root, so it keeps the key that it has.
  child.kill('SIGHUP');
  await hearer.more(2);
  t.equal(hearer.last.auth_alg, 1);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('an ordinary user', { buffered: true, skip: needsRoot }, async t => {
  const hearer = await Hearer.open(t);
  const program = copy(t);
  const as = ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'];
  const { pid, child, exit, lines } = begin(t, ['--to', hearer.address, '--seccomp', '--user', NOBODY], as, {
    sender: program,
  });
  const report = await hearer.next('a round is closed', ({ slow_boot_ns }) => slow_boot_ns > 0n);
  t.match(Object.fromEntries(status(pid)), { ...CONFINED, Seccomp: '2' });
  for (const set of ['stat', 'memory', 'net', 'root', 'taint']) t.ok(report.sets.includes(set), set);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(lines()[0], /: ready: /);
  for (const [user, why] of [
    ['0', /--user: cannot become this user; start it as root.*EPERM|--user: cannot become this user/],
    ['no-such-user', /--user: there is no user 'no-such-user' in \/etc\/passwd/],
    ['a b', /--user: 'a b' is not a user/],
  ] as const) {
    const refused = begin(t, ['--to', hearer.address, '--user', user], as, { sender: program });
    t.equal(await refused.exit, 2, user);
    await refused.closed;
    t.match(refused.lines(), [why]);
  }
});

t.test(
  'no thread can be made: told, tried again, and addresses get their reports',
  { buffered: true, skip: needsRoot },
  async t => {
    // A user without other processes, because RLIMIT_NPROC counts all processes of a user.
    const nobodyElse = String(60_000 + (process.pid % 5000));
    const as = ['setpriv', '--reuid', nobodyElse, '--regid', nobodyElse, '--clear-groups'];
    const alone = [...as, 'prlimit', '--nproc=1:100'];
    const hearer = await Hearer.open(t);
    const port = hearer.socket.address().port;
    // `localhost` may be 127.0.0.1 or ::1, so both have a socket.
    const six = createSocket('udp6');
    t.teardown(() => six.close());
    six.on('error', () => undefined).bind(port, '::1');
    const [name, program] = [`localhost:${port}`, copy(t)];
    const only = begin(t, ['--once', '--to', name, '--to', hearer.address], alone, { sender: program });
    t.equal(await only.exit, 1, 'it ends');
    await only.closed;
    t.match(only.lines().join('\n'), `${name} cannot be looked up: there can be no thread for that`);
    await until('the other destination has its report', () => hearer.reports.length === 1);

    const running = begin(t, ['--interval', '200ms', '--to', name, '--to', hearer.address], alone, { sender: program });
    const said = (what: RegExp) => until(`it says ${what}`, () => running.lines().find(line => what.test(line)));
    await said(/localhost:\d+ cannot be looked up: there can be no thread for that; reports to it are lost/);
    await said(/: ready: /);
    await said(/: cannot make a thread: no slow source is read until there can be one$/);
    await hearer.next('the other destination goes on', ({ seq }) => seq === 5);
    execFileSync('setpriv', [...as.slice(1), 'prlimit', '--pid', String(running.pid), '--nproc=100:100']);
    await said(/localhost:\d+ accepts reports again/);
    t.equal(running.lines().filter(line => line.includes('no thread for that')).length, 1, 'told once');
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
  },
);

t.test('what a sender never does is refused, and the report is sent', { buffered: true }, async t => {
  const hearer = await Hearer.open(t);
  const own = folder(t);
  const [library, file] = [join(own, 'forbidden.so'), join(own, 'made')];
  const flags = '-std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wpedantic -Werror -shared -fPIC'.split(' ');
  execFileSync('gcc', [...flags, '-o', library, join(ROOT, 'c', 'test', 'sender', 'forbidden.c')]);
  const dynamic = compileSender(t, DYNAMIC);
  const env = { LD_PRELOAD: library, FORBIDDEN_FILE: file };
  const { child, exit, lines } = begin(t, ['--to', hearer.address, '--seccomp'], [], { env, sender: dynamic });
  const report = await hearer.next('a round is closed', ({ slow_boot_ns }) => slow_boot_ns > 0n);
  t.ok(report.sets.includes('taint') && !report.sets.includes('root'));
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  const tried = [...new Set(lines().filter(line => line.startsWith('tried ')))].sort();
  t.strictSame(
    tried,
    [
      ...['to become root: EPERM', 'to change a file: EPERM', 'to listen: EPERM'],
      ...['to look for a process of its own user: EPERM', 'to look for a process: EPERM', 'to make a file: EPERM'],
      ...['to make a folder: EPERM', 'to make a process: EPERM', 'to read a file: done', 'to run a program: EPERM'],
    ].map(line => `tried ${line}`),
  );
  t.notOk(existsSync(file));
});
