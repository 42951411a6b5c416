// The packages: units and files agree with their table, and one deb from the sources to a reporting node, in a Debian
// without our files. packages.long.test.ts has all packages and other systems,
// packagesbooted.long.test.ts a running systemd.
//
// @seconds 21
// @rest
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, start } from '../kit/program.js';
import { until } from '../kit/until.js';
import {
  debScripts,
  emptyDeb,
  freshSystem,
  making,
  managed,
  missing,
  PACKAGES,
  type Package,
  rpmScripts,
} from './emptypackages.js';

t.setTimeout(600_000);

/** Makes packages for somebody whose own settings would break every program, and whose umask lets nobody else read. */
const make = (...words: string[]) =>
  spawnSync(
    'sh',
    ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, join(ROOT, 'scripts', 'package.mjs'), ...words],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        LDFLAGS: '-lnone',
        CFLAGS: '-fnone',
        MAKEFLAGS: '-n',
        CPATH: '/none',
        LC_ALL: 'tr_TR.UTF-8',
      },
    },
  );

t.test('each unit and each option file is in one package, and all files of the table exist', async t => {
  const packages = Object.values(PACKAGES);
  const rows = packages.flatMap(({ files }) => files);
  for (const [from] of rows)
    if (from !== null && !/^(\{built\}|->)/.test(from)) t.ok(existsSync(join(ROOT, from)), from);
  for (const name of readdirSync(join(ROOT, 'packaging', 'systemd'))) {
    t.equal(packages.filter(({ units = {} }) => Object.hasOwn(units, name)).length, 1, name);
    t.equal(rows.filter(([from]) => from === `packaging/systemd/${name}`).length, 1, name);
  }
  const targets = (from: string) => rows.filter(row => row[0] === from).map(([, to]) => to);
  for (const name of ['config', 'sysctl.d', 'sysusers.d', 'tmpfiles.d', 'completions'])
    for (const file of readdirSync(join(ROOT, 'packaging', name)))
      t.equal(targets(`packaging/${name}/${file}`).length, 1, file);
  t.same(
    targets('packaging/dropins/master.conf'),
    ['send', 'send-nodejs'].map(name => `usr/lib/systemd/system/beoboard-${name}.service.d/`),
    'a drop-in for each sender',
  );
  const units = packages.flatMap(({ units = {} }) => Object.keys(units));
  t.same(units.sort(), readdirSync(join(ROOT, 'packaging', 'systemd')).sort());
});

t.test('the program is complete: each part of this build, and the page for browsers', async t => {
  const { programFiles } = await making<{ programFiles(): string[] }>('program.mjs');
  const files = programFiles();
  for (const name of readdirSync(join(ROOT, 'dist', 'page'))) t.ok(files.includes(`dist/page/${name}`), name);
  t.ok(files.includes('dist/bin/beoboard.cjs'), 'the program');
  for (const path of files) t.ok(existsSync(join(ROOT, path)), path);
});

t.test('by default no daemon is enabled, and the receiver listens only on this machine', async t => {
  const unit = (name: string) => readFileSync(join(ROOT, 'packaging', 'systemd', name), 'utf8');
  const installed = Object.values(PACKAGES).flatMap(({ files }) =>
    files.flatMap(([from, to]) => (to === 'etc/beoboard/' && from !== null ? [from.split('/').at(-1)] : [])),
  );
  t.same(installed, ['receive.toml', 'journal-default.toml'], 'others have no file, and so do not start');
  for (const { units = {} } of Object.values(PACKAGES))
    for (const [name, { instance }] of Object.entries(units)) {
      t.equal(/^DefaultInstance=(.*)$/m.exec(unit(name))?.[1], instance, `${name}: what enables it and what starts it`);
      t.equal(instance !== undefined, name.includes('@.'), name);
      const [, file] = /--config (\S+)/.exec(unit(name)) ?? [];
      if (file === undefined || name === 'beoboard-receive.service') continue;
      t.match(unit(name), new RegExp(`^ConditionPathExists=${file}$`, 'm'), name);
      t.ok(
        Object.values(PACKAGES).some(({ purges = [] }) => purges.includes(file.replace('%i', '*'))),
        `${file} is purged`,
      );
    }
  t.match(unit('beoboard-receive.socket'), /^ListenDatagram=127\.0\.0\.1:8677$/m);
  t.notOk(PACKAGES.beoboard?.units?.['beoboard-receive.socket']?.enabled);
});

