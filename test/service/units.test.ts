// The units of packaging/systemd: what systemd says about them, that all daemons can do all their work within them, and
// that nobody else on the machine can replace our board.
//
// @seconds 27
// @waits
// @rest

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { compileMon, compileSender } from '../kit/compiling.js';
import { type Heard, Hearer, startIn as startOther } from '../kit/hanging.js';
import { lacks } from '../kit/lacking.js';
import { Manager } from '../kit/manager.js';
import { isServing, noServers, serve } from '../kit/natsservers.js';
import { freePorts } from '../kit/network.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { PROGRAM, run, start } from '../kit/program.js';
import { startIn } from '../kit/sampler.js';
import { standIn } from '../kit/slurmstandin.js';
import { elementsOf } from '../kit/supermon.js';
import { until } from '../kit/until.js';
import { confinedBy, ON_MASTER, obstacle, PYTHON, readUnit } from './confined.js';

const UNITS = join(ROOT, 'packaging', 'systemd');
const NAMES = readdirSync(UNITS).sort();
const SERVICES = NAMES.filter(name => name.endsWith('.service'));
/** The GPU helper sends no messages to a service manager: the age of its file shows whether it hangs. */
const DAEMONS = SERVICES.filter(name => name !== 'beoboard-gpu.service');
/** On nodes both are the user beoboard, and with the drop-in of a master others. */
const SENDERS = ['beoboard-send.service', 'beoboard-send-nodejs.service'];
const noSystemd = lacks('systemd', 'systemd-analyze');
const analyze = (...argv: string[]) => spawnSync('systemd-analyze', ['--no-pager', ...argv], { encoding: 'utf8' });

// ---- what systemd says ----

t.test('systemd knows every line', { skip: noSystemd }, async t => {
  t.ok(NAMES.length >= 4, NAMES.join(', '));
  // `verify` fails if a program or a manual page is not installed, so the programs are replaced and --man=no is given.
  const own = folder(t);
  const check = (name: string, text: string) => {
    writeFileSync(join(own, name), text.replaceAll(/\/usr\/s?bin\/beoboard\S*/g, process.execPath));
    return analyze('verify', '--man=no', join(own, name));
  };
  for (const name of NAMES) {
    if (SENDERS.includes(name)) {
      mkdirSync(join(own, `${name}.d`));
      cpSync(ON_MASTER, join(own, `${name}.d`, 'master.conf'));
    }
    const { status, stderr } = check(name, readFileSync(join(UNITS, name), 'utf8'));
    t.same([status, stderr], [0, ''], name);
  }
  t.match(
    check('wrong.service', '[Service]\nExecStart=/usr/bin/beoboard\nProtectSytem=strict\n').stderr,
    /Unknown key/,
  );
});

t.test('each names a manual page that we install', async t => {
  for (const name of NAMES) {
    const [, page, section] =
      /^Documentation=man:([a-z-]+)\((\d)\)$/m.exec(readFileSync(join(UNITS, name), 'utf8')) ?? [];
    const file = `${page}.${section}`;
    t.ok(
      [join('packaging', 'man'), join('c', 'sender'), join('c', 'mon'), join('c', 'gpu')].some(at =>
        existsSync(join(ROOT, at, file)),
      ),
      `${name}: ${file}`,
    );
  }
});

t.test('each is exposed by 2.0 at most', { skip: noSystemd }, async t => {
  const security = (name: string, most: number) =>
    analyze('security', '--offline=true', `--threshold=${most * 10}`, resolve(UNITS, name));
  const own = folder(t);
  const onMaster = SENDERS.map(name => {
    const merged = readFileSync(join(UNITS, name), 'utf8') + readFileSync(ON_MASTER, 'utf8');
    writeFileSync(join(own, name), merged);
    return join(own, name);
  });
  for (const name of [...SERVICES, ...onMaster]) {
    const { status, stdout, stderr } = security(name, 2);
    t.equal(status, 0, `${name}: ${/Overall exposure level.*/.exec(stdout)?.[0] ?? stderr}`);
  }
  t.not(security(SERVICES[0] as string, 0.1).status, 0, 'and what is exposed by more is found');
});

