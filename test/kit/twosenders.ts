// Shared by the tests of both senders: the one in C; the one in TypeScript, in this process, where it takes a hundredth
// of the time; and trees of machines that can be corrupted in some places and restored. No test.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { HelpShown, UsageError } from '../../src/options/options.js';
import { main } from '../../src/sender/main.js';
import { memoryFolder } from './places.js';
import { overlay, parseArchive, prepare, readable, textOf } from './tree.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** A sender's results: its exit code, its report, and its lines on stderr without its name. */
interface Answer {
  code: number | string;
  report: string;
  said: string;
}

/**
 * Lines on stderr without the program's name. If a file is too large, one sender says so, and the other says that it
 * has unexpected content.
 */
function alike(said: string): string {
  return said
    .replace(/^beoboard[ -]send: /gm, '')
    .replace(/^cannot read (.*): larger than \d+ bytes$/gm, '$1 has unexpected content: its readings are left out');
}

/**
 * The results of the sender in C for a command line. No leak check: it allocates nothing itself, and the check takes
 * longer than the answer.
 */
export function askC(
  program: string,
  argv: readonly string[],
  more: { uid?: number; env?: NodeJS.ProcessEnv } = {},
): Answer {
  const [command = '', ...before] = program.split(' ');
  const { status, signal, stdout, stderr, error } = spawnSync(command, [...before, ...argv], {
    timeout: 60_000,
    ...more,
    env: { ...(more.env ?? process.env), ASAN_OPTIONS: 'detect_leaks=0' },
  });
  if (error !== undefined) throw error;
  return { code: status ?? signal ?? '', report: stdout.toString('hex'), said: alike(stderr.toString()) };
}

const fs = createRequire(import.meta.url)('node:fs') as { writeSync: (...args: unknown[]) => number };

/** The results of `beoboard send` for the same command line, in this process; the command has to end by itself. */
export async function askHere(argv: readonly string[]): Promise<Answer> {
  const { writeSync } = fs;
  const { write } = process.stdout;
  const reports: Buffer[] = [];
  let said = '';
  fs.writeSync = (...args) => {
    if (args[0] !== 2) return writeSync(...args);
    said += String(args[1]);
    return String(args[1]).length;
  };
  syncBuiltinESMExports();
  // All other output on stdout is test results.
  process.stdout.write = ((...args: Parameters<typeof write>) => {
    if (!(args[0] instanceof Uint8Array) || args[0].length !== REPORT_BYTES) return write.apply(process.stdout, args);
    reports.push(Buffer.from(args[0]));
    return true;
  }) as typeof write;
  try {
    const code = await main([...argv]);
    return { code, report: Buffer.concat(reports).toString('hex'), said: alike(said) };
  } catch (error) {
    if (error instanceof HelpShown) return { code: 0, report: '', said: error.text };
    if (!(error instanceof UsageError)) throw error;
    return { code: error.exitCode, report: '', said: alike(`${said}beoboard send: ${error.message}\n`) };
  } finally {
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
    process.stdout.write = write;
  }
}

