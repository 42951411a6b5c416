// Every broken board of test/kit/brokenboards.ts, and what our programs say about it: the readers, a reader in C, and a
// receiver that is started on it. None crashes, hangs, or trusts it; none writes to a file that is not our board. The
// golden text can be read from top to bottom. To write it again, after looking at why: node
// dist/test/board/brokenboards.test.js --write
//
// @seconds 12
// @whole
// @days 3

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { fits } from '../../src/cli/boardfile.js';
import { main as dump } from '../../src/cli/dump.js';
import { main as status } from '../../src/cli/status.js';
import { main as xml } from '../../src/ganglia-xml/xml.js';
import { decode } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import { Failure } from '../../src/text/failure.js';
import { json } from '../../src/text/output.js';
import { oneLine } from '../../src/text/text.js';
import { boardFault } from '../kit/boardjudge.js';
import {
  type BrokenBoard,
  beat,
  CAPACITY,
  groups,
  lockUp,
  make,
  NEWEST,
  random,
  reportOf,
  Sheet,
  spoil,
} from '../kit/brokenboards.js';
import { ended } from '../kit/children.js';
import { CHECKED, copyOf, makeIn } from '../kit/compiling.js';
import { AS_NOBODY, NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { awaited, until } from '../kit/until.js';
import { partOf, SEED, WHOLE } from '../kit/whole.js';

const HEADER = structs.board_header.bytes;
const GOLDEN = join(ROOT, 'test', 'golden', 'broken-boards.txt');
/** How many random boards, in multiples of what the whole suite tries. */
const TIMES = Number(process.env.TIMES ?? (WHOLE ? 1 : 0.2));

t.setTimeout(600_000);
const base = folder(t);
chmodSync(base, 0o755); // an ordinary user needs access

// A reader with the sanitizers, of board/reader.o alone, as schedulers link it.
const LOOK = copyOf(t, join(makeIn('', CHECKED, 'look'), 'look'));
// No leak check: the reader allocates nothing, and the check takes longer than a look.
process.env.ASAN_OPTIONS = 'detect_leaks=0';

/** Why a board cannot be made or read here. */
function obstacle(board: BrokenBoard): string | undefined {
  if (board.root && !ROOT_USER) return 'only root can make it';
  if (board.ordinary) return noOrdinaryUser() || undefined;
  return undefined;
}

/** A verb's answer. */
interface Answer {
  code: number | string;
  stdout: string;
  stderr: string;
}

interface Started {
  child: ChildProcess;
  end: Promise<Answer>;
}

/** Runs a program; one that takes too long is killed, and its code says so. */
function begin(command: string[], ipc = false): Started {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])] });
  return { child, end: ended(child) };
}

/** A process that may crash: test/kit/brokenboards.ts with other arguments. */
const sacrifice = (...argv: string[]) =>
  begin([process.execPath, fileURLToPath(new URL('../kit/brokenboards.js', import.meta.url)), ...argv], true);

async function limited({ child, end }: Started): Promise<Answer> {
  const inTime = await awaited('it has ended', end).catch(() => undefined);
  if (inTime !== undefined) return inTime;
  child.kill('SIGKILL');
  return { ...(await end), code: 'HANGS' };
}

/** One at a time, because each replaces stdout.write. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs a verb as a function: its exit code and its output. */
async function within(main: (argv: string[]) => Promise<number>, argv: string[]): Promise<Answer> {
  const before = turn;
  const answer = before.then(async () => {
    const write = process.stdout.write;
    let stdout = '';
    process.stdout.write = ((piece: string | Uint8Array, done?: () => void) => {
      stdout += Buffer.from(piece as string).toString();
      done?.();
      return true;
    }) as typeof write;
    try {
      return { code: await main(argv), stdout, stderr: '' };
    } catch (error) {
      if (!(error instanceof Failure)) return { code: 'CRASH', stdout, stderr: (error as Error).stack ?? '' };
      return { code: error.exitCode, stdout, stderr: `beoboard x: ${oneLine(error.message)}\n` };
    } finally {
      process.stdout.write = write;
    }
  });
  turn = answer.catch(() => undefined);
  return await answer;
}

