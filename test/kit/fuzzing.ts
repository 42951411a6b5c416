// Shared by the short and the long form of fuzzing: the corpus and its mutations, the compiled targets of c/test/fuzz, the
// answers of TypeScript in the format of those targets, and the rules for texts that only TypeScript reads. No test.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { LINE_MAX, parseQuery } from '../../src/ganglia-xml/query.js';
import { segmentName, writeLine } from '../../src/journalfile/format.js';
import { Journal } from '../../src/journalfile/journal.js';
import { lastEnds } from '../../src/journalfile/lastends.js';
import { Listing, merged } from '../../src/journalfile/listing.js';
import { believedUsers, JournalFolder } from '../../src/journalfile/segments.js';
import { type Encodable, encode, REPORT_BYTES } from '../../src/layout/codec.js';
import { enums } from '../../src/layout/layout.gen.js';
import { atomsOf, BadExpression, type Expression, Scanner } from '../../src/net/expressions.js';
import { type ConfigShape, readConfig } from '../../src/options/config.js';
import { nodeKey, parseKeys } from '../../src/options/keys.js';
import { journalLine, journalObject, lastEndLine, lastEndObject } from '../../src/presentation/journallines.js';
import { parseCondition } from '../../src/query/conditions.js';
import { parseCreds, parseLogin, parseNkey } from '../../src/relay/natsaccess.js';
import { parseBootId } from '../../src/sender/collect/bootid.js';
import { parseCpuTimes } from '../../src/sender/collect/cpugroups.js';
import { parseCpuList, parsePackageId } from '../../src/sender/collect/cpus.js';
import { diskstatsParser, sumDisks } from '../../src/sender/collect/diskstats.js';
import { parseFileNr } from '../../src/sender/collect/filenr.js';
import { parseLoadavg } from '../../src/sender/collect/loadavg.js';
import { parseMeminfo } from '../../src/sender/collect/meminfo.js';
import { netdevParser } from '../../src/sender/collect/netdev.js';
import { parseIndex, parseSpeed } from '../../src/sender/collect/netlinks.js';
import {
  parseCpuPressure,
  parseIoPressure,
  parseIrqPressure,
  parseMemoryPressure,
} from '../../src/sender/collect/pressure.js';
import { parseSnmp } from '../../src/sender/collect/snmp.js';
import { parseStat } from '../../src/sender/collect/stat.js';
import { parseCpuinfo, parseRelease } from '../../src/sender/collect/system.js';
import { parseVmstat } from '../../src/sender/collect/vmstat.js';
import { parseGpuFile } from '../../src/sender/slow/gpufile.js';
import { parsePower, parseTemperature } from '../../src/sender/slow/hwmon.js';
import { parseCount, parseInteger } from '../../src/sender/slow/source.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { commandOf, Words } from '../../src/supermon/server.js';
import { painter } from '../../src/terminal/style.js';
import { Failure } from '../../src/text/failure.js';
import { BOARD_MOST, expand, fold, NodesetError } from '../../src/text/hostlists.js';
import { compilePattern, MOST_INSTRUCTIONS } from '../../src/text/patterns.js';
import { InputError } from '../../src/text/text.js';
import { RecordingParser } from '../../src/zoom/recording.js';
import { SampleReader, toldValues } from '../../src/zoom/samplevalues.js';
import { chart, History } from '../../src/zoom/zoomchart.js';
import { random, Sheet, spoil } from './brokenboards.js';
import { type Make, makeIn, SANITIZED } from './compiling.js';
import { busy, madeBoard } from './madeboard.js';
import { boardPath, ROOT } from './places.js';
import { read as readExpression } from './supermon.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

export const TARGETS = ['datagrams', 'boards', 'mirrors', 'kernel', 'config', 'gatefiles', 'commands'] as const;
type Target = (typeof TARGETS)[number];

export const corpusOf = (target: Target) => join(ROOT, 'test', 'corpus', target);

/** The stored inputs of a target. */
export function corpus(target: Target): Buffer[] {
  return readdirSync(corpusOf(target))
    .sort()
    .map(name => readFileSync(join(corpusOf(target), name)));
}

/** Compiles targets of c/test/fuzz; returns their folder. */
export const compileTargets = (targets: readonly Target[], how: Make = SANITIZED): string =>
  makeIn('test/fuzz', how, ...targets.map(target => `OUT/${target}`));

type Random = (most: number) => number;

const PIECES = [
  ...['0', '-1', '4294967295', '4294967296', '18446744073709551615', '18446744073709551616', '9'.repeat(30), '1e5'],
  ...['1.5', '\n', '\n\n', ' ', '\t', '\r\n', '\0', ':', ',', '-', '=', '"', "'", '[', ']', '(', ')', '\\', '#', '/'],
  ...['?', '&&', 'é', '😀', '\ufeff', '\u2028', '\xa0', 'x'.repeat(70), 'kB', 'cpu', 'node[1-3]'],
].map(piece => Buffer.from(piece));

