// The C library as programs see it: its header under every standard, its symbols, its promises about time, memory and
// system calls, and its answers compared with those of the TypeScript readers.
//
// @seconds 24
// @shared 11
// @whole
// @days 3

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { generateLibrary } from '../../proto/library.js';
import { type Encodable, REPORT_BYTES } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { terms } from '../../src/layout/terms.gen.js';
import { random } from '../../src/load/simulatednode.js';
import type { Writer } from '../../src/native/index.js';
import { NUMBERED, type State } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs as now } from '../kit/clocks.js';
import { builds, CHECKED, INSTALLED, makeIn, OF_MUSL, testProgram } from '../kit/compiling.js';
import { writerSources } from '../kit/csources.js';
import { type Evidence, judge, type LastReport } from '../kit/judging.js';
import { lacks } from '../kit/lacking.js';
import { beat, makeLinkBoard, poke as pokeBoard } from '../kit/linkboard.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { makeReport, ratesOf } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { NOT_WHOLE, SEED, WHOLE } from '../kit/whole.js';

t.comment(`seed ${SEED}`);

const C = join(ROOT, 'c');
const S = 1_000_000_000n;
const MS = 1_000_000n;
const LIBRARY = ['strerror', 'problems', 'evidence', 'live', 'memory', 'node', 'noderates', 'open']
  .map(name => `lib/${name}.c`)
  .concat('judge/rates.c');

type Message = [] | [string];
/** The part of tap that helpers need. */
interface Tap {
  teardown(end: () => void): void;
  fail(...message: Message): boolean;
  ok(is: unknown, ...message: Message): boolean;
  equal(is: unknown, wanted: unknown, ...message: Message): boolean;
  strictSame(is: unknown, wanted: unknown, ...message: Message): boolean;
}

function run(
  command: string,
  args: string[],
  more: { input?: string | Uint8Array; env?: Record<string, string> } = {},
) {
  const { env = {}, ...options } = more;
  return spawnSync(command, args, {
    encoding: 'utf8',
    cwd: C,
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    timeout: 240_000,
    killSignal: 'SIGKILL',
    ...options,
  }) as SpawnSyncReturns<string>;
}

/** Runs a command that has to succeed, and returns its stdout. */
function must(t: Tap, command: string, args: string[], more: Parameters<typeof run>[2] = {}): string {
  const { status, signal, stdout, stderr, error } = run(command, args, more);
  if (status !== 0) t.fail(`${command} ${args.join(' ')}: ${status ?? signal} ${error ?? ''}\n${stdout}${stderr}`);
  return stdout;
}

// The shared library, and the program that makes its calls.
const OUT = makeIn('', {}, 'lib');
const CALLS = join(folder(t), 'calls');
must(t, 'gcc', [
  '-std=c11',
  '-D_GNU_SOURCE',
  '-Wall',
  '-Wextra',
  '-Wpedantic',
  '-Werror',
  '-o',
  CALLS,
  'test/lib/calls.c',
  `-L${OUT}`,
  '-lbeoboard',
  `-Wl,-rpath,${OUT}`,
]);
const calls = (t: Tap, ...args: string[]) => must(t, CALLS, args);

const KEY = { id: 1, node: undefined, secret: Buffer.alloc(32, 7) };

function open(path: string, nodes: string[] = []): Writer {
  return openWriter({
    ...{ path, cluster: 'alpha', capacity: 64, uncertainAfter: 4500, silentAfter: 10_500, nodes },
    trust: { keys: [KEY], required: 'none', clockWindow: 60_000 },
  });
}

/** Writes report `seq` of a node to the board, as if it had arrived `ageNs` ago. */
function lay(writer: Writer, hostname: string, seq: number, ageNs = 0n, values: Encodable<'report'> = {}): string {
  const real = 1_800_000_000n * S - ageNs;
  const times = { t_boot_ns: 100n * S + BigInt(seq) * S, t_real_ns: real - 1_234_567_890n };
  return deliver(writer, makeReport({ hostname, seq, ...times, ...values }, 'alpha'), now() - ageNs, real);
}