t.test('what every unit has, and what is relaxed with a reason', async t => {
  const strict: Record<string, string> = {
    PrivateUsers: 'yes',
    ProtectClock: 'yes',
    ProtectSystem: 'strict',
    ProtectHome: 'yes',
    MemoryDenyWriteExecute: 'yes',
    ProcSubset: 'pid',
    RemoveIPC: 'yes',
    NoNewPrivileges: 'yes',
    PrivateDevices: 'yes',
    CapabilityBoundingSet: '',
  };
  const all = [...SERVICES.map(name => [name] as const), ...SENDERS.map(name => [name, ON_MASTER] as const)];
  for (const [name, dropIn] of all) {
    const unit = readUnit(name, dropIn);
    const text = readFileSync(dropIn ?? join(UNITS, name), 'utf8') + readFileSync(join(UNITS, name), 'utf8');
    t.match(Object.fromEntries(unit), { Restart: ['always'], LimitCORE: ['0'] }, name);
    if (DAEMONS.includes(name)) t.match(Object.fromEntries(unit), { Type: ['notify'], WatchdogSec: ['30'] }, name);
    for (const [key, value] of Object.entries(strict)) {
      const [found] = unit.get(key) ?? [];
      if (found !== value)
        t.match(text, new RegExp(`^# Relaxed.*\\n${key}=${found}$`, 'm'), `${name}: ${key}=${found}`);
    }
  }
});

t.test('a fault that passes is waited for, and one that lasts ends a unit', async t => {
  const seconds = (text = '') => (text.endsWith('ms') ? Number.parseInt(text, 10) / 1000 : Number(text));
  for (const name of SERVICES) {
    const unit = readUnit(name);
    const [window, most, pause] = ['StartLimitIntervalSec', 'StartLimitBurst', 'RestartSec'].map(
      key => unit.get(key)?.[0],
    );
    t.equal(window, '15min', name);
    // Between two starts are the pause, and the time that a program needs to fail: 0.2 to 1 s.
    const [least, longest] = [0.2, 1].map(failing => Number(most) * (seconds(pause) + failing));
    t.ok((least ?? 0) >= 180, `${name}: it goes on for ${least} s at least`);
    t.ok((longest ?? 900) < 900, `${name}: and for ${longest} s at most`);
  }
});

t.test('the board outlives the units, and the receiver may ask the kernel about interfaces', async t => {
  // With RemoveIPC=yes systemd removes a user's files in /dev/shm when the user's last unit stops.
  for (const name of SERVICES) {
    const unit = readUnit(name);
    // Only this user has a board; slurmctld may have files there, too.
    if (['beoboard', 'slurm'].includes(unit.get('User')?.[0] ?? '')) t.same(unit.get('RemoveIPC'), ['no'], name);
  }
  const receiver = readUnit('beoboard-receive.service');
  // Interfaces and routes come from rtnetlink; counts of dropped datagrams and speeds of links come from files.
  t.match(receiver.get('RestrictAddressFamilies')?.join(' '), /\bAF_NETLINK\b/);
  t.same(receiver.get('ProcSubset'), ['all'], '/proc/net is there');
  t.notOk(
    [...(receiver.get('InaccessiblePaths') ?? []), ...(receiver.get('TemporaryFileSystem') ?? [])].some(paths =>
      /\/(sys|proc)\b/.test(paths),
    ),
    '/sys/class/net is there',
  );
  t.not(receiver.get('PrivateNetwork')?.[0], 'yes');
});

t.test('on a master only receiver and mirror are the user of the board', async t => {
  const users = (dropIn?: string) =>
    Object.fromEntries(SERVICES.map(name => [name, readUnit(name, SENDERS.includes(name) ? dropIn : undefined)]));
  const those = (units: Record<string, Map<string, string[]>>) =>
    Object.keys(units).filter(name => units[name]?.get('User')?.[0] === 'beoboard');
  const owners = ['mirror', 'receive'].map(name => `beoboard-${name}.service`);
  t.same(those(users()), [...owners, ...SENDERS].sort());
  t.same(those(users(ON_MASTER)), owners);
  for (const name of ['beoboard-slurm', 'beoboard-relay', 'beoboard-journal@'])
    t.same(readUnit(`${name}.service`).get('User'), [name.replace('@', '')]);
  for (const [name, unit] of Object.entries(users(ON_MASTER))) {
    if (/-(receive|mirror|gpu|mon)\./.test(name)) continue;
    t.same(unit.get('ReadOnlyPaths'), ['/dev/shm'], `${name} cannot write the board`);
    // For a private user all files of others look like those of nobody.
    t.same(unit.get('PrivateUsers'), ['no'], `${name} sees what belongs to beoboard`);
  }
});