/** Runs some work as another user, who may not read everything. */
async function as<T>(uid: number | undefined, work: () => Promise<T>): Promise<T> {
  if (uid === undefined) return work();
  process.seteuid?.(uid);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** One fault in a tree. Numbers select among the possibilities. */
interface Harm {
  kind: keyof typeof HARMS;
  trees: readonly string[];
  /** The kind of file, and the file among those of this kind. */
  pattern: number;
  file: number;
  /** The place in the file, as a fraction of its length. */
  place: number;
  /** The text to insert. */
  piece: string;
  length: number;
}

const ABSURD = [
  ...['0', '-0', '-1', '+1', '00000000000000000000001', '1e5', '0x10', '1.5', '1_000', '٣', '١٢'],
  ...[2n ** 15n, 2n ** 16n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n].flatMap(n => [`${n - 1n}`, `${n}`]),
  ...['18446744073709551615000', '9'.repeat(400), '', ' ', 'NaN', '4294967295.99', '99999999999999999999.99'],
];
const PIECES = [
  ...['\0', '\n', '\n\n', '\r', '\r\n', '\t', ' ', '  ', '\v', '\xa0', '\u2003', '\ufeff', '\u2028', ':', '-', ','],
  ...['/', '.', '|', '"', "'", '\\', '=', '#', 'x'.repeat(30), ' '.repeat(70), 'é', '😀', '\ud83d', 'cpu', 'lo:'],
  ...['0-', '3-1', '%', '(', ')'],
];

const at = (bytes: Buffer, place: number) => Math.min(bytes.length, Math.floor(place * (bytes.length + 1)));
/** Bytes as text in which each byte is a character, so that nothing is lost. */
const text = (bytes: Buffer) => bytes.toString('latin1');
const ofText = (changed: string) => Buffer.from(changed, 'latin1');
const utf8 = (piece: string) => Buffer.from(piece, 'utf8');

function onLines(bytes: Buffer, place: number, change: (lines: string[], line: number) => void): Buffer {
  const lines = text(bytes).split('\n');
  change(lines, Math.min(lines.length - 1, Math.floor(place * lines.length)));
  return ofText(lines.join('\n'));
}

const insert = (bytes: Buffer, place: number, piece: Buffer) => {
  const where = at(bytes, place);
  return Buffer.concat([bytes.subarray(0, where), piece, bytes.subarray(where)]);
};

/** Sizes near the limits up to which files are read. */
const SIZES = [16 << 10, 64 << 10, 4 << 20].flatMap(size => [size - 1, size, size + 1]);

/** The change of a file: a function gives its new bytes, a word says what to put in its place. */
const HARMS = {
  cut: (bytes: Buffer, { place }: Harm) => bytes.subarray(0, at(bytes, place)),
  flip(bytes: Buffer, { place, length }: Harm) {
    const other = Buffer.from(bytes);
    const where = Math.min(at(bytes, place), bytes.length - 1);
    if (where >= 0) other[where] = (other[where] ?? 0) ^ (1 << (length % 8));
    return other;
  },
  dropLines: (bytes: Buffer, { place, length }: Harm) =>
    onLines(bytes, place, (lines, line) => lines.splice(line, 1 + (length % 3))),
  doubleLine: (bytes: Buffer, { place }: Harm) =>
    onLines(bytes, place, (lines, line) => lines.splice(line, 0, lines[line] ?? '')),
  swapLines: (bytes: Buffer, { place }: Harm) =>
    onLines(bytes, place, (lines, line) => lines.splice(line, 2, ...lines.slice(line, line + 2).reverse())),
  number(bytes: Buffer, { place, length, file }: Harm) {
    const numbers = [...text(bytes).matchAll(/\d+/g)];
    const { 0: found = '', index = 0 } = numbers[Math.floor(place * numbers.length)] ?? {};
    const absurd = ABSURD[(length + file) % ABSURD.length] ?? '';
    return Buffer.concat([bytes.subarray(0, index), utf8(absurd), bytes.subarray(index + found.length)]);
  },
  insert: (bytes: Buffer, { place, piece }: Harm) => insert(bytes, place, utf8(piece)),
  bytes: (bytes: Buffer, { place, length, file }: Harm) =>
    insert(
      bytes,
      place,
      Buffer.from(Array.from({ length: 1 + (length % 4) }, (_, i) => (length * 31 + file * 17 + i * 97) & 255)),
    ),
  longLine: (bytes: Buffer, { place, piece, length }: Harm) =>
    insert(bytes, place, utf8((piece || 'x').repeat(length))),
  join: (bytes: Buffer) => ofText(text(bytes).replaceAll('\n', ' ')),
  carriage: (bytes: Buffer) => ofText(text(bytes).replaceAll('\n', '\r\n')),
  tabs: (bytes: Buffer) => ofText(text(bytes).replaceAll(' ', '\t')),
  unended: (bytes: Buffer) => ofText(text(bytes).replace(/\n$/, '')),
  empty: () => Buffer.alloc(0),
  many: (bytes: Buffer, { length }: Harm) => Buffer.concat(Array.from({ length: 2 + (length % 60) }, () => bytes)),
  huge(bytes: Buffer, { length, piece }: Harm) {
    const size = SIZES[length % SIZES.length] ?? 0;
    return Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length), utf8(piece || '\n'))]);
  },
  gone: 'gone',
  folder: 'folder',
  fifo: 'fifo',
  loop: 'loop',
  locked: 'locked',
  writable: 'writable',
  folderGone: 'folderGone',
  beside: 'beside',
} as const;

const NAMES = [
  ...['1', 'x', '-1', '0000', '4294967296', '99999999999999999999', 'a b', 'é', '.hidden', '10', '007', ' 3', '3 '],
];

