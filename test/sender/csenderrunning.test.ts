// The sender in C in place of the other: every option, and the tests of a running sender once more.
//
// @seconds 20
// @waits
// @rest

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { follow } from '../kit/children.js';
import { compileSender, DYNAMIC } from '../kit/compiling.js';
import { HangingCalls, Hearer, startIn, writeTree } from '../kit/hanging.js';
import { lacks } from '../kit/lacking.js';
import { Manager } from '../kit/manager.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { askC, askHere } from '../kit/twosenders.js';
import { until } from '../kit/until.js';
import { todayOf } from '../kit/whole.js';

t.setTimeout(600_000);
// These tests mostly wait, so several run at the same time.
t.jobs = 7;

// The sender as it is installed, if musl-gcc is there; and a dynamic one, which can preload our library with calls that
// hang.
const sender = compileSender(t);
const dynamic = compileSender(t, DYNAMIC);

for (const [file, program] of todayOf(
  [
    ['sender/hang', dynamic],
    ['sender/longrunning', sender],
    ['sender/pacefile', sender],
    ['sender/reconfigure', sender],
    ['sender/stops', sender],
    ['sender/send', sender],
    ['sender/destinations', sender],
    ['sender/unreachable', sender],
    ['keys/keys', sender],
  ] as const,
  3,
))
  t.spawn(
    process.execPath,
    [join(ROOT, 'dist', 'test', `${file}.test.js`)],
    { env: { ...process.env, BEOBOARD_TEST_SENDER: program }, buffered: true },
    `${file}, over the sender in C`,
  );

t.test(
  'packages that one source keeps for long: the others ask again in the next round',
  { buffered: true },
  async t => {
    const sys = memoryFolder(t);
    const topology = 'devices/system/cpu/cpu0/topology';
    writeTree(sys, {
      [`${topology}/physical_package_id`]: '0\n',
      [`${topology}/thread_siblings_list`]: '0\n',
      'devices/system/cpu/online': '0\n',
      'devices/system/cpu/present': '0\n',
      'class/hwmon/hwmon0/name': 'k10temp\n',
      'class/hwmon/hwmon0/temp1_label': 'Package id 0\n',
      'class/hwmon/hwmon0/temp1_input': '41000\n',
    });
    const hearer = await Hearer.open(t);
    const calls = new HangingCalls(t, join(sys, topology, 'physical_package_id'));
    calls.hang();
    const argv = ['send', '--name', 'node1', '--sys', sys, '--to', hearer.address];
    const running = startIn(t, { env: calls.env, sender: dynamic }, argv);
    const stale = await hearer.next(
      'one hangs, the others are there',
      ({ marks, sets }) => marks.includes('slow_stale') && sets.includes('sw_hash'),
    );
    t.notOk(stale.sets.some(set => ['temp_hottest', 'hw_hash'].includes(set)));
    await until('that is told', () =>
      / the slow source temperatures does not answer: /.test(running.lines().join('\n')),
    );
    calls.release();
    const back = await hearer.next(
      'it is back',
      ({ marks, sets }) => !marks.includes('slow_stale') && sets.includes('temp_hottest'),
    );
    const whole = await hearer.next('the other is there', ({ sets }) => sets.includes('hw_hash'));
    // On a busy machine there are rounds in which who was asked does not answer in time.
    const timely = hearer.reports
      .slice(hearer.reports.indexOf(back) + 1, hearer.reports.indexOf(whole) + 1)
      .filter(({ marks }) => !marks.includes('slow_stale'));
    t.ok(timely.length < 20, `after ${timely.length} of the 60 rounds of its period`);
  },
);