t.test('no receiver starts where a mirror has its board', async t => {
  const [line = ''] = readUnit('beoboard-receive.service').get('ExecCondition') ?? [];
  const options = join(folder(t), 'mirror.toml');
  const [, script = ''] = /^\+\/bin\/sh -c '([^']*)'$/.exec(line.replaceAll('$$', '$')) ?? [];
  const starts = () => spawnSync('sh', ['-c', script.replaceAll('/etc/beoboard/mirror.toml', options)]).status === 0;
  t.ok(starts(), 'no mirror');
  for (const [text, both] of [
    ['site = "home"\n', false],
    ['site = "home"\n#board = "/dev/shm/beoboard/other"\ntrust = ["board=/etc/x"]\n', false],
    ['board = "/dev/shm/beoboard/board"\n', false],
    ['site = "home"\nboard = "/dev/shm/beoboard/beta"\n', true],
    [`  'board'='/dev/shm/beoboard/board2'\n`, true],
  ] as const) {
    writeFileSync(options, text);
    t.equal(starts(), both, text);
  }
});

t.test('when memory runs out, what has to stay stays, and nobody takes all of it', async t => {
  const stays = ['beoboard-mirror.service', 'beoboard-receive.service', ...SENDERS];
  // The board counts for the two that make it, and the driver's library for the helper.
  const unknown = /-(receive|mirror|gpu)\./;
  for (const name of SERVICES) {
    const unit = readUnit(name);
    t.same(unit.get('OOMScoreAdjust'), stays.includes(name) ? ['-900'] : undefined, name);
    t.equal(unit.has('MemoryMax'), !unknown.test(name), name);
  }
  t.same(readUnit('beoboard-send.service', ON_MASTER).get('OOMScoreAdjust'), ['0']);
  // Its own memory, without the board: see test/relay/natsliars.test.ts.
  t.same(readUnit('beoboard-mirror.service').get('LimitDATA'), ['4G']);
  t.same(readUnit('beoboard-mirror.service').get('Restart'), ['always']);
});

t.test('senders read the pace file, in a folder that only root can write', async t => {
  for (const name of SENDERS)
    t.match(readUnit(name).get('ExecStart')?.[0], / --pace-file \/run\/beoboard\/pace\b/, name);
  const folders = readFileSync(join(ROOT, 'packaging', 'tmpfiles.d', 'beoboard.conf'), 'utf8');
  t.match(folders, /^d \/run\/beoboard 0755 root root -$/m);
});

// ---- who runs in them ----

const STRANGER = 1234;
const OTHER_READER = 1235;
/** Who sends from a master. */
const MASTERS_SENDER = 1236;
const SLURMS_READER = 1237;
const JOURNAL = 1238;

