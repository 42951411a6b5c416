// The GPU helper with a stand-in for NVML (c/test/gpu/standin_nvml.c): the exact file, whatever the library answers,
// lacks or never answers; and both senders that read it. No GPU takes part.
//
// @seconds 68
// @waits
// @whole
// @days 3

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { bitNames, decodeReport } from '../../src/layout/codec.js';
import { parseGpuFile } from '../../src/sender/slow/gpufile.js';
import { builds, CHECKED, compileSender, DYNAMIC, makeIn, OF_MUSL } from '../kit/compiling.js';
import { type Heard, Hearer, inNamespace, startIn } from '../kit/hanging.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { askC, askHere } from '../kit/twosenders.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE, runsOf, todayOf, WHOLE } from '../kit/whole.js';
import {
  AMD_FILES,
  AMD_FINE,
  AMD_LOST,
  type Amd,
  amd,
  amdPlace,
  answer,
  BUS,
  bus,
  CODES,
  FINE,
  FIRST,
  GAPS,
  GOOD,
  HELPER,
  HURRY,
  hurried,
  MIB,
  MUTE,
  made,
  NVML,
  OF_DRIVER,
  PLACED,
  place,
  READINGS,
  rewrite,
  run,
  SECOND,
  start,
  THIRD,
  TWO,
} from './gpustand.js';

const SEED = Number(process.env.SEED ?? 75);
t.comment(`seed ${SEED}`);
t.setTimeout(600_000);

const SOURCE = join(ROOT, 'c', 'gpu');

const SENDER_IN_C = compileSender(t, DYNAMIC);

const POOR = GOOD.slice(0, 3);
const one = (line: string) => `gpu 1 nvidia 1\n${line}\n`;

const OLDER = { MORE: '-DOLDER' };
const NEWER = { MORE: '-DNEWER' };
const POOREST = { MORE: '-DONLY_WHAT_IS_NEEDED -Wno-unused' };

/** The answers of the library, where they differ from those of a healthy GPU, and the file that results. */
const ROWS: [what: string, lines: string[], file: string, library?: Record<string, string>][] = [
  ['no GPU', ['DeviceGetCount * 0 0'], 'gpu 1 nvidia 0\n'],
  ['one', [], `gpu 1 nvidia 1\n${FINE}`],
  ['eight', ['DeviceGetCount * 0 8'], `gpu 1 nvidia 8\n${FINE.repeat(8)}`],
  [
    'twelve, no two alike',
    [
      'DeviceGetCount * 0 12',
      ...Array.from({ length: 12 }, (_, i) => [
        `DeviceGetUtilizationRates ${i} 0 ${i * 9} 0`,
        `DeviceGetTemperature ${i} 0 ${30 + i}`,
        `DeviceGetPowerUsage ${i} 0 ${(i + 1) * 50_000}`,
        `DeviceGetMemoryInfo ${i} 0 ${(i + 1) * 1000 * MIB} ${i * MIB}`,
        `DeviceGetTotalEccErrors ${i} 0 ${i % 3}`,
      ]).flat(),
    ],
    `gpu 1 nvidia 12\n${Array.from({ length: 12 }, (_, i) => {
      const flags = 1 + (i > 0 ? 2 : 0) + (i % 3 > 0 ? 4 : 0);
      return `${i * 9} ${30 + i} ${(i + 1) * 50} ${i} ${(i + 1) * 1000} ${flags} 0 ${i % 3}\n`;
    }).join('')}`,
  ],
  ['as many as a file may hold', ['DeviceGetCount * 0 255'], `gpu 1 nvidia 255\n${FINE.repeat(255)}`],
  ['more', ['DeviceGetCount * 0 260'], `gpu 1 nvidia 255\n${FINE.repeat(255)}`],

  ['no utilisation', ['DeviceGetUtilizationRates * 3'], one('- 61 300 1024 81920 1 0 0')],
  ['no temperature', ['DeviceGetTemperature * 3'], one('50 - 300 1024 81920 3 0 0')],
  ['no power', ['DeviceGetPowerUsage * 3'], one('50 61 - 1024 81920 3 0 0')],
  ['no memory', ['DeviceGetMemoryInfo * 3'], one('50 61 300 - - 3 0 0')],
  ['no reasons, no MIG, no programs', ['SlowedBy * 3', 'Programs * 3', 'DeviceGetMigMode * 3'], one(FINE.trim())],
  ['no ECC', ['DeviceGetEccMode * 3', 'DeviceGetTotalEccErrors * 3'], one(FINE.trim())],
  ['ECC switched off', ['DeviceGetEccMode * 0 0 1', 'DeviceGetTotalEccErrors * 3'], one(FINE.trim())],
  ['ECC, but no count', ['DeviceGetTotalEccErrors * 3'], one('50 61 300 1024 81920 3 0 -')],
  ['ECC, perhaps', ['DeviceGetEccMode * 999'], one('50 61 300 1024 81920 3 0 -')],
  ['no events at all', ['EventSetCreate * 999'], one('50 61 300 1024 81920 3 - 0')],
  [
    'no events of one',
    ['DeviceGetCount * 0 2', 'DeviceRegisterEvents 0 3'],
    `gpu 1 nvidia 2\n50 61 300 1024 81920 3 - 0\n${FINE}`,
  ],
  [
    'one spoils the set of events',
    ['DeviceGetCount * 0 2', 'DeviceRegisterEvents 1 999'],
    `gpu 1 nvidia 2\n${'50 61 300 1024 81920 3 - 0\n'.repeat(2)}`,
  ],
  ['waiting for events fails', ['EventSetWait * 999'], one(FINE.trim())],
  [
    'nothing but its GPUs',
    [...GOOD.slice(3).map(line => line.replace(/ 0.*/, ' 3')), 'DeviceGetCount * 0 2'],
    `gpu 1 nvidia 2\n${'- - - - - 1 - 0\n'.repeat(2)}`,
  ],

  ['busy to the limit', ['DeviceGetUtilizationRates * 0 100 0'], one('100 61 300 1024 81920 3 0 0')],
  ['busier', ['DeviceGetUtilizationRates * 0 101 0'], one('- 61 300 1024 81920 1 0 0')],
  ['idle', ['DeviceGetUtilizationRates * 0 0 0'], one('0 61 300 1024 81920 1 0 0')],
  ['idle, and held', ['DeviceGetUtilizationRates * 0 0 0', 'Programs * 7 2'], one('0 61 300 1024 81920 3 0 0')],
  ['hot to the limit', ['DeviceGetTemperature * 0 150'], one('50 150 300 1024 81920 3 0 0')],
  ['hotter', ['DeviceGetTemperature * 0 151'], one('50 - 300 1024 81920 3 0 0')],
  ['below freezing', ['DeviceGetTemperature * 0 4294967291'], one('50 - 300 1024 81920 3 0 0')],
  ['hardly any power', ['DeviceGetPowerUsage * 0 999'], one('50 61 - 1024 81920 3 0 0')],
  ['a watt', ['DeviceGetPowerUsage * 0 1000'], one('50 61 1 1024 81920 3 0 0')],
  ['power to the limit', ['DeviceGetPowerUsage * 0 65534999'], one('50 61 65534 1024 81920 3 0 0')],
  ['more power', ['DeviceGetPowerUsage * 0 65535000'], one('50 61 - 1024 81920 3 0 0')],
  ['all the memory', [`DeviceGetMemoryInfo * 0 ${MIB} ${MIB}`], one('50 61 300 1 1 3 0 0')],
  ['more than there is', [`DeviceGetMemoryInfo * 0 ${MIB} ${MIB + 1}`], one('50 61 300 - - 3 0 0')],
  ['no memory there', ['DeviceGetMemoryInfo * 0 0 0'], one('50 61 300 - - 3 0 0')],
  ['memory to the limit', [`DeviceGetMemoryInfo * 0 ${2n ** 52n - 1n} 0`], one(`50 61 300 0 ${2 ** 32 - 1} 3 0 0`)],
  ['memory without end', [`DeviceGetMemoryInfo * 0 ${2n ** 64n - 1n} ${2n ** 20n}`], one('50 61 300 1 - 3 0 0')],
  [
    'errors to the limit',
    [`DeviceGetTotalEccErrors * 0 ${2 ** 32 - 1}`],
    one(`50 61 300 1024 81920 7 0 ${2 ** 32 - 1}`),
  ],
  ['errors without end', [`DeviceGetTotalEccErrors * 0 ${2 ** 32}`], one('50 61 300 1024 81920 3 0 -')],

  ['slowed down by hardware', ['SlowedBy * 0 8'], one('50 61 300 1024 81920 11 0 0')],
  ['by software, for heat', ['SlowedBy * 0 32'], one('50 61 300 1024 81920 11 0 0')],
  ['by hardware, for heat', ['SlowedBy * 0 64'], one('50 61 300 1024 81920 11 0 0')],
  ['by the power brake', ['SlowedBy * 0 128'], one('50 61 300 1024 81920 11 0 0')],
  ['by what is no fault', [`SlowedBy * 0 ${0x1 | 0x2 | 0x4 | 0x10 | 0x100}`], one(FINE.trim())],
  [
    'MIG, which tells no utilisation',
    ['DeviceGetMigMode * 0 1 1', 'DeviceGetUtilizationRates * 3', 'DeviceGetTotalEccErrors * 3', 'Programs * 7 3'],
    one('- 61 300 1024 81920 35 0 -'),
  ],
  ['MIG from the next reset on', ['DeviceGetMigMode * 0 0 1'], one(FINE.trim())],

  [
    'lost from the beginning',
    ['DeviceGetCount * 0 2', 'DeviceGetHandleByIndex 0 15'],
    `gpu 1 nvidia 2\n- - - - - 17 - -\n${FINE}`,
  ],
  ['lost while it is read', ['DeviceGetTotalEccErrors * 15'], one('- - - - - 17 0 -')],
  ['lost when it is listened to', ['DeviceRegisterEvents * 15'], one('- - - - - 17 - -')],
  ['to be reset', ['DeviceGetUtilizationRates * 16'], one('- - - - - 17 0 -')],
  ['not ours to see', ['DeviceGetHandleByIndex * 4'], one('- - - - - 1 - -')],

  [
    'an older library',
    ['SlowedBy * 0 8', 'Programs * 7 1', 'DeviceGetUtilizationRates * 0 0 0'],
    one('0 61 300 1024 81920 11 0 0'),
    OLDER,
  ],
  ['a newer library', [], one(FINE.trim()), NEWER],
  [
    'a newer library, below freezing',
    ['DeviceGetTemperatureV * 0 4294967291'],
    one('50 - 300 1024 81920 3 0 0'),
    NEWER,
  ],
  [
    'a library with nothing else',
    ['DeviceGetCount * 0 2'],
    `gpu 1 nvidia 2\n${'- - - - - 1 - -\n'.repeat(2)}`,
    POOREST,
  ],
];