/** An input with some bytes changed, some of them taken from other inputs of its kind; the first `keep` bytes stay. */
export function mutant(inputs: readonly Buffer[], next: Random, keep = 0): Buffer {
  const from = inputs[next(inputs.length)] as Buffer;
  let bytes: Buffer = Buffer.from(from.subarray(keep));
  for (let rounds = next(5) + 1; rounds > 0; rounds--) {
    const at = next(bytes.length + 1);
    const how = next(7);
    if (how === 0 && bytes.length > 0) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << next(8));
    else if (how === 1 && bytes.length > 0) bytes[at % bytes.length] = next(256);
    else if (how === 2)
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + next(bytes.length - at + 1))]);
    else if (how === 3) {
      const digits = [...bytes.toString('latin1').matchAll(/\d+/g)];
      const { 0: found = '', index = at } = digits[next(digits.length)] ?? {};
      const piece = PIECES[next(9)] as Buffer;
      bytes = Buffer.concat([bytes.subarray(0, index), piece, bytes.subarray(index + found.length)]);
    } else {
      const other = inputs[next(inputs.length)] as Buffer;
      const start = next(other.length);
      const piece = how === 4 ? other.subarray(start, start + next(40)) : (PIECES[next(PIECES.length)] as Buffer);
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(how === 5 ? at + piece.length : at)]);
    }
  }
  return Buffer.concat([from.subarray(0, keep), bytes]);
}

// ---- what both implementations read ----

const hex = (text: string) => Buffer.from(text).toString('hex');

function asReport(fields: object | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const bytes = Buffer.alloc(REPORT_BYTES);
  encode('report', new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, fields as Encodable<'report'>);
  return bytes.toString('hex');
}

const own = (value: number | bigint | undefined) => (value === undefined ? undefined : String(value));

/** A u32 modulo 2^32, as in a report. */
const modulo = (value: number | bigint) => BigInt.asUintN(32, BigInt(value));

/** What a parser makes of a text, and how much of it: 1 all, 2 a part; 0 and undefined: nothing. */
function parsed<T>(
  parse: (text: string, leaveOut: () => void) => T | undefined,
  text: string,
): [number, T | undefined] {
  let taken = 1;
  const made = parse(text, () => {
    taken = 2;
  });
  return [made === undefined && taken === 2 ? 0 : taken, made];
}

function interfaces(text: string): string | undefined {
  const [taken, all] = parsed(netdevParser(), text);
  const told = all?.map(
    one =>
      ` ${hex(one.name)}:${one.rx_bytes},${one.tx_bytes},${one.rx_packets},${one.tx_packets},${modulo(one.errors)},${modulo(one.drops)}`,
  );
  return told && `${taken} ${told.length}${told.join('')}`;
}

/** In the order of c/test/fuzz/kernel.c. */
const KERNEL: ((text: string) => string | undefined)[] = [
  text => asReport(parseLoadavg(text)),
  text => {
    const [taken, stat] = parsed(parseStat, text);
    return stat && `${asReport(stat)} ${taken} ${parsed(parseCpuTimes, text)[0]}`;
  },
  text => asReport(parseMeminfo(text)),
  text => asReport(parseVmstat(text)),
  text => asReport(parseCpuPressure(text)),
  text => asReport(parseMemoryPressure(text)),
  text => asReport(parseIoPressure(text)),
  text => asReport(parseIrqPressure(text)),
  text => asReport(parseSnmp(text)),
  text => asReport(parseFileNr(text)),
  interfaces,
  text => {
    const [taken, disks] = parsed(diskstatsParser(), text);
    return disks && `${taken} ${asReport(sumDisks(disks))}`;
  },
  text => own(parseCpuList(text)?.length),
  text => own(parseBootId(text)),
  text => {
    const { hypervisor, mhz } = parseCpuinfo(text);
    return `${hypervisor ? 1 : 0} ${mhz ?? -1}`;
  },
  text => {
    const release = parseRelease(text);
    return release && hex(release);
  },
  text => own(parsePackageId(text)),
  text => own(parseSpeed(text)),
  text => {
    const index = parseIndex(text);
    return index === Number.POSITIVE_INFINITY ? 'inf' : String(BigInt(index));
  },
  text => {
    const file = parseGpuFile(text);
    return file && `${enums.gpu_vendor.indexOf(file.vendor)} ${file.gpus.length}`;
  },
  text => own(parsePower(text)),
  text => own(parseTemperature(text)),
  text => own(parseCount(text)),
  text => own(parseInteger(text)),
];