/** Runs a command as another user without any privileges. */
const as = (uid: number) => [
  ...['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', 'env'],
];
const ask = (uid: number, ...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync('env', [...as(uid), process.execPath, PROGRAM, ...argv], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
const needsRoot = ROOT_USER ? noOrdinaryUser() : 'needs root, to become others';
const noConfinement = needsRoot || obstacle();

/** A folder such as /dev/shm, in which every user can make files. */
function shared(t: Test): string {
  const path = memoryFolder(t);
  chmodSync(path, 0o1777);
  return path;
}

/** A folder that belongs to a user, for sockets and files. */
function folderOf(t: Test, uid: number, path = memoryFolder(t)): string {
  spawnSync('chown', [`${uid}:${uid}`, path]);
  return path;
}

const sender = compileSender(t);

t.test('relay and mirror do their work within their units', { skip: noConfinement || noServers() }, async t => {
  const manager = await Manager.start(t);
  chmodSync(join(manager.path, '..'), 0o755);
  const confined = (unit: string, uid = NOBODY) => ({ prefix: confinedBy(unit, uid), env: manager.env(2000) });
  const [port] = await freePorts(1);
  const server = serve(t, folder(t), 'nats', port as number, `listen: "127.0.0.1:${port}"`);
  await isServing(server);
  const place = shared(t);
  const source = join(place, 'master', 'board');
  const board = join(place, 'mirror', 'board');
  const receiver = startIn(t, confined('beoboard-receive.service'), [
    ...['receive', '--board', source, '--listen', '127.0.0.1:0', '--cluster', 'alpha'],
  ]);
  const to = (await receiver.ready).listening?.[0] as string;
  const keys = folderOf(t, OTHER_READER, folder(t));
  chmodSync(keys, 0o755);
  const key = join(keys, 'relay.key');
  t.match(await run(['keygen', '--relay', '--owner', String(OTHER_READER), key]), { code: 0 });
  const nats = ['--nats', `nats://127.0.0.1:${port}`, '--site', 'home'];
  startIn(t, confined('beoboard-relay.service', OTHER_READER), [
    ...['relay', '--board', source, '--owner', String(NOBODY), ...nats, '--master', 'm1', '--key-file', key],
  ]);
  await startIn(t, confined('beoboard-mirror.service'), [
    ...['mirror', '--board', board, ...nats, '--cluster', 'alpha', '--trust', `m1=${key}.pub`],
  ]).ready;
  start(t, ['send', '--to', to, '--cluster', 'alpha', '--name', 'node1']);
  const reader = new BoardReader(board, NOBODY);
  t.teardown(() => reader.close());
  await until('the mirror has the node', () => {
    const snapshot = reader.snapshot();
    return !snapshot.stalled && [...snapshot.nodes()].some(({ name, state }) => name === 'node1' && state === 'live');
  });
  t.pass('a report has gone all the way');
});

t.test('all daemons do their work within their units', { skip: noConfinement }, async t => {
  const manager = await Manager.start(t);
  chmodSync(join(manager.path, '..'), 0o755);
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  chmodSync(own, 0o755);
  spawnSync('cp', [sender, own]);
  const board = join(shared(t), 'beoboard', 'board');
  const key = join(folderOf(t, NOBODY), 'key');
  writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
  spawnSync('chown', [String(NOBODY), key]);
  const sendersKey = join(folderOf(t, MASTERS_SENDER), 'key');
  spawnSync('install', ['-m', '600', '-o', String(MASTERS_SENDER), key, sendersKey]);

  const confined = (unit: string, uid = NOBODY, writable?: string, dropIn?: string) => ({
    prefix: confinedBy(unit, uid, writable, dropIn),
    env: manager.env(2000),
  });
  const onMaster = (unit: string) => confined(unit, MASTERS_SENDER, undefined, ON_MASTER);
  const receiver = startIn(t, confined('beoboard-receive.service'), [
    ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--key-file', key],
  ]);
  const to = (await receiver.ready).listening?.[0] as string;
  const common = ['send', '--to', to, '--key-file', sendersKey];
  const senders = [
    startOther(t, onMaster('beoboard-send-nodejs.service'), [...common, '--name', 'node1']),
    startOther(t, { ...onMaster('beoboard-send.service'), sender: join(own, 'beoboard-send') }, [
      ...common,
      '--name',
      'node2',
      '--seccomp',
    ]),
  ];
  const ganglia = startIn(t, confined('beoboard-ganglia.service', OTHER_READER), [
    ...[
      'ganglia',
      '--board',
      board,
      '--owner',
      String(NOBODY),
      '--listen',
      '127.0.0.1:0',
      '--gzip-listen',
      '127.0.0.1:0',
    ],
  ]);
  const prometheus = startIn(t, confined('beoboard-prometheus.service', OTHER_READER), [
    ...['prometheus', '--board', board, '--owner', String(NOBODY), '--listen', '127.0.0.1:0'],
  ]);
  const supermon = startIn(t, confined('beoboard-supermon.service', OTHER_READER), [
    ...['supermon', '--board', board, '--owner', String(NOBODY), '--listen', '127.0.0.1:0'],
  ]);
  const web = startIn(t, confined('beoboard-web.service', OTHER_READER), [
    ...['web', '--board', board, '--owner', String(NOBODY), '--listen', '127.0.0.1:0'],
  ]);
  const commands = standIn(t);
  chmodSync(commands, 0o755);
  const left = folderOf(t, SLURMS_READER, folder(t));
  const slurm = startIn(t, confined('beoboard-slurm.service', SLURMS_READER, left), [
    ...['slurm', '--board', board, '--owner', String(NOBODY), '--slurm-dir', left, '--slurm-bin', commands],
  ]);
  const journal = folderOf(t, NOBODY, folder(t));
  const bridge = startIn(t, confined('beoboard-bridge.service', NOBODY, journal), [
    ...[
      'bridge',
      '--board',
      board,
      '--journal',
      journal,
      '--slurm-bin',
      commands,
      '--enforce',
      '--bridge-dir',
      journal,
    ],
  ]);
  const written = folderOf(t, JOURNAL, folder(t));
  chmodSync(written, 0o755);
  const recorder = startIn(t, confined('beoboard-journal@.service', JOURNAL, written), [
    ...['journal', '--board', board, '--owner', String(NOBODY), '--journal-dir', join(written, 'default')],
    ...['--journal-run', written, '--slurm-dir', left, '--bridge-dir', journal],
  ]);
  await slurm.ready;
  await bridge.ready;
  const scraped = (await prometheus.ready).listening?.[0];
  const serving = (await ganglia.ready).listening?.[0]?.split(':').at(-1);
  const shown = (await web.ready).listening?.[0];
  const asked = (await supermon.ready).listening?.[0]?.split(':').at(-1);
  await recorder.ready;
  const running = [receiver, ganglia, prometheus, supermon, web, slurm, bridge, recorder, ...senders];
  const all = running.map(({ child }) => child);
  for (const { pid } of all) {
    await until('it has told that it is ready', () => manager.of(pid).some(lines => lines.READY === '1'));
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    t.match(status, /^CapBnd:\t0+$[\s\S]*^NoNewPrivs:\t1$\n^Seccomp:\t2$/m);
  }
  const table = await until(
    'both are heard',
    () => {
      const { stdout } = ask(OTHER_READER, 'status', '--json', '--board', board, '--owner', String(NOBODY));
      const { nodes = [] } = stdout === '' ? {} : JSON.parse(stdout);
      // The slow sources must be there, too; they come one report later.
      return (
        nodes.length === 2 &&
        nodes.every((node: { report?: object }) => 'root_total_mib' in (node.report ?? {})) &&
        nodes
      );
    },
    500,
  );
  t.match(table, [
    { name: 'node1', state: 'live' },
    { name: 'node2', state: 'live' },
  ]);
  t.equal(JSON.parse(readFileSync(join(left, 'state'), 'utf8')).nodes.list.length, 8, 'Slurm is read');
  t.match(readFileSync(join(left, 'skip'), 'utf8'), /^node.*\b006\b.*$/m);
  t.match(readdirSync(journal).sort(), ['journal', 'lock', 'orders', 'requests', 'status'], 'the bridge has begun');
  const events = (name = 'none') => readFileSync(join(written, 'default', name), 'utf8');
  await until('the journal has seen the board', () =>
    readdirSync(join(written, 'default')).some(name => name.startsWith('events-') && /"begin"/.test(events(name))),
  );
  t.ok(existsSync(join(written, 'default.json')));
  const xml = await text(connect(Number(serving), '127.0.0.1'));
  for (const name of ['node1', 'node2']) t.ok(xml.includes(`<HOST NAME="${name}"`), name);
  t.match(xml, /<\/GANGLIA_XML>/);
  const metrics = await (await fetch(`http://${scraped}/metrics`)).text();
  for (const name of ['node1', 'node2'])
    t.ok(metrics.includes(`\nbeoboard_node_state{state="live",node="${name}"} 1\n`), name);
  const client = connect(Number(asked), '127.0.0.1', () => client.write('0x100S'));
  let sample = '';
  client.setEncoding('latin1').on('data', data => {
    sample += data;
  });
  await until('both are told to clients of Supermon', () =>
    ['node1', 'node2'].every(name => sample.includes(`(${name} beostate live `)),
  );
  client.destroy();
  const seen = (await (await fetch(`http://${shown}/api/v1/nodes?fields=load`)).json()) as { nodes: object[] };
  t.match(seen.nodes, [{ state: 'live' }, { state: 'live' }]);
  t.equal(ask(NOBODY, 'forget', 'node1', '--board', board).status, 0, 'the control socket answers its own user');
  t.match(
    ask(OTHER_READER, 'forget', 'node2', '--board', board),
    { status: 1, stderr: /belongs to another user/ },
    'and no other',
  );
  for (const child of [receiver.child, ...senders.map(({ child }) => child)]) {
    child.kill('SIGHUP');
    await until('it has read its options again', () => manager.of(child.pid).some(lines => 'RELOADING' in lines));
    await manager.alive(child.pid, 2);
  }
  for (const child of all) child.kill('SIGTERM');
  t.same(
    await Promise.all(running.map(({ exit }) => exit)),
    running.map(() => 0),
  );
});

/** What a program can do to the board and the key of a master that runs beside it. */
const BREAK_IN = `
import json, os, sys
board, key, pid = sys.argv[1:]
tries = {
  'board': lambda: open(board, 'r+b'),
  'folder': lambda: open(board + '.new', 'w'),
  'shared': lambda: open(os.path.dirname(os.path.dirname(board)) + '/%d' % os.getpid(), 'w'),
  'key': lambda: open(key),
  'receiver': lambda: os.kill(int(pid), 0),
}
def can(act):
  try: act()
  except OSError: return False
  return True
print(json.dumps([what for what in tries if can(tries[what])]))
`;

import { NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';

t.test(
  'who breaks into the relay, the sender, the journal or the reader of Slurm has neither board nor key',
  { skip: noConfinement },
  async t => {
    const board = join(shared(t), 'beoboard', 'board');
    const key = join(folderOf(t, NOBODY), 'key');
    writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
    spawnSync('chown', [String(NOBODY), key]);
    const receiver = startIn(t, { prefix: confinedBy('beoboard-receive.service', NOBODY) }, [
      ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--key-file', key],
    ]);
    await receiver.ready;
    const reach = (prefix: string[]) => {
      const [command = '', ...argv] = [...prefix, PYTHON, '-c', BREAK_IN, board, key, `${receiver.child.pid}`];
      const { stdout, stderr } = spawnSync(command, argv, { encoding: 'utf8' });
      t.equal(stderr, '');
      return JSON.parse(stdout);
    };
    for (const unit of SENDERS) {
      t.same(reach(confinedBy(unit, NOBODY)), ['board', 'folder', 'shared', 'key', 'receiver'], `${unit} on a node`);
      t.same(reach(confinedBy(unit, MASTERS_SENDER, undefined, ON_MASTER)), [], `${unit} on a master`);
    }
    for (const name of ['slurm', 'relay', 'journal@'])
      t.same(reach(confinedBy(`beoboard-${name}.service`, OTHER_READER)), [], name);
    receiver.child.kill('SIGTERM');
    t.equal(await receiver.exit, 0);
  },
);

t.test("on a master the sender trusts what is beoboard's, and nobody else's", { skip: noConfinement }, async t => {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  chmodSync(own, 0o755);
  spawnSync('cp', [sender, own]);
  const users = join(own, 'passwd');
  const others = readFileSync('/etc/passwd', 'utf8').replaceAll(/^beoboard:.*\n/gm, '');
  writeFileSync(users, `${others}beoboard:x:${STRANGER}:${STRANGER}::/:/usr/sbin/nologin\n`);
  const FILES = { health: 'ok admin', hold: '', pace: 'interval 250ms for 1h', gpu: 'gpu 1 nvidia 0' };
  for (const [unit, program] of [
    ['beoboard-send-nodejs.service', undefined],
    ['beoboard-send.service', join(own, 'beoboard-send')],
  ] as const)
    for (const [owner, trusted] of [
      [STRANGER, true],
      [OTHER_READER, false],
    ] as const) {
      const made = [
        'mount --bind "$0" /etc/passwd',
        'mount -t tmpfs none /run',
        'mkdir /run/beoboard',
        ...Object.entries(FILES).map(([name, text]) => `echo '${text}' >/run/beoboard/${name}`),
        `chown ${owner} /run/beoboard/*`,
        'exec "$@"',
      ].join('\n');
      const hearer = await Hearer.open(t);
      const prefix = [
        ...['unshare', '-m', 'sh', '-ec', made, users],
        ...confinedBy(unit, MASTERS_SENDER, undefined, ON_MASTER),
      ];
      const { child, exit, lines } = startOther(t, { prefix, sender: program }, [
        ...['send', '--to', hearer.address, '--pace-file', '/run/beoboard/pace', '--interval', '500ms'],
      ]);
      const told = await hearer.next('all is read', ({ sets }) => sets.includes('root'));
      // Each file is read at its own time.
      const isTaken = ({ marks, sets }: Heard) =>
        marks.includes('held') && sets.includes('health') && sets.includes('gpu');
      const report = trusted ? await hearer.next('all is taken', isTaken) : told;
      const taken = [report.marks.includes('held'), report.sets.includes('health'), report.sets.includes('gpu')];
      t.same(taken, [trusted, trusted, trusted], `${unit}: files of ${owner}`);
      const said = await until('it has said so', () =>
        lines().find(line => / pace: /.test(line) && (trusted || /1235/.test(line))),
      );
      t.match(said, trusted ? /reports every 250ms/ : /belongs to user 1235, who is neither root nor beoboard nor/);
      child.kill('SIGTERM');
      t.equal(await exit, 0);
    }
});

/** The sets that a sender measures, and its marks, once all has been read. */
async function measure(t: Test, prefix: string[], program?: string) {
  const hearer = await Hearer.open(t);
  const { child, exit } = startOther(t, { prefix, sender: program }, ['send', '--to', hearer.address]);
  const isRead = ({ slow_boot_ns, seq }: { slow_boot_ns: bigint; seq: number }) => slow_boot_ns > 0n && seq > 1;
  const { sets, marks } = await hearer.next('a round is closed', isRead);
  child.kill('SIGTERM');
  await exit;
  return { sets, marks };
}

t.test('a sender measures the same within its unit as without', { skip: noConfinement }, async t => {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  chmodSync(own, 0o755);
  spawnSync('cp', [sender, own]);
  for (const [unit, program] of [
    ['beoboard-send-nodejs.service', undefined],
    ['beoboard-send.service', join(own, 'beoboard-send')],
  ] as const) {
    const measured = (prefix: string[]) => measure(t, prefix, program);
    const within = await measured(confinedBy(unit, NOBODY));
    t.same(within, await measured(as(NOBODY)), `${unit}: ${within.sets.join(' ')}`);
    t.ok(
      within.sets.includes('root') && !within.marks.includes('root_readonly'),
      'its root is not taken for read-only',
    );
  }
});

t.test('beoboard-mon answers the same within its unit as without', { skip: noConfinement }, async t => {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  chmodSync(own, 0o755);
  spawnSync('cp', [compileMon(t), own]);
  const categories = (prefix: string[]) => {
    const [command = '', ...argv] = [...prefix, join(own, 'beoboard-mon'), '--stdio', '--seccomp'];
    const { status, stdout, stderr } = spawnSync(command, argv, { input: 'S', encoding: 'utf8' });
    t.equal(status, 0, stderr);
    return elementsOf(stdout).map(([, category]) => category);
  };
  const within = categories(confinedBy('beoboard-mon.service', NOBODY));
  t.same(within, categories(as(NOBODY)), within.join(' '));
  const { ExecStart, Environment } = Object.fromEntries(readUnit('beoboard-mon.service'));
  t.same(
    [ExecStart, Environment],
    [['/usr/sbin/beoboard-mon --seccomp $OPTIONS'], ['OPTIONS=']],
    'it listens on this machine alone',
  );
});

// ---- what others put into the way ----

/** What another user may make in a folder that everybody can write, and the errors of a receiver and a reader there. */
const planted: [what: string, plant: (place: string, victim: string) => string[], receiver: RegExp, reader: RegExp][] =
  [
    [
      'the folder, and a good board in it',
      place => ['sh', '-c', `mkdir ${place} && chmod 755 ${place} && cp "$BOARD" ${place}/board`],
      /^beoboard receive: \S+ belongs to user 1234, who could put another board there/,
      /board: belongs to user 1234, who is not trusted/,
    ],
    [
      'the folder, which all may write',
      place => ['sh', '-c', `mkdir ${place} && chmod 777 ${place} && cp "$BOARD" ${place}/board`],
      /belongs to user 1234/,
      /board: belongs to user 1234, who is not trusted/,
    ],
    [
      'a link to a folder of his',
      place => ['sh', '-c', `mkdir ${place}.his && cp "$BOARD" ${place}.his/board && ln -s ${place}.his ${place}`],
      /it is a link, or no directory/,
      /board: belongs to user 1234, who is not trusted/,
    ],
    [
      'a link to a folder of the receiver',
      (place, victim) => ['ln', '-s', victim, place],
      /it is a link, or no directory/,
      /./,
    ],
    [
      'a file in the place of the folder',
      place => ['touch', place],
      /it is a link, or no directory/,
      /there is no board/,
    ],
  ];

t.test('another user has put something where the board belongs', { skip: needsRoot }, async t => {
  // The other user's own valid board, with a running receiver.
  const his = join(folderOf(t, STRANGER), 'board');
  chmodSync(join(his, '..'), 0o755);
  const { child, ready, exit } = startIn(t, { prefix: as(STRANGER) }, [
    'receive',
    '--board',
    his,
    '--listen',
    '127.0.0.1:0',
  ]);
  await ready;
  t.match(
    ask(NOBODY, 'status', '--board', his),
    { status: 4, stderr: /belongs to user 1234, .*--owner 1234/ },
    'his own is his own',
  );
  t.equal(ask(NOBODY, 'status', '--board', his, '--owner', String(STRANGER)).status, 0);
  for (const [what, plant, receiver, reader] of planted)
    await t.test(what, async t => {
      const place = join(shared(t), 'beoboard');
      const victim = folderOf(t, NOBODY);
      const before = readdirSync(victim);
      const { status, stderr } = spawnSync('env', [...as(STRANGER), `BOARD=${his}`, ...plant(place, victim)], {
        encoding: 'utf8',
      });
      t.same([status, stderr], [0, ''], 'he can put it there');
      const board = join(place, 'board');
      const refused = ask(NOBODY, 'receive', '--board', board, '--listen', '127.0.0.1:0');
      t.match(refused, { status: 1, stderr: receiver }, refused.stderr);
      const read = ask(NOBODY, 'status', '--board', board);
      t.match(read, { status: 4, stderr: reader }, read.stderr);
      t.same(readdirSync(victim), before, 'nothing was made where it led');
    });
  await t.test('files in a folder that all may write and nobody may clear: board, lock, next and control', async t => {
    for (const name of ['board', 'board.lock', 'board.new']) {
      const place = shared(t);
      spawnSync('env', [...as(STRANGER), 'cp', his, join(place, name)]);
      const refused = ask(NOBODY, 'receive', '--board', join(place, 'board'), '--listen', '127.0.0.1:0');
      t.equal(refused.status, 1, `${name}: ${refused.stderr}`);
      t.equal(spawnSync('cmp', [his, join(place, name), '-n', '8']).status, 0, 'untouched');
    }
  });
  t.test('the folder that tmpfiles.d makes is taken', async t => {
    const place = join(shared(t), 'beoboard');
    mkdirSync(place);
    spawnSync('chown', [String(NOBODY), place]);
    const ours = startIn(t, { prefix: as(NOBODY) }, [
      'receive',
      '--board',
      join(place, 'board'),
      '--listen',
      '127.0.0.1:0',
    ]);
    await ours.ready;
    ours.child.kill('SIGTERM');
    t.equal(await ours.exit, 0);
  });
  child.kill('SIGTERM');
  await exit;
});

t.test('the user, and the folder that is made before anybody can log in', async t => {
  const read = (path: string) => readFileSync(join(ROOT, 'packaging', path), 'utf8');
  t.match(read('sysusers.d/beoboard.conf'), /^u beoboard - "[^"]+"$/m);
  t.match(read('sysusers.d/beoboard.conf'), /^g beoboard-jobs -$/m);
  const master = read('sysusers.d/beoboard-master.conf');
  for (const name of ['send', 'slurm', 'relay', 'journal@']) {
    const unit = readUnit(`beoboard-${name}.service`, name === 'send' ? ON_MASTER : undefined);
    t.match(master, new RegExp(`^u ${unit.get('User')} - "[^"]+"$`, 'm'));
  }
  for (const name of ['slurm', 'journal@'])
    t.same(readUnit(`beoboard-${name}.service`).get('Group'), ['beoboard-jobs'], 'what is told of jobs is for a group');
  t.match(read('tmpfiles.d/beoboard.conf'), /^d \/dev\/shm\/beoboard 0755 beoboard beoboard -$/m);
});
