// Invalid command lines of every verb: each gets one line that tells an administrator what to do, and the documented
// exit code. All run in one process, and one of each kind as the real program as well, which answers the same. The
// golden file has all lines and answers and can be read from top to bottom. DIR there is the folder that `makeFolder`
// makes, with a board that is ready and has node1 to node3, which have never reported; BUSY is a port of 127.0.0.1 that is
// in use. Who adds a line, with its exit code below it (`  4:`) if that is not 2 (usage; 3 of `check`), or looked at why an
// answer changed, writes the answers: node dist/test/common/wronguses.test.js --write
//
// @seconds 18
// @whole
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VERBS } from '../../src/options/verbs.js';
import { oneLine, UNSEEN } from '../../src/text/text.js';
import { ended } from '../kit/children.js';
import { AS_NOBODY, NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM, startReceiver } from '../kit/program.js';
import { awaited } from '../kit/until.js';
import { type Answer, verbChild } from '../kit/verbchild.js';
import { partOf, SEED } from '../kit/whole.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'wrong-uses.txt');
/** Lines at a time. */
const AT_ONCE = 4;
t.setTimeout(600_000);

const FILES: Readonly<Record<string, string>> = {
  text: 'this is not a board\n',
  empty: '',
  'bad.list': 'node[1-3]\nnode[4-\n',
  'good.toml': '',
  'unknown.toml': '# the master\nintervall = "1s"\n',
  'table.toml': '[receiver]\ncapacity = 5\n',
  'type.toml': 'capacity = true\n',
  'list.toml': 'listen = []\n',
  'twice.toml': 'capacity = 1\ncapacity = 2\n',
  'bounds.toml': '\ncapacity = 0\n',
  'limits.toml': 'silent-after = "1s"\n',
  'elsewhere.toml': 'interval = "1s"\n',
  'binary.toml': '\u0000\u0001\u001b[31m = 1\n',
  'flag.toml': 'once = "yes"\n',
  'loose.key': `1 cluster ${'ab'.repeat(32)}\n`,
  'cluster.key': `1 cluster ${'ab'.repeat(32)}\n`,
  'node1.key': `1 node node1 ${'ab'.repeat(32)}\n`,
  'text.key': 'this is not a key\n',
  'empty.key': '',
  locked: '',
  other: '',
};

/** Makes the files that the command lines name, in a folder that every user may enter. */
function makeFolder(): string {
  const dir = folder(t);
  chmodSync(dir, 0o755);
  for (const [name, text] of Object.entries(FILES)) {
    writeFileSync(join(dir, name), text);
    if (name.endsWith('.key')) chmodSync(join(dir, name), name === 'loose.key' ? 0o644 : 0o600);
  }
  mkdirSync(join(dir, 'folder'));
  mkdirSync(join(dir, 'private'));
  chmodSync(join(dir, 'private'), 0o000);
  mkdirSync(join(dir, 'open'));
  chmodSync(join(dir, 'open'), 0o777);
  spawnSync('mkfifo', [join(dir, 'pipe')]);
  chmodSync(join(dir, 'locked'), 0o000);
  return dir;
}

/** A command line, and what it has to answer. */
interface Use {
  readonly title: string;
  /** As it stands in the golden file, behind its `$`. */
  readonly shown: string;
  readonly words: readonly string[];
  readonly env: Record<string, string>;
  /** As it stands there; '' of a line that is new. */
  readonly answer: string;
  /** Is run as an ordinary user. */
  readonly ordinary: boolean;
  /** Needs a file that only root can make. */
  readonly root: boolean;
}

/** What a shell, and `{x*300}` for a word that is too long to be read, make of a word. */
const meant = (word: string) =>
  word
    .replace(/^\$'(.*)'$/, (_, text: string) => JSON.parse(`"${text}"`))
    .replace(/^'(.*)'$/, '$1')
    .replace(/\{(.)\*(\d+)\}/g, (_, letter: string, times: string) => letter.repeat(Number(times)));

function useOf(title: string, shown: string, answer: string): Use {
  const typed = [...shown.matchAll(/(?:\$?'[^']*'|[^\s'])+/g)].map(([word]) => word);
  const at = typed.indexOf('beoboard');
  const words = typed.slice(at + 1).map(meant);
  const env = typed.slice(0, at).map(setting => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(setting) ?? [];
    return [name, meant(value)] as const;
  });
  const boards = words.filter(word => word === '--board').length;
  return {
    ...{ title, shown, words, answer, env: Object.fromEntries(env) },
    ordinary: words.some(word => /^DIR\/(locked|private)/.test(word)),
    root: boards === 1 && words.includes('DIR/other'),
  };
}