/** TypeScript's answer for an input of the target `kernel`. */
export function kernelAnswer(input: Buffer): string {
  const parse = KERNEL[(input[0] ?? 0) % KERNEL.length];
  return input.length === 0 ? '' : (parse?.(input.toString('utf8', 1)) ?? 'no');
}

const { parse: parseToml } = createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml');

/** The values in a TOML table, each with its path, in the format of c/test/fuzz/config.c; in any order. */
function values(table: object, path: string): string[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const here = path === '' ? hex(key) : `${path}.${hex(key)}`;
    if (Array.isArray(value)) return [`${here}=array${value.map(one => `:${hex(String(one))}`).join('')}`];
    if (typeof value === 'object') return values(value, here);
    const kind = { string: 'text', boolean: 'truth' }[typeof value as string] ?? 'number';
    return [`${here}=${kind}:${hex(String(value))}`];
  });
}

/**
 * Undefined if C and TypeScript read a file in the same way; otherwise TypeScript's answer. C supports less of TOML.
 */
export function configDisagrees(input: Buffer, told: string): string | undefined {
  if ((input[0] ?? 0) % 4 === 1) {
    const here = keysAnswer(input.toString('latin1', 1));
    return here === told ? undefined : here;
  }
  // Bytes that are not UTF-8 stay in C, and become U+FFFD here.
  if (told.endsWith(' NO') || input.toString('utf8', 1).includes('\ufffd')) return undefined;
  let here: string;
  try {
    here = values(parseToml(input.toString('utf8', 1).replace(/^\ufeff/, ''), { integersAsBigInt: true }), '')
      .sort()
      .join(' ');
  } catch (error) {
    // C leaves it to the caller to check whether a key occurs twice.
    here = `refused: ${(error as Error).message.split('\n')[0]}`;
    if (/redefin|already|trying to/i.test(here)) return undefined;
  }
  const there = told.split(' ').slice(1).sort().join(' ');
  return here === there ? undefined : here;
}

function keysAnswer(text: string): string {
  try {
    const [key] = parseKeys(text);
    if (key === undefined || (key.node !== undefined && key.node !== 'node1')) return 'NO';
    // The target prints an HMAC made with the key instead of the key; nodeKey() makes the same of a text.
    return `${key.node === undefined ? 1 : 2} ${key.id} ${nodeKey(key, 'fuzz').secret.toString('hex')}`;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return 'NO';
  }
}

/** The number of kinds of inputs of gatefiles. */
const KINDS = 7;
export const FOLDS = 3;

/** Undefined if C folds the names to the same list as TypeScript; otherwise TypeScript's list. */
function foldDisagrees(input: Buffer, told: string): string | undefined {
  const names = input.toString('latin1', 1).split(/[^A-Za-z0-9._-]+/);
  const here = fold(names.filter(name => name !== ''));
  return here === told ? undefined : here;
}

/**
 * Undefined if C and TypeScript read a host list in the same way; otherwise TypeScript's answer. C accepts upper case,
 * and no steps.
 */
export function hostlistDisagrees(input: Buffer, told: string): string | undefined {
  const kind = input.length > 0 ? (input[0] ?? 0) % KINDS : 0;
  if (kind === FOLDS) return foldDisagrees(input, told);
  // What follows only C reads.
  if (kind > FOLDS) return undefined;
  const text = input.toString('latin1', 1);
  // For other characters, C prints their bytes, and blanks are only those of ASCII.
  const isPlain = !/[\x80-\xff]/.test(text);
  let here: string;
  try {
    here = expand(text, 3000, 'slurm').join(' ');
  } catch (error) {
    if (!(error instanceof NodesetError)) throw error;
    here = `NO ${error.message}`;
  }
  const isSame = !isPlain && here.startsWith('NO ') ? told.startsWith('NO ') : here === told;
  return isSame ? undefined : here;
}

/** Undefined if C and TypeScript read a client's commands in the same way; otherwise TypeScript's answer. */
export function commandsDisagree(input: Buffer, told: string): string | undefined {
  const step = 1 + ((input[0] ?? 0) % 32);
  const taker = new Words();
  let here = '';
  for (let at = 1; at < input.length; at += step) {
    const words = taker.take(input.toString('latin1', at, Math.min(at + step, input.length)));
    // C still answers the words before a word that is too long, TypeScript does not.
    if (words === undefined)
      return told.startsWith(`${here} |`) &&
        told.endsWith(` B${Buffer.from(taker.begun, 'latin1').toString('hex').slice(0, 128)} LONG`)
        ? undefined
        : `${here} … LONG`;
    here += ' |';
    for (const word of words) {
      const command = commandOf(word);
      if (command.kind === 'schema') here += ' #';
      else if (command.kind === 'sample') here += ` S${command.mask.toString(16)}`;
      else here += ` B${Buffer.from(word, 'latin1').toString('hex')}`;
    }
  }
  return here === told ? undefined : here;
}