// ---- their answers, in short ----

const plain = (name: string) => (/^[\w.-]+$/.test(name) ? name : json(name));
const squeeze = (line: string) => line.trimEnd().replace(/ {2,}/g, '  ');

/** Summarizes each verb's output in a few lines. */
const DIGESTS: Record<string, (stdout: string) => string[]> = {
  status(stdout) {
    const text = stdout.trimEnd().split('\n');
    const head = text.findIndex(line => line.startsWith('NODE '));
    const end = text.indexOf('', head);
    const rows = head < 0 ? [] : text.slice(head + 1, end < 0 ? undefined : end);
    const more = rows.length > 3 ? [`… ${rows.length - 3} more`] : [];
    // The totals can have any number of lines; indented lines continue the line of trouble before.
    const [headline = '', ...above] = head < 0 ? text : text.slice(0, head);
    const trouble = above
      .join('\n')
      .replaceAll(/\n {4,}/g, ' ')
      .split('\n');
    const lines = trouble.filter(line => /^(critical|warning|notice) /.test(line));
    return [headline, ...lines.map(squeeze), ...rows.slice(0, 3).map(squeeze), ...more];
  },
  '--json'(stdout) {
    const { board, nodes } = JSON.parse(stdout);
    const flags = ['stalled', 'closed', 'retired', 'filtering'].filter(flag => board[flag]);
    const states = nodes
      .slice(0, 3)
      .map((node: { name: string; state: string }) => `${plain(node.name)} ${node.state}`);
    if (nodes.length > 3) states.push(`… ${nodes.length - 3} more`);
    return [[...flags, ...states].join(', ') || 'no nodes'];
  },
  xml(stdout) {
    if (!stdout.endsWith('</CLUSTER>\n</GANGLIA_XML>\n')) return ['half a document'];
    const cluster = /<CLUSTER NAME="([^"]*)"/.exec(stdout)?.[1] ?? '';
    const hosts = stdout
      .split('<HOST NAME="')
      .slice(1)
      .map(host => {
        const tn = Number(/ TN="(-?\d+)"/.exec(host)?.[1]);
        return `${/^[^"]*/.exec(host)?.[0]} ${tn < 80 ? 'up' : 'down'}, ${host.split('<METRIC ').length - 1} metrics`;
      });
    const more = hosts.length > 3 ? [`… ${hosts.length - 3} more`] : [];
    return [`${cluster}: ${[...hosts.slice(0, 3), ...more].join('; ') || 'no hosts'}`];
  },
  dump(stdout) {
    const lines = stdout
      .replace(/, \d+ bytes$/m, '')
      .trimEnd()
      .split('\n');
    return [[lines[0], ...(lines.length > 1 ? [lines.at(-1)] : [])].join('; ')];
  },
  look: stdout => [stdout.trimEnd().replaceAll('\n', '; ')],
  judge: stdout => [stdout],
};

const DATE =
  '(?:[A-Z][a-z]{2} \\d\\d \\d\\d:\\d\\d|(?:\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d:\\d\\d|\\d{4}-\\d\\d-\\d\\d(?!T))';
const TIME = new RegExp(`\\b(?:\\d+(?:ms|\\.\\ds|m\\d\\ds|h\\d\\dm|d\\d+h)|\\d+ (?:s|min|h|d)|${DATE})\\b`, 'g');
// Wide enough for all columns, however long ago this machine was booted.
process.env.COLUMNS = '200';