t.test('the programs accept every line of the option files', async t => {
  const own = folder(t);
  const uncommented = (name: string) => {
    const text = readFileSync(join(ROOT, 'packaging', 'config', name), 'utf8');
    t.match(text, /^#[a-z]/m);
    const path = join(own, name);
    writeFileSync(path, text.replaceAll(/^#(?=[a-z])/gm, '').replaceAll(/^(key-file|require).*\n/gm, ''));
    return path;
  };
  // This machine does not have this address, so the receiver ends, but only after it has read its options.
  const receiver = uncommented('receive.toml');
  const board = ['--board', join(own, 'board'), '--listen', '192.0.2.1'];
  const received = spawnSync(process.execPath, [PROGRAM, 'receive', '--config', receiver, ...board], {
    encoding: 'utf8',
  });
  t.match(received, { status: 1, stderr: /192\.0\.2\.1/ });
  const sender = uncommented('send.toml');
  const sent = spawnSync(
    process.execPath,
    [PROGRAM, 'send', '--once', '--to', '127.0.0.1:9', '--interface', 'lo', '--config', sender],
    { encoding: 'utf8' },
  );
  t.equal(sent.status, 0, sent.stderr);
  // Nobody can make a folder there.
  const nowhere = ['--journal-dir', '/proc/journal', '--journal-run', own];
  const journal = ['journal', '--config', uncommented('journal-default.toml'), ...nowhere];
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...journal], { encoding: 'utf8' });
  t.match({ status, stderr }, { status: 1, stderr: /\/proc\/journal/ });
});

t.test('every shell can parse the scripts for installation and removal', async t => {
  for (const [name, pack] of Object.entries(PACKAGES))
    for (const scripts of [debScripts(pack), rpmScripts(pack)])
      for (const [when, text] of Object.entries(scripts)) {
        const { status, stderr } = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' });
        t.same([status, stderr], [0, ''], `${name} ${when}`);
        t.notMatch(text, /UNITS|undefined|\[\[|function /, `${name} ${when}`);
      }
});

t.test('with an older Node.js the program says so, and the oldest one is that of package.json', async t => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
  const run = (version: string) => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('${PROGRAM}')`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', older, '--', '--version'], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const oldest = Number(engines.node.replace('>=', ''));
  t.same(run(`${oldest - 1}.9.0`), {
    status: 72,
    stdout: '',
    stderr: `beoboard: Node.js ${oldest - 1}.9.0 is too old; install ${oldest} or later\n`,
  });
  t.not(run(`${oldest}.0.0`).status, 72);
});

t.test('what newer compilers and C libraries call is called by its old name', async t => {
  const own = folder(t);
  const floor = join(ROOT, 'packaging', 'floor.h');
  const renamed = [...readFileSync(floor, 'utf8').matchAll(/symver (__isoc23_(\w+))/g)];
  const sources = (readdirSync(join(ROOT, 'c'), { recursive: true }) as string[])
    .filter(name => /\.(c|cc|h)$/.test(name) && !name.startsWith('test/'))
    .map(name => readFileSync(join(ROOT, 'c', name), 'utf8'));
  const used = sources.flatMap(text => text.match(/\b(strto[a-z]*[lx]|\w*scanf)(?=\()/g) ?? []);
  t.ok(used.length > 5);
  const known = renamed.map(([, , name]) => name);
  for (const name of new Set(used)) t.ok(known.includes(name), `${name}, which has another name since glibc 2.38`);

  const calls = [...renamed.map(([, name]) => name), '__cxa_call_terminate'];
  for (const [language, names, linkage] of [
    ['c', calls.slice(0, -1), ''],
    ['c++', calls, 'extern "C" '],
  ] as const) {
    const text = `${names.map(name => `${linkage}void ${name}(void *);\n`).join('')}
      ${linkage}void all(void *it) { ${names.map(name => `${name}(it);`).join(' ')} }\n`;
    const made = join(own, 'made.so');
    const flags = ['-shared', '-fPIC', '-O1', '-include', floor, '-x', language, '-', '-o', made];
    const { status, stderr } = spawnSync('g++', flags, { input: text, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    const { stdout } = spawnSync('objdump', ['-T', made], { encoding: 'utf8' });
    const wanted = stdout.split('\n').filter(line => line.includes('*UND*'));
    t.ok(wanted.length >= renamed.length);
    for (const line of wanted) t.notMatch(line, /isoc23|call_terminate|GLIBC_2\.(1[89]|[2-9]\d)/);
  }
});

t.test('each override of lintian has its reason', async t => {
  const [, ...paragraphs] = readFileSync(join(ROOT, 'packaging', 'lintian-overrides'), 'utf8')
    .trimEnd()
    .split(/\n\n+/);
  t.ok(paragraphs.length > 0);
  for (const paragraph of paragraphs) t.match(paragraph, /^(# .+\n)+((\*|[a-z0-9-]+): [a-z-]+.*(\n|$))+$/);
});

t.test('words that choose no package are an error', async t => {
  t.match(make('dep'), {
    status: 1,
    stdout: '',
    stderr: /^package: dep is not a format \(deb, rpm, npm, python, image\) or processor .*\n$/,
  });
});

t.test('a time of the sources that is none is an error', async t => {
  for (const time of ['', 'yesterday', '-1'])
    t.match(
      spawnSync(process.execPath, [join(ROOT, 'scripts', 'package.mjs'), 'python'], {
        encoding: 'utf8',
        env: { ...process.env, SOURCE_DATE_EPOCH: time },
      }),
      { status: 1, stdout: '', stderr: `package: SOURCE_DATE_EPOCH is ${time}; set it to seconds since 1970\n` },
    );
});

t.test('a deb, from the sources to a node that reports', { skip: missing }, async t => {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.')); // shared memory may forbid programs
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  const debs = join(own, 'debs');
  const processor = spawnSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).stdout.trim();
  const made = make('deb', processor, 'beoboard-common', 'beoboard-send', '--out', debs);
  t.equal(made.status, 0, made.stderr);
  const names = readdirSync(debs).filter(name => name.endsWith('.deb'));
  t.equal(names.length, 2, names.join(' '));
  const { system, within, at } = freshSystem(t);
  cpSync(debs, at('debs'), { recursive: true });
  const install = () => within('dpkg', '-i', ...names.map(name => `/debs/${name}`));

  t.match(install(), { status: 0 }, 'it is installed');
  t.match(
    within('dpkg', '-s', 'beoboard-common', 'beoboard-send').stdout,
    /Status: install ok installed\n(.*\n)*Status: install ok installed\n/,
    'whole',
  );
  t.match(
    within('getent', 'passwd', 'beoboard'),
    { status: 0, stdout: /:\/usr\/sbin\/nologin\n$/ },
    'its user is there',
  );
  t.same(statSync(at('etc/beoboard')).mode & 0o777, 0o755);
  t.ok(
    readdirSync(at('etc/systemd/system/multi-user.target.wants')).includes('beoboard-send.service'),
    'it starts at boot',
  );
  t.match(within('beoboard-send', '--version').stdout, /^\d+\.\d+\.\d+\n$/);

  // It reports, with the packaged option file.
  const board = boardPath(t);
  const receiver = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0']);
  const [to = ''] = (await receiver.ready).listening ?? [];
  const example = readFileSync(at('usr/share/beoboard/send.toml'), 'utf8');
  writeFileSync(at('etc/beoboard/send.toml'), example.replace('to = ["master"]', `to = ["${to}"]\nname = "fresh"`));
  const sender = spawn('chroot', [system, 'beoboard-send', '--config', '/etc/beoboard/send.toml'], { stdio: 'ignore' });
  t.teardown(() => sender.kill('SIGKILL'));
  const live = () =>
    spawnSync(process.execPath, [PROGRAM, 'nodes', '--state', 'live', '--board', board], { encoding: 'utf8' }).stdout;
  await until('the node is live', () => live() === 'fresh\n');
  sender.kill('SIGTERM');
  t.same(await once(sender, 'exit'), [0, null]);

  t.match(install(), { status: 0 }, 'once more over itself');
  t.match(within('dpkg', '-r', 'beoboard-send'), { status: 0 });
  t.notOk(existsSync(at('usr/sbin/beoboard-send')));
  t.ok(existsSync(at('etc/beoboard/send.toml')), 'configuration survives the removal');
  writeFileSync(at('etc/beoboard/node.key'), 'of the administrator');
  t.match(install(), { status: 0 }, 'and is there when it comes back');
  t.match(within('dpkg', '--purge', 'beoboard-send', 'beoboard-common'), { status: 0 });
  const left = spawnSync('find', [system, '-name', '*beoboard*', '-not', '-path', '*/debs/*'], {
    encoding: 'utf8',
  }).stdout;
  t.same(
    left
      .split('\n')
      .filter(path => path !== '')
      .map(path => path.slice(system.length)),
    ['/etc/beoboard'],
    'a purge takes all',
  );
  t.same(readdirSync(at('etc/beoboard')), ['node.key'], 'but keys');
});

t.test(
  'what an administrator decides about units outlives upgrades, removal and failures',
  { skip: missing },
  async t => {
    const { within, at, put, deb, dpkg: run, asked, enabled, decide } = managed(t);
    /** Runs dpkg; what it asked of systemd beside looking. */
    const dpkg = (...argv: string[]) => {
      run(...argv);
      return asked();
    };

    t.same(dpkg('-i', deb('beoboard', 1)), [], 'no systemd runs: nothing is asked of it');
    t.equal(enabled('beoboard-receive.service'), 'enabled');
    for (const unit of ['beoboard-receive.socket', 'beoboard-mirror.service', 'beoboard-send-nodejs.service'])
      t.equal(enabled(unit), 'disabled', unit);

    put('run/systemd/system/.keep', '');
    decide('disable', 'beoboard-web.service');
    decide('mask', 'beoboard-ganglia.service');
    decide('enable', 'beoboard-receive.socket');
    decide('enable', 'beoboard-mirror.service');
    put('etc/beoboard/receive.toml', '# of the administrator\n');
    const again = ['daemon-reload', 'start receive.socket', 'restart receive journal@default mirror'];
    t.same(dpkg('-i', deb('beoboard', 2)), again, 'an upgrade stops no socket, and nothing that was not to run starts');
    const decided = () => {
      t.equal(enabled('beoboard-web.service'), 'disabled', 'what is disabled stays so');
      t.equal(enabled('beoboard-ganglia.service'), 'masked', 'and what is masked');
      t.equal(enabled('beoboard-receive.socket'), 'enabled', 'what is enabled, too');
      t.equal(enabled('beoboard-send-nodejs.service'), 'disabled');
      t.equal(readFileSync(at('etc/beoboard/receive.toml'), 'utf8'), '# of the administrator\n');
    };
    decided();
    t.equal(enabled('beoboard-journal@default.service'), 'enabled', 'what is new starts, and at boot');
    const wants = 'etc/systemd/system/multi-user.target.wants/';
    t.match(
      readdirSync(at(wants)).filter(name => name.includes('journal')),
      ['beoboard-journal@default.service'],
    );
    decide('enable', 'beoboard-journal@site2.service');
    decide('disable', 'beoboard-journal@default.service');
    put('active', 'beoboard-journal@site2.service loaded active running beoboard journal\n');
    const running = 'restart receive journal@site2 mirror';
    t.same(dpkg('-i', '/beoboard.deb')[2], running, 'each instance that runs, and no journal that is disabled');
    rmSync(at('active'));
    decide('enable', 'beoboard-journal@default.service');

    put('fails', '');
    dpkg('-i', deb('beoboard', 3));
    const [stopped] = dpkg('-r', 'beoboard');
    t.match(
      stopped,
      /^stop receive\.socket receive ganglia journal@\* /,
      'the socket first: a report would start its service again',
    );
    rmSync(at('fails'));
    t.same(
      dpkg('-i', '/beoboard.deb'),
      again,
      'what a removal stopped runs when the package comes back, the socket before its service',
    );
    decided();
    rmSync(at('asked'));
    const restored = ['DPKG_MAINTSCRIPT_PACKAGE=beoboard', '/var/lib/dpkg/info/beoboard.postinst', 'abort-remove'];
    const { status, stderr } = within('env', ...restored);
    t.equal(status, 0);
    t.notMatch(
      stderr,
      /beoboard-send\.service|\*/,
      'nothing is said of a sender that is not installed, nor of a pattern',
    );
    t.same(asked(), again, 'and when dpkg gives up a removal');

    // Two packages have a sender that reads the same file.
    dpkg('-i', deb('beoboard-send', 1));
    t.match(
      dpkg('-i', '/beoboard.deb'),
      [...again, 'restart send'],
      "the other package's sender may have another user now",
    );
    put('etc/beoboard/send.toml', 'to = ["master"]\n');
    put('etc/beoboard/web.toml', '');
    put('etc/beoboard/cluster.key', 'of the administrator');
    put('var/lib/beoboard-bridge/journal', '');
    put('etc/beoboard/journal-site2.toml', '');
    put('var/log/beoboard/default/lock', '');
    put('run/beoboard-journal/default.json', '');
    for (const name of ['board', '.board.acks.lock']) put(`dev/shm/beoboard/${name}`, '');
    t.ok(existsSync(at('etc/beoboard/journal-default.toml')));
    dpkg('-P', 'beoboard-send');
    t.ok(existsSync(at('etc/beoboard/send.toml')), 'a file that another unit reads outlives a purge');
    dpkg('-P', 'beoboard');
    t.same(readdirSync(at('dev/shm/beoboard')), [], 'a purge leaves no board, also where its folder stays');
    const { stdout } = within(
      'find',
      '/etc',
      '/var',
      '/usr',
      '/run',
      '-name',
      '*beoboard*',
      '-o',
      '-path',
      '*/beoboard/*',
    );
    t.same(
      stdout.trim().split('\n').sort(),
      ['/etc/beoboard', '/etc/beoboard/cluster.key', '/etc/systemd/system/beoboard-ganglia.service'],
      'a purge takes all but keys and what the administrator masked',
    );
    dpkg('-i', '/beoboard.deb');
    t.equal(enabled('beoboard-web.service'), 'enabled', 'and what was decided is forgotten');
    t.equal(enabled('beoboard-receive.socket'), 'disabled');
    t.equal(enabled('beoboard-journal@default.service'), 'enabled');

    // Links where the package writes, which anybody may make in /dev/shm.
    for (const place of ['dev/shm/beoboard', 'run/beoboard-journal', 'var/log/beoboard']) {
      for (const name of ['file', '.hidden']) put(`precious/${name}`, '');
      rmSync(at(place), { recursive: true, force: true });
      symlinkSync('/precious', at(place));
    }
    dpkg('-P', 'beoboard');
    t.same(readdirSync(at('precious')).sort(), ['.hidden', 'file'], 'a purge follows no link');
  },
);

/** A system of its own in which packages are installed, and what their scripts say and do. */
function scriptsIn(t: Test) {
  const { system, within, at } = freshSystem(t);
  /** What the package's scripts say about it. */
  const dpkg = (...argv: string[]) => {
    const { status, stdout, stderr } = within('dpkg', '--force-confold,unsafe-io,downgrade', ...argv);
    t.equal(status, 0, `${argv.join(' ')}: ${stderr}`);
    return stdout.split('\n').filter(line => line.startsWith('beoboard:'));
  };
  const deb = (name: string, version = 2) => emptyDeb(t, system, name, version);
  const facts = (path: string) => within('stat', '-c', '%U:%G %a', path).stdout.trim();
  /** Puts a file there that only its owner can read. */
  const key = (path: string, text: string, owner = 'beoboard') => {
    writeFileSync(at(path), text);
    t.equal(within('sh', '-c', `chmod 600 ${path} && chown ${owner}: ${path}`).status, 0);
  };
  return { within, at, dpkg, deb, facts, key };
}

t.test("a master's sender gets a key file of its own, and it is said", { skip: missing }, async t => {
  const { within, at, dpkg, deb, facts, key } = scriptsIn(t);
  const OPTIONS = '/etc/beoboard/send.toml';
  const OWN = '/etc/beoboard/send.key';
  const options = (file: string) =>
    `to = ["master"]\n#key-file = "x"\n  key-file = ${file} # ours\ncluster = "alpha"\n`;
  const has = (text: string, owner: string) => {
    t.equal(facts(OWN), `${owner}:${owner} 600`);
    t.equal(readFileSync(at(OWN), 'utf8'), text);
    t.equal(readFileSync(at(OPTIONS), 'utf8'), options(`"${OWN}"`), 'the rest of the options is as it was');
  };

  // A node becomes a master.
  dpkg('-i', deb('beoboard-common'), deb('beoboard-send'));
  key('/etc/beoboard/node.key', 'of node1');
  writeFileSync(at(OPTIONS), options(`'/etc/beoboard/node.key'`));
  t.same(dpkg('-i', '/beoboard-send.deb'), [], 'on a node all stays');
  t.equal(readFileSync(at(OPTIONS), 'utf8'), options(`'/etc/beoboard/node.key'`));
  const copied = (file: string) => [
    `beoboard: the sender of a master is the user beoboard-send: copied ${file} to ${OWN}, and changed key-file in ${OPTIONS}`,
  ];
  // The last line of a first installation, and of no upgrade, says what to do next.
  const { next = '' } = PACKAGES.beoboard as Package;
  t.match(next, /beoboard check --setup$/);
  t.same(dpkg('--unpack', deb('beoboard')), []);
  t.same(dpkg('-i', '/beoboard-send.deb'), [], 'what has not made its user yet does it later');
  t.same(dpkg('--configure', 'beoboard'), [...copied('/etc/beoboard/node.key'), next]);
  has('of node1', 'beoboard-send');
  t.equal(facts('/etc/beoboard/node.key'), 'beoboard:beoboard 600', 'the one before stays as it was');
  t.same(dpkg('-i', deb('beoboard', 3), '/beoboard-send.deb'), [], 'an upgrade has nothing left to do');
  has('of node1', 'beoboard-send');

  // Options that somebody has put back, here with the cluster's key; by each of the packages, and as rpm.
  key('/etc/beoboard/cluster.key', "the cluster's");
  const rpm = (name: string) => {
    const { post = '' } = rpmScripts(PACKAGES[name] as Package);
    return within('sh', '-c', post, 'sh', '2').stdout.split('\n').slice(0, -1);
  };
  for (const again of [
    () => dpkg('-i', '/beoboard-send.deb'),
    ...['beoboard', 'beoboard-send'].map(name => () => rpm(name)),
  ]) {
    writeFileSync(at(OPTIONS), options('"etc/beoboard/cluster.key"'));
    t.same(again(), copied('/etc/beoboard/cluster.key'), 'a path is meant from /, as by the unit');
    has("the cluster's", 'beoboard-send');
  }

  // What must not be copied: the receiver's user could choose what root reads, or it is not the sender's.
  mkdirSync(at('/etc/beoboard/his'));
  within('chown', 'beoboard:', '/etc/beoboard/his');
  key('/etc/beoboard/his/key', 'k');
  symlinkSync('/etc/beoboard/node.key', at('/etc/beoboard/link.key'));
  key('/etc/beoboard/roots.key', 'k', 'root');
  for (const [file, said] of [
    ['/etc/beoboard/his/key', true],
    ['/etc/beoboard/link.key', true],
    ['/etc/beoboard/roots.key', false],
    ['/etc/beoboard/none.key', false],
  ] as const) {
    writeFileSync(at(OPTIONS), options(`"${file}"`));
    const lines = rpm('beoboard-send');
    t.equal(readFileSync(at(OPTIONS), 'utf8'), options(`"${file}"`), file);
    if (said) t.match(lines, [new RegExp(`cannot read ${file}: copy it to ${OWN} .*, and change key-file`)]);
    else t.same(lines, [], file);
    t.equal(readFileSync(at(OWN), 'utf8'), "the cluster's");
  }

  // Behind a link in the place of the copy is still a file that the sender cannot read.
  const own = at(OWN);
  renameSync(own, `${own}.kept`);
  symlinkSync('node.key', own);
  writeFileSync(at(OPTIONS), options(`"${OWN}"`));
  t.match(rpm('beoboard-send'), [new RegExp(`cannot read /etc/beoboard/node.key: copy it to ${OWN} .*, and change`)]);
  t.equal(facts('/etc/beoboard/node.key'), 'beoboard:beoboard 600');
  renameSync(`${own}.kept`, own);

  // Where this package ends, the sender is the user beoboard again.
  writeFileSync(at(OPTIONS), options(`"${OWN}"`));
  const back = [`beoboard: this is no master any more, and its sender the user beoboard: ${OWN} belongs to it again`];
  const taken = [`beoboard: the sender of a master is the user beoboard-send: ${OWN} belongs to it now`];
  t.same(dpkg('-i', deb('beoboard', 1)), [...back, ...taken], 'the way back to a version that knows it');
  t.same(dpkg('-r', 'beoboard'), back);
  has("the cluster's", 'beoboard');
  t.same(dpkg('-i', '/beoboard.deb'), taken);
  t.match(within('dpkg', '-P', 'beoboard', 'beoboard-send', 'beoboard-common'), { status: 0 });
  const { stdout } = within(
    'find',
    '/etc',
    '/run',
    '/var',
    '-user',
    'beoboard-send',
    '-o',
    '-user',
    'beoboard-journal',
    '-o',
    '-user',
    'beoboard-slurm',
    '-o',
    '-user',
    'beoboard-relay',
  );
  t.equal(stdout, '', 'after a purge nothing belongs to these users');
  t.equal(readFileSync(at(OWN), 'utf8'), "the cluster's", 'keys stay');
  const erased = rpmScripts(PACKAGES.beoboard as Package).postun ?? '';
  within('chown', 'beoboard-send:', OWN);
  t.equal(within('sh', '-c', erased, 'sh', '0').stdout, `${back[0]}\n`, 'as rpm likewise');
  t.equal(facts(OWN), 'beoboard:beoboard 600');
});

t.test("what the relay's options name belongs to its user, and it is said", { skip: missing }, async t => {
  const { within, at, dpkg, deb, facts, key } = scriptsIn(t);
  const rpm = (name: 'post' | 'postun') =>
    within('sh', '-c', rpmScripts(PACKAGES.beoboard as Package)[name] ?? '', 'sh', '2')
      .stdout.split('\n')
      .slice(0, -1);
  const secret = (path: string, owner?: string) => key(path, 'x', owner);
  const put = (path: string, text: string) => writeFileSync(at(path), text);
  dpkg('-i', deb('beoboard-common'), deb('beoboard', 1));
  t.same(dpkg('-i', deb('beoboard')), [], 'without options there is nothing to do');
  const KEY = '/etc/beoboard/relay.key';
  const LOGIN = '/etc/beoboard/relay.login';
  for (const path of [KEY, LOGIN]) secret(path);
  put(
    '/etc/beoboard/relay.toml',
    `nats = ["nats://m1"]\n# nats-nkey = "/etc/passwd"\nkey-file="${KEY}" # its own\n 'nats-login' = 'etc/beoboard/relay.login'\n`,
  );
  const UNIT = '/usr/lib/systemd/system/beoboard-relay.service';
  t.ok(readFileSync(at(UNIT), 'utf8').includes('\nUser=beoboard-relay\n'));
  const given = [KEY, LOGIN].map(path => `beoboard: the relay is the user beoboard-relay: ${path} belongs to it now`);
  t.same(dpkg('-i', deb('beoboard', 3)), given);
  for (const path of [KEY, LOGIN]) t.equal(facts(path), 'beoboard-relay:beoboard-relay 600');
  t.same(dpkg('-i', deb('beoboard', 4)), [], 'an upgrade has nothing left to do');
  const back = [KEY, LOGIN].map(path => `beoboard: ${path} belongs to the user beoboard again`);
  t.same(dpkg('-i', deb('beoboard', 2)), [...back, ...given], 'the way back to a version that knows it');
  t.same(dpkg('-r', 'beoboard'), back);
  t.same(dpkg('-i', deb('beoboard')), given);
  t.same(rpm('postun'), []);
  writeFileSync(at(UNIT), readFileSync(at(UNIT), 'utf8').replaceAll('beoboard-relay\n', 'beoboard\n'));
  t.same(rpm('postun'), back, 'as rpm, to one that does not');
  t.same(rpm('post'), []);
  writeFileSync(at(UNIT), readFileSync(at(UNIT), 'utf8').replaceAll('=beoboard\n', '=beoboard-relay\n'));
  t.same(rpm('post'), given);

  // What must stay: another program needs it, somebody else than root could put a file in its place, or it is another's.
  secret('/etc/beoboard/shared.login');
  put('/etc/beoboard/mirror.toml', 'nats-login = "/etc/beoboard/shared.login"\n');
  mkdirSync(at('/etc/beoboard/his'));
  within('chown', 'beoboard:', '/etc/beoboard/his');
  secret('/etc/beoboard/his/key');
  symlinkSync('his/key', at('/etc/beoboard/link.key'));
  secret('/etc/beoboard/roots.key', 'root');
  for (const [file, owner, said] of [
    ['/etc/beoboard/shared.login', 'beoboard', true],
    ['/etc/beoboard/his/key', 'beoboard', true],
    ['/etc/beoboard/link.key', 'root', true],
    ['/etc/beoboard/roots.key', 'root', false],
    ['/etc/beoboard/none.key', '', false],
  ] as const) {
    put('/etc/beoboard/relay.toml', `nats-creds = "${file}"\n`);
    const lines = rpm('post');
    t.equal(facts(file).split(':')[0], owner, file);
    if (said) t.match(lines, [new RegExp(`beoboard-relay, and cannot read ${file}: make a copy for it`)]);
    else t.same(lines, [], file);
  }
});

t.test('a document names the files that a package installs by their places', async t => {
  const { asInstalled } = await making<{ asInstalled(text: string): string }>('stage.mjs');
  t.equal(asInstalled('`packaging/nats/leaf.conf`,'), '`/usr/share/beoboard/nats/leaf.conf`,');
  t.equal(asInstalled('in `packaging/grafana`, for'), 'in `/usr/share/beoboard/grafana/`, for');
  const names = readdirSync(join(ROOT, 'docs')).filter(name => name.endsWith('.md'));
  for (const path of ['README.md', ...names.map(name => join('docs', name))]) {
    const text = asInstalled(readFileSync(join(ROOT, path), 'utf8'));
    // What somebody installs from a clone is in the sources.
    const others = text.split('\n').filter(line => /packaging\//.test(line) && !/^(install|sed)/.test(line));
    t.same(others, [], path);
    for (const [, name = ''] of text.matchAll(/\/usr\/share\/beoboard\/([\w./-]*[\w/])/g))
      t.ok(/^(send\.toml|nhc-beoboard)$/.test(name) || existsSync(join(ROOT, 'packaging', name)), `${path}: ${name}`);
  }
});

t.test('a unit, options and a manual page name only documents that are installed with them', t => {
  const docs = (name: string): string[] => {
    const { files, depends } = PACKAGES[name] as Package;
    return [
      ...files.map(([path]) => path ?? '').filter(path => /^(docs|README)/.test(path)),
      ...(depends?.ours ?? []).flatMap(docs),
    ];
  };
  for (const [name, { files }] of Object.entries(PACKAGES)) {
    const there = docs(name);
    const texts = files.map(([path]) => path ?? '').filter(path => /\.(service|socket|toml|conf|[158])$/.test(path));
    for (const path of texts)
      for (const [named] of readFileSync(join(ROOT, path), 'utf8').matchAll(/\bdocs\/[\w-]+\.md\b/g))
        t.ok(
          there.some(doc => doc === named || named.startsWith(`${doc}/`)),
          `${name}: ${path} names ${named}`,
        );
  }
  t.end();
});