const header = readFileSync(join(C, 'beoboard.h'), 'utf8');
const prototypes = [...header.matchAll(/^(?:const )?[a-z][\w ]*?[ *]+(beoboard_[a-z_]+)\(/gm)]
  .map(match => match[1] ?? '')
  .sort();

t.test('generated files are those of the documents and of the program', async t => {
  for (const [path, text] of await generateLibrary(ROOT))
    t.ok(readFileSync(join(ROOT, path), 'utf8') === text, `${path}; if not: node dist/proto/library.js`);
});

t.test('the header compiles without a warning', async t => {
  const standards = { c: ['c99', 'c11', 'c17'], 'c++': ['c++11', 'c++14', 'c++17', 'c++20'] };
  for (const [language, list] of Object.entries(standards))
    for (const compiler of language === 'c' ? ['gcc', 'clang'] : ['g++', 'clang++'])
      for (const standard of list) {
        if (lacks('clang', compiler)) continue;
        const args = [
          `-std=${standard}`,
          '-Wall',
          '-Wextra',
          '-Wpedantic',
          '-Werror',
          '-x',
          language,
          '-fsyntax-only',
          '-',
        ];
        // Included twice, and with no other folder in the path, because a program needs only this header.
        const { status, stderr } = run(compiler, [`-I${C}`, ...args], {
          input: `#include <beoboard.h>\n#include <beoboard.h>\nint f(beoboard *b) { return beoboard_count(b); }\n`,
        });
        t.equal(status, 0, `${compiler} ${standard}: ${stderr}`);
      }
});

t.test('symbols: versioned what the header names, and nothing else', async t => {
  t.ok(prototypes.length > 15, prototypes.join(' '));
  const shared = join(OUT, 'libbeoboard.so');
  const defined = must(t, 'nm', ['-D', '--defined-only', '--with-symbol-versions', shared]).trim().split('\n');
  const names = defined.map(line => line.split(' ').at(-1) ?? '').filter(name => name !== 'BEOBOARD_1.0');
  t.strictSame(
    names.sort(),
    prototypes.map(name => `${name}@@BEOBOARD_1.0`),
  );
  const dynamic = must(t, 'readelf', ['-d', shared]);
  t.match(dynamic, /SONAME.*\[libbeoboard\.so\.1\]/);
  t.match(dynamic, /BIND_NOW|FLAGS.*NOW/, 'no first call enters the dynamic linker');
  t.strictSame(
    [...dynamic.matchAll(/NEEDED.*\[(.*)\]/g)].map(match => match[1]),
    ['libc.so.6'],
    'it needs the C library alone',
  );
  const archived = must(t, 'nm', ['-g', '--defined-only', join(OUT, 'libbeoboard.a')]);
  t.strictSame(
    [...archived.matchAll(/ [TDBRV] (\S+)/g)].map(match => match[1]).sort(),
    prototypes,
    'of the archive, too',
  );
  const wanted = [...must(t, 'nm', ['-u', join(OUT, 'libbeoboard.a')]).matchAll(/ U (\S+)/g)].map(
    match => match[1] ?? '',
  );
  t.strictSame(
    wanted.filter(name =>
      /^(v?f?printf|puts|perror|abort|exit|_exit|__assert.*|signal|sigaction|pthread.*|mutex.*)$/.test(name),
    ),
    [],
    'it prints nothing, ends nothing and locks nothing',
  );
});

t.test('structs grow at their end alone', async t => {
  const golden = readFileSync(join(C, 'lib', 'abi-1.0.txt'), 'utf8')
    .trim()
    .split('\n');
  const is = new Set(calls(t, 'layout').trim().split('\n'));
  t.strictSame(
    golden.filter(line => !is.has(line)),
    [],
    'what programs were built against',
  );
});

t.test('make install', async t => {
  const to = folder(t);
  makeIn('', {}, 'install', 'PREFIX=/opt/beo', `DESTDIR=${to}`);
  const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter(path => /\.\w+$/.test(path));
  t.strictSame(files.sort(), [
    ...['opt/beo/include/beoboard.h', 'opt/beo/lib/libbeoboard.a', 'opt/beo/lib/libbeoboard.so'],
    ...['opt/beo/lib/libbeoboard.so.1', 'opt/beo/lib/libbeoboard.so.1.1.0', 'opt/beo/lib/pkgconfig/beoboard.pc'],
    ...['opt/beo/share/man/man1/beoboard.1', 'opt/beo/share/man/man3/beoboard.3'],
    ...['opt/beo/share/man/man5/beoboard-stat.5', 'opt/beo/share/man/man5/beoboard.5'],
  ]);
  const env = { PKG_CONFIG_PATH: join(to, 'opt/beo/lib/pkgconfig'), PKG_CONFIG_SYSROOT_DIR: to };
  const skip = lacks('pkg-config', 'pkg-config');
  const flags = skip
    ? [`-I${to}/opt/beo/include`, `-L${to}/opt/beo/lib`, '-lbeoboard']
    : must(t, 'pkg-config', ['--cflags', '--libs', 'beoboard'], { env }).trim().split(/\s+/);
  if (!skip) t.match(must(t, 'pkg-config', ['--modversion', 'beoboard'], { env }), /^1\.1\.0$/m);
  // A C++ program links with the installed library, shared and static, because the header declares extern "C".
  const program = join(to, 'program.cc');
  writeFileSync(
    program,
    '#include <beoboard.h>\n#include <cstdio>\nint main() { std::printf("%06x %s\\n", beoboard_version(), beoboard_strerror(-2)); }\n',
  );
  must(t, 'g++', ['-std=c++11', '-o', join(to, 'shared'), program, ...flags]);
  must(t, 'g++', [
    '-std=c++11',
    '-o',
    join(to, 'static'),
    program,
    ...flags.map(flag => (flag === '-lbeoboard' ? '-l:libbeoboard.a' : flag)),
  ]);
  for (const kind of ['shared', 'static'])
    t.match(
      must(t, join(to, kind), [], { env: { LD_LIBRARY_PATH: join(to, 'opt/beo/lib') } }),
      /^010100 no such board or node/,
      kind,
    );
});

t.test('manual pages are without fault, and fit on a terminal', async t => {
  const { PACKAGES } = (await import(join(ROOT, 'packaging', 'packages.mjs'))) as {
    PACKAGES: Record<string, { files: [from: string | null, to: string][] }>;
  };
  const pages = Object.values(PACKAGES).flatMap(({ files }) =>
    files.flatMap(([from, to]) => {
      if (from === null || !to.startsWith('usr/share/man/')) return [];
      const path = join(ROOT, from);
      return statSync(path).isDirectory() ? readdirSync(path).map(name => join(path, name)) : [path];
    }),
  );
  t.ok(pages.length >= 40, `${pages.length} pages are installed`);
  const shown = ['-man', '-Tutf8', '-ww'];
  const noMandoc = NOT_WHOLE || lacks('mandoc', 'mandoc');
  const noGroff = NOT_WHOLE || lacks('groff-base', 'groff');
  // A page of one line is another name of a page.
  const meantBy = (page: string) => /^\.so man\d\/(\S+)\n$/.exec(readFileSync(page, 'utf8'))?.[1];
  for (const meant of pages.flatMap(page => meantBy(page) ?? []))
    t.ok(
      pages.some(page => page.endsWith(`/${meant}`)),
      `${meant} is there`,
    );
  for (const page of pages.filter(page => meantBy(page) === undefined))
    t.test(page.split('/').at(-1) ?? '', async t => {
      t.test('groff', { skip: noGroff }, async t => {
        const { status, stdout, stderr } = run('groff', [...shown, '-z', page]);
        t.strictSame([status, stdout, stderr], [0, '', '']);
        // As man shows it on a terminal of 80 columns, without bold and colours.
        const { stdout: text } = run('groff', [...shown, '-P-bcou', '-rLL=78n', page]);
        t.ok(text.length > 500);
        t.strictSame(
          text.split('\n').filter(line => [...line].length > 80),
          [],
          'no line is cut or wrapped',
        );
      });
      t.test('mandoc', { skip: noMandoc }, async t => {
        const { status, stdout, stderr } = run('mandoc', ['-Tlint', '-Wwarning', page]);
        t.strictSame([status, stdout, stderr], [0, '', '']);
      });
      const source = readFileSync(page, 'utf8')
        .replaceAll('\\-', '-')
        .replace(/\\f[BRI]/g, '');
      const [, seeAlso = ''] = source.split('.SH SEE ALSO');
      for (const [, name, section] of seeAlso.matchAll(/([a-z-]+) ?\((\d)\)/g))
        t.ok(
          pages.some(other => other.endsWith(`/${name}.${section}`)),
          `${name}(${section}) is there`,
        );
      for (const part of ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'SEE ALSO'])
        if (!(part === 'SYNOPSIS' && page.endsWith('.5'))) t.match(source, new RegExp(`^\\.SH ${part}$`, 'm'), part);
    });
  const third = readFileSync(join(C, 'lib', 'man', 'beoboard.3'), 'utf8');
  for (const name of prototypes) t.match(third, name, `beoboard(3) tells of ${name}`);
  const fifth = readFileSync(join(C, 'lib', 'man', 'beoboard-stat.5'), 'utf8');
  for (const name of Object.keys(structs.report.fields))
    t.ok(fifth.includes(name), `beoboard-stat(5) tells of ${name}`);
});

t.test('what opening gives', async t => {
  const fresh = (t: Tap) => {
    const path = boardPath(t);
    const writer = open(path);
    lay(writer, 'node1', 0);
    writer.close();
    return path;
  };
  const at = (name: keyof typeof structs.board_header.fields) => structs.board_header.fields[name].offset;
  const poke = (path: string, offset: number, value: bigint) => {
    const bytes = readFileSync(path);
    bytes.writeBigUInt64LE(value, offset);
    writeFileSync(path, bytes);
  };
  const shell = (line: string) => must(t, 'sh', ['-c', line]);
  const rows: [errno: number, what: string, spoil: (path: string) => void][] = [
    [0, 'a board', () => undefined],
    [2, 'no file', path => unlinkSync(path)],
    [
      2,
      'no folder',
      path =>
        shell(
          `rm -r ${path}; mv ${path.replace(/\/board$/, '')} ${path.replace(/\/board$/, '')}.gone && rm -r ${path.replace(/\/board$/, '')}.gone`,
        ),
    ],
    [11, 'empty', path => truncateSync(path, 0)],
    [11, 'shorter than a header', path => truncateSync(path, 100)],
    [11, 'its version not stored yet', path => poke(path, 8, 0n)],
    [74, 'another magic', path => poke(path, at('magic'), 1n)],
    [74, 'another major version', path => poke(path, 8, 0x30000n)],
    [74, 'other reports', path => poke(path, at('stat_hash'), 1n)],
    [74, 'a directory', path => shell(`rm ${path}; mkdir ${path}`)],
    [74, 'a FIFO', path => shell(`rm ${path}; mkfifo ${path}`)],
    [40, 'a link', path => shell(`mv ${path} ${path}2; ln -s ${path}2 ${path}`)],
    [117, 'shorter than it says', path => truncateSync(path, 4096)],
    [117, 'an index that leads out', path => poke(path, at('index_offset'), 1n << 40n)],
    [117, 'a column that leads out', path => poke(path, at('column_offset'), (1n << 64n) - 8n)],
    [117, 'records that lead out', path => poke(path, at('records_offset'), 1n << 63n)],
    [117, 'links that lead out', path => poke(path, at('links_offset'), 1n << 40n)],
    [117, 'senders that lead out', path => poke(path, at('senders_offset'), (1n << 64n) - 8n)],
    [117, 'events that lead out', path => poke(path, at('events_offset'), 1n << 63n)],
    [117, 'no stride', path => poke(path, at('record_stride'), 0n)],
    [116, 'retired', path => poke(path, at('state'), 2n)],
  ];
  for (const [errno, what, spoil] of rows) {
    const path = fresh(t);
    spoil(path);
    const result = `${-errno || 0} ${errno === 0 ? 'handle' : 'null'} untouched\n`;
    t.equal(calls(t, 'errors', path), result, what);
  }
});