/** An answer as the golden text shows it: the code and the output, without folders and times. */
function digest(verb: string, answer: Answer, place: string): string[] {
  const said = answer.stdout === '' ? [] : (DIGESTS[verb]?.(answer.stdout) ?? []);
  const complaint = answer.stderr === '' ? [] : [answer.stderr.trimEnd().replace(/^beoboard \w+: /, '')];
  const lines = [...said, ...complaint].join('\n').replaceAll(place, 'DIR').replace(TIME, 'TIME').split('\n');
  return lines.map((line, i) => `${i === 0 ? String(answer.code).padEnd(2) : '  '} ${line}`);
}

/** What no answer may contain: a signal, a hang, a stack trace, several lines for people, or control characters. */
function fault(verb: string, { code, stdout, stderr }: Answer): string | undefined {
  if (typeof code !== 'number') return `${verb}: ended with ${code}: ${stderr}`;
  if (!/^(beoboard \w+: .+\n)?$/.test(stderr)) return `${verb}: not one line on stderr: ${stderr}`;
  const seen = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.exec(stdout + stderr);
  if (seen !== null) return `${verb}: wrote ${JSON.stringify(seen[0])}`;
  return undefined;
}

// ---- asking ----

type Told = [verb: string, answer: Answer][];

const ANSWERS = ['status', '--json', 'xml', 'dump'] as const;

/**
 * What the real program is asked of a board: one thing of the first of each group; starting Node for every board would
 * take most of the time.
 */
const byProgram = new Map(groups.map(([, [first]], i) => [first, ANSWERS[i % ANSWERS.length]]));

async function askReaders(board: BrokenBoard, path: string): Promise<Told> {
  const options = ['--board', path, ...(board.options ?? [])];
  const before = board.ordinary ? AS_NOBODY : [];
  const program = (...argv: string[]) => limited(begin([...before, process.execPath, PROGRAM, ...argv, ...options]));
  const verbs = {
    status: [status, 'status'],
    '--json': [status, 'status', '--json'],
    xml: [xml, 'xml'],
    dump: [dump, 'dump'],
  } as const;
  const look = limited(begin([...before, LOOK, path, ...(board.options?.slice(1) ?? [])]));
  const told: Told = [];
  for (const what of ANSWERS) {
    const [main, name, ...argv] = verbs[what];
    const isAsked = board.ordinary || byProgram.get(board) === what;
    told.push([what, await (isAsked ? program(name, ...argv) : within(main, [...argv, ...options]))]);
  }
  told.push(['look', await look]);
  if (told.every(([, { code }]) => code === 0)) {
    const wrong = boardFault(path, Number(board.options?.[1]) || undefined);
    if (wrong !== undefined) told.push(['judge', { code: 1, stdout: wrong, stderr: '' }]);
  }
  return told;
}

/** Everything in a folder, to find changes. */
function inventory(path: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (at: string) => {
    const stat = lstatSync(at, { bigint: true });
    const { ino, mode, uid, size, mtimeNs } = stat;
    let content = '';
    try {
      if (stat.isSymbolicLink()) content = readlinkSync(at);
      else if (stat.isFile() && size < 1n << 20n) content = createHash('sha256').update(readFileSync(at)).digest('hex');
    } catch {
      content = 'cannot be read';
    }
    const times = stat.isDirectory() ? [] : [size, mtimeNs];
    found.set(relative(path, at), [ino, mode, uid, ...times, content].join(' '));
    if (stat.isDirectory()) for (const name of readdirSync(at)) visit(join(at, name));
  };
  visit(path);
  return found;
}

/** The names that changed in a folder, without the lock, the socket for `forget`, and the notice. */
function changes(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter(name => before.get(name) !== after.get(name) && !/\.(lock|ctl|notice)$/.test(name)).sort();
}

/** Opens the board that is there now, to read it after another has taken its place; -1: there is none. */
function openOld(path: string): number {
  try {
    const { size } = lstatSync(path);
    return lstatSync(path).isFile() && size >= structs.board_header.bytes ? openSync(path, 'r') : -1;
  } catch {
    return -1;
  }
}

function stateAt(fd: number): bigint {
  const bytes = Buffer.alloc(8);
  readSync(fd, bytes, 0, 8, structs.board_header.fields.state.offset);
  return bytes.readBigUInt64LE();
}