for (const { what, how, skip } of builds(['sanitized'], [...OF_MUSL, 'aarch64']))
  t.test(`what the library answers, and the file: ${what}`, { skip }, async t => {
    const helper = made('beoboard-gpu', how);
    for (const [name, lines, file, library] of ROWS) {
      const at = place(t, [...GOOD, ...lines], library && made('standin_nvml.so', library));
      const { code, stderr } = run(helper, [...at.args, '--once', '--interval', '100ms'], at.env);
      t.strictSame([code, at.text(), at.log()], [0, file, ['init', 'shutdown']], name);
      t.strictSame(readdirSync(join(at.root, 'run')), ['gpu', 'gpu.lock'], `${name}: and nothing beside it`);
      const said = stderr.split('\n').filter(Boolean);
      const wanted = file.includes(' 17 ') || name === 'more' ? 1 : 0;
      t.equal(said.length, wanted, `${name}: ${stderr || 'nothing is said'}`);
    }
  });

t.test('both senders take each of these files', async t => {
  const root = memoryFolder(t);
  mkdirSync(join(root, 'run'));
  const pretence = join(root, 'pretend.toml');
  writeFileSync(pretence, 't_real_ns = 1\nt_boot_ns = 5000000000\nstart_boot_ns = 1\nrun = "run"\n');
  const argv = ['--once', '--pretend', pretence, '--proc', root, '--sys', root, '--to', '-'];
  const complaint = (said: string) => said.split('\n').find(line => line.includes('run/gpu'));
  let files = 0;
  for (const [name, , file] of ROWS) {
    writeFileSync(join(root, 'run', 'gpu'), file);
    const [c, ts] = [askC(SENDER_IN_C, argv), await askHere(argv)];
    t.equal(c.report, ts.report, `${name}: the same report`);
    t.equal(complaint(c.said + ts.said), undefined);
    const bytes = Buffer.from(c.report, 'hex');
    const report = decodeReport(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0);
    const sets = bitNames('valid', report.valid);
    t.equal(report.gpu_count, Number(file.split(/\s/)[3]), `${name}: ${report.gpu_count} GPUs`);
    t.ok(sets.includes('gpu'));
    t.equal(sets.includes('gpu_errors'), !/ -( \d+)?$/m.test(file), `${name}: errors are known, or not`);
    files++;
    if (!name.startsWith('twelve')) continue;
    t.strictSame(report.gpu?.[7], {
      util_pct: 81,
      temp_degc: 41,
      power_w: 2500,
      mem_used_mib: 45,
      mem_total_mib: 50_000,
    });
    t.strictSame([report.gpu_busy, report.gpu_ecc_ue, report.gpu_flags], [11, 12, [1, 7, 7, 3, 7, 7, 3, 7]]);
  }
  t.equal(files, ROWS.length);
});

t.test('whatever the library answers, it is a GPU file', async t => {
  const helper = made('beoboard-gpu', CHECKED);
  const at = place(t, GOOD);
  const numbers = fc.constantFrom(
    ...[
      0n,
      1n,
      100n,
      101n,
      150n,
      999n,
      65_535_000n,
      2n ** 20n,
      2n ** 31n,
      2n ** 32n - 1n,
      2n ** 52n,
      2n ** 63n,
      2n ** 64n - 1n,
    ],
  );
  const statuses = fc.oneof(
    { arbitrary: fc.constant(0), weight: 6 },
    { arbitrary: fc.constantFrom(2, 3, 4, 7, 10, 15, 16, 999, -1), weight: 1 },
  );
  const line = fc
    .tuple(fc.constantFrom(...GOOD.slice(2)), fc.constantFrom('*', '0', '1', '2'), statuses, numbers, numbers)
    .map(([known, gpu, status, first, second]) => `${known.split(' ')[0]} ${gpu} ${status} ${first} ${second}`);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), lines => {
      answer(at.script, [...GOOD, 'DeviceGetCount * 0 3', ...lines]);
      const { code, stderr } = run(helper, [...at.args, '--once', '--interval', '100ms'], at.env);
      const file = parseGpuFile(at.text());
      if (code !== 0 || file?.gpus.length !== 3) throw new Error(`${code}: ${at.text()}${stderr}`);
    }),
    { numRuns: runsOf(100), seed: SEED },
  );
  t.pass();
});