t.test('whose boards it trusts', { skip: process.getuid?.() !== 0 && 'needs root to give a file away' }, async t => {
  const path = boardPath(t);
  open(path).close();
  const names = testProgram('test/lib/names.so');
  const rows: [owner: number, named: string | undefined, env: string | undefined, result: string][] = [
    [0, undefined, undefined, '0 handle'],
    [1234, undefined, undefined, '-1 null'],
    [1234, '1234', undefined, '0 handle'],
    [1234, undefined, '1234', '0 handle'],
    [1234, '1235', '1234', '-1 null'], // the caller's choice overrides the environment
    [1234, undefined, '', '-1 null'],
    [1234, undefined, 'nobody-of-that-name', '-22 null'],
    [0, '4294967295', undefined, '-22 null'],
    [0, '99999999999', undefined, '-22 null'],
    [4321, undefined, undefined, '0 handle'], // the user beoboard
    [4322, undefined, undefined, '-1 null'],
    [4322, 'somebody', undefined, '0 handle'],
    [4322, undefined, 'somebody', '0 handle'],
    [4321, 'somebody', undefined, '0 handle'],
  ];
  for (const [owner, named, env, result] of rows) {
    chownSync(path, owner, 0);
    const got = must(t, CALLS, ['errors', path, ...(named === undefined ? [] : [named])], {
      env: { LD_PRELOAD: names, ...(env === undefined ? {} : { BEOBOARD_OWNER: env }) },
    });
    t.equal(got, `${result} untouched\n`, `owner ${owner}, named ${named}, BEOBOARD_OWNER=${env}`);
  }
});