function inodeOf(path: string): number {
  try {
    return lstatSync(path).ino;
  } catch {
    return 0;
  }
}

/** The newest sequence numbers on a board, by node name, and the counts of rejected reports. */
function seen(path: string): { newest: Map<string, number | undefined>; refused: Record<string, number> } {
  const reader = new BoardReader(path, NOBODY);
  try {
    const snapshot = reader.snapshot();
    const newest = new Map([...snapshot.nodes()].map(node => [node.name, node.report?.seq]));
    return { newest, refused: snapshot.refused };
  } finally {
    reader.close();
  }
}

const list = (nodes: Map<string, number | undefined>) =>
  [...nodes].map(([name, seq]) => `${plain(name)} ${seq ?? '-'}`).join(', ') || 'no nodes';

/** Sends the receiver the next report of node1 and a report of a new node; returns what happened to them. */
async function converse(path: string, port: number): Promise<string> {
  const before = seen(path).refused;
  const reports = [
    ['node1', NEWEST + 1],
    ['fresh', 1],
  ] as const;
  const socket = createSocket('udp4');
  for (const [name, seq] of reports)
    await new Promise(resolve => socket.send(reportOf(name, seq), port, '127.0.0.1', resolve));
  await new Promise<void>(resolve => socket.close(resolve));
  let missing: string[] = [];
  const heard = () => {
    const { newest, refused } = seen(path);
    missing = reports.filter(([name, seq]) => newest.get(name) !== seq).map(([name]) => name);
    if (missing.length === 0) return 'hears the next reports';
    const reasons = Object.keys(refused).filter(reason => refused[reason] !== before[reason]);
    const count = reasons.reduce((sum, reason) => sum + (refused[reason] ?? 0) - (before[reason] ?? 0), 0);
    return count === missing.length && `refuses the next of ${missing.join(' and ')}: ${reasons.join(', ')}`;
  };
  return until('it hears the next reports', heard, 5).catch(
    () => `takes the next of ${missing.join(' and ')} and DOES NOT SHOW it`,
  );
}

/** A started receiver, in its own process or in one that has been a receiver before. */
interface Receiving {
  /** Undefined if it ended before it was ready. */
  port: Promise<number | undefined>;
  stop(): void;
  end: Promise<Answer>;
}

const portOf = (listening: string[]) => Number(listening[0]?.split(':').at(-1));

function startReceiver(argv: string[]): Receiving {
  const started = begin([...AS_NOBODY, process.execPath, PROGRAM, 'receive', ...argv], true);
  const end = limited(started);
  const ready = once(started.child, 'message').then(([{ listening }]) => portOf(listening));
  return { port: Promise.race([ready, end.then(() => undefined)]), stop: () => started.child.kill('SIGTERM'), end };
}

/**
 * One process that is a receiver again and again, because starting Node for every board would take most of the time.
 */
class Receivers {
  #started: Started | undefined;

  start(argv: string[]): Receiving {
    this.#started ??= sacrifice('--receive');
    const { child, end: death } = this.#started;
    let onMessage: ((message: { listening: string[] } | Answer) => void) | undefined;
    const port = new Promise<number | undefined>(ready => {
      onMessage = message => 'listening' in message && ready(portOf(message.listening));
      child.on('message', onMessage);
    });
    const end = new Promise<Answer>(resolve => {
      child.on('message', (message: object) => 'code' in message && resolve(message as Answer));
      death.then(answer => {
        this.#started = undefined;
        resolve(answer);
      });
    });
    child.send(argv);
    const ended = limited({ child, end }).finally(() => child.removeAllListeners('message'));
    return { port: Promise.race([port, ended.then(() => undefined)]), stop: () => child.kill('SIGTERM'), end: ended };
  }

  close(): void {
    this.#started?.child.disconnect();
  }
}

