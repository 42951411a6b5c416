// The machines of test/fixtures: unpacks their trees, makes the sender's report, and formats it for people. Tests only
// compare; `node dist/test/kit/tree.js --write [MACHINE…]` writes the golden files again.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bitNames, decodeReport, REPORT_BYTES, type StructName } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { ROOT } from './places.js';
import { PROGRAM } from './program.js';

export const FIXTURES = join(ROOT, 'test', 'fixtures');

type Entry =
  | { kind: 'file'; content: Uint8Array; mode: number }
  | { kind: 'link'; target: string }
  | { kind: 'dir' | 'fifo' | 'gone' };

/** The names of the machines. */
export function machines(): string[] {
  return readdirSync(FIXTURES)
    .filter(name => existsSync(join(FIXTURES, name, 'tree.txt')))
    .sort();
}

/** The paths that a path with braces stands for, each with the value of its last braces. */
export function expand(path: string): [path: string, last: string][] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(path);
  if (match === null) return [[path, '']];
  const [, before, inner = '', after = ''] = match;
  const items = inner.split(',').flatMap(item => {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(item) ?? [];
    if (from === undefined) return [item];
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => String(Number(from) + i));
  });
  return items.flatMap(item =>
    expand(after).map(([rest, last]): [string, string] => [`${before}${item}${rest}`, last || item]),
  );
}

/** The bytes of a text with the escapes `\n`, `\\` and `\xHH`. */
function unescaped(text: string): Uint8Array {
  const parts = text.split(/(\\(?:x[0-9a-f]{2}|n|\\))/).map((part, i) => {
    if (i % 2 === 0) return Buffer.from(part);
    return Buffer.from([part === '\\n' ? 10 : part === '\\\\' ? 92 : Number.parseInt(part.slice(2), 16)]);
  });
  return Buffer.concat(parts);
}

function entryOf(how: string[], text: string, last: string): Entry {
  const [kind, word = ''] = how;
  if (kind === 'link') return { kind, target: word.replace('{}', last) };
  if (kind === 'dir' || kind === 'fifo' || kind === 'gone') return { kind };
  const wordAfter = (key: string) => (how.includes(key) ? how[how.indexOf(key) + 1] : undefined);
  const body = how.includes('cut') ? text.slice(0, -1) : text;
  const once = how.includes('escaped') ? unescaped(body) : Buffer.from(body);
  const content = Buffer.concat(Array.from({ length: Number(wordAfter('times') ?? 1) }, () => once));
  return { kind: 'file', content, mode: Number.parseInt(wordAfter('mode') ?? '644', 8) };
}

/** The entries of an archive, by path; test/fixtures/README.md describes the format. */
export function parseArchive(text: string): Map<string, Entry> {
  const out = new Map<string, Entry>();
  for (const section of text.split(/^=== /m).slice(1)) {
    const end = section.indexOf('\n');
    const [braced = '', ...how] = section.slice(0, end).split(' ');
    for (const [path, last] of expand(braced)) {
      if (out.has(path)) throw new Error(`${path} is there twice`);
      out.set(path, entryOf(how, section.slice(end + 1), last));
    }
  }
  return out;
}

/** A tree with another one on top: an entry `gone` removes the path and everything below it. */
export function overlay(tree: ReadonlyMap<string, Entry>, over: ReadonlyMap<string, Entry>): Map<string, Entry> {
  const out = new Map(tree);
  for (const [path, entry] of over) {
    if (entry.kind === 'gone') {
      for (const old of tree.keys()) if (old === path || old.startsWith(`${path}/`)) out.delete(old);
    } else {
      out.set(path, entry);
    }
  }
  return out;
}

/** Makes the files of a tree below `root`. */
export function unpack(tree: ReadonlyMap<string, Entry>, root: string): void {
  for (const folder of ['proc', 'sys', 'run', 'etc']) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, entry] of tree) {
    const at = join(root, path);
    mkdirSync(entry.kind === 'dir' ? at : dirname(at), { recursive: true });
    if (entry.kind === 'link') symlinkSync(entry.target, at);
    if (entry.kind === 'fifo') spawnSync('mkfifo', [at]);
    if (entry.kind !== 'file') continue;
    writeFileSync(at, entry.content);
    chmodSync(at, entry.mode); // independent of the umask
  }
}

/** A machine's file as text; empty if it has no such file. */
export function textOf(machine: string, file: string): string {
  const path = join(FIXTURES, machine, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Unpacks both trees of a machine below `root`; returns the command line for the report. */
export function prepare(machine: string, root: string): string[] {
  const now = parseArchive(textOf(machine, 'tree.txt'));
  unpack(now, join(root, 'now'));
  unpack(overlay(now, parseArchive(textOf(machine, 'before.txt'))), join(root, 'before'));
  copyFileSync(join(FIXTURES, machine, 'pretend.toml'), join(root, 'pretend.toml'));
  const options = textOf(machine, 'options').split(/\s+/).filter(Boolean);
  const trees = ['before', 'now'].flatMap(tree => [
    '--proc',
    join(root, tree, 'proc'),
    '--sys',
    join(root, tree, 'sys'),
  ]);
  return ['send', '--once', '--to', '-', ...options, '--pretend', join(root, 'pretend.toml'), ...trees];
}

/** The two trees of a fixture, as options. */
export function trees(fixture: string, own: string): string[] {
  const argv = prepare(fixture, own);
  return ['--proc', '--sys'].flatMap(option => [option, argv[argv.lastIndexOf(option) + 1] ?? '']);
}

/**
 * The tree of a machine as a container sees it: what `self` and `net` are there would be the container's, and the
 * machine's are those of its first process.
 */
export function seenFromInside(tree: string): void {
  const proc = join(tree, 'proc');
  mkdirSync(join(proc, '1'), { recursive: true });
  renameSync(join(proc, 'net'), join(proc, '1', 'net'));
  for (const name of readdirSync(join(proc, 'self'))) renameSync(join(proc, 'self', name), join(proc, '1', name));
  rmSync(join(proc, 'self'), { recursive: true });
}

/** The sender's report on prepared trees, and its log with `ROOT` in place of the folder. */
export function ask(argv: string[], root: string): { code: number | null; report: Uint8Array; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], { timeout: 60_000 });
  return { code: status, report: stdout, stderr: stderr.toString().replaceAll(root, 'ROOT') };
}