t.test('errors at the start: one line and exit code 1; the file is left as it was', async t => {
  const lost = 'the library is of no use';
  const rows: [what: string, lines: string[], library: string, said: RegExp][] = [
    [
      'no library',
      GOOD,
      '/nowhere/libnvidia-ml.so.1',
      /^cannot load NVML: \/nowhere\/libnvidia-ml\.so\.1: .*No such file/,
    ],
    ['something else', GOOD, 'libm.so.6', /^libm\.so\.6 is not NVML, or is from before 2013$/],
    ['no driver', [...GOOD, 'Init * 9'], NVML, /^NVML does not start: something is wrong \(9\)$/],
    ['another driver', [...GOOD, 'Init * 18'], NVML, /^NVML does not start: something is wrong \(18\)$/],
    [
      'a failure without words',
      [...POOR, 'Init * 999'],
      made('standin_nvml.so', POOREST),
      /^NVML does not start: an error without a name \(999\)$/,
    ],
    ['no count', [...GOOD, 'DeviceGetCount * 999'], NVML, /^NVML does not count the GPUs: something is wrong \(999\)$/],
    [lost, [...GOOD, 'DeviceGetPowerUsage * 18'], NVML, /^NVML does not work any more: something is wrong \(18\)$/],
    ['a driver that was unloaded', [...GOOD, 'EventSetWait * 9'], NVML, /^NVML does not work any more: .* \(9\)$/],
  ];
  for (const [name, lines, library, said] of rows) {
    const at = place(t, lines, library);
    mkdirSync(join(at.root, 'run'));
    writeFileSync(at.file, one(FINE.trim()));
    writeFileSync(`${at.file}.new`, 'gpu 1 nvi');
    const { code, stderr, stdout } = run(HELPER, [...at.args, '--once'], at.env);
    t.strictSame([code, stdout, at.text()], [1, '', one(FINE.trim())], name);
    t.match(stderr.replace('beoboard-gpu: ', '').trimEnd(), said);
    t.strictSame(
      readdirSync(join(at.root, 'run')),
      ['gpu', 'gpu.lock'],
      'what a helper before it left half done is gone',
    );
  }
});