/** What a receiver that is started on the board does, in one line as if it had printed it. */
async function askReceiver(board: BrokenBoard, path: string, place: string, receivers: Receivers): Promise<Answer> {
  lockUp(path, board.ordinary ? NOBODY : undefined);
  const before = inventory(place);
  const passwd = readFileSync('/etc/passwd', 'utf8');
  const inode = inodeOf(path);
  const old = openOld(path);
  const options = ['--board', path, '--listen', '127.0.0.1:0', '--capacity', String(CAPACITY)];
  const receiver = board.ordinary ? startReceiver(options) : receivers.start(options);
  const did: string[] = [];
  const port = await receiver.port;
  if (port !== undefined) {
    const same = inodeOf(path) === inode;
    const retires = old >= 0 && (stateAt(old) & 2n) !== 0n ? ', retires the old one' : '';
    const what = same ? 'takes it over' : inode === 0 ? 'makes one' : `puts another in its place${retires}`;
    did.push(`${what}: ${list(seen(path).newest)}`, await converse(path, port));
    receiver.stop();
  }
  const answer = await receiver.end;
  if (old >= 0) closeSync(old);
  const changed = changes(before, inventory(place)).filter(name => did.length === 0 || join(place, name) !== path);
  if (readFileSync('/etc/passwd', 'utf8') !== passwd) changed.push('/etc/passwd');
  const nothing = did.length === 0 ? ['nothing is changed'] : [];
  const news = changed.length > 0 ? [`CHANGED ${changed.join(', ')}`] : nothing;
  if (did.length === 0) return { ...answer, stderr: `${[answer.stderr.trimEnd(), ...news].join('; ')}\n` };
  if (typeof answer.code !== 'number' || /\n {4}at /.test(answer.stderr)) return answer;
  const wrong = boardFault(path, NOBODY);
  if (wrong !== undefined) news.push(`and then it is wrong: ${wrong}`);
  return { code: answer.code, stdout: '', stderr: `beoboard receive: ${[...did, ...news].join('; ')}\n` };
}

interface Asked {
  /** By verb, as in the golden text. */
  answers: Map<string, string>;
  faults: string[];
}

/** Everything about one board. */
async function ask(board: BrokenBoard, receivers: Receivers): Promise<Asked> {
  const place = join(base, board.name);
  const path = await make(board, place);
  const keepBeating = () => {
    try {
      if (board.beats) beat(path, board.beats === true);
    } catch {
      // Without root, we may not write it either; then it has had heartbeats for long enough.
    }
  };
  keepBeating();
  const heart = setInterval(keepBeating, 50);
  const told = await askReaders(board, path);
  clearInterval(heart);
  if (typeof board.at !== 'string') {
    await make(board, place);
    told.push(['receive', await askReceiver(board, path, place, receivers)]);
  }
  return {
    answers: new Map(told.map(([verb, answer]) => [verb, digest(verb, answer, place).join('\n')])),
    faults: told.flatMap(([verb, answer]) => fault(verb, answer) ?? []),
  };
}

// ---- the golden text ----

const NAME_WIDTH = 26;
const row = (board: BrokenBoard) => `${board.name.padEnd(NAME_WIDTH)}  ${board.about}`;

const PREFACE = `What beoboard says to broken boards, made by test/kit/brokenboards.ts. Written by node dist/test/board/brokenboards.test.js --write.

Of each: who was asked, the exit code, and what was said, in short. DIR is a folder of its own, TIME any span or time of day.
Boards that get the same answers stand together, and so do those who give the same. \`look\` is c/test/look.c: a reader
in C that judges by the liveness column, where the others judge by the slots. Of \`receive\` it is told what it did.
`;

/**
 * The answers about one board: equal ones share a line, and those that are equal to the good board's are not repeated.
 */