/** How often each kind of fault occurs: most of them in texts. */
const KINDS = (Object.keys(HARMS) as (keyof typeof HARMS)[]).map(kind => ({
  arbitrary: fc.constant(kind),
  weight:
    { number: 12, insert: 6, cut: 4, flip: 6, bytes: 4, dropLines: 4, huge: 1, many: 2, beside: 3 }[kind as string] ??
    2,
}));

export const harms: fc.Arbitrary<Harm[]> = fc.array(
  fc.record({
    kind: fc.oneof(...KINDS),
    trees: fc.constantFrom(['now'], ['now'], ['before'], ['now', 'before']),
    pattern: fc.nat(),
    file: fc.nat({ max: 5000 }),
    place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    piece: fc.constantFrom(...PIECES),
    length: fc.oneof({ arbitrary: fc.nat({ max: 40 }), weight: 4 }, { arbitrary: fc.nat({ max: 9000 }), weight: 1 }),
  }),
  { minLength: 1, maxLength: 5 },
);

const NUMBERS = ['0', '1', '-1', '65535', '65536', '2147483648', '4294967295', '4294967296', '9007199254740993'].concat(
  [
    ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '18446744073709551616', '007', '-7'],
    ...['1.5', '"1"', 'true'],
  ],
);
const KEYS = [
  ...['t_real_ns', 't_boot_ns', 'before_boot_ns', 'slow_boot_ns', 'start_boot_ns', 'seq', 'late_us', 'collect_us'],
].concat([
  ...['agent_cpu_ms', 'missed_ticks', 'page_kib', 'offset_us', 'maxerror_us', 'frsize', 'blocks', 'bavail', 'files'],
  ...['ffree'],
]);
const TEXTS = [
  ...['""', '"x"', '"aarch64"', '"0.1.2"', '"1.2"', '"999.999.999"', '"1000.0.0"', '"a\\\\é"', "'ppc64le'", '7', 'x'],
];

/** Lines of a pretend file, mostly valid ones. */
export const pretences: fc.Arbitrary<[string, string][]> = fc.array(
  fc.oneof(
    { arbitrary: fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...NUMBERS)), weight: 2 },
    {
      arbitrary: fc.tuple(fc.constantFrom(...KEYS), fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map(String)),
      weight: 3,
    },
    {
      arbitrary: fc.tuple(fc.constantFrom('version', 'machine', 'run', 'etc', 'unheard_of'), fc.constantFrom(...TEXTS)),
      weight: 1,
    },
  ),
  { minLength: 1, maxLength: 4 },
);

/** The differences between two answers; those in reports by field name. */
export function differences(c: Answer, ts: Answer): string[] {
  const out: string[] = [];
  if (c.code !== ts.code) out.push(`ends with ${c.code} in C, with ${ts.code} in TypeScript`);
  if (c.said !== ts.said) out.push(`says in C:\n${c.said}and in TypeScript:\n${ts.said}`);
  if (c.report === ts.report) return out;
  const [one, two] = [c, ts].map(({ report }) =>
    report.length === 2 * REPORT_BYTES ? readable(Buffer.from(report, 'hex')) : {},
  );
  for (const name of new Set([...Object.keys(one ?? {}), ...Object.keys(two ?? {})])) {
    const [inC, inTs] = [JSON.stringify(one?.[name]), JSON.stringify(two?.[name])];
    if (inC !== inTs) out.push(`${name} is ${inC} in C, ${inTs} in TypeScript`);
  }
  return out.length > 0 ? out : ['bytes differ that belong to no field that is measured'];
}