/** A target's answers, one line for each input. */
export function tellAll(program: string, inputs: readonly Buffer[]): string[] {
  const packed = inputs.flatMap(input => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(input.length);
    return [length, input];
  });
  const { status, signal, stdout, stderr } = spawnSync(program, ['--tell'], {
    input: Buffer.concat(packed),
    maxBuffer: 1 << 30,
    timeout: 120_000,
  });
  if (status !== 0) throw new Error(`${program} --tell ended with ${status ?? signal}\n${stderr}`);
  return stdout.toString().split('\n').slice(0, -1);
}

// ---- boards ----

/** A running target that answers one question after the other. */
class Teller {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(t: Teardown, program: string) {
    this.#child = spawn(program, ['--tell']);
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    t.teardown(() => {
      this.#child.stdin.end();
    });
  }

  async ask(input: string): Promise<string> {
    const bytes = Buffer.from(input);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    this.#child.stdin.write(Buffer.concat([length, bytes]));
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the target has ended');
    return value;
  }
}

function nodesOf(snapshot: Snapshot): string {
  const told = [...snapshot.nodes()].map(node => {
    const { report, previous, record } = node;
    const had = report === undefined ? 0 : previous === undefined ? 1 : 2;
    const newest = report === undefined ? '' : `,${report.seq},${report.boot_id}`;
    const before = previous === undefined ? '' : `,${previous.seq}`;
    return ` ${hex(node.name)},${node.state},${record.accepted},${record.lost},${had}${newest}${before}`;
  });
  return `ready ${snapshot.count}${told.join('')}`;
}

/** TypeScript's answer about a board, in the format of c/test/fuzz/boards.c. */
export function boardAnswer(path: string): string {
  const reader = new BoardReader(path);
  try {
    return nodesOf(reader.snapshot());
  } catch (error) {
    if (error instanceof NoBoard) return error.state;
    throw error;
  } finally {
    reader.close();
  }
}

/**
 * Whether both answers about a board agree. Numbers beyond 2^53 are rounded here, and names that are not UTF-8 or have
 * no NUL are shown differently. If a node's newest slot is invalid although its sequence says that it is complete,
 * which no writer leaves behind, the library answers `?`, and here the other slot is read.
 */
function agree(here: string, there: string): boolean {
  const [ours, theirs] = [here.split(' '), there.split(' ')];
  return (
    ours.length === theirs.length &&
    ours.every((word, i) => word === theirs[i] || theirs[i] === '?' || shown(word) === shown(theirs[i] ?? ''))
  );
}

function shown(node: string): string {
  const [name = '', ...rest] = node.split(',');
  const isPlain = name.length < 126 && /^(?:[2-7][0-9a-f])*$/.test(name);
  return [isPlain ? name : 'name', ...rest.map(part => (/^(?:\d{16,}|undefined)$/.test(part) ? 'large' : part))].join();
}

interface BoardCounts {
  boards: number;
  read: number;
}

/** Corrupts boards until `enough`: the library and this reader have to give the same answer for each. */
export async function compareBoards(
  t: Teardown,
  program: string,
  seed: number,
  enough: (boards: number) => boolean,
): Promise<BoardCounts> {
  const teller = new Teller(t, program);
  const path = boardPath(t);
  const next = random(seed);
  const counts = { boards: 0, read: 0 };
  let good = new Sheet().bytes;
  for (; !enough(counts.boards); counts.boards++) {
    // A new one now and then, so that its heartbeat is not too old.
    if (counts.boards % 500 === 0) good = new Sheet().bytes;
    writeFileSync(path, spoil(good, next));
    const ask = async () => {
      const here = boardAnswer(path);
      const there = await teller.ask(path);
      // It ages: what was live before the library looked can be unknown afterwards.
      return { here, there, isSame: agree(here, there) || agree(boardAnswer(path), there) };
    };
    let told = await ask();
    if (!told.isSame) {
      // The library's clock, which ticks every few milliseconds, can be behind ours, on the other side of a limit: after
      // a tick it no longer is.
      await setTimeout(20);
      told = await ask();
    }
    const { here, there } = told;
    if (!told.isSame)
      throw new Error(`board ${counts.boards} of seed ${seed}: TypeScript says\n  ${here}\nthe library\n  ${there}`);
    if (here.startsWith('ready')) counts.read++;
  }
  return counts;
}

// ---- what TypeScript alone reads ----

export interface TextTarget {
  name: string;
  seeds: readonly string[];
  /** Throws if a rule is violated. Returns whether the text was accepted. */
  check(text: string): boolean;
}