function block({ answers }: Asked, good: Asked | undefined): string {
  const verbs = new Map<string, string[]>();
  for (const [verb, text] of answers) {
    const isGood = good !== undefined && verb !== 'receive' && good.answers.get(verb) === text;
    const told = isGood ? 'as to the good board' : text;
    verbs.set(told, [...(verbs.get(told) ?? []), verb]);
  }
  return [...verbs]
    .flatMap(([text, who]) => text.split('\n').map((line, i) => [i === 0 ? who.join(' ') : '', line] as const))
    .map(([who, line]) => `    ${who.padEnd(28)}${line}\n`)
    .join('');
}

function format(blocks: Map<string, string>): string {
  let text = PREFACE;
  for (const [title, boards] of groups) {
    text += `\n\n== ${title} ==\n`;
    const same = new Map<string, BrokenBoard[]>();
    for (const board of boards) {
      const said = blocks.get(board.name);
      if (said !== undefined) same.set(said, [...(same.get(said) ?? []), board]);
    }
    for (const [said, about] of same) text += `\n${about.map(board => `${row(board)}\n`).join('')}${said}`;
  }
  return text;
}

/** The blocks of a golden text, by the board's name. */
function parse(text: string): Map<string, string> {
  const blocks = new Map<string, string>();
  for (const paragraph of text.slice(PREFACE.length).split('\n\n')) {
    const lines = paragraph.split('\n').filter(line => line !== '' && !line.startsWith('== '));
    const said = lines.filter(line => line.startsWith('    '));
    for (const line of lines)
      if (!line.startsWith('    '))
        blocks.set(line.slice(0, NAME_WIDTH).trimEnd(), said.map(one => `${one}\n`).join(''));
  }
  return blocks;
}

const every = groups.flatMap(([, boards]) => boards);
/** With them the good one, because what is said as to that is not repeated. */
const all = process.argv.includes('--write')
  ? every
  : [...new Set([...every.filter(({ name }) => name === 'good'), ...partOf(every, 20, SEED, 3)])];

async function askAll(): Promise<Map<string, Asked>> {
  const answers = new Map<string, Asked>();
  const waiting = all.filter(board => obstacle(board) === undefined);
  const work = async () => {
    const receivers = new Receivers();
    for (let board = waiting.shift(); board !== undefined; board = waiting.shift())
      answers.set(board.name, await ask(board, receivers));
    receivers.close();
  };
  await Promise.all([work(), work()]);
  return answers;
}

t.test('what is said to each broken board', async t => {
  t.equal(new Set(every.map(board => board.name)).size, every.length, 'each has a name of its own');
  const asked = await askAll();
  const good = asked.get('good');
  const blocks = new Map([...asked].map(([name, told]) => [name, block(told, name === 'good' ? undefined : good)]));
  if (process.argv.includes('--write')) {
    if (blocks.size < every.length)
      throw new Error('not every board can be made here; run as root to write the golden text');
    writeFileSync(GOLDEN, format(blocks));
  }
  const golden = readFileSync(GOLDEN, 'utf8');
  const expected = parse(golden);
  for (const board of all)
    t.test(`${board.name}: ${board.about}`, { skip: obstacle(board) ?? false }, async t => {
      t.same(asked.get(board.name)?.faults, []);
      t.equal(blocks.get(board.name), expected.get(board.name));
    });
  if (blocks.size === every.length) t.equal(format(blocks), golden, 'and the text as a whole');
});

// ---- random boards ----

/** Separate from the folders of the boards above. */
const spare = folder(t);

/** Reads everything that a reader offers about a board. */
function readAll(path: string): number {
  const reader = new BoardReader(path);
  try {
    const snapshot = reader.snapshot();
    for (const node of snapshot.nodes())
      for (const key of [
        ...['name', 'record', 'lastRefusal', 'address', 'state', 'ageMs', 'report', 'previous', 'rates', 'link'],
      ] as const)
        void node[key];
    void [reader.links(), reader.senders(), reader.events(0, 100)];
    return snapshot.count;
  } finally {
    reader.close();
  }
}