/** The golden file: under each title command lines, each with its answer. */
const USES: readonly Use[] = readFileSync(GOLDEN, 'utf8')
  .split(/^# /m)
  .slice(1)
  .flatMap(part => {
    const [title = ''] = part.split('\n');
    return [...part.matchAll(/^\$ (.*)\n((?: {2}.*\n)*)/gm)].map(([, shown = '', answer = '']) =>
      useOf(title, shown, answer),
    );
  });

const usualOf = ([verb]: readonly string[]) => (verb === 'check' ? 3 : 2);
const codeOf = ({ words, answer }: Use) => Number(/^ {2}(\d+):/.exec(answer)?.[1] ?? usualOf(words));

/** The kinds of line that this is one of: its title, its verb with the exit code, what it takes from the environment. */
const kindsOf = (use: Use) => [
  use.title,
  `${Object.hasOwn(VERBS, use.words[0] ?? '') ? use.words[0] : 'no verb'} ${codeOf(use)}`,
  `environment ${Object.keys(use.env)}`,
];

/** The lines that are run as the real program: the first of each kind, and those of an ordinary user. */
const STARTED: ReadonlySet<Use> = new Set([
  ...new Map([...USES].reverse().flatMap(use => kindsOf(use).map(kind => [kind, use] as const))).values(),
  ...USES.filter(({ ordinary }) => ordinary),
]);

function environment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, TZ: 'UTC', ...more };
}

/** Runs the real program. A command line that is accepted by mistake may run forever. */
async function start(words: readonly string[], { env, ordinary }: Use): Promise<Answer> {
  const [program = '', ...args] = [...(ordinary ? AS_NOBODY : []), process.execPath, PROGRAM, ...words];
  const child = spawn(program, args, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  return awaited(`beoboard ${words.join(' ')} has ended`, ended(child)).finally(() => child.kill('SIGKILL'));
}

t.test('every wrong use gets one line that says what to do', async t => {
  const dir = makeFolder();
  const { port } = await startReceiver(t, join(dir, 'board'), ['--nodes', 'node[1-3]']);
  writeFileSync(join(dir, 'other'), readFileSync(join(dir, 'board')));
  if (ROOT_USER) chownSync(join(dir, 'other'), NOBODY, NOBODY);

  const place = (word: string) => word.replaceAll('DIR', dir).replaceAll('BUSY', String(port));
  const placeless = (text: string) =>
    text
      .replaceAll(dir, 'DIR')
      .replaceAll(String(port), 'BUSY')
      .replace(/pid \d+/, 'pid N')
      .replace(/(.)\1{99,}/g, (run, letter: string) => `${letter}…${run.length} characters`);
  const answers = new Map<Use, string>();
  const writes = process.argv.includes('--write');

  const runHere = verbChild(t);

  const look = async (use: Use) => {
    const { title, shown, words, env, ordinary, root } = use;
    const skipped = (root && !ROOT_USER && 'only root can make it') || (ordinary && noOrdinaryUser());
    if (skipped) {
      answers.set(use, use.answer);
      t.pass(shown, { skip: skipped });
      return;
    }
    const placed = words.map(place);
    const started = STARTED.has(use) ? await start(placed, use) : undefined;
    const here = ordinary ? undefined : await runHere(placed, environment(env));
    if (started && here) t.same(started, here, `${shown}: as the real program`);
    const { code, stdout, stderr } = (here ?? started) as Answer;
    // A monitor reads only stdout.
    const isCheck = words[0] === 'check';
    const [told, silent] = isCheck ? [stdout, stderr] : [stderr, stdout];
    const answer = placeless(told);
    answers.set(use, `  ${code}: ${answer.replace(/\n$/, '').replaceAll('\n', '\n  ')}\n`);
    const advises = /[;?] \S|\?$/.test(told.trimEnd());
    /** No mistake of the command line alone. */
    const isOther = codeOf(use) !== usualOf(words) || title === 'boards that are none';
    const names = words.slice(1).some(word => told.includes(oneLine(place(word))));
    const faults = [
      code !== codeOf(use) && `the code ${code}`,
      silent !== '' && `also ${JSON.stringify(silent)}`,
      !/^[^\n]+\n$/.test(told) && 'not one line',
      told.slice(0, -1).search(UNSEEN) >= 0 && 'what no terminal shows',
      /\bundefined\b|NaN(?!')|\[object| {4}at |Error:/.test(answer) && 'an error of ours',
      told.length > 600 + dir.length && 'more than anybody reads',
      !(isCheck ? /^BEOBOARD (CRITICAL|UNKNOWN): / : /^beoboard( [a-z]+)?: /).test(told) && 'not who says it',
      !(advises || (isOther && names)) && 'neither what to do nor what is meant',
    ].filter(fault => fault !== false);
    t.same(faults, [], `${shown}: ${answer}`);
    if (!writes) t.equal(answers.get(use), use.answer, shown);
  };
  const next = (writes ? USES : partOf(USES, 6, SEED, 2)).values();
  const work = async () => {
    for (const use of next) await look(use);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  if (writes) {
    const parts = [...new Set(USES.map(({ title }) => title))].map(title => {
      const those = USES.filter(use => use.title === title);
      return [`# ${title}\n`, ...those.map(use => `$ ${use.shown}\n${answers.get(use)}`)].join('\n');
    });
    writeFileSync(GOLDEN, `${parts.join('\n')}`);
  }
});

t.test('the table is long, holds nothing twice, and has something of every verb', async t => {
  t.ok(USES.length >= 150, `${USES.length} uses`);
  const shown = USES.map(use => use.shown);
  t.same(
    shown.filter((line, i) => shown.indexOf(line) < i),
    [],
  );
  const verbs = new Set(USES.map(({ words }) => words[0]));
  t.same(
    Object.keys(VERBS).filter(verb => !verbs.has(verb)),
    [],
  );
});