export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** An error in one line, with a hint. */
export function checkRefusal(error: unknown): asserts error is InputError {
  if (!(error instanceof InputError)) throw error;
  must(!/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(error.message), `not one line: ${JSON.stringify(error.message)}`);
  must(error.message.includes('; '), `no hint: ${error.message}`);
}

/** An error with an exit code, in one line. */
function checkFailure(error: unknown): asserts error is Failure {
  if (!(error instanceof Failure)) throw error;
  must(!/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(error.message), `not one line: ${JSON.stringify(error.message)}`);
  must(error.message.length < 1000, `a line of ${error.message.length} characters`);
}

/** A seed that was made for this file alone. */
const NKEY = 'SUABD5UKJIGHJYR5KKYCVMKCB6E3JMKQLTPEWWHFXKSCE4HEZUYXVSXOYQ';

const UNITS = new Map(toldValues.map(({ name, unit }) => [name, unit]));

/** Reads a schema and answers to it, and draws the screen. Returns whether there was a sample. */
function checkSamples(schema: Expression, answers: Iterable<{ ms: number; answer: Expression }>): boolean {
  const reader = new SampleReader(schema, undefined);
  const history = new History();
  let samples = 0;
  let last = 0;
  for (const { ms, answer } of answers) {
    const sample = reader.take(answer, ms);
    last = ms;
    if (sample === undefined) continue;
    samples++;
    for (const [name, value] of sample.values) {
      must(Number.isFinite(value), `${name} is ${value}`);
      must(!name.endsWith('_pct') || (value >= -1e-9 && value <= 100 + 1e-9), `${name} is ${value}`);
      must(!name.endsWith('_s') || value >= 0, `${name} is ${value}`);
    }
    history.add(sample);
  }
  const { node = '', cost } = reader;
  must(cost === undefined || (Number.isFinite(cost) && cost >= 0), `a cost of ${cost}`);
  const heading = { node, rate: 100, samples, ms: last, leftOut: 0, cost, isPlayed: false };
  const lines = chart(history, UNITS, heading, { columns: 60, rows: 30 }, painter('never'));
  must(
    lines.every(line => !/[\0-\x1f\x7f-\x9f]/.test(line)),
    'a control character on the screen',
  );
  must(!/NaN|Infinity|undefined/.test(lines.slice(1).join('')), `${lines.join('\n')}`);
  must(
    lines.slice(1, -1).every(line => line.length === 60),
    `lines of other widths: ${lines.join('\n')}`,
  );
  return samples > 0;
}

/** The scanner's result for pieces of so many bytes: an expression, why it is none, or that it is not complete. */
function scanned(bytes: Buffer, pieces: number): Expression | string {
  const scanner = new Scanner(1 << 20);
  try {
    for (let at = 0; at < bytes.length; at += pieces) {
      const found = scanner.push(bytes.subarray(at, at + pieces));
      if (found !== undefined) return found;
    }
    return 'is not all there';
  } catch (error) {
    if (!(error instanceof BadExpression)) throw error;
    return error.message;
  }
}

/** A schema, and answers to it. */
const ZOOMED = [
  `((s server 0x8000 0 ((nr 1) nodes cpu_us)) (s cpuinfo 0x1 0 ((nr 1) user nice system idle iowait irq softirq steal))
(s netinfo 0x2 0 ((nr n) rxbytes rxpackets txbytes)) (s avenrun 0x40 0 ((nr 1) avg1 avg5 avg15))
(s pressure 0x200 0 ((nr 1) cpu_some_us mem_some_us mem_full_us io_some_us io_full_us))
(s memory 0x1000 0 ((nr 1) total_mib free_mib avail_mib)) (s procs 0x4000 0 ((nr 1) running blocked forks))
(s disk 0x2000 0 ((nr 1) reads writes rdbytes wrbytes busy_ms inflight)))`,
  ...[0, 1, 2].map(
    i => `((n1 cpuinfo live 0 ((nr 1) ${100 + 3 * i} 0 50 ${800 + i} 10 0 5 0))
(n1 netinfo live 0 ((nr 2) (eth0 ${1000 * i} 5 2000) ("eth0:1" 10 5 ${20 * i}))) (n1 avenrun live 0 ((nr 1) 3072 2048 1024))
(n1 pressure live 0 ((nr 1) ${1000 * i} 0 0 nil nil)) (n1 memory live 0 ((nr 1) 1000 100 400))
(n1 disk live 0 ((nr 1) 1 1 ${512 * i} 1024 1 ${i})) (n1 procs live 0 ((nr 1) 2 1 9)) (s server ok 0 ((nr 1) 1 ${1000 * i})))`,
  ),
] as const;

const CONFIG: Record<string, ConfigShape> = { to: 'many', name: 'one', interval: 'one', once: 'flag', nodes: 'many' };