t.test(`randomly corrupted boards, seed ${SEED}: readers throw nothing but NoBoard`, async t => {
  const path = join(spare, 'random');
  const next = random(SEED);
  const good = new Sheet(true).bytes;
  const counts = { read: 0, refused: 0 };
  const rounds = 1000 * TIMES;
  for (let round = 0; round < rounds; round++) {
    writeFileSync(path, spoil(good, next));
    try {
      readAll(path);
      counts.read++;
    } catch (error) {
      if (!(error instanceof NoBoard)) throw new Error(`round ${round} of seed ${SEED}`, { cause: error });
      counts.refused++;
    }
  }
  t.ok(counts.read > rounds / 10 && counts.refused > rounds / 10, JSON.stringify(counts));
});

t.test('nor do the verbs', async t => {
  const path = join(spare, 'random');
  const next = random(SEED + 1);
  const verbs: [string, Parameters<typeof within>[0], string[]][] = [
    ['status', status, []],
    ['--json', status, ['--json']],
    ['xml', xml, []],
    ['dump', dump, []],
    ['dump --json', dump, ['--json']],
  ];
  const found: unknown[] = [];
  for (let round = 0; round < 100 * TIMES; round++) {
    writeFileSync(path, spoil(new Sheet(true).bytes, next));
    for (const [verb, main, more] of verbs) {
      const answer = await within(main, [...more, '--board', path]);
      const wrong = fault(verb, answer);
      if (wrong !== undefined) found.push(`round ${round} of seed ${SEED + 1}: ${wrong}`);
      if (verb.endsWith('--json') && answer.stdout !== '') JSON.parse(answer.stdout);
    }
  }
  t.same(found, []);
});

t.test('nor the reader in C, under the sanitizers', async t => {
  const path = join(spare, 'random');
  writeFileSync(path, new Sheet(true).bytes);
  const looks = 4000 * TIMES;
  const { code, stdout, stderr } = await limited(begin([LOOK, '--spoil', String(looks), String(SEED), path]));
  t.same([code, stderr], [0, '']);
  t.equal(stdout.replace(/[1-9]\d{2,}(?= boards)/, 'N'), `${looks} looks, N boards were read\n`);
});

t.test('nor a receiver that takes them over, and goes on to write', async t => {
  const boards = 500 * TIMES;
  const { code, stdout, stderr } = await limited(
    sacrifice('--take', join(spare, 'taken'), String(boards), String(SEED)),
  );
  t.same([code, stderr], [0, ''], stdout);
  t.ok(
    stdout.startsWith(`${boards} boards: `) && /: [1-9]\d+ taken over or replaced, [1-9]\d* refused\n$/.test(stdout),
    stdout,
  );
});

// ---- while it is mapped ----

t.test('a board that is cut while it is mapped is refused, and read again when it is whole again', async t => {
  const path = join(spare, 'cut');
  const good = new Sheet().bytes;
  writeFileSync(path, good);
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  t.equal(reader.snapshot().node(0).name, 'node1');
  const stateNow = () => {
    try {
      return `ready, with ${reader.snapshot().node(0).name}`;
    } catch (error) {
      return error instanceof NoBoard ? error.state : `${error}`;
    }
  };
  for (const size of [0, 1, HEADER - 1, HEADER, 2000, 4096, good.length - 1]) {
    truncateSync(path, size);
    t.equal(stateNow(), size < HEADER ? 'starting' : 'truncated', `cut to ${size}`);
    writeFileSync(path, good);
    t.equal(stateNow(), 'ready, with node1', 'whole again');
  }
});

t.test('a header that changes while it is mapped affects no reader', async t => {
  const path = join(spare, 'moved');
  writeFileSync(path, new Sheet().bytes);
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  t.equal(reader.snapshot().count, 2);
  const changed = new Sheet();
  changed.bytes.fill(
    0xff,
    structs.board_header.fields.header_bytes.offset,
    structs.board_header.fields.index_seed.offset,
  );
  changed.header({ count: 2n ** 64n - 1n });
  writeFileSync(path, changed.bytes);
  const snapshot = reader.snapshot();
  t.equal(snapshot.count, 8, 'no more than there was room for when it was opened');
  t.same([snapshot.node(0).name, snapshot.node(1).report?.seq, snapshot.node(7).name], ['node1', 1, '']);
});