/** The stat of a file or folder; undefined for a broken link. */
function stat(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** A machine's trees on disk, which can be corrupted and restored. */
export class Patient {
  readonly root: string;
  readonly argv: readonly string[];
  /** Files by their paths without numbers; those of the fast sets several times, because they are read most often. */
  readonly #patterns: string[][];
  #undo: (() => void)[] = [];

  constructor(
    t: Teardown,
    readonly machine: string,
  ) {
    this.root = memoryFolder(t);
    chmodSync(this.root, 0o755);
    this.argv = prepare(machine, this.root).filter(word => word !== 'send');
    const now = parseArchive(textOf(machine, 'tree.txt'));
    const all = overlay(now, parseArchive(textOf(machine, 'before.txt')));
    const byPattern = new Map<string, string[]>();
    for (const path of new Set([...now.keys(), ...all.keys()])) {
      const pattern = path.replace(/\d+/g, 'N');
      byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), path]);
    }
    const fast = (path = '') => path.startsWith('proc/') || path.startsWith('sys/devices/system/cpu/');
    this.#patterns = [...byPattern.values()].flatMap(paths => (fast(paths[0]) ? [paths, paths, paths] : [paths]));
  }

  harm(all: readonly Harm[]): void {
    for (const harm of all) for (const tree of harm.trees) this.#harm(tree, harm);
  }

  heal(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  #harm(tree: string, harm: Harm): void {
    const paths = this.#patterns[harm.pattern % this.#patterns.length] ?? [];
    const path = join(this.root, tree, paths[harm.file % paths.length] ?? '');
    const how = HARMS[harm.kind];
    // Of this file, the sender in C reads only what it needs, and does not notice its size.
    if (harm.kind === 'huge' && path.endsWith('/vmstat')) return;
    if (typeof how === 'function') this.#rewrite(path, bytes => how(bytes, harm));
    else this.#replace(path, how, harm);
  }

  /** Replaces what is at a path; the end restores it. */
  #take(path: string, make: () => void): void {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
    const kept = join(this.root, `was${this.#undo.length}`);
    renameSync(path, kept);
    this.#undo.push(() => {
      rmSync(path, { recursive: true, force: true });
      renameSync(kept, path);
    });
    make();
  }

  #rewrite(path: string, change: (bytes: Buffer) => Buffer): void {
    const found = stat(path);
    if (!found?.isFile()) return;
    const { mode } = found;
    const bytes = readFileSync(path);
    this.#take(path, () => {
      writeFileSync(path, change(bytes));
      chmodSync(path, mode & 0o777);
    });
  }

  #replace(path: string, how: string, { length }: Harm): void {
    if (how === 'beside') {
      // Another entry in the same folder, or in the folder above.
      const from = length % 2 === 0 ? path : dirname(path);
      const base = from.slice(from.lastIndexOf('/') + 1);
      const name = NAMES[(length >> 1) % NAMES.length] ?? '';
      const to = join(dirname(from), length % 3 === 0 ? name : base.replace(/\d*$/, name));
      if (lstatSync(to, { throwIfNoEntry: false }) !== undefined || stat(from) === undefined) return;
      cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: source => !lstatSync(source).isFIFO() });
      this.#undo.push(() => rmSync(to, { recursive: true, force: true }));
      return;
    }
    if (how === 'locked' || how === 'writable') {
      const { mode } = stat(path) ?? {};
      // Not for folders: in this process only the effective user changes, while checks for existence below a folder go
      // by the real one.
      if (mode === undefined || !stat(path)?.isFile()) return;
      chmodSync(path, how === 'locked' ? 0 : 0o666);
      this.#undo.push(() => chmodSync(path, mode & 0o7777));
      return;
    }
    this.#take(how === 'folderGone' ? dirname(path) : path, () => {
      if (how === 'folder') mkdirSync(path);
      if (how === 'fifo') spawnSync('mkfifo', [path]);
      if (how === 'loop') symlinkSync(path, path);
    });
  }

  /** Which faults are in which files. */
  tell(all: readonly Harm[]): string[] {
    return all.map(harm => {
      const paths = this.#patterns[harm.pattern % this.#patterns.length] ?? [];
      return `${harm.kind} of ${paths[harm.file % paths.length]} ${harm.trees.join(' and ')}`;
    });
  }

  /** Changes lines of the pretend file. */
  pretend(changes: readonly [key: string, value: string][]): void {
    this.#rewrite(join(this.root, 'pretend.toml'), bytes => {
      let lines = bytes.toString();
      for (const [key, value] of changes) {
        const line = new RegExp(`^${key} = .*$`, 'm');
        lines = line.test(lines) ? lines.replace(line, `${key} = ${value}`) : `${key} = ${value}\n${lines}`;
      }
      return Buffer.from(lines);
    });
  }

  /** The results of both senders. */
  async ask(program: string, uid?: number): Promise<{ c: Answer; ts: Answer }> {
    const c = askC(program, this.argv, uid === undefined ? {} : { uid });
    return { c, ts: await as(uid, () => askHere(this.argv)) };
  }
}