/** Targets for texts; `place`: a folder for files. */
/** Lines of events and of jobs; each line is a seed of its own, too, because few are whole after a mutation. */
function journalSeeds(): string[] {
  const made = (number: number, happening: object) =>
    writeLine({
      ...{ id: `0000000000000abc-17-${number}`, at: '2026-11-27T03:05:00.000Z', mono_ms: 1e6, board: 'b', ring: 7 },
      ...(happening as { event: string }),
    });
  const from = '2026-11-27T03:04:58.001Z';
  const about = { from, nodes: 'n[1-3]', count: 3, first: 'n2' };
  const lines = [
    made(1, { event: 'begin', version: '1', count: 3, states: { live: 3 } }),
    made(2, { event: 'silent', ...about, last_words: ['oom'], more: 1, missed: 2, late: true }),
    writeLine({ id: '0000000000000abc-17-2', jobs: [{ id: '4711', user: 'anna', nodes: 'n1' }] }),
    made(3, { event: 'heard_again', from, to: '2026-11-27T03:05:58.001Z', nodes: 'n[1-2]' }),
    made(4, { event: 'problem', problem: 'oom', from, nodes: 'n1' }),
    made(5, { event: 'boot', ...about, last_words: [], words_from: from }),
    made(6, { event: 'link_down', link: 'eth0', from }),
    made(7, { event: 'dark', link: 'eth0', from, count: 2 }),
    made(2, { event: 'silent', ...about, nodes: 'n3', count: 1, repeated: true }),
    made(8, { event: 'refusal', reason: 'rival', from }),
    made(9, { event: 'order', act: 'drain', outcome: 'done', why: 'silent', from, nodes: 'n3' }),
    made(10, { event: 'lost', count: 2, why: 'ring', from }),
  ];
  return [lines.join(''), ...lines];
}