t.test('where it writes', async t => {
  const at = place(t, GOOD);
  const ask = (file: string) => run(HELPER, ['--once', '--library', NVML, '--file', file], at.env);
  const { status } = spawnSync('sh', ['-c', 'umask 077; exec "$@"', 'sh', HELPER, ...at.args, '--once'], {
    env: at.env,
  });
  t.strictSame(
    [status, statSync(at.file).mode & 0o777, statSync(join(at.root, 'run')).mode & 0o777],
    [0, 0o644, 0o755],
    'for everybody to read, whoever starts it',
  );
  const before = statSync(at.file).ino;
  const fd = openSync(at.file, 'r');
  t.equal(ask(at.file).code, 0);
  t.not(statSync(at.file).ino, before, 'another file took its place');
  t.equal(readFileSync(fd, 'utf8'), one(FINE.trim()), 'who had it open still reads the old one');

  const refused = (file: string, said: string) => {
    const { code, stderr } = ask(file);
    t.strictSame([code, stderr], [1, `beoboard-gpu: ${said}\n`]);
  };
  const thesis = join(at.root, 'thesis');
  const what = (file: string) => `${file} is not a GPU file; remove it, or write another --file`;
  writeFileSync(thesis, 'gpus and I');
  refused(thesis, what(thesis));
  t.equal(readFileSync(thesis, 'utf8'), 'gpus and I');
  symlinkSync(at.file, join(at.root, 'link'));
  refused(join(at.root, 'link'), what(join(at.root, 'link')));
  t.ok(lstatSync(join(at.root, 'link')).isSymbolicLink());
  refused(join(at.root, 'run'), what(join(at.root, 'run')));
  refused('/dev/null', what('/dev/null'));
  refused('/proc/x/gpu', 'cannot make /proc/x: No such file or directory');
  refused(join(thesis, 'gpu'), `cannot look at ${thesis}/gpu: Not a directory`);
  const empty = join(at.root, 'empty');
  writeFileSync(empty, '');
  t.equal(ask(empty).code, 0, 'an empty file is nothing to lose');

  const helper = start(t, at);
  await until('it is ready', () => helper.said().some(line => line.startsWith('ready')));
  refused(at.file, `another beoboard-gpu writes ${at.file}; end it first`);
  t.equal(await helper.end('SIGKILL'), 'SIGKILL');
  t.equal(ask(at.file).code, 0, 'its lock ended with it');

  // Whoever may read the folder and the file may lock both.
  const lock = `${at.file}.lock`;
  chmodSync(lock, 0o644);
  for (const path of [join(at.root, 'run'), at.file]) {
    const enemy = spawn('flock', ['-F', path, 'sh', '-c', 'echo; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.teardown(() => enemy.kill());
    await once(enemy.stdout, 'data');
  }
  t.equal(ask(at.file).code, 0, 'which holds nobody up');
  t.equal(statSync(lock).mode & 0o777, 0o600, 'its own lock is for nobody else');
  rmSync(lock);
  symlinkSync(thesis, lock);
  refused(at.file, `cannot open ${lock}: Too many levels of symbolic links`);
});

t.test('the loop: it says what changes, once', async t => {
  const at = place(t, [...GOOD, 'DeviceGetCount * 0 2', 'Xid 1 0 7']);
  const helper = start(t, at, ['--interval', '100ms'], {}, made('beoboard-gpu', CHECKED));
  const next = (what: string, lines: string[], file: string) => {
    answer(at.script, [...GOOD, 'DeviceGetCount * 0 2', ...lines]);
    return until(what, () => existsSync(at.file) && at.text() === `gpu 1 nvidia 2\n${file}`);
  };
  const said = (line: string) => until(`it says ${line}`, () => helper.said().includes(line));
  await next('Xids from before it are not heard of', ['Xid 1 0 7'], FINE + FINE);
  await next('Xids come', ['Xid 1 0 9', 'Xid 0 0 1'], '50 61 300 1024 81920 3 1 0\n50 61 300 1024 81920 3 2 0\n');
  await next(
    'one of a GPU that nobody knows',
    ['Xid 1 0 10', 'Xid 0 0 1', 'EventSetWait * 0 1'],
    '50 61 300 1024 81920 3 2 0\n50 61 300 1024 81920 3 2 0\n',
  );
  const xids = ['Xid 1 0 10', 'Xid 0 0 1'];
  await next(
    'an uncorrected error',
    [...xids, 'DeviceGetTotalEccErrors 1 0 5'],
    '50 61 300 1024 81920 3 2 0\n50 61 300 1024 81920 7 2 5\n',
  );
  await next('it is lost', [...xids, 'DeviceGetTemperature 1 15'], '50 61 300 1024 81920 3 2 0\n- - - - - 21 2 5\n');
  await said('GPU 1: GPU is lost (15); its readings are left out, and it is looked for every minute');

  // The other GPU is still read, and Xids of the lost one are still counted.
  await next(
    'another goes on',
    [...xids, 'Xid 1 0 11', 'DeviceGetUtilizationRates 0 0 77 0'],
    '77 61 300 1024 81920 3 2 0\n- - - - - 21 3 5\n',
  );
  answer(at.script, [...GOOD, 'DeviceGetCount * 0 2', 'DeviceGetHandleByIndex 1 15']);
  helper.child.kill('SIGHUP');
  await next('still lost', ['DeviceGetHandleByIndex 1 15'], '50 61 300 1024 81920 3 2 0\n- - - - - 21 3 5\n');
  answer(at.script, [...GOOD, 'DeviceGetCount * 0 2']);
  helper.child.kill('SIGHUP');
  await next(
    'it is back, and what was counted goes on',
    [],
    '50 61 300 1024 81920 3 2 0\n50 61 300 1024 81920 3 3 0\n',
  );
  await said('GPU 1 is back');
  const begun = () => at.log().filter(line => line === 'init').length;
  const before = begun();
  helper.child.kill('SIGHUP');
  await until('all is opened anew, and there is nothing to say', () => begun() > before);

  answer(at.script, [...GOOD, 'DeviceGetCount * 0 2', 'DeviceGetUtilizationRates 1 18', 'Init * 18']);
  await said('NVML does not work any more: something is wrong (18); tries again every minute');
  helper.child.kill('SIGHUP');
  await said('NVML does not start: something is wrong (18); tries again every minute');
  helper.child.kill('SIGHUP');
  await until('it has tried twice', () => at.log().filter(line => line === 'init failed').length === 2);
  answer(at.script, GOOD);
  helper.child.kill('SIGHUP');
  await next(
    'the driver counts one, the other is missed',
    ['DeviceGetCount * 0 1'],
    '50 61 300 1024 81920 3 2 0\n- - - - - 17 3 0\n',
  );

  rmSync(`${at.file}.lock`);
  await until('its lock is made again', () => existsSync(`${at.file}.lock`));
  renameSync(join(at.root, 'run'), join(at.root, 'gone'));
  await until('its folder is made again', () => existsSync(at.file));
  t.equal(run(HELPER, [...at.args, '--once'], at.env).code, 1, 'and locked again');
  // A folder with the name of the temporary file: mkdir succeeds as soon as that file is not there.
  await until('something is in its way', () => spawnSync('mkdir', [`${at.file}.new`]).status === 0);
  const trouble = `cannot make ${at.file}.new: File exists; goes on trying`;
  await said(trouble);
  rmdirSync(`${at.file}.new`);
  const ready = (gpus: string) => `ready: ${gpus} every 100ms to ${at.file}`;
  await until('it goes on', () => helper.said().at(-1) === ready('2 GPUs'));
  t.equal(await helper.end(), 0);
  t.strictSame(helper.said(), [
    ready('2 GPUs'),
    'GPU 1: GPU is lost (15); its readings are left out, and it is looked for every minute',
    'GPU 1 is back',
    'NVML does not work any more: something is wrong (18); tries again every minute',
    'NVML does not start: something is wrong (18); tries again every minute',
    ready('2 GPUs'),
    'GPU 1: the driver does not count it; its readings are left out, and it is looked for every minute',
    trouble,
    ready('2 GPUs'),
  ]);
  t.strictSame(
    readdirSync(join(at.root, 'run')),
    ['gpu', 'gpu.lock', 'gpu.seen', 'gpu.seen.lock'],
    'the file stays: its age tells',
  );
});

t.test('every minute, to the millisecond', async t => {
  /** The log of a helper with a fake clock, from the second occurrence of the line `what` to the third. */
  const hurried = async (lines: string[], more: string[], what: string) => {
    const at = place(t, lines);
    const env = { LD_PRELOAD: HURRY, HURRY_LOG: `${at.script}.log` };
    const helper = start(t, at, more, env);
    const places = (log: string[]) => log.flatMap((line, i) => (line === what ? [i] : []));
    const log = await until('it has tried three times', () => places(at.log()).length > 3 && at.log());
    const [, second = 0, third = 0] = places(log);
    return { at, helper, cycle: log.slice(second, third) };
  };
  const none = await hurried([...GOOD, 'Init * 9'], [], 'init failed');
  t.strictSame(none.cycle, ['init failed', '60.000'], 'no driver');
  answer(none.at.script, GOOD);
  await until('the driver came', () => existsSync(none.at.file) && none.at.text() === one(FINE.trim()));
  await until('it goes on', () => none.at.log().at(-1) === '5.000');
  t.equal(await none.helper.end('SIGINT'), 0);
  const came = none.at.log().indexOf('init');
  t.strictSame([...new Set(none.at.log().slice(came + 1))], ['5.000'], 'and is asked as ever from then on');
  t.strictSame(none.helper.said(), [
    'NVML does not start: something is wrong (9); tries again every minute',
    `ready: 1 GPU every 5s to ${none.at.file}`,
  ]);
  const lost = await hurried([...GOOD, 'DeviceGetHandleByIndex * 16'], ['--interval', '7.5s'], 'init');
  t.strictSame(lost.cycle, ['init', ...Array(8).fill('7.500'), 'shutdown'], 'a GPU to be reset');
  t.equal(await lost.helper.end(), 0);
  t.match(lost.helper.said(), [/^GPU 0: something is wrong \(16\)/, /^ready/]);
  t.equal(lost.helper.said().length, 2, 'said once');
});

/** What NVML says of a second handle when it counts one GPU; the count may have been asked for before. */
const BEYOND = 'DeviceGetHandleByIndex 1 2';
t.test('a GPU is known by its UUID, and missed until it answers or is forgotten', async t => {
  const at = place(t, TWO);
  let helper = hurried(t, at);
  await helper.shows('both are there', FINE + FINE);
  answer(at.script, [...TWO, 'DeviceGetTemperature 0 15']);
  await helper.shows('one is lost', `- - - - - 17 0 0\n${FINE}`);
  answer(at.script, [...TWO, 'DeviceGetTemperature 0 999', 'DeviceGetHandleByIndex 0 999']);
  await helper.rounds(40);
  await helper.shows('opened anew, it has no handle', `- - - - - 17 0 0\n${FINE}`);
  // The driver counts one less: the other GPU is its first now, and its Xids stay its own.
  answer(at.script, [...GOOD, 'DeviceGetUUID 0 0 11', 'Xid 0 0 0']);
  await helper.rounds(20);
  // It may have been opening the library while the answers changed.
  helper.child.kill('SIGHUP');
  await helper.rounds(20);
  const heard = '- - - - - 17 0 0\n50 61 300 1024 81920 3 1 0\n';
  // One that comes just when the library is opened anew is not heard.
  for (let xids = 1; at.text() !== `gpu 1 nvidia 2\n${heard}`; xids++) {
    answer(at.script, [...GOOD, 'DeviceGetUUID 0 0 11', `Xid 0 0 ${xids}`]);
    await helper.rounds(8);
  }
  await helper.shows('the other one has other numbers', heard);
  t.equal(await helper.end(), 0);
  helper = hurried(t, at);
  await helper.shows('after a restart, too', '- - - - - 17 - -\n50 61 300 1024 81920 3 1 0\n');
  await until('it says so once', () => helper.said().some(line => line.startsWith('GPU 0 (GPU-10): ')));
  const refused = run(HELPER, [...at.args, '--forget', 'GPU-12'], at.env);
  t.match(refused, { code: 1, stderr: "beoboard-gpu: there is no GPU 'GPU-12' in the table\n" });
  t.match(run(HELPER, [...at.args, '--forget', 'GPU-10'], at.env), { code: 0, stderr: '' });
  await helper.shows('forgotten', '50 61 300 1024 81920 3 1 0\n');
  answer(at.script, TWO);
  helper.child.kill('SIGHUP');
  await helper.shows('it came back all the same', `50 61 300 1024 81920 3 1 0\n${FINE}`);
  t.notOk(
    helper.said().some(line => line.endsWith(' is back')),
    'it was forgotten',
  );
  t.equal(await helper.end(), 0);
});

t.test('one that is forgotten keeps the others waiting for no minute', async t => {
  const at = place(t, TWO);
  const helper = start(t, at, ['--interval', '100ms']);
  const shows = (what: string, text: string) => until(what, () => existsSync(at.file) && at.text().endsWith(text));
  await shows('both are there', ` 2\n${FINE}${FINE}`);
  answer(at.script, [...TWO, 'DeviceGetTemperature 1 15']);
  await shows('one is lost', `${FINE}- - - - - 17 0 0\n`);
  answer(at.script, [...TWO, 'DeviceGetCount * 0 1', BEYOND]);
  t.match(run(HELPER, [...at.args, '--forget', 'GPU-11'], at.env), { code: 0, stderr: '' });
  await shows('it is forgotten', ` 1\n${FINE}`);
  t.equal(await helper.end(), 0);
});

t.test('a handle of nobody is that of the GPU that is missing', async t => {
  const nobody = ['DeviceGetUUID 1 999', 'DeviceGetPciInfo 1 999'];
  const ill = [...nobody, 'DeviceGetTemperature 1 999', 'DeviceGetUtilizationRates 1 999'];
  for (const [known, fault] of [TWO, PLACED].flatMap(known => [nobody, ill].map(fault => [known, fault] as const))) {
    const at = place(t, known);
    const helper = hurried(t, at);
    await helper.shows('both are there', FINE + FINE);
    answer(at.script, [...known, ...fault]);
    helper.child.kill('SIGHUP');
    await helper.rounds(8);
    if (fault === nobody) t.equal(at.text(), `gpu 1 nvidia 2\n${FINE}${FINE}`, 'it answers');
    answer(at.script, known);
    helper.child.kill('SIGHUP');
    await helper.rounds(8);
    await helper.shows('nobody was added', FINE + FINE);
    t.equal(await helper.end(), 0);
  }
});

t.test('one UUID of two handles', async t => {
  for (const known of [TWO, PLACED]) {
    const at = place(t, [...known, 'DeviceGetUUID * 0 10', 'DeviceGetTemperature 1 15']);
    for (const when of ['at first', 'after a restart']) {
      const helper = hurried(t, at);
      await helper.shows(`both are told of ${when}`, `${FINE}- - - - - 17 0 -\n`);
      await helper.rounds(8);
      t.equal(at.text(), `gpu 1 nvidia 2\n${FINE}- - - - - 17 0 -\n`, 'and nobody else, however often they are asked');
      t.equal(await helper.end(), 0);
    }
  }
});

t.test('--once waits for what does not answer at once', async t => {
  for (const [what, lines, more, file] of [
    ['one is expected', [], ['--expect', '2'], `${FINE}- - - - - 17 - -\n`],
    ['no handle', ['DeviceGetCount * 0 2', 'DeviceGetHandleByIndex 1 999'], [], `${FINE}- - - - - 17 - -\n`],
    ['no reading', GOOD.slice(3, 13).map(line => line.replace(/ 0.*/, ' 999')), [], '- - - - - 17 0 -\n'],
  ] as const) {
    const at = place(t, [...GOOD, ...lines]);
    const { code } = run(HELPER, [...at.args, '--once', '--interval', '100ms', ...more], at.env);
    t.equal(code, 0, what);
    t.equal(at.text().replace(/^gpu.*\n/, ''), file, what);
  }
});

t.test('who holds the state holds nobody up', async t => {
  const at = place(t, TWO);
  const state = `${at.file}.seen`;
  mkdirSync(join(at.root, 'run'));
  const enemy = spawn('flock', ['-F', `${state}.lock`, 'sh', '-c', 'echo; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => enemy.kill('SIGKILL'));
  await once(enemy.stdout, 'data');
  const helper = hurried(t, at);
  await helper.shows('it is written', FINE + FINE);
  await until('it says so', () => helper.said().some(line => line.startsWith(`cannot lock ${state}: `)));
  answer(at.script, [...TWO, 'DeviceGetTemperature 1 15']);
  await helper.shows('it is written on', `${FINE}- - - - - 17 0 0\n`);
  t.notOk(existsSync(state));
  enemy.kill('SIGKILL');
  await until('and then the state', () => existsSync(state) && readFileSync(state, 'utf8').includes(' lost '));
  t.equal(await helper.end(), 0);
});

t.test('a state that is damaged forgets no GPU', async t => {
  const at = place(t, PLACED);
  const state = `${at.file}.seen`;
  const helper = hurried(t, at);
  await helper.shows('both', FINE + FINE);
  await until('they are kept', () => existsSync(state));
  const whole = readFileSync(state, 'utf8');
  const lines = whole.split('\n');
  const head = (lines[0]?.length ?? 0) + 1;
  rewrite(state, whole.slice(0, -12));
  await until('it is mended, and said', () => readFileSync(state, 'utf8') === whole && helper.said().length > 1);
  t.match(helper.said(), [/^ready/, /^the table of GPUs was damaged: 1 of its 2 lines can be read$/]);
  t.equal(helper.said().length, 2, 'said once, and nobody is forgotten');
  t.equal(await helper.end(), 0);
  const ask = () => run(HELPER, [...at.args, '--once', '--interval', '100ms'], at.env).stderr;
  const ends = Array.from({ length: whole.length - head - 6 }, (_, i) => head + i);
  for (const text of [
    ...ends.filter((_, i) => WHOLE || i % 9 === 0).map(end => whole.slice(0, end)),
    [lines[0], 'GPU-10', lines[2], ''].join('\n'),
    [lines[0], '\0'.repeat(40)].join('\n'),
  ]) {
    answer(at.script, PLACED);
    writeFileSync(state, text);
    t.match(ask(), /was damaged: [01] of its 2 lines/, JSON.stringify(text.slice(head)));
    t.equal(at.text(), `gpu 1 nvidia 2\n${FINE}${FINE}`, 'and no GPU that works is lost');
    answer(at.script, [...PLACED, 'DeviceGetCount * 0 1', BEYOND]);
    ask();
    t.match(at.text(), /^gpu 1 nvidia 2\n/, 'one that is gone');
    t.match(at.text(), /^- - - - - 17 /m, 'is missed');
  }
  for (const text of ['', whole.slice(0, 9), whole.slice(0, head - 3)]) {
    writeFileSync(state, text);
    t.match(ask(), /^beoboard-gpu: the table of GPUs was damaged; a GPU that is gone is not missed\n$/);
  }
});

t.test('a state file that cannot be written is told once', async t => {
  const at = place(t, TWO);
  const helper = hurried(t, at, ['--state', '/proc/nothere/gpus']);
  await helper.shows('both are there', FINE + FINE);
  await helper.rounds(8);
  t.equal(await helper.end(), 0);
  t.equal(helper.said().filter(line => line.includes('/proc/nothere/gpus')).length, 1);
});

t.test('eight GPUs before a restart of the machine and seven after it', async t => {
  const at = place(t, [...GOOD, 'DeviceGetCount * 0 8']);
  let helper = hurried(t, at);
  await helper.shows('eight', FINE.repeat(8));
  const state = `${at.file}.seen`;
  await until('they are kept', () => existsSync(state));
  await helper.end();
  writeFileSync(state, readFileSync(state, 'utf8').replace(/^gpus 1 \S+/, 'gpus 1 another-boot'));
  answer(at.script, [...GOOD, 'DeviceGetCount * 0 7']);
  helper = hurried(t, at);
  await helper.shows('seven', `${FINE.repeat(7)}- - - - - 17 - -\n`);
  await until('it says so', () => helper.said().some(line => line.startsWith('GPU 7: the driver does not count it; ')));
  await helper.end();
  const more = place(t, [...GOOD, 'DeviceGetCount * 0 1']);
  helper = hurried(t, more, ['--expect', '2']);
  await helper.shows('two are expected', `${FINE}- - - - - 17 - -\n`);
  answer(more.script, [...GOOD, 'DeviceGetCount * 0 2']);
  await helper.shows('the second came', FINE + FINE);
  await helper.end();
});

t.test('what the PCI bus says', async t => {
  const at = place(t, PLACED);
  bus(at, BUS);
  const helper = hurried(t, at);
  await helper.shows('both', FINE + FINE);
  bus(at, { ...BUS, '0000:03:00.0': '', '0000:04:00.0': 'vfio-pci' });
  await helper.shows('no driver has the third', `${FINE}${FINE}- - - - - 17 - -\n`);
  bus(at, { ...BUS, '0000:03:00.0': 'vfio-pci' });
  await helper.shows('given away', `${FINE}${FINE}- - - - - 0 - -\n`);
  // Another GPU in the slot of the second.
  answer(at.script, [...PLACED, 'DeviceGetUUID 1 0 12']);
  helper.child.kill('SIGHUP');
  await until('replaced', () => helper.said().includes('GPU 1 (GPU-11) was replaced by GPU-12'));
  await helper.shows('and well', `${FINE}${FINE}- - - - - 0 - -\n`);
  // The driver is gone: nothing is measured while the bus shows it, and a loss when it does not.
  const version = [...PLACED, 'DeviceGetUUID 1 0 12', 'Init * 18', 'DeviceGetUtilizationRates * 18'];
  answer(at.script, version);
  await until('it does not start', () => helper.said().some(line => line.startsWith('NVML does not start')));
  await helper.rounds(5);
  t.equal(at.text(), `gpu 1 nvidia 3\n${FINE}${FINE}- - - - - 0 - -\n`, 'the file gets old');
  bus(at, { '0000:01:00.0': 'nvidia', '0000:03:00.0': 'vfio-pci' });
  await helper.shows('one is gone from the bus', '- - - - - 1 0 0\n- - - - - 17 0 0\n- - - - - 0 - -\n');
  answer(at.script, [...PLACED, 'DeviceGetUUID 1 0 12']);
  bus(at, BUS);
  await until('it is back', () => helper.said().some(line => line === 'GPU 1 (GPU-12) is back'));
  t.equal(await helper.end(), 0);
});

// ---- AMD's, by the files of their driver ----

t.test("AMD's: the file says what a sender reads by itself", async t => {
  const at = amdPlace(t);
  const pretence = join(at.root, 'pretend.toml');
  writeFileSync(pretence, 't_real_ns = 1\nt_boot_ns = 5000000000\nstart_boot_ns = 1\nrun = "run"\n');
  const argv = ['--once', '--pretend', pretence, '--proc', at.root, '--sys', join(at.root, 'sys'), '--to', '-'];
  const rows: [what: string, files: Record<string, string | null>, line: string][] = [
    ['all', {}, AMD_FINE],
    ['idle', { gpu_busy_percent: '0\n' }, '0 61 300 1024 65536 1 4 0\n'],
    ['busier than can be', { gpu_busy_percent: '101\n' }, '- 61 300 1024 65536 1 4 0\n'],
    ['hot', { 'hwmon/hwmon4/temp1_input': '150000\n' }, '50 150 300 1024 65536 3 4 0\n'],
    ['hotter', { 'hwmon/hwmon4/temp1_input': '150001\n' }, '50 - 300 1024 65536 3 4 0\n'],
    ['no power', { 'hwmon/hwmon4/power1_average': '999999\n' }, '50 61 - 1024 65536 3 4 0\n'],
    ['in parts', { current_compute_partition: 'CPX\n' }, '50 61 300 1024 65536 35 4 0\n'],
    ['whole', { current_compute_partition: 'SPX\n' }, AMD_FINE],
    ['more memory than there is', { mem_info_vram_used: `${2 ** 40}\n` }, '50 61 300 - - 3 4 0\n'],
    ['memory errors', { 'ras/umc_err_count': 'ue: 2\nce: 0\n' }, '50 61 300 1024 65536 7 3 2\n'],
    ['a count that cannot be read', { 'ras/gfx_err_count': null }, '50 61 300 1024 65536 3 - -\n'],
    ['no numbers', { gpu_busy_percent: 'x\n', mem_info_vram_total: '\n' }, '- 61 300 - - 1 4 0\n'],
    ['much power', { 'hwmon/hwmon4/power1_average': '65534999999\n' }, '50 61 65534 1024 65536 3 4 0\n'],
    ['more power', { 'hwmon/hwmon4/power1_average': '65535000000\n' }, '50 61 - 1024 65536 3 4 0\n'],
    [
      'the sensor of large models',
      { 'hwmon/hwmon4/temp1_input': null, 'hwmon/hwmon4/temp2_input': '70000\n', 'hwmon/hwmon11/temp1_input': '1\n' },
      '50 70 300 1024 65536 3 4 0\n',
    ],
  ];
  for (const [what, files, line] of rows) {
    bus(at, { [FIRST]: amd(files) });
    rmSync(join(at.root, 'run'), { recursive: true, force: true });
    mkdirSync(join(at.root, 'run'));
    const own = await askHere(argv);
    t.match(run(HELPER, [...at.args, '--once'], at.env), { code: 0, stderr: '' }, what);
    t.equal(at.text(), `gpu 1 amd 1\n${line}`, what);
    t.equal((await askHere(argv)).report, own.report, `${what}: the same report`);
  }
});

t.test("AMD's: known by their places, and missed until they answer or are forgotten", async t => {
  const at = amdPlace(t);
  const all = { [FIRST]: amd(), [SECOND]: amd({ gpu_busy_percent: '77\n' }), [THIRD]: amd() };
  const lines = [AMD_FINE, AMD_FINE.replace('50', '77'), AMD_FINE];
  const [first = '', , third = ''] = lines;
  bus(at, all);
  let helper = hurried(t, at, [], {}, 'amd');
  await helper.shows('all', lines.join(''));
  bus(at, all, 17);
  await helper.rounds(4);
  t.equal(at.text(), `gpu 1 amd 3\n${lines.join('')}`, 'cards have other numbers');
  const without = (place: string, as?: Amd) =>
    Object.fromEntries(Object.entries({ ...all, [place]: as }).filter(([, one]) => one !== undefined)) as typeof all;
  const said = (line: string) => until(line, () => helper.said().some(one => one.startsWith(line)));
  bus(at, without(SECOND));
  await helper.shows('one goes', `${first}${AMD_LOST}${third}`);
  await said(`GPU 1 (${SECOND}): it is gone from the PCI bus; `);
  await helper.end();
  writeFileSync(`${at.file}.seen`, readFileSync(`${at.file}.seen`, 'utf8').replace(/^gpus 1 \S+/, 'gpus 1 boot'));
  helper = hurried(t, at, [], {}, 'amd');
  await helper.shows('after a boot', `${first}- - - - - 17 - -\n${third}`);
  bus(at, all);
  await helper.shows('it comes back', lines.join(''));
  await said(`GPU 1 (${SECOND}) is back`);
  bus(at, without(SECOND, amd({}, 'vfio-pci')));
  await helper.shows('given away', `${first}- - - - - 0 4 0\n${third}`);
  await said(`GPU 1 (${SECOND}): the driver vfio-pci has it`);
  bus(at, without(SECOND, amd({}, '')));
  await helper.shows('no driver has it', `${first}${AMD_LOST}${third}`);
  bus(at, without(SECOND, amd(MUTE)));
  await said(`GPU 1 (${SECOND}): Is a directory (21)`);
  await helper.shows('it gives no reading', `${first}${AMD_LOST}${third}`);
  bus(at, without(SECOND, { driver: 'amdgpu', files: {} }));
  await said(`GPU 1 (${SECOND}): No such device (19)`);
  for (const works of [
    amd({ ...MUTE, gpu_busy_percent: '77\n' }),
    amd({ ...MUTE, 'power/runtime_status': 'suspended\n' }),
    { driver: 'amdgpu', files: { mem_info_vram_total: '1\n' } },
  ]) {
    bus(at, without(SECOND, works));
    await until('it works', () => / 1 \S+ \S+$| 3 \S+ \S+$/.test(at.text().split('\n')[2] ?? ''));
    await helper.rounds(5);
    t.notMatch(at.text(), / 17 /, 'and is not lost');
  }
  // One, or all, of which each reading is there, fails or is missing; the memory is known without the GPU.
  const leaves = ['gpu_busy_percent', 'hwmon/hwmon4/temp1_input', 'hwmon/hwmon4/power1_average'];
  const areLost = () =>
    at
      .text()
      .split('\n')
      .slice(1, 4)
      .map(line => (Number(line.split(' ')[5]) & 16) !== 0);
  const lost = [false, false, false];
  for (let n = 0; n < 27; n++) {
    const how = leaves.map((_, i) => ['there', 'fails', 'missing'][Math.floor(n / 3 ** i) % 3]);
    const files = Object.fromEntries(
      Object.entries({ ...AMD_FILES, ...MUTE }).map(([leaf, text]) => {
        const is = how[leaves.indexOf(leaf)];
        return [is === 'missing' ? `no-${leaf}` : leaf, is === 'there' ? AMD_FILES[leaf as never] : text];
      }),
    );
    for (const isAll of [false, true]) {
      const odd: Amd = { driver: 'amdgpu', files };
      bus(at, isAll ? { [FIRST]: odd, [SECOND]: odd, [THIRD]: odd } : without(SECOND, odd));
      // Who has none of them may be well; who was lost has to answer.
      for (const i of [0, 1, 2])
        if (how.includes('there') || !(isAll || i === 1)) lost[i] = false;
        else if (how.includes('fails')) lost[i] = true;
      await helper.rounds(5);
      t.same(areLost(), lost, `${how}: ${isAll ? 'all' : 'one'}`);
    }
  }
  bus(at, all);
  await helper.shows('all are well', lines.join(''));
  bus(at, {});
  await helper.shows('all are gone', AMD_LOST.repeat(3));
  bus(at, without(SECOND));
  await helper.shows('two are back', first + AMD_LOST + third);
  t.equal(run(HELPER, [...at.args, '--forget', SECOND], at.env).code, 0);
  await helper.shows('one is forgotten', first + third);
  t.equal(await helper.end(), 0);
});

t.test('a call that hangs: the file is written on, and its GPU is lost after 30 s', async t => {
  const both = '- - - - - 17 0 0\n'.repeat(2);
  const calls: [call: string, file: string][] = [
    ['DeviceGetTemperature 1', '- - - - - 1 0 0\n- - - - - 17 0 0\n'],
    ['DeviceGetTotalEccErrors 0', '- - - - - 17 0 0\n- - - - - 1 0 0\n'],
    ...['Init *', 'DeviceGetCount *', 'DeviceGetHandleByIndex 1', 'DeviceGetUUID 1', 'EventSetWait *'].map(
      call => [call, both] as [string, string],
    ),
  ];
  for (const [call, file] of WHOLE ? calls : calls.slice(0, 1)) {
    const at = place(t, TWO);
    const helper = hurried(t, at, [], { HURRY_TICKS: '1' });
    await helper.shows('both', FINE + FINE);
    answer(at.script, [...TWO, `${call} hang`]);
    helper.child.kill('SIGHUP');
    await helper.shows(`${call} hangs`, file);
    await until('it says so', () => helper.said().some(line => line.includes(': a call has hung')));
    answer(at.script, TWO);
    await helper.shows('it goes on', FINE + FINE);
    await until('it says that, too', () => helper.said().some(line => line.endsWith(' is back')));
    t.equal(await helper.end(), 0);
  }
});

t.test("AMD's: a file that hangs", async t => {
  const at = amdPlace(t);
  bus(at, { [FIRST]: amd(), [SECOND]: amd({ gpu_busy_percent: '77\n' }) });
  const second = AMD_FINE.replace('50', '77');
  const helper = hurried(t, at, [], { HURRY_TICKS: '1' }, 'amd');
  await helper.shows('both', AMD_FINE + second);
  const leaf = join(realpathSync(join(at.root, 'sys')), 'bus', 'pci', 'devices', SECOND, 'gpu_busy_percent');
  execFileSync('mkfifo', [`${leaf}.fifo`]);
  renameSync(`${leaf}.fifo`, leaf);
  await helper.shows('it hangs', '- - - - - 1 4 0\n- - - - - 17 4 0\n');
  bus(at, { [FIRST]: amd(), [SECOND]: amd({ gpu_busy_percent: '77\n' }) });
  // Whoever opens the pipe lets the call end.
  closeSync(openSync(leaf, 'w'));
  await helper.shows('it goes on', AMD_FINE + second);
  t.equal(await helper.end(), 0);
});

t.test('--release', async t => {
  const at = place(t, TWO);
  const helper = start(t, at, ['--interval', '100ms']);
  await until('it is ready', () => helper.said().some(line => line.startsWith('ready')));
  const ask = (time: string) => run(HELPER, [...at.args, '--release', time], at.env);
  t.match(ask('1h'), { code: 0, stderr: '' });
  t.equal(at.log().at(-1), 'shutdown', 'it is closed when the command ends');
  answer(at.script, [...TWO, 'DeviceGetHandleByIndex * 15', 'Init * 9']);
  rmSync(at.file);
  t.match(ask('2h'), { code: 0, stderr: '' });
  await until('it is written without readings', () => existsSync(at.file));
  t.equal(at.text(), `gpu 1 nvidia 2\n${'- - - - - 1 0 0\n'.repeat(2)}`, 'and nobody is told of a loss');
  answer(at.script, TWO);
  t.match(ask('0s'), { code: 0, stderr: '' });
  await until('it goes on', () => existsSync(at.file) && at.text() === `gpu 1 nvidia 2\n${FINE}${FINE}`);
  t.equal(await helper.end(), 0);
  t.strictSame(
    helper.said().filter(line => !line.startsWith('ready')),
    ['NVML is closed, as asked with --release', 'NVML is closed, as asked with --release'],
  );
});

t.test('every code of every call: a GPU that works is never lost, one that does not answer is', async t => {
  const codes = WHOLE ? todayOf(CODES, 3) : [3, 15, 999];
  const calls: [what: string, names: string[]][] = [
    ['Init', ['Init']],
    ['count', ['DeviceGetCount']],
    ['handle', ['DeviceGetHandleByIndex']],
    ['UUID', ['DeviceGetUUID']],
    ['place', ['DeviceGetPciInfo']],
    ['all readings', [...READINGS, 'Programs']],
    ...(WHOLE ? READINGS : ['DeviceGetTemperature']).map(name => [name, [name]] as never),
  ];
  for (const [what, names] of calls)
    for (const whose of what === 'Init' || what === 'count' ? ['*'] : ['*', '0'])
      for (const code of codes) {
        const at = place(t, TWO);
        const helper = hurried(t, at);
        await helper.shows('both are well', FINE + FINE);
        answer(at.script, [...TWO, ...names.map(name => `${name} ${whose} ${code}`)]);
        helper.child.kill('SIGHUP');
        await helper.rounds(8);
        rmSync(at.file);
        await helper.rounds(4);
        const lines = existsSync(at.file) ? at.text().trimEnd().split('\n').slice(1) : [];
        const lost = lines.map(line => (Number(line.split(' ')[5]) & 16) !== 0);
        const whole = what === 'Init' || what === 'count';
        let wanted = [true, whose === '*'];
        // Nothing is measured, and the file gets old.
        if (OF_DRIVER.includes(code) || (whole && [...GAPS, 12].includes(code))) wanted = [];
        // The GPU has answered, to this call or to another one.
        else if (GAPS.includes(code)) wanted = [false, false];
        else if ([...READINGS, 'UUID', 'place'].includes(what) && code !== 15 && code !== 16) wanted = [false, false];
        t.strictSame(lost, wanted, `${what} ${whose}: ${code}`);
        await helper.end('SIGKILL');
      }
});

t.test(
  'a reader never sees a half-written file, even if it is written as fast as possible',
  { skip: NOT_WHOLE },
  async t => {
    const lines = [...GOOD, 'DeviceGetCount * 0 64', 'DeviceGetTotalEccErrors * 0 @'];
    /** Reads until it has seen so many files, or one that is torn. */
    const look = async (env: NodeJS.ProcessEnv, wanted: number) => {
      const at = place(t, lines);
      // So seldom that nothing is written while a round lasts, which would mix two rounds.
      const helper = start(t, at, ['--interval', '3s'], { LD_PRELOAD: HURRY, ...env });
      await until('there is a file', () => existsSync(at.file));
      let [reads, files, torn, last] = [0, 0, 0, 0];
      for (const end = performance.now() + 60_000; files < wanted && torn === 0; reads++) {
        const gpus = parseGpuFile(at.text())?.gpus ?? [];
        const round = Number(gpus[0]?.eccUe);
        if (gpus.length !== 64 || gpus.some(({ eccUe }) => eccUe !== round) || round < last) torn++;
        else if (round > last) files++;
        last = round;
        if (performance.now() > end) break;
      }
      const code = await helper.end();
      return { reads, files, torn, code };
    };
    const { reads, files, torn, code } = await look({}, 200);
    t.strictSame({ files, torn, code }, { files: 200, torn: 0, code: 0 }, `${reads} readings`);
    t.equal((await look({ HURRY_TORN: '1' }, 1e9)).torn, 1, 'written in two pieces, it is seen torn');
  },
);

t.test('SIGTERM', async t => {
  const at = place(t, GOOD);
  const before = run(HELPER, [...at.args, '--once'], { ...at.env, LD_PRELOAD: HURRY, HURRY_END: '1' });
  t.strictSame([before.code, readdirSync(join(at.root, 'run'))], [0, ['gpu.lock']], 'between writing and renaming');
  for (const where of ['Init', 'DeviceGetHandleByIndex', 'DeviceGetPowerUsage', 'EventSetWait']) {
    const stuck = place(t, [...GOOD, `${where} * hang`]);
    const helper = start(t, stuck);
    await until('it hangs', () => existsSync(`${stuck.script}.hangs`));
    t.equal(await helper.end(), 0, `out of ${where}, which hangs`);
    t.strictSame(readdirSync(join(stuck.root, 'run')), ['gpu.lock']);
  }
});

const noNamespace =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /run']).status !== 0 &&
  !process.env.CI &&
  'needs root and mount namespaces';
t.test(
  'a helper that stands still takes the GPUs from the senders, and nothing else',
  { skip: noNamespace },
  async t => {
    const at = place(t, GOOD);
    const helper = start(t, at, ['--interval', '100ms']);
    await until('there is a file', () => existsSync(at.file));
    const sys = join(at.root, 'sys');
    mkdirSync(sys);
    const prefix = inNamespace(`mkdir /run/beoboard\nmount --bind '${join(at.root, 'run')}' /run/beoboard`);
    const hearers: Hearer[] = [];
    for (const sender of [SENDER_IN_C, '']) {
      const hearer = await Hearer.open(t);
      startIn(t, { prefix, sender }, ['send', '--to', hearer.address, '--sys', sys, '--interval', '200ms']);
      hearers.push(hearer);
    }
    const both = (what: string, isSo: (report: Heard) => boolean) =>
      Promise.all(hearers.map(hearer => hearer.next(what, isSo)));
    const has = ({ sets }: Heard) => sets.includes('gpu') && sets.includes('gpu_errors');
    for (const report of await both('the GPU is there', has)) t.equal(report.gpu?.[0]?.util_pct, 50);
    helper.child.kill('SIGSTOP');
    // The file now looks nine seconds old, as if it had stood that long; the test waits for the rest.
    const then = Date.now() / 1000 - 9;
    utimesSync(at.file, then, then);
    const gone = await both('its bits are gone', ({ sets }) => !sets.includes('gpu') && !sets.includes('gpu_errors'));
    for (const report of gone) {
      t.ok(report.sets.includes('memory'), 'other sets are there');
      t.ok(report.slow_boot_ns > 0n, 'rounds go on');
      t.notOk(report.marks.includes('slow_stale'), 'for the sender nothing hangs');
    }
    t.equal(at.text(), one(FINE.trim()), 'the file is as it was');
    answer(at.script, [...GOOD, 'DeviceGetUtilizationRates * 0 66 0']);
    helper.child.kill('SIGCONT');
    for (const report of await both('they are back', has)) t.equal(report.gpu?.[0]?.util_pct, 66);
    for (const { reports } of hearers)
      t.strictSame(
        reports.map(({ seq }) => seq),
        reports.map((_, i) => i),
        `${reports.length} reports, none is missing`,
      );
    t.equal(await helper.end(), 0);
  },
);

t.test('options', async t => {
  const say = (words: string[]) => {
    const { code, stdout, stderr } = run(HELPER, words);
    t.equal(stdout, '');
    t.equal(code, 2, JSON.stringify(words));
    return stderr;
  };
  const see = 'see beoboard-gpu --help';
  for (const [words, said] of [
    ['--bogus', `unknown option '--bogus'; ${see}`],
    ['--bogus=4', `unknown option '--bogus'; ${see}`],
    ['-x', `unknown option '-x'; ${see}`],
    ['-- x', `'x' is one argument too many; ${see}`],
    ['x', `'x' is one argument too many; ${see}`],
    ['-', `'-' is one argument too many; ${see}`],
    ['--once=1', '--once takes no value; write --once'],
    ['--file', '--file has no value; write --file FILE'],
    ['--library', '--library has no value; write --library PATH'],
    ['--interval', '--interval has no value; write --interval TIME'],
    ['--file --once', '--file has no value, --once follows it; write --file FILE'],
    ['--file=', "--file: '' is not a file name; write a path"],
    ['--file a --file b', '--file is given 2 times; give it once'],
    [`--file ${'x'.repeat(513)}`, `--file: '${'x'.repeat(59)}…' is longer than 512 bytes; write a shorter path`],
    ['--interval 5', "--interval: '5' has no unit; write 5s or 5ms"],
    ...['x', 's', '.5s', '1.s', '5w', '-5s', '+5s', '1e1s', '0x5s', '5 s', 'inf'].map(time => [
      `--interval=${time}`,
      `--interval: '${time}' is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s`,
    ]),
    ...['99ms', '9001ms', '10s', '1m', '1h', '0s'].map(time => [
      `--interval=${time}`,
      `--interval: '${time}' is out of bounds; write 100ms to 9s`,
    ]),
    ['--interval 99999999999999999999s', "--interval: '99999999999999999999s' is too long; write a shorter time"],
    ['--file=a --fil b', "unknown option '--fil'; did you mean --file?"],
    ['--interval 1.0004s', "--interval: '1.0004s' is not a whole number of ms; write 1000ms"],
  ] as [string, string][])
    t.equal(say(words.startsWith('--interval=') ? [words] : words.split(' ')), `beoboard-gpu: ${said}\n`);
  t.equal(say(['--a\nb\u001b[31m']), `beoboard-gpu: unknown option '--a\\u{a}b\\u{1b}[31m'; ${see}\n`, 'in one line');

  const at = place(t, GOOD);
  for (const time of ['100ms', '9s', '1.5s', '0.1s', '9000ms', '2.3s'])
    t.equal(run(HELPER, [...at.args, '--once', `--interval=${time}`], at.env).code, 0, time);
  const json = run(HELPER, ['--once', '--file', at.file, '--library', '/a"\\\n'], { ...at.env, BEOBOARD_LOG: 'json' });
  const { level, verb, msg } = JSON.parse(json.stderr) as Record<string, unknown>;
  t.strictSame([json.code, level, verb], [1, 50, 'gpu']);
  t.match(String(msg), /^cannot load NVML: \/a"\\\n: /);

  const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  for (const word of ['-V', '--version']) t.match(run(HELPER, [word]), { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = run(HELPER, ['-h']);
  t.strictSame(help, run(HELPER, ['--bogus', '--help']));
  t.equal(help.code, 0);
  const full = spawnSync(HELPER, ['--help'], { stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'] });
  t.equal(full.status, 74, 'nobody has read it');
  const page = readFileSync(join(SOURCE, 'beoboard-gpu.8'), 'utf8').replaceAll('\\-', '-').replaceAll(/\\f./g, '');
  const options = [...help.stdout.matchAll(/^ {2}(-.*?) {2,}/gm)].map(([, option]) => option);
  t.strictSame(
    [...page.matchAll(/^\.TP\n(-.*)$/gm)].map(([, option]) => option),
    options,
    'the manual page has them all',
  );
  t.equal(options.length, 11);
});

t.test('make install', async t => {
  const to = folder(t);
  makeIn('gpu', DYNAMIC, 'install', `DESTDIR=${to}`, 'PREFIX=/usr');
  t.strictSame(
    readdirSync(to, { recursive: true })
      .filter(name => statSync(join(to, String(name))).isFile())
      .sort(),
    ['usr/sbin/beoboard-gpu', 'usr/share/man/man8/beoboard-gpu.8'],
  );
  t.equal(run(join(to, 'usr/sbin/beoboard-gpu'), ['-V']).code, 0);
});