t.test('a reader that has a retired board mapped follows to its successor, and says when there is none', async t => {
  const path = join(spare, 'retired');
  const board = (name: string, state: bigint) => {
    const sheet = new Sheet();
    sheet.header({ state });
    sheet.record(0, { name });
    return sheet.bytes;
  };
  writeFileSync(path, board('old', 0n));
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  t.equal(reader.snapshot().node(0).name, 'old');
  writeFileSync(`${path}.new`, board('new', 0n));
  const old = openSync(path, 'r+');
  renameSync(`${path}.new`, path);
  writeFileSync(old, board('old', 2n));
  closeSync(old);
  t.equal(reader.snapshot().node(0).name, 'new');
  writeFileSync(path, board('new', 2n));
  t.throws(() => reader.snapshot(), /is retired, and nothing has taken its place/);
});

/** Has `dump` read a board three times, and meanwhile does this again and again; returns the faults in its answers. */
async function dumpWhile(path: string, act: () => void): Promise<string[]> {
  const found: string[] = [];
  let left = 3;
  const dumped = (async () => {
    for (; left > 0; left--)
      found.push(fault('dump', await limited(begin([process.execPath, PROGRAM, 'dump', '--board', path]))) ?? '');
  })();
  for (; left > 0; await new Promise(setImmediate)) for (let i = 0; i < 20; i++) act();
  await dumped;
  return found.filter(wrong => wrong !== '');
}

t.test('a board that changes all the time harms no reader', async t => {
  const path = join(spare, 'changing');
  const good = new Sheet().bytes;
  writeFileSync(path, good);
  const { child, end } = sacrifice('--read', path);
  await once(child, 'message');
  const next = random(SEED);
  const dumps = await dumpWhile(path, () => writeFileSync(path, spoil(good, next), { flag: 'r+' }));
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await end;
  t.same([code, stderr], [0, '']);
  t.match(stdout, /^[1-9]\d* snapshots, \d+ refused\n$/);
  t.same(dumps, [], 'nor does it harm dump');
});

t.test('dump follows no header whose entries reach beyond their strides, or the file', t => {
  const { bytes } = new Sheet();
  const header = decode('board_header', new DataView(bytes.buffer), 0);
  t.ok(fits(header, bytes.length));
  t.notOk(fits(header, bytes.length - 1));
  const strides = Object.keys(header).filter(key => key.endsWith('_stride')) as (keyof typeof header)[];
  t.equal(strides.length, 7);
  const least = [0, 1, 7];
  for (const key of strides)
    for (const stride of [...least, 0xffffffff])
      t.notOk(fits({ ...header, [key]: stride }, bytes.length), `${key}: ${stride}`);
  t.end();
});

// Readers cannot prevent this one case: only the owner of the board can truncate it, and a reader that reads beyond the
// new end at this moment gets SIGBUS. Readers check the size before each snapshot, so the cut has to happen within a
// snapshot.
t.test('a board that is cut in the middle of a snapshot: the reader goes on, or the kernel ends it', async t => {
  const path = join(spare, 'cutting');
  const good = new Sheet().bytes;
  writeFileSync(path, good);
  const { child, end } = sacrifice('--read', path);
  await once(child, 'message');
  const dumps = await dumpWhile(path, () => {
    truncateSync(path, 4096);
    writeFileSync(path, good, { flag: 'r+' });
  });
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await end;
  t.comment(`it ended with ${code}; ${stdout.trimEnd()}`);
  t.ok(code === 0 || code === 'SIGBUS', `${code}`);
  t.equal(stderr, '');
  t.same(dumps, [], 'dump reads the file, and is never ended by that');
});