/** A board with a node in each state. */
function sampler(t: Tap): { path: string; writer: Writer } {
  const path = boardPath(t);
  const writer = open(path, [
    ...['live', 'never', 'left', 'uncertain', 'silent', 'slow', 'ahead', 'refused', 'clock', 'measured', 'gap'],
  ]);
  t.teardown(() => writer.close());
  // Only small ages, because the test may run on a machine that has just booted.
  writer.listeningSince(now() - 25n * S);
  const valid = Object.values(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
  lay(writer, 'live', 1);
  lay(writer, 'left', 1, 15n * S, { flags: 2 ** bits.flags.goodbye });
  lay(writer, 'uncertain', 1, 7n * S);
  lay(writer, 'silent', 1, 15n * S);
  lay(writer, 'slow', 1, 15n * S, { interval_ms: 10_000, t_real_ns: 0n });
  lay(writer, 'ahead', 1, -30n * S);
  lay(writer, 'refused', 1, 1n * S);
  t.equal(lay(writer, 'refused', 2, 0n, { boot_id: 7n, t_real_ns: 1_800_000_005n * S }), 'rival');
  // Signed, but an hour behind: it has a record, and no report.
  const behind = makeReport(
    {
      hostname: 'clock',
      t_real_ns: 1_800_000_000n * S - 3600n * S,
      auth_alg: enums.auth_alg.indexOf('cluster'),
      key_id: 1,
    },
    'alpha',
  );
  sign(behind, KEY);
  t.equal(deliver(writer, behind, now(), 1_800_000_000n * S), 'clock');
  const measured = {
    valid,
    load1_c: 123,
    cpu_busy_pm: 250,
    mem_total_mib: 1000,
    mem_avail_mib: 600,
    cpus_online: 64,
    health: 2,
  };
  lay(writer, 'measured', 1, 2n * S, { ...measured, cpu_user_ms: 1000, cpu_idle_ms: 5000, tcp_retrans: 7 });
  lay(writer, 'measured', 2, 1n * S, {
    ...measured,
    cpu_user_ms: 1250,
    cpu_idle_ms: 5750,
    tcp_retrans: 9,
    flags: 2 ** bits.flags.held,
    net: [{ name: 'eth0', rx_bytes: 5 }],
  });
  lay(writer, 'gap', 1);
  lay(writer, 'gap', 4);
  writer.heartbeat(now());
  return { path, writer };
}

t.test('what the board remembers of a node', async t => {
  const path = boardPath(t);
  const writer = open(path);
  t.teardown(() => writer.close());
  const begun = now();
  writer.listeningSince(begun - 310n * S);
  const valid = 1n << BigInt(bits.valid.vmstat);
  lay(writer, 'trouble', 1, 300n * S, { valid });
  lay(writer, 'trouble', 2, 299n * S, { valid, oom_kills: 1, flags: 2 ** bits.flags.held });
  // Silent for a minute, by what was heard until then.
  writer.heartbeat(now() - 240n * S);
  const still = { flags: 2 ** bits.flags.late + 2 ** bits.flags.skipped, late_us: 58_000_123 };
  const sender = 1n << BigInt(bits.valid.sender);
  lay(writer, 'trouble', 3, 239n * S, { valid: valid | sender, oom_kills: 1, ...still });
  for (let age = 238n; age > 0n; age--) lay(writer, 'trouble', 242 - Number(age), age * S, { valid, oom_kills: 1 });
  lay(writer, 'well', 1);
  writer.heartbeat(now());
  const [trouble, well] = JSON.parse(calls(t, 'show', path)).node;
  // As long ago as it was laid, but for the time that this has taken; the program's clock is coarse.
  const taken = Number(now() - begun) / 1e9;
  const near = (ns: number, seconds: number, what: string) =>
    t.ok(ns / 1e9 > seconds - 0.1 && ns / 1e9 < seconds + taken, what);
  const { memory } = trouble;
  const oom = terms.problem.indexOf('oom');
  const held = terms.problem.indexOf('held');
  t.strictSame([trouble.recent, memory.recent], [1 << oom, 1 << oom], 'not over for ten minutes, and for one');
  near(memory.remembers, 300, 'since its first report');
  near(memory.heard, 239, 'since the silence');
  near(memory.silence, 299, 'from the last report');
  near(memory.silence_end, 239, 'to the next');
  near(memory.said, 299, 'its last words');
  t.strictSame([memory.silences, memory.boot, memory.stood_still], [1, -1, 58_000_123_000]);
  t.equal(memory.last_words, 1 << terms.last_words.indexOf('oom'));
  for (const problem of [oom, held]) {
    near(memory.episodes[problem][0], 299, 'its begin');
    near(memory.episodes[problem][1], 299, 'when it was last seen');
    t.equal(memory.episodes[problem][2], 1, 'how many');
  }
  t.equal(memory.episodes.filter(([begin]: number[]) => begin !== -1).length, 2, 'and no other');
  t.strictSame([well.recent, well.memory.recent, well.memory.silence, well.memory.silences], [0, 0, -1, 0]);
  // Of a receiver before 2.1, and of one that remembered less.
  for (const memory_bytes of [0, 192]) {
    const bytes = readFileSync(path);
    const older = boardPath(t);
    bytes.writeUInt32LE(memory_bytes, structs.board_header.fields.memory_bytes.offset);
    if (memory_bytes === 0) bytes.writeUInt32LE(0, structs.board_header.fields.memory_offset.offset);
    writeFileSync(older, bytes);
    const { recent, memory } = JSON.parse(calls(t, 'show', older)).node[0];
    t.strictSame([recent, memory], [-61, { error: -61 }], 'which is not the same as no trouble');
  }
});

t.test('its answers are those of the TypeScript reader', async t => {
  const { path } = sampler(t);
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  const compare = (t: Tap, shown: string) => {
    const c = JSON.parse(shown);
    const snapshot = reader.snapshot();
    const counts = NUMBERED.map(state => [...snapshot.nodes()].filter(node => node.state === state).length);
    t.strictSame(c.counts, counts);
    t.strictSame([c.nodes, c.tally, c.receiver], [11, 11, 0]);
    t.strictSame([c.cluster, c.capacity, c.pid, c.instance], ['alpha', 64, process.pid, 1]);
    t.strictSame([c.uncertain_after_ns, c.silent_after_ns], [4_500_000_000, 10_500_000_000]);
    t.strictSame([c.received, c.accepted], [Number(snapshot.header.received), Number(snapshot.header.accepted)]);
    t.ok(Math.abs(c.listened_ns / 1e6 - snapshot.listenedMs) < 1, 'listened');
    t.equal((c.flags & 1) === 1, snapshot.stalled);
    const { states, ages } = snapshot.overview;
    const nodes = [...snapshot.nodes()];
    t.strictSame(
      Array.from(states, number => NUMBERED[number]),
      nodes.map(({ state }) => state),
      'all nodes at once, by the same rule in C',
    );
    t.strictSame(
      Array.from(ages),
      nodes.map(({ ageMs }) => ageMs ?? -1),
    );
    t.strictSame(reader.nodeStates().states, states, 'and by the column alone');
    for (const node of snapshot.nodes()) {
      const is = c.node.find((other: { name: string }) => other.name === node.name);
      const { report, previous, record } = node;
      const stale = snapshot.stalled;
      t.equal(is.index, c.node.indexOf(is), `${node.name}: found by its name`);
      t.equal(is.state, stale ? -116 : NUMBERED.indexOf(node.state), `${node.name}: ${node.state}`);
      t.equal(is.checked, NUMBERED.indexOf(node.state));
      t.equal(is.check, stale ? -116 : node.state === 'live' ? 0 : 1);
      t.equal(is.copied.state, node.state);
      t.equal(is.copied.name, node.name);
      t.equal(is.reports, [report, previous].filter(Boolean).length);
      t.equal(is.age < 0 ? is.age : is.age >= 0, stale ? -116 : report === undefined ? -61 : true);
      if (node.ageMs === undefined) t.equal(is.copied.age_ns, -1);
      else {
        // The program ran before the snapshot was taken; the column is in whole ms, and the program's clock in ticks.
        t.ok(is.copied.age_ns / 1e6 <= node.ageMs && is.copied.age_ns / 1e6 > node.ageMs - 30_000, `${node.name}: age`);
        t.ok(stale || Math.abs(is.age - is.copied.age_ns) < 100e6, `${node.name}: both ages`);
        t.equal(is.newest.stamp_ns, String(node.stampNs));
        t.equal(is.copied.last_report_wall_ns, String(node.lastRealNs));
      }
      t.strictSame([is.copied.reports, is.copied.lost], [record.accepted, record.lost]);
      t.equal(is.copied.boot_id, String(report?.boot_id ?? 0n));
      t.equal(is.copied.valid, String(report?.valid ?? 0n));
      t.equal(is.copied.mem_total_kib, (report?.mem_total_mib ?? 0) * 1024);
      t.equal(is.copied.mem_avail_kib, (report?.mem_avail_mib ?? 0) * 1024);
      t.equal(is.copied.cpus, report?.cpus_online ?? 0);
      t.equal(is.copied.load1, report?.load1_c === undefined ? undefined : Math.fround(report.load1_c / 100));
      t.equal(
        is.copied.cpu_busy,
        report?.cpu_busy_pm === undefined ? undefined : Math.fround(report.cpu_busy_pm / 1000),
      );
      t.equal(is.copied.health, report?.health ?? 0);
      t.equal(is.copied.flags, report?.flags ?? 0);
      t.equal(is.copied.interval_ms, report?.interval_ms ?? 0);
      t.equal(is.copied.refused, { refused: 'rival', clock: 'clock' }[node.name] ?? 'none');
      t.equal(is.copied.link, node.link);
      const { lastRefusal } = node;
      if (lastRefusal === undefined) t.strictSame(is.refusal, { error: -61 }, `${node.name}: never refused`);
      else {
        t.strictSame([is.refusal.reason, is.refusal.skew_us], [lastRefusal.reason, lastRefusal.offsetUs]);
        t.ok(
          is.refusal.age_ns >= 0 && is.refusal.age_ns / 1e6 <= lastRefusal.ageMs,
          `${node.name}: age of its refusal`,
        );
        t.equal(is.refusal.is_newer, is.copied.refused === 'none' ? 0 : 1);
      }
      const offset = node.lastRefusal?.offsetUs ?? record.offset_us ?? 0;
      t.equal(is.copied.skew_ms, Math.max(-(2 ** 31), Math.trunc(offset / 1000)));
      if (node.name === 'clock') t.equal(is.copied.skew_ms, -3_600_000, 'an hour behind');
      t.strictSame([is.fits, is.tight], [node.name.length, -28], 'a buffer of its size, and a byte less: ENOSPC');
      t.equal(is.newest.seq, report?.seq ?? 0);
      t.equal(is.before.seq, previous?.seq ?? 0);
      t.strictSame(is.rates, node.rates === undefined ? { error: -61 } : { ...node.rates, net: node.rates.net ?? [] });
    }
    return c;
  };
  t.test('while the receiver listens', async t => {
    const c = compare(t, calls(t, 'show', path));
    t.strictSame(c.counts, [2, 5, 2, 1, 1, 0], 'every state but unknown');
  });
  for (const { what, how, under, skip } of builds(['aarch64'], OF_MUSL))
    t.test(what, { skip }, async t => {
      const program = testProgram('test/lib/calls', how);
      const { path, writer } = sampler(t);
      const shown = must(t, 'env', [...under, program, 'show', path]);
      const native = JSON.parse(calls(t, 'show', path));
      const other = JSON.parse(shown);
      const strip = (node: { age: number; copied: { age_ns: number }; refusal: { age_ns?: number } }) => ({
        ...node,
        age: 0,
        memory: 0,
        copied: { ...node.copied, age_ns: 0 },
        refusal: { ...node.refusal, age_ns: 0 },
      });
      t.strictSame(other.node.map(strip), native.node.map(strip));
      writer.heartbeat(now());
    });
  t.test('once it is stalled', async t => {
    const into = open(boardPath(t));
    into.close();
    // An old heartbeat, as of a receiver that was killed.
    const bytes = readFileSync(path);
    const killed = boardPath(t);
    bytes.writeBigUInt64LE(now() - 20n * S, structs.board_header.fields.heartbeat_ns.offset);
    writeFileSync(killed, bytes);
    const c = JSON.parse(calls(t, 'show', killed));
    t.strictSame(c.counts, [0, 0, 0, 0, 0, 11]);
    t.equal(c.flags & 1, 1);
    for (const node of c.node) {
      t.strictSame(
        [node.state, node.age, node.check, node.checked, node.copied.state],
        [-116, -116, -116, 5, 'unknown'],
        node.name,
      );
      if (node.name === 'live') t.ok(node.copied.age_ns >= 0, 'its age is told all the same');
    }
  });
});

/** Whole numbers below n, from a seed. */
function picker(seed: number): (n: number) => number {
  const next = random(seed);
  return n => Math.floor(next() * n);
}

t.test('the rule of liveness is that of test/kit/judging.ts', async t => {
  const program = testProgram('test/lib/judge', CHECKED);
  const pick = picker(SEED);
  const near = (...edges: bigint[]) => (edges[pick(edges.length)] ?? 0n) + [-MS, -1n, 0n, 1n, MS][pick(5)]!;
  const rows: [Evidence, LastReport | undefined, number][] = Array.from({ length: 20_000 }, () => {
    const nowNs = 10_000_000n * S + BigInt(pick(1e9));
    const uncertainAfterNs = [4500n * MS, 4500n * MS, 100n * MS, 2n * S, 24n * 3600n * S][pick(5)]!;
    const silentAfterNs = [10_500n * MS, 10_500n * MS, 200n * MS, 5n * S, 48n * 3600n * S][pick(5)]!;
    const intervalMs = [1000, 1000, 250, 1001, 10_000, 600_000][pick(6)]!;
    const scale = BigInt(Math.max(1000, intervalMs));
    const limits = [(uncertainAfterNs * scale) / 1000n, (silentAfterNs * scale) / 1000n];
    const heartbeatNs = nowNs - near(0n, 0n, 50n * MS, 3n * S, -S, 2900n * MS);
    const link = pick(8) === 0 ? pick(40) : pick(31);
    // There is no evidence for link 0 (none) and for links above 31.
    const none = link === 0 || link > 31;
    const ofLink = none ? 0n : heartbeatNs - near(0n, 0n, 50n * MS, 5n * S, 3600n * S);
    const listened = ofLink - near(...limits, 3600n * S, 0n, 9_000_000n * S);
    const anchor = pick(2) === 0 || none ? nowNs : ofLink;
    let stampNs = anchor - near(0n, -S, 500n * MS, ...limits);
    if (stampNs < 0n) stampNs = 0n;
    if (pick(2) === 0) stampNs -= stampNs % MS;
    const evidence = {
      nowNs,
      heartbeatNs,
      listeningSinceNs: pick(2) === 0 ? 0n : nowNs, // the receiver's own time does not affect a node
      uncertainAfterNs,
      silentAfterNs,
      retired: pick(20) === 0,
      link: { heartbeatNs: ofLink, listeningSinceNs: listened < 0n ? 0n : listened },
    };
    return [evidence, pick(20) === 0 ? undefined : { stampNs, intervalMs, goodbye: pick(10) === 0 }, link];
  });
  const input = rows
    .map(([e, last, link]) =>
      [
        e.nowNs,
        e.heartbeatNs,
        e.uncertainAfterNs,
        e.silentAfterNs,
        e.retired ? 2 : 0,
        link,
        e.link?.heartbeatNs ?? 0n,
        e.link?.listeningSinceNs ?? 0n,
        last?.stampNs ?? -1,
        last?.intervalMs ?? 0,
        last?.goodbye ? 1 : 0,
      ].join(' '),
    )
    .join('\n');
  const got = must(t, program, [], { input: `${input}\n` })
    .trim()
    .split('\n')
    .map(Number);
  const seen = new Map<State, number>();
  const wrong = rows.flatMap(([evidence, last], i) => {
    const wanted = judge(evidence, last);
    seen.set(wanted, (seen.get(wanted) ?? 0) + 1);
    return NUMBERED[got[i] ?? -1] === wanted ? [] : [`${input.split('\n')[i]}: ${got[i]}, not ${wanted}`];
  });
  t.strictSame(wrong.slice(0, 5), []);
  t.equal(got.length, rows.length);
  for (const state of NUMBERED) t.ok((seen.get(state) ?? 0) > 100, `${state}: ${seen.get(state)}`);
});

t.test('a node is judged by its own link', async t => {
  t.test('two links, of which one stands', async t => {
    const path = boardPath(t);
    const writer = open(path);
    t.teardown(() => writer.close());
    const by = (hostname: string, link: number | string) =>
      t.equal(writer.deliver(makeReport({ hostname }, 'alpha'), now() - 15n * S, 0n, link), 0, hostname);
    const rows = [
      ['a', 'eth0'],
      ['b', 'eth1'],
      ['others', 31],
      ['none', 0],
      ['unused', 7],
    ] as const;
    for (const [name, link] of rows) by(name, link);
    const states = () => {
      writer.heartbeat(now());
      const c = JSON.parse(calls(t, 'show', path));
      return rows.map(([name]) => {
        const { state, checked, copied } = c.node.find((one: { name: string }) => one.name === name);
        t.strictSame([NUMBERED[checked], copied.state], [NUMBERED[state], NUMBERED[state]], `${name}: by every call`);
        return `${name} ${NUMBERED[state]}`;
      });
    };
    writer.listeningSince(now() - 25n * S);
    const [, ...others] = ['a silent', 'b silent', 'others silent', 'none uncertain', 'unused uncertain'];
    t.strictSame(states(), ['a silent', ...others]);
    writer.linkState(1, 0, false, now());
    t.strictSame(states(), ['a uncertain', ...others], 'down: its heartbeat stands, the others go on');
    writer.linkState(1, 1, false, now());
    t.strictSame(states(), ['a uncertain', ...others], 'up again: it listens anew');
  });
  t.test('many boards, by the oracle', async t => {
    const pick = picker(SEED + 2);
    const seen = new Map<string, number>();
    for (let round = 0; round < 25; round++) {
      const path = boardPath(t);
      const wanted = makeLinkBoard(path, pick);
      const reader = new BoardReader(path);
      const nodeStates = reader.nodeStates();
      const snapshot = reader.snapshot();
      beat(path);
      const c = JSON.parse(calls(t, 'show', path));
      const by = (list: Iterable<State | undefined>) =>
        wanted.map(({ name, link }, i) => `${name} of ${link}: ${[...list][i]}`);
      const states = by(wanted.map(({ state }) => state));
      const told = (what: (node: { state: number; checked: number; copied: { state: State } }) => State | undefined) =>
        by(c.node.map(what));
      t.strictSame(
        told(({ state }) => NUMBERED[state]),
        states,
        `round ${round}: beoboard_state`,
      );
      t.strictSame(
        told(({ checked }) => NUMBERED[checked]),
        states,
        'beoboard_check',
      );
      t.strictSame(
        told(({ copied }) => copied.state),
        states,
        'beoboard_read',
      );
      t.strictSame(by([...nodeStates.states].map(state => NUMBERED[state])), states, 'the column, in TypeScript');
      t.strictSame(by([...snapshot.nodes()].map(({ state }) => state)), states, 'the slots, in TypeScript');
      t.strictSame(
        c.counts,
        NUMBERED.map(state => wanted.filter(node => node.state === state).length),
        'beoboard_tally',
      );
      t.strictSame(
        c.node.map((node: { copied: { link: number } }) => node.copied.link),
        wanted.map(({ link }) => link),
      );
      for (const { link, state } of wanted) {
        const kind = `${link === 0 ? 'none' : link === 31 ? 'others' : link < c.link.length ? 'a link' : 'unused'} ${state}`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
      reader.close();
    }
    for (const kind of [
      'a link silent',
      'a link uncertain',
      'others silent',
      'others uncertain',
      'none uncertain',
      'unused uncertain',
    ])
      t.ok((seen.get(kind) ?? 0) > 5, `${kind}: ${seen.get(kind)}`);
    t.strictSame([seen.get('none silent'), seen.get('unused silent')], [undefined, undefined]);
  });
});

t.test('links: up, down, dark', async t => {
  const path = boardPath(t);
  const writer = open(path);
  t.teardown(() => writer.close());
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  const look = () => {
    const { link, flags } = JSON.parse(calls(t, 'show', path));
    return { stalled: (flags & 1) !== 0, links: link as Record<string, number>[] };
  };
  t.strictSame(
    look().links.map(({ name, number, flags }) => [name, number, flags]),
    [['all others', 31, 0x31]],
    'no report yet, and no heartbeat',
  );
  const by = (link: number | string, ageNs: bigint, hostname: string, seq = 1) =>
    writer.deliver(makeReport({ hostname, seq, t_boot_ns: BigInt(seq) * S }, 'alpha'), now() - ageNs, 0n, link);
  for (const name of ['a', 'b']) by('eth0', 8n * S, name);
  by('eth1', 0n, 'c');
  const first = look();
  t.match(first.links[0], { heartbeat_age_ns: -1, listened_ns: 0, dark_age_ns: -1 }, 'no heartbeat yet');
  writer.listeningSince(now() - 20n * S);
  writer.heartbeat(now());
  writer.survey();
  const { links } = look();
  t.strictSame(
    links.map(({ name, number, flags, nodes, accepted, downs, missed }) => [
      name,
      number,
      flags,
      nodes,
      accepted,
      downs,
      missed,
    ]),
    [
      ['eth0', 1, 0x9, 2, 2, 0, 0],
      ['eth1', 2, 0x1, 1, 1, 0, 0],
      ['all others', 31, 0x11, 0, 0, 0, 0],
    ],
  );
  const [dark, , others] = links;
  t.equal(dark?.dark_nodes, 2);
  // They became dark 3.5 s ago, which is 4.5 s after their reports.
  t.ok((dark?.dark_age_ns ?? 0) > 3.4e9 && (dark?.dark_age_ns ?? 0) < 30e9, `dark for ${dark?.dark_age_ns} ns`);
  t.ok(Math.abs((dark?.listened_ns ?? 0) - 20e9) < 1e9, `it has listened for ${dark?.listened_ns} ns`);
  t.ok((dark?.heartbeat_age_ns ?? -1) >= 0 && (dark?.heartbeat_age_ns ?? 0) < 10e9);
  t.ok((dark?.changed_age_ns ?? 0) >= 8e9 - 20e6, 'up since its first report');
  t.equal(others?.changed_age_ns, -1);
  by('eth0', 0n, 'a', 2);
  writer.heartbeat(now());
  writer.survey();
  t.match(look().links[0], { flags: 0x1, dark_age_ns: -1, dark_nodes: 0 }, 'lit again');
  writer.linkState(2, 2, false, now());
  writer.linkState(1, 4, false, now());
  writer.linkState(1, 1, false, now());
  writer.heartbeat(now());
  t.strictSame(
    look().links.map(({ flags, downs }) => [flags, downs]),
    [
      [0x1, 1],
      [0x2, 1],
      [0x11, 0],
    ],
    'gone, and up again',
  );
  const mine = look().links;
  reader.snapshot();
  t.strictSame(
    reader
      .links()
      .map(({ number, downs, nodes, darkNodes, accepted, missed }) => [
        number,
        downs,
        nodes,
        darkNodes,
        accepted,
        missed,
      ]),
    mine.map(({ number, downs, nodes, dark_nodes, accepted, missed }) => [
      number,
      downs,
      nodes,
      dark_nodes,
      accepted,
      missed,
    ]),
    'as the TypeScript reader has it',
  );
  t.ok(mine.every(({ flags }) => ((flags ?? 0) & 0x20) === 0));
  writer.heartbeat(now() - 20n * S);
  const stalled = look();
  t.ok(
    stalled.stalled && stalled.links.every(({ flags }) => ((flags ?? 0) & 0x20) !== 0),
    'stalled: told, and said so',
  );
  t.equal(stalled.links.length, 3);
});

t.test('why a node is not heard, and who was refused', async t => {
  const { path, writer } = sampler(t);
  const show = () => JSON.parse(calls(t, 'show', path));
  const refusalOf = (name: string) => show().node.find((node: { name: string }) => node.name === name).refusal;
  t.match(refusalOf('refused'), {
    reason: 'rival',
    skew_us: 5_000_000,
    wall_ns: String(1_800_000_000n * S),
    is_newer: 1,
  });
  t.match(refusalOf('clock'), { reason: 'clock', skew_us: -3_600_000_000, is_newer: 1 }, 'without any report');
  t.ok(refusalOf('clock').age_ns < 60e9);
  t.strictSame(refusalOf('live'), { error: -61 });
  lay(writer, 'refused', 3);
  writer.heartbeat(now());
  t.match(refusalOf('refused'), { reason: 'rival', is_newer: 0 }, 'heard since');
  for (const seq of [5, 4]) lay(writer, 'refused', seq);
  writer.heartbeat(now());
  t.match(refusalOf('refused'), { reason: 'late', is_newer: 0 }, 'a newer one was accepted before');
  // A node of another cluster has no record; only the table of senders has it.
  for (let i = 0; i < 3; i++) deliver(writer, makeReport({ hostname: 'stray' }, 'beta'), now(), BigInt(i));
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  reader.snapshot();
  const c = show();
  const wanted = reader
    .senders()
    .map(({ reason, name, count, lastRealNs }) => [enums.reason[reason], name, count, String(lastRealNs)]);
  t.strictSame(
    c.sender.map((one: Record<string, unknown>) => [one.reason, one.name, one.count, one.last_wall_ns]),
    wanted,
  );
  t.strictSame(
    wanted.map(([reason, name, count]) => `${reason} ${name} ${count}`),
    ['cluster stray 3', 'clock clock 1', 'rival refused 1', 'late refused 1'],
  );
  for (const { address, first_age_ns, last_age_ns } of c.sender) {
    t.equal(address, '0'.repeat(32));
    t.ok(last_age_ns >= 0 && first_age_ns >= last_age_ns);
  }
});

t.test('events', async t => {
  const path = boardPath(t);
  const writer = open(path);
  t.teardown(() => writer.close());
  interface Events {
    events: number;
    next: number;
    event: { number: number; kind: string; subject: number; detail: number; age_ns: number; wall_ns: string }[];
  }
  const FROM_NOW = 2n ** 64n - 1n;
  const ask = (next: number | bigint, max = 64): Events =>
    JSON.parse(must(t, CALLS, ['events', path], { input: `${next} ${max}\n` }));
  const told = ({ event }: Events) =>
    event.map(({ number, kind, subject, detail }) => `${number} ${kind} ${subject} ${detail}`);
  t.strictSame(
    [ask(0), ask(1), ask(FROM_NOW), ask(77)].map(({ events, next }) => [events, next]),
    [
      [0, 1],
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  );
  const goodbye = 2 ** bits.flags.goodbye;
  lay(writer, 'a', 1);
  lay(writer, 'b', 1);
  lay(writer, 'b', 2, 0n, { start_boot_ns: 90n * S });
  lay(writer, 'b', 3, 0n, { start_boot_ns: 90n * S, flags: goodbye });
  lay(writer, 'a', 2, 0n, { boot_id: 7n });
  deliver(writer, makeReport({ hostname: 'a' }, 'beta'), now(), 5n);
  writer.deliver(makeReport({ hostname: 'c' }, 'alpha'), now(), 0n, 'eth0');
  writer.linkState(1, 0, false, now());
  writer.linkState(1, 1, false, now());
  const cluster = enums.reason.indexOf('cluster');
  const rival = enums.reason.indexOf('rival');
  const all = ask(0);
  t.strictSame(told(all), [
    '1 restart 1 0',
    '2 goodbye 1 0',
    `3 refusal 0 ${rival}`,
    `4 refusal -1 ${cluster}`,
    '5 link_down 1 0',
    '6 link_up 1 0',
  ]);
  t.strictSame([all.events, all.next], [6, 7]);
  t.equal(all.event[3]?.wall_ns, '5');
  t.ok(all.event.every(({ age_ns }) => age_ns >= 0 && age_ns < 60e9));
  t.strictSame(told(ask(0, 2)), told(all).slice(0, 2), 'as many as are wanted');
  t.equal(ask(0, 2).next, 3);
  t.strictSame(told(ask(3, 2)), told(all).slice(2, 4), 'and on from there');
  t.strictSame([ask(7).events, ask(7).next], [0, 7], 'no news');
  t.strictSame([ask(FROM_NOW).events, ask(FROM_NOW).next], [0, 7], 'from now on');
  t.strictSame([ask(8).events, ask(8).next], [6, 7], 'a cursor of another board: from the beginning');
  t.strictSame([ask(0, 0).events, ask(0, 0).next], [0, 1]);
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  reader.snapshot();
  t.strictSame(
    reader.events(0, 64).events.map(({ number, kind, detail }) => [number, enums.event_kind[kind], detail]),
    all.event.map(({ number, kind, detail }) => [number, kind, detail]),
    'as the TypeScript reader has it',
  );
  // These are more than the ring holds: the oldest are lost, and the numbers say how many.
  for (let i = 0; i < 5000; i++) lay(writer, 'b', 10 + i, 0n, { start_boot_ns: 90n * S, flags: goodbye });
  const late = ask(7, 5);
  t.strictSame(
    late.event.map(({ number }) => number),
    [911, 912, 913, 914, 915],
    '5,006 less 4,096',
  );
  t.equal(late.next - 7 - late.events, 904, 'so many were missed');
  t.strictSame(
    ask(5000).event.map(({ number, subject }) => `${number} ${subject}`),
    [5000, 5001, 5002, 5003, 5004, 5005, 5006].map(n => `${n} 1`),
  );
  // Another board replaces this one: the events stay, and are about the records of the new board.
  writer.forget(['a']);
  t.strictSame(told(ask(5000)), [
    ...[5000, 5001, 5002, 5003, 5004, 5005, 5006].map(n => `${n} goodbye 0 0`),
    '5007 forget -1 1',
  ]);
  t.equal(ask(5000).next, 5008);
  lay(writer, 'b', 6000, 0n, { start_boot_ns: 90n * S, flags: goodbye });
  t.strictSame(told(ask(5008)), ['5008 goodbye 0 0'], 'and what they are about is of the new board');
  // No receiver ever counts this far.
  writer.heartbeat(now());
  for (const last of [2n ** 61n, 2n ** 63n - 1n, 2n ** 64n - 1n]) {
    pokeBoard(path, [[structs.board_header.fields.event_last.offset, last]]);
    t.strictSame(
      [ask(0), ask(FROM_NOW), ask(5000)].map(({ events, next }) => [events, next]),
      [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
      `${last} events`,
    );
  }
});

t.test('what the kernel dropped is told apart', async t => {
  const path = boardPath(t);
  open(path).close();
  const { kernel_drops, unfit_drops, softnet_drops } = structs.board_header.fields;
  pokeBoard(path, [
    [kernel_drops.offset, 3n],
    [unfit_drops.offset, 4n],
    [softnet_drops.offset, 5n],
  ]);
  beat(path);
  t.match(JSON.parse(calls(t, 'show', path)), { kernel_drops: 3, unfit_drops: 4, softnet_drops: 5 });
});

t.test('its rates are those of src/shm/rates.ts', async t => {
  const pick = picker(SEED + 1);
  const BIG = 2 ** 53;
  const sets = Object.values(bits.valid);
  const names = ['eth0', 'eth1', 'eth2', 'ib0', ''];
  const counterFields = (fields: object) =>
    Object.entries(fields as Record<string, { type: string; kind: string }>).filter(
      ([, { kind }]) => kind === 'counter',
    );
  const value = (type: string) =>
    type === 'u32' ? pick(2 ** 32) : pick(2) === 0 ? pick(1e6) : pick(2 ** 32) * 2 ** 20 + pick(2 ** 20);
  const moved = (type: string, before: number) => {
    const by = [0, 1, pick(1e6), -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), pick(2 ** 32)][pick(pick(3) === 0 ? 8 : 3)]!;
    if (type === 'u32') return (before + by + 2 ** 33) % 2 ** 32;
    return Math.min(BIG - 1, Math.max(0, before + by));
  };
  const counters = counterFields(structs.report.fields).filter(([, { type }]) => /^u/.test(type));
  const inEntry = counterFields(structs.net_if.fields);
  const entry = (name: string) => ({
    name,
    ...Object.fromEntries(inEntry.map(([field, { type }]) => [field, value(type)])),
    state: pick(4) * 65_536 + pick(4),
  });
  type Entry = ReturnType<typeof entry>;
  const next = (before: Entry): Entry => ({
    ...before,
    ...Object.fromEntries(
      inEntry.map(([field, { type }]) => [
        field,
        moved(type, (before as unknown as Record<string, number>)[field] ?? 0),
      ]),
    ),
    state: pick(5) === 0 ? pick(2 ** 32) : before.state,
  });
  const validity = () => sets.reduce((all, bit) => (pick(12) === 0 ? all : all | (1n << BigInt(bit))), 0n);
  const shuffled = <T>(list: T[]) =>
    list
      .map(item => [pick(1000), item] as const)
      .sort((a, b) => a[0] - b[0])
      .map(([, item]) => item);
  const pairs = Array.from({ length: 1000 }, () => {
    const before: Record<string, unknown> = Object.fromEntries(
      counters.map(([field, { type }]) => [field, value(type)]),
    );
    const after: Record<string, unknown> = Object.fromEntries(
      counters.map(([field, { type }]) => [
        field,
        pick(8) > 0 || /^cpu_/.test(field) ? moved(type, Number(before[field])) : value(type),
      ]),
    );
    // In half of the trials all CPU times go forward; otherwise there would be no shares to compare.
    if (pick(2) === 0)
      for (const [field] of counters)
        if (/^cpu_.*_ms$/.test(field)) after[field] = Math.min(BIG - 1, Number(before[field]) + pick(1e6));
    const net = [0, 1, 2].map(() => entry(names[pick(names.length)]!));
    const later = shuffled(net).map(one => (pick(6) === 0 ? entry(names[pick(names.length)]!) : next(one)));
    const sums = { net_rest: entry(pick(5) === 0 ? '' : 'rest'), fabric: entry(pick(5) === 0 ? '' : 'fabric') };
    const t0 = BigInt(pick(1e9)) * 1000n;
    const ids = { boot_id: 5n, start_boot_ns: 77n, cpus_online: 8, t_boot_ns: t0, slow_boot_ns: t0, valid: validity() };
    const one = makeReport({ ...before, ...ids, net, ...sums });
    const two = makeReport({
      ...after,
      ...ids,
      boot_id: pick(20) === 0 ? 6n : 5n,
      start_boot_ns: pick(6) === 0 ? 78n : 77n,
      cpus_online: pick(10) === 0 ? 9 : 8,
      t_boot_ns: t0 + [S, 0n, BigInt(pick(2 ** 32)), -1n][pick(8) > 0 ? 0 : pick(4)]!,
      slow_boot_ns: t0 + [S, 0n, BigInt(pick(2 ** 32)), -1n][pick(4)]!,
      valid: validity(),
      net: later,
      net_rest: pick(8) === 0 ? entry('') : next(sums.net_rest),
      fabric: pick(8) === 0 ? entry('') : next(sums.fabric),
    });
    return [one, two] as const;
  });
  const input = Buffer.concat(pairs.flat());
  t.equal(input.length, pairs.length * 2 * REPORT_BYTES);
  const lines = must(t, CALLS, ['rates'], { input }).trim().split('\n');
  t.equal(lines.length, pairs.length);
  let shares = 0;
  let some = 0;
  const wrong = pairs.flatMap(([one, two], i) => {
    const wanted = ratesOf(one, two);
    const got = JSON.parse(lines[i] ?? '');
    if (wanted?.cpu_user_pct !== undefined) shares++;
    if (wanted?.tcp_retrans !== undefined) some++;
    const same = wanted === undefined ? { error: -61 } : { ...wanted, net: wanted.net ?? [] };
    const keys = [...new Set([...Object.keys(same), ...Object.keys(got)])];
    return keys
      .filter(key => JSON.stringify(same[key as keyof typeof same]) !== JSON.stringify(got[key]))
      .map(
        key => `pair ${i}: ${key}: ${JSON.stringify(got[key])}, not ${JSON.stringify(same[key as keyof typeof same])}`,
      );
  });
  t.strictSame(wrong.slice(0, 5), []);
  t.ok(shares > 100 && some > 300, `${shares} with shares, ${some} with retransmissions`);
  t.test('and go on beyond 2^53, where numbers of JavaScript end', async t => {
    const at = (tcp_retrans: bigint, t_boot_ns: bigint) =>
      makeReport({ valid: 1n << BigInt(bits.valid.tcp), tcp_retrans, t_boot_ns });
    const pair = Buffer.concat([at(2n ** 60n, S), at(2n ** 60n + 8n, 3n * S)]);
    t.strictSame(JSON.parse(must(t, CALLS, ['rates'], { input: pair })), { tcp_retrans: 4, net: [] });
  });
});

t.test('older and newer programs', async t => {
  const { path } = sampler(t);
  t.equal(calls(t, 'sizes', path), 'as promised\n', 'structs of every smaller and some larger sizes');
  // A program that was compiled with an older header, before some fields were added.
  const old = folder(t);
  let text = header;
  for (const first of ['    uint64_t received, accepted;', '    uint32_t interval_ms;              /* the']) {
    const from = text.indexOf(first);
    t.ok(from > 0, first);
    text = text.slice(0, from) + text.slice(text.indexOf('\n};', from) + 1);
  }
  writeFileSync(join(old, 'beoboard.h'), text);
  writeFileSync(
    join(old, 'old.c'),
    `#include <beoboard.h>
     #include <stdio.h>
     int main(int argc, char **argv) {
       beoboard *b;
       struct { struct beoboard_receiver it; int64_t canary; } r = {.canary = 42};
       struct { struct beoboard_node it[2]; int64_t canary; } n = {.canary = 42};
       (void)argc;
       if (beoboard_open(&b, argv[1], 0) < 0 || beoboard_receiver(b, &r.it, sizeof r.it) < 0) return 1;
       if (beoboard_read_all(b, n.it, sizeof n.it[0], 0, 2) != 2) return 1;
       printf("%zu %zu %u %s %s %d %d\\n", sizeof r.it, sizeof n.it[0], r.it.nodes, n.it[0].name, n.it[1].name, (int)r.canary, (int)n.canary);
       beoboard_close(b);
       return 0;
     }`,
  );
  must(t, 'gcc', [
    '-std=c99',
    '-Wall',
    '-Werror',
    `-I${old}`,
    '-o',
    join(old, 'old'),
    join(old, 'old.c'),
    `-L${OUT}`,
    '-lbeoboard',
    `-Wl,-rpath,${OUT}`,
  ]);
  t.equal(must(t, join(old, 'old'), [path]), '56 152 11 live never 42 42\n');
});

t.test('read calls make no system call', async t => {
  const { path } = sampler(t);
  const first = run(CALLS, ['quiet', path, '1000']);
  if (first.status === 3 && !process.env.CI) t.pass('under a filter', { skip: 'no seccomp here' });
  else {
    t.strictSame([first.status, first.stdout], [0, 'no system call\n'], 'under a filter that kills at any');
    t.equal(run(CALLS, ['quiet', path, '0']).signal, 'SIGSYS', 'which does kill');
  }
  const traced = join(folder(t), 'trace');
  const skip =
    lacks('strace', 'strace') ||
    (run('strace', ['-o', '/dev/null', 'true']).status !== 0 && 'strace may not trace here');
  t.test('nor does strace see one', { skip }, async t => {
    must(t, 'strace', ['-f', '-o', traced, CALLS, 'marked', path]);
    const lines = readFileSync(traced, 'utf8').split('\n');
    const marks = lines.flatMap((line, i) => (/write\(2, "mark/.test(line) ? [i] : []));
    t.equal(marks.length, 2);
    t.equal((marks[1] ?? 0) - (marks[0] ?? 0), 1, lines.slice(marks[0], (marks[1] ?? 0) + 1).join('\n'));
  });
  t.test('nor do they need more stack than was said', { skip: NOT_WHOLE }, async t => {
    const usage = folder(t);
    const framesOf = (source: string) => {
      const flags = ['-std=c11', '-D_GNU_SOURCE', '-fno-strict-aliasing', '-O2', '-fstack-usage'];
      must(t, 'gcc', [...flags, '-c', source, '-o', join(usage, 'one.o')]);
      const lines = readFileSync(join(usage, 'one.su'), 'utf8').trim().split('\n');
      return lines.map(line => Number(line.split('\t')[1]));
    };
    // No call is deeper than the three largest functions of a source together, plus the stack of the kernel's clock.
    const deepest = ['strerror', 'problems', 'evidence', 'live', 'memory', 'node', 'noderates'].map(name => {
      const called = name === 'noderates' ? framesOf('judge/rates.c') : [];
      const bytes = [...framesOf(`lib/${name}.c`), ...called].sort((a, b) => b - a);
      return bytes.slice(0, 3).reduce((sum, one) => sum + one, 0);
    });
    t.ok(
      deepest.every(bytes => bytes < 4096),
      `the three deepest functions of each source: ${deepest.join(', ')} bytes`,
    );
  });
});

t.test('a board that its owner cut short', async t => {
  const { path } = sampler(t);
  const copy = boardPath(t);
  writeFileSync(copy, readFileSync(path));
  // -EUCLEAN, then -EAGAIN (the file is now shorter than a header), and after that the answers of a stalled board
  // without nodes.
  t.equal(calls(t, 'cut', copy), '-117 -11 0 0 0 1 1\n');
});

t.test('it follows from board to board', async t => {
  const path = boardPath(t);
  const writer = open(path);
  for (const name of ['a', 'b', 'c']) lay(writer, name, 1);
  writer.heartbeat(now());
  const child = spawn(CALLS, ['follow', path], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const refresh = async () => {
    child.stdin.write('\n');
    writer.heartbeat(now());
    return (await lines.next()).value;
  };
  t.equal(await refresh(), '0 3 1', 'the same board');
  writer.forget(['a']);
  t.equal(await refresh(), '1 2 1', 'another took its place');
  t.equal(await refresh(), '0 2 1');
  const aside = `${path}.aside`;
  must(t, 'mv', [path, aside]);
  t.equal(await refresh(), '-2 2 1', 'gone: what it has is what it answers from');
  must(t, 'mv', [aside, path]);
  t.equal(await refresh(), '0 2 1', 'back');
  writer.close();
  rmSync(path);
  mkdirSync(path);
  child.stdin.write('\n');
  t.equal((await lines.next()).value, '-74 2 1');
  child.stdin.end();
});

t.test('spoiled boards: no crash, no hang, no answer that was not promised', async t => {
  const program = testProgram('test/lib/spoil', CHECKED);
  const { status, stdout, stderr } = run(program, [boardPath(t), WHOLE ? '1500' : '150', String(SEED)]);
  t.match(stdout, /^\d+ opened, \d+ refused, 0 faults\n$/, stderr);
  t.equal(status, 0);
});

/** For each build, how many rounds a reader gets, and how many in a handler of signals. */
const ROUNDS: Record<string, [rounds: number, signals: number]> = {
  sanitized: [5000, 500],
  races: [2500, 250],
  aarch64: [1000, 100],
};

for (const { name, what, how, under, skip } of builds(['sanitized', 'races', 'aarch64'], OF_MUSL))
  t.test(`under fire: ${what}`, { skip }, async t => {
    const program = testProgram('test/lib/threads', how);
    const [command = '', ...argv] = [...under, program];
    const [rounds, signals] = ROUNDS[name] ?? (WHOLE ? [20_000, 1000] : [2000, 100]);
    for (const [mode, n] of [
      ['threads', rounds],
      ['signals', signals],
    ] as const) {
      const { status, stdout, stderr } = run(command, [...argv, boardPath(t), String(n), mode]);
      t.match(stdout, /^\d+ looks, \d+ in a handler, 0 faults\n$/, `${mode}: ${stderr}`);
      t.strictSame([status, stderr], [0, '']);
      t.comment(`${mode}: ${stdout.trim()}`);
    }
  });

t.test(
  'the test can fail: with a lock that accepts every copy, torn reports are found',
  { skip: NOT_WHOLE },
  async t => {
    const made = makeIn('', {}, 'OUT/test/lib/threads');
    const broken = folder(t);
    must(t, 'cp', ['-r', C, broken]);
    const lock = join(broken, 'c', 'board', 'seqlock.h');
    const text = readFileSync(lock, 'utf8');
    const check = 'if (bb_load_acquire(tail) == sequence)';
    t.ok(text.includes(check));
    writeFileSync(lock, text.replace(check, 'if (bb_load(tail) != 0)'));
    // The writer is as it was.
    const writer = writerSources().map(name => join(made, name.replace(/c$/, 'o')));
    const program = join(broken, 'threads');
    const sources = ['test/lib/threads.c', ...LIBRARY, 'board/reader.c'].map(path => join(broken, 'c', path));
    const flags = ['-std=c11', '-D_GNU_SOURCE', '-fno-strict-aliasing'];
    must(t, 'gcc', [...flags, '-o', program, ...sources, ...writer, '-lpthread', '-lm']);
    const { status, stderr } = run(program, [boardPath(t), '100000', 'threads']);
    t.equal(status, 1, stderr);
    t.match(stderr, /fault: (torn|r->)/);
  },
);

t.test('musl, static', { skip: NOT_WHOLE || lacks('musl-tools', 'musl-gcc') }, async t => {
  const program = join(folder(t), 'may-start');
  must(t, 'musl-gcc', [
    '-std=c99',
    '-D_POSIX_C_SOURCE=200809L',
    '-static',
    '-I.',
    '-o',
    program,
    'examples/may-start.c',
    join(makeIn('', { ...INSTALLED, CFLAGS: '-O0' }, 'lib'), 'libbeoboard.a'),
  ]);
  // Made after compiling, because nothing updates its heartbeat while a compiler runs.
  const { path } = sampler(t);
  t.strictSame(
    [run(program, ['-b', path, 'live', 'measured']).stdout],
    ['measured: put on hold by its administrator\n'],
  );
});

t.test('the library that schedulers link includes no file of the writer', async t => {
  const allowed = new Set([
    ...['judge/problems.h', 'beoboard.h', 'board/reader.h', 'format/layout.gen.h', 'format/header.gen.h'],
    ...['lib/internal.h', 'judge/liveness.h', 'board/newest.h', 'judge/rates.h', 'board/parts.h'],
  ]);
  for (const path of [...LIBRARY, 'lib/internal.h', 'format/header.gen.h'])
    for (const [, included = ''] of readFileSync(join(C, path), 'utf8').matchAll(/^#include "(.*)"/gm)) {
      t.ok(allowed.has(join(dirname(path), included)), `${path} includes ${included}`);
    }
  t.ok(existsSync(join(C, 'lib', 'beoboard.map')));
});