/** Reads a journal in every way. Returns whether there is an event in it. */
function checkJournal(folder: string, lines: number): boolean {
  const asked = { sinceMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
  const journal = () => new Journal(new JournalFolder(folder, believedUsers(undefined)));
  const [listing, ends] = [new Listing(journal(), asked), journal()];
  const told = [...merged([listing])];
  const last = lastEnds(ends, asked);
  must(told.length <= lines, `${told.length} events of ${lines} lines`);
  must(last.length <= told.length, 'more ends than events');
  const paint = painter('never');
  const texts = [
    ...told.flatMap(one => [journalLine(one, paint, true), journalObject(one)]),
    ...last.flatMap(one => [lastEndLine(one, paint, true), lastEndObject(one)]),
  ];
  for (const text of texts) {
    must(/^[^\0-\x1f\x7f-\x9f\u2028\u2029]*\n$/.test(text), `not one line: ${JSON.stringify(text)}`);
    must(!/undefined|NaN|Invalid/.test(text), `what is not known is told: ${text}`);
  }
  listing.journal.close();
  ends.close();
  return told.length > 0;
}

export function textTargets(place: string): TextTarget[] {
  const nodes = [
    ...madeBoard([
      { name: 'node1', age: 1, ...busy(3) },
      { name: 'node2', age: 100 },
      { name: 'left', age: 3, goodbye: true },
      { name: 'never' },
    ]).nodes(),
  ];
  const file = join(place, 'config.toml');
  return [
    {
      name: 'host lists',
      seeds: [
        ...['node[001-128]', 'n1,n2,n10', 'r[1-2]n[01-10,12]-ib', 'rack[1-4]n[1-3,9-10]', 'a-b.c_d', 'x[0-0]'],
        ...['[1-3]', 'n[8-11]'],
      ],
      check(text) {
        let names: string[];
        try {
          names = expand(text, 3000);
        } catch (error) {
          checkRefusal(error);
          must(error instanceof NodesetError && error.column >= 1 && error.column <= text.length + 1, `${error}`);
          return false;
        }
        must(new Set(names).size === names.length && names.length <= 3000, 'a name twice');
        must(
          names.every(name => /^[a-z0-9][a-z0-9._-]{0,62}$/.test(name)),
          'not a name',
        );
        const folded = fold(names);
        const again = expand(folded, BOARD_MOST);
        must(again.length === names.length && again.every(name => names.includes(name)), `folded it is ${folded}`);
        must(fold(again) === folded, `${folded} folds to ${fold(again)}`);
        return true;
      },
    },
    {
      name: '--where',
      seeds: [
        ...['mem_avail_mib < 1024 && state == live', '!(load > 10) || name == "node1"', "os_release != '6.1'"],
        ...['health == bad', '-1.5e3<=cpu_busy_pm', 'state==silent||(state==left&&lost>0)', '((!load))'],
        ...['constructor || any(__proto__) && state == toString'],
      ],
      check(text) {
        try {
          const condition = parseCondition(text);
          for (const node of nodes) must(typeof condition(node) === 'boolean', 'neither true nor false');
          return true;
        } catch (error) {
          checkRefusal(error);
          const column = Number(/^column (\d+): /.exec(error.message)?.[1]);
          must(column >= 1 && column <= text.length + 1, `no column of the text: ${error.message}`);
          return false;
        }
      },
    },
    {
      name: 'patterns',
      seeds: [
        '^(node|rack)[0-9]{1,4}([.]cluster)?$',
        '([](]{2}|[^](]|[[:alpha:](]){0,9}(?i)k+',
        '\\Q({2}\\E{3}(?P<n>\\x{100}\\p{Greek}*?|$^|{,3}\\{4})',
        '((.?){30,}\\b){0}(?s:.)\\C',
      ],
      check(text) {
        try {
          const find = compilePattern(text, 'x');
          const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
          const size = RE2JS.compile(text).programSize();
          must(size <= find.size && find.size <= MOST_INSTRUCTIONS, `${size} instructions, not ${find.size}`);
          must(find('rack1n1') === undefined || 'rack1n1'.includes(find('rack1n1') as string), 'not a part');
          return true;
        } catch (error) {
          checkRefusal(error);
          return false;
        }
      },
    },
    {
      name: "gmetad's query",
      seeds: [
        ...['/', '/alpha', '/alpha/node1/load_one', '/alpha?filter=summary', 'GET /status HTTP/1.1'],
        ...['GET /?filter=summary HTTP/1.0', '//a//b/'],
      ],
      check(text) {
        const query = parseQuery(text);
        if (query === undefined) return false;
        const { cluster, host, metric, summary, http, status } = query;
        must(text.length <= LINE_MAX, 'too long');
        const parts = [cluster, host, metric].filter(part => part !== undefined);
        must(
          parts.every(part => part !== '' && !/[/>!@#$%`;|"\\'<?]/.test(part)),
          `${parts}`,
        );
        must(!(host !== undefined && cluster === undefined) && !(metric !== undefined && host === undefined), 'a gap');
        const path = `/${parts.join('/')}${summary ? '?filter=summary' : ''}`;
        const again = parseQuery(http ? `GET ${path} HTTP/1.0` : path);
        must(
          again !== undefined &&
            [again.cluster, again.host, again.metric, again.summary, again.http].join() ===
              [cluster, host, metric, summary, http].join(),
          `written as ${path} it is another`,
        );
        must(!status || cluster === 'status', 'the status of nothing');
        return true;
      },
    },
    {
      name: "Supermon's answers",
      seeds: [
        '((n1 cpuinfo live 12 ((nr 1) 1 2 3)) ("a.b" netinfo live 12 ((nr 1) (eth0 1 2))))',
        '(("vm/33ece9" server 0x8000 0 ((nr 1) nodes)))\n',
        '((x error bad 0 ("there is no \\"command\\" \\\\")))\n',
        '()',
      ],
      check(text) {
        const bytes = Buffer.from(text, 'latin1');
        const whole = scanned(bytes, bytes.length + 1);
        const pieces = scanned(bytes, 3);
        // The scanner checks bytes after the end only if they arrive together with it.
        if (typeof whole === 'string') {
          must(whole === pieces || whole === 'continues after its end', `${whole}, and in pieces ${pieces}`);
          return false;
        }
        must(typeof pieces !== 'string', `whole it is taken, in pieces it ${pieces}`);
        const members = whole.elements.map(({ start, end }) => bytes.toString('latin1', start, end));
        const again = readExpression(`(${members.join(' ')})`);
        must(Array.isArray(again) && again.length === members.length, 'its members are others');
        for (const [i, element] of whole.elements.entries()) {
          const atoms = atomsOf(whole, element, 3);
          const member = again[i] as unknown[];
          must(
            atoms.every(
              (atom, k) => member[k] === Buffer.from(atom, 'utf8').toString('latin1') || atom.includes('\ufffd'),
            ),
            `${atoms}: other atoms`,
          );
        }
        return true;
      },
    },
    {
      name: "zoom's samples",
      seeds: [
        ZOOMED.join('\n\n'),
        ZOOMED.toSpliced(2, 1, '((n1 procs live 0 ((nr 1) 2 1 9)) (n2 procs live 0 ((nr 1) 3 1 9)))').join('\n\n'),
        '((s cpuinfo 0x1 0 ((nr 1) idle user)))\n\n((a cpuinfo live 0 ((nr 1) 1 2)))\n\n((a cpuinfo live 0 ((nr 1) 1 nil)))',
      ],
      check(text) {
        const [schema, ...answers] = text.split('\n\n').map(part => scanned(Buffer.from(part, 'latin1'), 1 << 20));
        if (schema === undefined || typeof schema === 'string') return false;
        const whole = answers.filter(answer => typeof answer !== 'string');
        try {
          return checkSamples(
            schema,
            // Times between answers, which include zero and very long ones.
            whole
              .map((answer, i) => ({ ms: [0, 0, 5e-324, 7, 110, 1e5, 8e7][i % 7] ?? 0, answer }))
              .sort((a, b) => a.ms - b.ms),
          );
        } catch (error) {
          checkFailure(error);
          return false;
        }
      },
    },
    {
      name: "zoom's recordings",
      seeds: [
        [
          JSON.stringify({ form: 'beoboard zoom 1', node: 'n1', schema: ZOOMED[0] }),
          ...ZOOMED.slice(1).map((answer, i) => JSON.stringify({ ms: i * 10.5, answer })),
        ].join('\n'),
        '{"form":"beoboard zoom 1","schema":"((s cpuinfo 0x1 0 ((nr 1) \\"a\\" b)))"}\n{"ms":1e2,"answer":"()"}\n{"answer":"((a b c ()))","ms":100.001}',
      ],
      check(text) {
        const [first, ...lines] = text.split('\n').map(line => Buffer.from(line).toString('latin1'));
        const parser = new RecordingParser('FILE');
        let number = 1;
        let last = 0;
        const heard = [];
        try {
          const { schema } = parser.head(first);
          for (const line of lines) {
            number++;
            const one = parser.next(line);
            must(Number.isFinite(one.ms) && one.ms >= last && one.ms - last <= 86_400_000, `${one.ms} after ${last}`);
            last = one.ms;
            heard.push(one);
          }
          number = 0;
          return checkSamples(schema, heard) || heard.length > 0;
        } catch (error) {
          checkFailure(error);
          must(number === 0 || error.message.startsWith(`FILE:${number}: `), `no line: ${error.message}`);
          return false;
        }
      },
    },
    {
      name: 'segments of a journal',
      seeds: journalSeeds(),
      check(text) {
        const folder = join(place, 'journal');
        mkdirSync(folder, { recursive: true });
        for (const kind of ['events', 'jobs'] as const)
          writeFileSync(join(folder, segmentName(kind, '2026-11-27', 1)), text);
        return checkJournal(folder, text.split('\n').length - 1);
      },
    },
    {
      name: "a user's nkey and creds",
      seeds: [NKEY, `-----BEGIN A-----\nx\n------END A------\n\n-----BEGIN B-----\n${NKEY}\n------END B------\n`],
      check(text) {
        let taken = false;
        for (const parse of [parseNkey, parseCreds, parseLogin])
          try {
            parse(text);
            taken = true;
          } catch (error) {
            checkRefusal(error);
          }
        return taken;
      },
    },
    {
      name: 'configuration',
      seeds: [
        'to = ["10.0.0.1", "master:8677"]\nname = "node1" # who\n',
        'interval = "250ms"\nonce = true\n',
        'nodes = [\n  "node[1-3]",\n  "a",\n]\n',
        'name = \'x\'\r\n"to" = ["\\u00e9"]\n',
      ],
      check(text) {
        writeFileSync(file, text);
        try {
          for (const [key, { texts, where }] of readConfig(file, CONFIG)) {
            const shape = CONFIG[key];
            must(shape !== undefined && texts.every(one => typeof one === 'string'), key);
            must(shape === 'many' || texts.length <= 1, `${key} has ${texts.length} values`);
            must(where.startsWith(`${file}:`), where);
          }
          return true;
        } catch (error) {
          checkRefusal(error);
          const line = Number(error.message.slice(file.length + 1).split(/[:,]/)[0]);
          must(
            error.message.startsWith(`${file}:`) && line >= 1 && line <= text.split('\n').length,
            `no line: ${error.message}`,
          );
          return false;
        }
      },
    },
  ];
}

/** Mutates the texts of a target until `enough`. Returns how many there were, and how many were accepted. */
export function fuzzTexts(
  target: TextTarget,
  seed: number,
  enough: (texts: number) => boolean,
): { texts: number; taken: number } {
  const next = random(seed);
  const pool: Buffer[] = target.seeds.map(text => Buffer.from(text));
  const counts = { texts: 0, taken: 0 };
  for (; !enough(counts.texts); counts.texts++) {
    const bytes = counts.texts < target.seeds.length ? (pool[counts.texts] as Buffer) : mutant(pool, next);
    const text = bytes.toString();
    try {
      if (!target.check(text)) continue;
      counts.taken++;
      // Accepted texts are mutated further; their number is limited, so that no kind displaces the others.
      if (bytes.length < 200) pool[pool.length < 500 ? pool.length : next(500 - 20) + 20] = bytes;
    } catch (error) {
      throw new Error(`${target.name}, text ${counts.texts} of seed ${seed}: ${JSON.stringify(text)}`, {
        cause: error,
      });
    }
  }
  return counts;
}