/** A report as lines of 16 bytes, each with the offset of its first byte, in decimal as in the contract's tables. */
function hexDump(report: Uint8Array): string {
  return Array.from({ length: Math.ceil(report.length / 16) }, (_, i) => {
    const row = [...report.subarray(i * 16, i * 16 + 16)].map(byte => byte.toString(16).padStart(2, '0'));
    return `${String(i * 16).padStart(4, '0')}  ${row.join(' ')}\n`;
  }).join('');
}

/** The bytes of such lines. */
export function parseHexDump(text: string): Uint8Array {
  return Buffer.from(text.replace(/^\d{4} {2}/gm, '').replace(/\s/g, ''), 'hex');
}

type Plain = string | number | Plain[] | { [key: string]: Plain };

function plain(struct: StructName, name: string, value: unknown): Plain | undefined {
  const { unit, type } = (structs[struct].fields as Record<string, { unit: string; type: string }>)[name] ?? {
    unit: '',
    type: '',
  };
  if (name === 'tag') return Buffer.from(value as number[]).toString('hex');
  if (Array.isArray(value)) return value.map(element => plain(struct, name, element) ?? '');
  if (type in structs) return plainStruct(type as StructName, value as object);
  const [kind, table = ''] = unit.split(' ');
  if (kind === 'bits' && table in bits) {
    const names = bitNames(table as keyof typeof bits, value as bigint | number);
    return name === 'valid' ? names : names.join(' ');
  }
  if (kind === 'enum') return (enums as Record<string, readonly string[]>)[table]?.[value as number] ?? Number(value);
  if (name === 'boot_id') return (value as bigint).toString(16).padStart(16, '0');
  return typeof value === 'bigint' ? value.toString() : (value as Plain | undefined);
}

function plainStruct(struct: StructName, fields: object): { [key: string]: Plain } {
  const out: { [key: string]: Plain } = {};
  for (const [name, value] of Object.entries(fields)) {
    const shown = plain(struct, name, value);
    if (shown !== undefined) out[name] = shown;
    if (struct === 'net_if' && name === 'state') out.interfaces = Number(value) >>> 16;
  }
  return out;
}

/** A report as readers see it, for people: bits and enums by name, 64-bit times as text. */
export function readable(report: Uint8Array): { [key: string]: Plain } {
  return plainStruct('report', decodeReport(new DataView(report.buffer, report.byteOffset, report.length), 0));
}

/** JSON in Biome's format. */
function pretty(value: Plain, indent = '', room = 120): string {
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}  `;
  if (Object.keys(value).length === 0) return Array.isArray(value) ? '[]' : '{}';
  if (Array.isArray(value)) {
    const line = `[${value.map(element => pretty(element)).join(', ')}]`;
    if (value.every(element => typeof element !== 'object') && line.length <= room) return line;
    return `[\n${value.map(element => deeper + pretty(element, deeper)).join(',\n')}\n${indent}]`;
  }
  const members = Object.entries(value).map(([key, inner], i, all) => {
    const comma = i + 1 < all.length ? 1 : 0;
    const start = `${deeper}${JSON.stringify(key)}: `;
    return start + pretty(inner, deeper, 120 - start.length - comma);
  });
  return `{\n${members.join(',\n')}\n${indent}}`;
}

/** The present contents of a machine's golden files. */
function goldens(machine: string, root: string): Record<'report.hex' | 'report.json' | 'stderr.txt', string> {
  const { code, report, stderr } = ask(prepare(machine, root), root);
  if (code !== 0 || report.length !== REPORT_BYTES) throw new Error(`${machine}: exit code ${code}: ${stderr}`);
  return { 'report.hex': hexDump(report), 'report.json': `${pretty(readable(report))}\n`, 'stderr.txt': stderr };
}

function write(names: string[]): void {
  for (const machine of names.length > 0 ? names : machines()) {
    const root = mkdtempSync(join(tmpdir(), 'beoboard-tree.'));
    try {
      for (const [file, text] of Object.entries(goldens(machine, root))) {
        const path = join(FIXTURES, machine, file);
        const changed = text !== textOf(machine, file);
        if (text !== '') writeFileSync(path, text);
        else rmSync(path, { force: true });
        if (changed) console.log(`${machine}/${file}`);
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--write') write(process.argv.slice(3));
  else
    console.log('node dist/test/kit/tree.js --write [MACHINE…]: writes report.hex, report.json and stderr.txt again');
}