t.test('a pace file', { buffered: true }, async t => {
  const own = folder(t);
  const [file, config] = [join(own, 'pace'), join(own, 'send.toml')];
  writeFileSync(config, 'pace-max = "5s"\n');
  const hearer = await Hearer.open(t);
  const argv = ['send', '--name', 'node1', '--interval', '100ms', '--to', hearer.address, '--config', config];
  const manager = lacks('python3', 'python3') === false ? await Manager.start(t) : undefined;
  const { child, exit, lines } = startIn(t, { sender, env: manager?.env() ?? {} }, [
    ...argv,
    '--seccomp',
    '--pace-file',
    file,
  ]);
  await hearer.more(3);
  const said = () => lines().filter(line => line.includes(': pace: '));
  const put = (text: string, mode = 0o644) => {
    writeFileSync(join(own, 'made'), text);
    chmodSync(join(own, 'made'), mode);
    renameSync(join(own, 'made'), file);
  };
  /** Checks the next line of the log after `act`. */
  const says = async (what: RegExp, act: () => void) => {
    const before = said().length;
    act();
    t.match(await until(`it says ${what}`, () => said().length > before && said()[before]), what);
    await hearer.more(3);
  };
  await says(/: pace: reports every 300ms for (5\.0|4\.\d)s \(.*\/pace\)$/, () =>
    put('# why\n\n interval\t300ms  for 5s\n'),
  );
  await until('it goes back by itself', () => said().length === 2);
  t.match(said()[1], /: pace: over; reports every 100ms again$/);
  if (manager !== undefined)
    await until('a service manager knows of both', () =>
      / 100ms, in steps up to 300ms, .* 100ms to /.test(manager.told.map(({ lines }) => lines.STATUS).join(' ')),
    );
  await hearer.next('the own interval again', ({ interval_ms }) => interval_ms === 100);
  const other = hearer.reports.filter(({ interval_ms }) => interval_ms === 200);
  t.ok(other.length > 12, 'it was on the way there');
  for (const [text, why, mode] of [
    ['interval 1s', 'does not read as', 0o644],
    ['interval 1s for 1h\ninterval 1s for 1h\n', 'does not read as', 0o644],
    ['interval 1s for 745h\n', 'does not read as', 0o644],
    ['interval 1s for 1h\r\n', 'does not read as', 0o644],
    ['interval 249ms for 1h\n', 'wants an interval of 249ms, which is not within 250ms and 5\\.0s', 0o644],
    ['interval 6s for 1h\n', 'wants an interval of 6\\.0s', 0o644],
    ['interval 1s for 1h\n', 'can be written by others', 0o664],
    ['interval 1s for 1h\n', 'can be written by others', 0o646],
    [`interval 1s for 1h\n${'#'.repeat(4096)}`, 'is larger than 4096 bytes', 0o644],
  ] as const)
    await says(new RegExp(`/pace ${why}.*; ignored$`), () => put(text, mode));
  await says(/\/pace is a link; ignored$/, () => {
    rmSync(file);
    symlinkSync(config, file);
  });
  t.ok(
    hearer.reports
      .slice(hearer.reports.indexOf(other.at(-1) ?? hearer.last) + 1)
      .every(({ interval_ms }) => interval_ms === 100),
    'none of these holds',
  );
  if (manager !== undefined) {
    const count = manager.told.length;
    writeFileSync(config, 'to = 7\n');
    child.kill('SIGHUP');
    await until('it has refused', () =>
      manager.told
        .slice(count)
        .some(({ lines }) => lines.READY === '1' && / reports every 100ms to /.test(lines.STATUS ?? '')),
    );
    // When new options are accepted, the pace file is read again, too.
    await says(/\/pace is a link; ignored$/, () => {
      writeFileSync(config, 'pace-max = "5s"\n');
      child.kill('SIGHUP');
    });
  }
  await says(/wants an interval of 6\.0s/, () => put('interval 6s for 1h'));
  await says(/: pace: reports every 6\.0s for (1h00m|59m\d\ds) /, () => {
    writeFileSync(config, 'pace-max = "10s"\n');
    child.kill('SIGHUP');
  });
  await says(/: pace: over; reports every 100ms again$/, () => rmSync(file));
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('every option: what is taken, and what is said of what is not', { buffered: true }, async t => {
  const root = memoryFolder(t);
  const file = (name: string, text: string, mode = 0o644) => {
    writeFileSync(join(root, name), text, { mode });
    return join(root, name);
  };
  const pretence = file('pretend.toml', 't_real_ns = 1\nt_boot_ns = 5000000000\nstart_boot_ns = 1\n');
  const base = ['--once', '--pretend', pretence, '--proc', root, '--sys', root];
  const good = [...base, '--to', '-'];
  const same = async (argv: string[]) => {
    const [c, ts] = [askC(sender, argv), await askHere(argv)];
    // The two differ in their name, and only one has other verbs.
    c.said = c.said.replaceAll('beoboard-send', 'beoboard send');
    ts.said = ts.said.replace(/^--(\w+) is an option of other verbs;/, "unknown option '--$1';");
    t.strictSame(c, ts, argv.filter(word => !good.includes(word)).join(' ') || 'as it should be');
    return c.code;
  };
  const values = async (option: string, words: string[], rest = good) => {
    const codes = new Set<unknown>();
    for (const word of words) codes.add(await same([...rest, option, word]));
    t.ok(codes.has(2), `${option}: some are refused`);
  };

  for (const words of [
    ...['', 'x', '--to', '--to=', '--tp x', '--t x', '--to - x', '--to - --once=1', '-to x', '-once', '--bogus'],
    ...['--bogus=4', '-x', '-x=3', '--json', '--nodes=x', '--no-once', '--', '-- x', '--to - -- --once'],
    ...['--to --once', '--name --to -', '--to --once --to -', '- x', '--to - -', '--to - --pretend x'],
    ...['--once --to a:0', '--config', '--config --to'],
  ])
    await same(words.split(' ').filter(Boolean));
  await same([...good, '--aligned', '--once', '--once']);
  for (const [option, ...given] of [
    ['--name', 'a', 'b'],
    ['--ttl', '1', '2'],
    ['--proc', '/a'],
    ['--proc', '/a', '/b'],
    ['--sys', '/a', '/b', '/c'],
  ] as [string, ...string[]][])
    await same([...good, ...given.flatMap(value => [option, value])]);

  // Nothing is sent to any of these: they are rejected, or nobody can listen on the port.
  await values(
    '--to',
    [
      ...['', 'a b', '10.0.0', '10.0.0.1.2', '300.1.1.1', '9000', 'a:b', 'a:', 'a:99999', 'a:65536', 'a:0', ':80'],
      ...['[::1', '[::1]x', '::1%', '1:2:3', '-a', 'a..b', '.', 'é', 'a'.repeat(64), 'a.'.repeat(127)],
      ...['x'.repeat(300), '1.2.3.4:+1', '01.2.3.4', '1.2.3.4.', 'a\nb', 'a\u202eb', '\u001b[31m', 'a%b'],
      ...['localhost:8677:1', '[]', '[]:1', '[a]:1', 'a:1 ', '"a"', '-'],
    ],
    base,
  );
  await values('--ttl', [
    ...['', '0', '255', '256', '-1', '1k', '0k', '1M', '1.5', 'x', '1 ', '000000000000001', '0'.repeat(16)],
  ]);
  await values('--interface', [
    ...['', 'lo', '.', '..', 'a/b', 'a:b', 'a b', 'x'.repeat(15), 'x'.repeat(16), 'é', 'é'.repeat(8), 'a\tb'],
    ...['a\u00a0b'],
  ]);
  await values('--name', [
    ...['', 'a', 'A', 'a.b', '.a', '-a', 'a'.repeat(63), 'a'.repeat(64), 'A'.repeat(63), 'é', 'a b', '1', 'a\n'],
    ...['Éa', 'İ'],
  ]);
  for (const pace of ['--pace-min', '--pace-max'])
    await values(pace, ['', '1', '1s', '99ms', '100ms', '250ms', '60s', '600s', '601s', '1h', 'x', '-1s', '1.5s']);
  await values('--pace-file', ['', '/a', 'a', join(root, 'no such folder', 'pace'), 'x'.repeat(300)]);
  for (const limits of [
    ['--pace-min', '10s', '--pace-max', '5s'],
    ['--pace-min', '10s'],
    ['--pace-max', '100ms'],
    ['--pace-min', '5s', '--pace-max', '5s'],
    ['--pace-min', '1s', '--pace-min', '2s'],
  ])
    await same([...good, ...limits, '--pace-file', join(root, 'pace')]);
  await values('--cluster', ['', 'a', 'A', '.a', 'a'.repeat(63), 'a'.repeat(64), 'é', 'a b']);
  const ages = ['', '0', '999ms', '1s', '1.5s', '15', '15m', '1000d', '1000.1d', '86400001s', 'off', '-1s'];
  await values('--health-max-age', ages);
  await values('--interval', [
    ...[
      '',
      '1',
      '1s',
      '100ms',
      '99ms',
      '0.1s',
      '0.0999s',
      '600s',
      '601s',
      '10m',
      '10.1m',
      '0.1m',
      '1h',
      '1w',
      '1.5',
      '.5s',
      '1.s',
    ],
    ...[
      '1e3ms',
      '1S',
      ' 1s',
      '1s ',
      '100.5ms',
      '1.0005s',
      '1.00000000001s',
      '0.1666666666666666666667h',
      '0.166666666666h',
    ],
    ...['-1s', '100.0000000001ms', '100.000002ms', '99.9999999999ms', '9007199254740993ms', '9'.repeat(20).concat('s')],
  ]);
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const option of ['--pretend', '--config', '--key-file'])
    await values(
      option,
      ['', '/nonexistent/x', root, pipe, '/dev/zero'],
      option === '--pretend' ? ['--once', '--to', '-'] : good,
    );
  for (const option of ['--proc', '--sys', '--scratch']) await same([...good, option, '']);

  const key = 'ab'.repeat(32);
  for (const [i, text] of [
    ...[
      `1 cluster ${key}\n`,
      `1 node x ${key}\n`,
      `1 cluster ${key}\n2 cluster ${key}`,
      `1 cluster ${key}\n`.repeat(3),
      'x',
      '',
      '\n',
    ],
    ...[
      'x'.repeat(4097),
      'x'.repeat(4096),
      `65536 cluster ${key}`,
      `00001 cluster ${key}`,
      `000001 cluster ${key}`,
      `1 cluster ${key}\r\n`,
    ],
    ...[
      `1 cluster ${key.toUpperCase()}`,
      `1 cluster ${key}\nx`,
      `1 cluster ${key}\0`,
      `1 cluster ${key}\n\n`,
      `1 node y ${key}\n`,
    ],
    ...[
      `1 cluster ${key}\n2 node zz ${key}\n`,
      `1 cluster ${key}\n1 node x ${key}\n`,
      `1 node ${'a'.repeat(63)} ${key}`,
      `1 node ${'a'.repeat(64)} ${key}`,
      `1 node é ${key}`,
    ],
  ].entries())
    await same([...good, '--name', 'x', '--key-file', file(`key${i}`, text, 0o600)]);

  const configs = [
    ...[
      'name = "n2"\ncluster = "c"\ninterval="2s"\nttl = 3\n',
      'name = 12\n',
      'name = true\n',
      'once = "x"\n',
      'once=1\n',
    ],
    ...[
      'pace-min = "10s"\npace-max = "5s"\n',
      'pace-min = "5s"\npace-max = "5s"\n',
      'pace-max = "100ms"\n',
      'once = false\n',
      'aligned = true\n',
      'to = []\n',
      'proc=["/a","/b","/c"]\n',
      'to = "a:0"\n',
      'nam = "x"\n',
      '"nàme" = "x"\n',
    ],
    ...[
      'config = "x"\n',
      'name="a"\r\ncluster = "b"\r\n',
      '\ufeffname = "a"\n',
      '# x\n\n  name="a" # c\n',
      "name='a'\n",
    ],
    ...[
      '"name"="b"\n',
      'name="a"\n\n\ncluster="b c"\n',
      'name="é"\n',
      'name="a\tb"\n',
      'cluster = "a\\"b\\\\c"\n',
      "cluster = 'a\\u0061\"b'\n",
      `cluster = "${'😀'.repeat(60)}"\n`,
      `cluster = "${'😀'.repeat(61)}"\n`,
      'to = [ # the masters\n  "a:0", # one\n\n  \'b\',\n]\n',
    ],
    ...['key-file = "/nonexistent"\n', '', 'ttl=-1\n', 'ttl = 1 # local', 'interval=1\n', 'name = "x y"\n'],
  ];
  for (const [i, text] of configs.entries()) await same([...good, '--config', file(`config${i}`, text)]);
  await same([...good, '--name', 'ok', '--config', file('name', 'name = "x y"\n')]);
  // For invalid TOML, or TOML that the C sender does not support, both name the same line, each in its own words.
  for (const [i, text] of [
    ...['\nname = \n', '\nname "x"\n', '\n[x\n', '\n[x]\na=1\n', 'name="a"\nname="b"\n', '\nname="a"\rcluster="b"'],
    ...['\nname={a=1}\n', '\n[[name]]\n', '\nto=[["a"]]\n', '\nname="a\u0001"\n', '\nttl=01\n'],
    ...['\nttl=9007199254740993\n', '\nzzzzzz = 1\n', '\n[a]\n', '\n[name]\na=1\n', '\nname.a=1\n'],
  ].entries()) {
    const config = file(`broken${i}`, text);
    const argv = [...good, '--config', config];
    for (const { code, report, said } of [askC(sender, argv), await askHere(argv)]) {
      t.strictSame([code, report], [2, ''], JSON.stringify(text));
      t.match(said, new RegExp(`^${config}:2: [^\\n]*\\n$`));
    }
  }
  // TOML that only the other sender takes.
  const escapes = 'of escapes, only \\" and \\\\ are taken here';
  const numbers = 'only whole decimal numbers are taken here';
  const less: [text: string, column: number, why: string][] = [
    ['name="\\u0061"', 8, escapes],
    ['key-file = "/a\\tb"', 16, escapes],
    ['name="""a"""', 6, 'texts over several lines are not taken here'],
    ['ttl=1_0', 5, numbers],
    ['ttl=1.0', 5, numbers],
    ['ttl=0x1', 5, numbers],
    ['ttl=-0', 5, numbers],
    ['ttl=+1', 5, numbers],
    ['to = [1]', 7, 'only texts in quotes are taken in an array'],
  ];
  for (const [i, [text, column, why]] of less.entries()) {
    const config = file(`less${i}`, `\n${text}\n`);
    const { code, report, said } = askC(sender, [...good, '--config', config]);
    t.strictSame([code, report], [2, ''], text);
    t.equal(said, `${config}:2: not TOML at column ${column}: ${why}; write NAME = VALUE, texts in quotes\n`);
  }
});

t.test('help has every option of the other, with the same words', { buffered: true }, async t => {
  const [c, ts] = [askC(sender, ['--help']), await askHere(['--help'])];
  const help = Buffer.from(c.report, 'hex').toString();
  t.equal(c.code, 0);
  const options = (text: string) =>
    (text.split('\nOptions:\n')[1]?.split('\n\n')[0] ?? '')
      .split(/\n(?= {2}-)/)
      .map(option => option.replace(/\s+/g, ' '));
  t.strictSame(
    options(ts.said).filter(option => !options(help).includes(option)),
    [],
  );
  // The other sender may lack the options --pace-….
  const both = options(help).filter(option => !option.includes('--pace-') || options(ts.said).includes(option));
  t.ok(both.length === options(ts.said).length + 4, 'and --root, --user, --seccomp and --version');
  t.match(askC(sender, ['-V']), { code: 0, said: '' });
  for (const asked of ['--help', '-V']) {
    const full = spawn('sh', ['-c', `"$0" ${asked} >/dev/full`, sender]);
    t.strictSame(await once(full, 'exit'), [74, null], `${asked}: what cannot be written is told by the exit code`);
  }
});

t.test('the manual page has the words of help', { buffered: true, skip: lacks('groff-base', 'groff') }, async t => {
  const page = join(ROOT, 'c', 'sender', 'beoboard-send.8');
  const faults = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', page], { encoding: 'utf8' });
  t.strictSame([faults.status, faults.stderr], [0, '']);
  const plain = (text: string) =>
    text
      .replace(/\\f[BRI]/g, '')
      .replace(/\\\[u2026\]/g, '…')
      .replace(/\\-/g, '-')
      .replace(/\s+/g, ' ');
  const help = Buffer.from(askC(sender, ['--help']).report, 'hex').toString();
  const shown = plain(readFileSync(page, 'utf8'));
  for (const option of help
    .split('\nOptions:\n')[1]
    ?.split('\n\n')[0]
    ?.split(/\n(?= {2}-)/) ?? [])
    t.ok(shown.includes(plain(option).trim()), option.trim().split('\n', 1).join(''));
});

/** A sender to a master and to stdout, which is a pipe to this test. */
async function startPiped(t: Parameters<typeof folder>[0], argv: string[] = []) {
  const hearer = await Hearer.open(t);
  const child = spawn(sender, ['--to', '-', '--to', hearer.address, '--name', 'node1', '--interval', '100ms', ...argv]);
  const said = follow(child, t, ['stderr']);
  return { hearer, child, said: () => said.stderr };
}

t.test('stdout is closed: the others get a goodbye, and the sender ends cleanly', { buffered: true }, async t => {
  const { hearer, child, said } = await startPiped(t);
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  t.equal(first.length % 1216, 0);
  child.stdout.destroy();
  t.strictSame(await once(child, 'exit'), [0, null]);
  await until('the goodbye is heard', () => hearer.last.marks.includes('goodbye'));
  t.match(said(), /: said goodbye to 1 of 2 after \d+ reports\n$/);
});

t.test('what a program may be started with: closed, full and few files', { buffered: true }, t => {
  const own = folder(t);
  const sh = (script: string) => spawnSync('sh', ['-c', script, sender], { encoding: 'utf8', cwd: own });
  t.match(sh('"$0" --once --to - >&-'), { status: 0, stderr: '' }, 'as with /dev/null');
  t.match(sh('"$0" --once --to - <&- 2>&- | wc -c'), { status: 0, stdout: /^ *1216\n$/ });
  t.match(sh('ulimit -f 0; "$0" --once --to - >file'), {
    status: 74,
    stderr: 'beoboard-send: cannot write to stdout: EFBIG\n',
  });
  t.match(sh('prlimit --nofile=4:4 "$0" --to 127.0.0.1:9'), {
    status: 1,
    stderr: 'beoboard-send: cannot make a timer: EMFILE\n',
  });
  t.end();
});

t.test('who does not read what is said keeps nobody', { buffered: true, skip: lacks('python3', 'python3') }, t => {
  // A pipe that is full and does not block, as a supervisor's that has stopped reading.
  const full = `
import os, subprocess, sys
read, write = os.pipe()
os.set_blocking(write, False)
try:
    while True: os.write(write, b'x' * 4096)
except BlockingIOError: pass
print(subprocess.run(sys.argv[2:], **{sys.argv[1]: write, 'stdin': subprocess.DEVNULL}).returncode)`;
  const codeOf = (stream: string, ...argv: string[]) =>
    execFileSync('python3', ['-c', full, stream, ...argv], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  t.equal(codeOf('stderr', sender, '--no-such-option'), '2');
  t.equal(codeOf('stdout', sender, '--help'), '74');
  t.end();
});

t.test('the log as JSON', { buffered: true }, async t => {
  const root = memoryFolder(t);
  mkdirSync(join(root, 'proc'));
  const { said } = askC(sender, ['--once', '--to', '-', '--proc', join(root, 'proc"\\\n'), '--sys', root], {
    env: { ...process.env, BEOBOARD_LOG: 'json' },
  });
  const lines = said
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  t.ok(lines.length > 1);
  for (const line of lines) t.match(line, { level: 40, time: Number, pid: Number, verb: 'send', msg: String });
  t.ok(lines.some(({ msg }) => msg.includes(`${root}/proc"\\\n`)));
});
