// Which part may import which: the tables of the design as data, compared with every import under src/ and every
// include under c/.

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t from 'tap';
import { thousands } from '../../src/text/text.js';
import { ROOT } from '../kit/places.js';

/** The parts and their files; the first pattern that matches decides. */
const PARTS: [part: string, files: RegExp][] = [
  ['main', /^src\/(main|base|parts|runverb)\.ts$/],
  ['layout', /^src\/layout\//],
  ['native', /^src\/native\//],
  // What the page uses, too: nothing of Node.
  ['text/pure', /^src\/text\/(hostlists|inputerror|jobnumbers|repeats|unseen)\.ts$/],
  ['text', /^src\/text\//],
  ['options', /^src\/options\//],
  ['net', /^src\/net\//],
  ['service', /^src\/service\//],
  ['sender', /^src\/sender\//],
  ['load', /^src\/load\//],
  // Looks at the receiver's own board, as any reader does.
  ['receiver/absence', /^src\/receiver\/absence\.ts$/],
  ['receiver', /^src\/receiver\//],
  // Decides which reports are trusted, for receivers and mirrors.
  ['shm/trust', /^src\/shm\/trust\.ts$/],
  ['shm/writer', /^src\/shm\/writer\.ts$/],
  [
    'shm/reader',
    /^src\/shm\/(header|links|liveness|memory|memorywatch|noboard|node|nodestates|problems|rates|reader|snapshot)\.ts$/,
  ],
  ['readings', /^src\/readings\//],
  // How far each of several nodes is from the others, and which one is marked; knows no board.
  ['outliers', /^src\/outliers\//],
  // Which nodes, in which order and with which columns: conditions, groups, sorting.
  ['query', /^src\/query\//],
  // Sentences of what the board says, for whoever shows them; knows no reading.
  ['presentation/sentences', /^src\/presentation\/sentences\.ts$/],
  // The names and lines of the journal's files, for who writes, reads and shows them.
  ['journal/format', /^src\/journal\/format\.ts$/],
  // What stands in journals, for programs that show it.
  ['journal/reader', /^src\/journal\/(following|journal|lastends|listing|segments)\.ts$/],
  // What is said of a board to people and programs.
  ['presentation', /^src\/presentation\//],
  // What a running journal says of itself, for whoever shows it.
  ['journal/state', /^src\/journal\/state\.ts$/],
  // Writes the journal.
  ['journal', /^src\/journal\//],
  // A line of the trouble list as programs get it.
  ['trouble/info', /^src\/trouble\/info\.ts$/],
  // Who has acknowledged what.
  ['trouble/acks', /^src\/trouble\/(ackfile|acks)\.ts$/],
  // The trouble list, made once for all who show it.
  ['trouble', /^src\/trouble\//],
  // What happens, look by look: of the journal, or as it was seen.
  ['events', /^src\/events\//],
  ['ganglia-xml', /^src\/ganglia-xml\//],
  ['prometheus', /^src\/prometheus\//],
  // The expressions of Supermon's protocol, for servers and clients.
  ['supermon/wire', /^src\/supermon\/expressions\.ts$/],
  ['supermon', /^src\/supermon\//],
  ['zoom', /^src\/zoom\//],
  // Used by both the wall's server and its page.
  ['web/wire', /^src\/web\/wire\.ts$/],
  ['web/page', /^src\/web\/page\//],
  ['web', /^src\/web\//],
  // The door to a scheduler: what all of them answer.
  ['schedulers/door', /^src\/schedulers\/scheduler\.ts$/],
  // The file that the reader of a scheduler writes, for programs that show it.
  ['schedulers/state', /^src\/schedulers\/(differences|statefile)\.ts$/],
  // The file that the bridge leaves for those who keep a record of what it did.
  ['schedulers/orders', /^src\/schedulers\/orderfile\.ts$/],
  // Which node of the board is which of a scheduler.
  ['schedulers/names', /^src\/schedulers\/matching\.ts$/],
  // Slurm: its words, its questions, its orders.
  ['schedulers/slurm', /^src\/schedulers\/slurm\//],
  // Grid Engine: its words and its questions.
  ['schedulers/gridengine', /^src\/schedulers\/gridengine\//],
  // Runs the commands of a scheduler.
  ['schedulers/command', /^src\/schedulers\/command\.ts$/],
  // A file of the site's as a scheduler.
  ['schedulers/file', /^src\/schedulers\/file\.ts$/],
  // Which of them is behind the door.
  ['schedulers/chosen', /^src\/schedulers\/chosen\.ts$/],
  // A scheduler's answers beside the board: jobs, and where the two disagree.
  ['schedulers/shown', /^src\/schedulers\/(jobfacts|joblist|jobmembers|marks|schedulerview|userlist)\.ts$/],
  // Gives a scheduler orders.
  ['schedulers/bridge', /^src\/schedulers\/bridge\//],
  ['schedulers', /^src\/schedulers\//],
  ['relay', /^src\/relay\//],
  // A terminal's screen and its keys; knows nothing about what is shown there.
  ['terminal', /^src\/cli\/(keystrokes|screen)\.ts$/],
  ['cli', /^src\/cli\//],
  ['demo', /^src\/demo\//],
];

/** What a part may import besides itself; `mains`: the entry points of the verbs. */
const MAY: Record<string, string[]> = {
  layout: [],
  native: [],
  'text/pure': [],
  text: ['text/pure'],
  options: ['layout', 'text'],
  // Messages to a service manager, over sockets that Node does not have; what every daemon does.
  service: ['native', 'text', 'options'],
  // Servers and their clients.
  net: ['text', 'service'],
  main: ['text', 'options', 'service', 'mains'],
  sender: ['layout', 'native', 'text', 'options', 'service'],
  load: ['layout', 'native', 'text', 'options', 'service'],
  receiver: ['layout', 'native', 'text', 'options', 'service', 'shm/trust', 'shm/writer', 'receiver/absence'],
  'receiver/absence': ['text', 'options', 'service', 'shm/reader'],
  'shm/trust': ['layout', 'native', 'text', 'options', 'service'],
  'shm/writer': ['layout', 'native', 'text', 'options', 'shm/trust'],
  'shm/reader': ['layout', 'native', 'text', 'options'],
  // Every reading of a node, defined once; knows none of the programs that show them. native, because it reads many.
  readings: ['layout', 'native', 'text', 'shm/reader', 'presentation/sentences'],
  outliers: [],
  query: ['presentation/sentences', 'layout', 'text', 'options', 'outliers', 'shm/reader', 'readings'],
  'presentation/sentences': ['layout', 'text', 'shm/reader'],
  'journal/format': ['layout', 'text', 'options'],
  'journal/reader': ['text', 'options', 'journal/format'],
  // native, because it prints structs as JSON.
  presentation: [
    'presentation/sentences',
    'layout',
    'native',
    'text',
    'options',
    'shm/reader',
    'readings',
    'query',
    ...['journal/format', 'journal/reader', 'journal/state', 'trouble/info'],
    'schedulers/state',
    'schedulers/shown',
  ],
  'journal/state': ['layout', 'text', 'options', 'shm/reader', 'presentation/sentences', 'service'],
  journal: [
    ...['layout', 'text', 'options', 'service', 'shm/reader', 'presentation', 'journal/format'],
    ...['journal/state', 'schedulers/orders', 'schedulers/state', 'schedulers/shown', 'trouble/acks'],
  ],
  // native, because it prints forms.
  'ganglia-xml': [
    ...['layout', 'native', 'text', 'options', 'net', 'shm/reader', 'readings', 'presentation/sentences', 'service'],
  ],
  prometheus: ['layout', 'text', 'options', 'net', 'shm/reader', 'readings', 'service', 'schedulers/state'],
  'supermon/wire': [],
  supermon: ['text', 'options', 'net', 'shm/reader', 'readings', 'service', 'supermon/wire'],
  // Queries one node, and knows no board.
  zoom: ['text', 'options', 'net', 'service', 'readings', 'presentation', 'terminal', 'supermon/wire'],
  terminal: ['text', 'service'],
  'trouble/info': [],
  'trouble/acks': ['text', 'service'],
  trouble: [
    ...['layout', 'text', 'options', 'service', 'shm/reader', 'query', 'presentation/sentences', 'presentation'],
    ...['journal/state', 'schedulers/state', 'schedulers/shown', 'trouble/info', 'trouble/acks'],
  ],
  events: [...['text', 'service', 'shm/reader', 'presentation', 'journal/format', 'journal/reader', 'journal/state']],
  'web/wire': ['trouble/info'],
  // Runs in the browser: nothing from the server or from Node.
  'web/page': ['web/wire', 'trouble/info', 'text/pure'],
  web: [
    ...['layout', 'text', 'options', 'net', 'service', 'shm/reader', 'readings', 'query', 'presentation'],
    ...['presentation/sentences', 'schedulers/state', 'schedulers/shown', 'web/wire'],
    ...['trouble', 'trouble/info', 'trouble/acks', 'events'],
  ],
  // Only schedulers/chosen knows which scheduler is behind the door.
  'schedulers/door': ['text'],
  'schedulers/state': ['text', 'shm/reader', 'schedulers/door', 'schedulers/names'],
  'schedulers/orders': ['text'],
  'schedulers/names': ['text', 'schedulers/door'],
  'schedulers/command': ['text', 'schedulers/door'],
  'schedulers/slurm': ['text', 'schedulers/door', 'schedulers/command'],
  'schedulers/gridengine': ['text', 'schedulers/door', 'schedulers/command'],
  'schedulers/file': ['text', 'schedulers/door'],
  'schedulers/chosen': [
    ...['text', 'schedulers/door', 'schedulers/command'],
    ...['schedulers/file', 'schedulers/gridengine', 'schedulers/slurm'],
  ],
  'schedulers/shown': [
    ...['text', 'shm/reader', 'readings', 'query', 'presentation', 'presentation/sentences', 'outliers'],
    ...['schedulers/door', 'schedulers/state', 'schedulers/names'],
  ],
  // Acts on a scheduler's own answers, never on the file that the reader writes.
  'schedulers/bridge': [
    ...['layout', 'text', 'options', 'shm/reader', 'service'],
    ...['schedulers/door', 'schedulers/names', 'schedulers/orders', 'schedulers/chosen'],
  ],
  schedulers: [
    ...['text', 'options', 'shm/reader', 'readings', 'outliers', 'service'],
    ...['schedulers/door', 'schedulers/state', 'schedulers/names', 'schedulers/chosen'],
  ],
  // native: `dump` has to open files that no reader accepts.
  cli: [
    ...[
      'layout',
      'native',
      'text',
      'options',
      'shm/reader',
      'readings',
      'query',
      'presentation',
      'presentation/sentences',
      'terminal',
      'service',
    ],
    ...['events', 'journal/format', 'journal/reader', 'journal/state'],
    ...['schedulers/door', 'schedulers/state', 'schedulers/shown', 'trouble', 'trouble/info', 'trouble/acks'],
  ],
  // Relays boards, and writes mirrors only through the addon: never with a receiver's writer.
  relay: ['layout', 'native', 'text', 'options', 'net', 'shm/trust', 'shm/reader', 'service'],
  demo: ['text', 'options', 'service'],
};

/** The entry points of the verbs; outside of their part, only main.ts and parts.ts may import them. */
const MAINS =
  /^src\/([a-z-]+\/main|schedulers\/bridge\/main|cli\/[a-z-]+|receiver\/forget|relay\/mirror|ganglia-xml\/xml|prometheus\/print)\.ts$/;

/** Files outside of src/ that may be loaded. */
const ADDON = /^(build|prebuilds\/linux-(x64|arm64))\/beoboard\.node$/;

/** The rooms of the C code, likewise; code that only tests and benchmarks use may include everything. */
const C_PARTS: [part: string, files: RegExp][] = [
  ['tests', /^c\/test\//],
  ['api', /^c\/beoboard\.h$/],
  ['base', /^c\/base\//],
  ['format', /^c\/format\//],
  ['rules', /^c\/rules\//],
  // What readers need of the board: its memory order, and its parts as they may be read.
  ['board', /^c\/board\/(column|newest|reader|seqlock)\.[ch]$/],
  // What receivers call; how it is done is the business of the two writers, this one and a mirror's.
  ['writer', /^c\/board\/writer\.h$/],
  ['linktable', /^c\/board\/(arrival|linktable)\.h$/],
  ['board/mapped', /^c\/board\/(hearing|mapped)\.h$/],
  ['board/file', /^c\/board\/file\.[ch]$/],
  ['board/records', /^c\/board\/records\.[ch]$/],
  ['board/linktable', /^c\/board\/linktable\.c$/],
  // What is concluded from reports before they are overwritten: the one part that writes by the rules of `judge`.
  ['board/memory', /^c\/board\/memory\.[ch]$/],
  ['board/rejected', /^c\/board\/rejected\.[ch]$/],
  ['board/repair', /^c\/board\/repair\.[ch]$/],
  ['board/writer', /^c\/board\/writer\.c$/],
  ['judge', /^c\/judge\//],
  ['receive/sockets', /^c\/receive\/(addresses|interfaces|kerneldrops|sockets|stamps)\.[ch]$/],
  ['receive/links', /^c\/receive\/links\.[ch]$/],
  ['receive', /^c\/receive\/(drops|receive)\.[ch]$/],
  ['relay', /^c\/relay\//],
  ['addon', /^c\/addon\//],
  ['lib', /^c\/lib\//],
  ['collect', /^c\/collect\//],
  ['sender/main', /^c\/sender\/main\.c$/],
  ['sender/pretend', /^c\/sender\/pretend\.[ch]$/],
  ['sender', /^c\/sender\//],
  ['mon', /^c\/mon\//],
  ['gpu', /^c\/gpu\//],
  ['gate', /^c\/gate\//],
  ['sensor', /^c\/sensor\//],
  ['verbs', /^c\/verbs\//],
  ['examples', /^c\/examples\//],
];

/** What a room of the C code may include besides itself; each stands above those that it uses. */
const C_MAY: Record<string, string[]> = {
  // The public header, for programmers of schedulers: it includes nothing else of this project.
  api: [],
  // Texts, files, options, host lists, what every daemon does: knows no report and no board.
  base: ['api'],
  format: ['api', 'base'],
  rules: ['base', 'format'],
  board: ['base', 'format'],
  judge: ['api', 'format', 'rules', 'board'],
  linktable: ['format'],
  writer: ['format', 'rules', 'linktable'],
  'board/mapped': ['rules', 'board'],
  'board/file': ['base', 'board', 'board/mapped'],
  'board/records': ['base', 'rules', 'board', 'linktable', 'board/mapped', 'board/file'],
  'board/linktable': ['rules', 'board', 'linktable', 'board/mapped', 'board/records'],
  'board/memory': ['format', 'board', 'judge', 'board/mapped'],
  'board/rejected': ['format', 'board', 'board/records'],
  'board/repair': ['format', 'board', 'board/mapped', 'board/records', 'board/memory'],
  'board/writer': [
    ...['base', 'format', 'rules', 'board', 'writer'],
    ...['board/mapped', 'board/file', 'board/memory', 'board/records', 'board/rejected', 'board/repair'],
  ],
  'receive/sockets': ['base', 'format'],
  // The one owner of what is known of links: it can write nothing board-wide.
  'receive/links': ['base', 'board', 'linktable', 'receive/sockets'],
  receive: ['base', 'board', 'writer', 'receive/sockets', 'receive/links'],
  relay: ['format', 'rules', 'board', 'writer', 'judge', 'board/mapped', 'board/file', 'board/memory', 'board/records'],
  addon: ['api', 'base', 'format', 'rules', 'board', 'writer', 'judge', 'receive', 'relay'],
  // Schedulers link this, so it contains nothing of the writer.
  lib: ['api', 'board', 'judge'],
  // Programs on a node need neither the board nor OpenSSL.
  collect: ['base', 'format'],
  sender: ['base', 'format', 'collect'],
  // What reads a machine does not know whether it is pretended.
  'sender/pretend': ['base', 'format', 'collect', 'sender'],
  'sender/main': ['base', 'collect', 'sender', 'sender/pretend'],
  mon: ['base', 'format', 'collect'],
  gpu: ['base', 'format'],
  // The start of jobs depends on it, so it uses only the public interface to the board.
  gate: ['api', 'base'],
  sensor: ['api', 'base'],
  // board, as for the addon: it has the sentence about a board that cannot be read.
  verbs: ['api', 'base', 'format', 'board', 'judge'],
  examples: ['api'],
};

const cPartOf = (path: string) => C_PARTS.find(([, files]) => files.test(path))?.[0];

const partOf = (path: string) => PARTS.find(([, files]) => files.test(path))?.[0];

/** What stands before what is imported, in code as Biome lays it out (style is a check of every run). */
const IMPORTS =
  /(?:^(?:import|export)\b[\w\s{},*]*?\bfrom\s+|^import\s+(?=['"])|\bimport\(|\brequire\(|\bcreateRequire\([^)]*\)\()\s*(?:'([^']*)'|"([^"]*)")?(?!\s*\+)/gm;

/** Every import of a file, also of types: its line and the imported path; undefined if the path is computed. */
function importsOf(text: string): { line: number; from: string | undefined }[] {
  const code = text.replace(/^\s*(?:\/\*|\*|\/\/).*$/gm, '');
  return [...code.matchAll(IMPORTS)].map(match => ({
    line: code.slice(0, match.index).split('\n').length,
    from: match[1] ?? match[2],
  }));
}

/** Why a file may not import another; undefined if it may. */
function objection(path: string, target: string): string | undefined {
  const from = partOf(path) ?? '';
  if (ADDON.test(target)) return from === 'native' ? undefined : `${from} may not load the addon; native may`;
  if (!target.startsWith('src/')) return `${from} may import nothing outside of src/`;
  const to = partOf(target);
  if (to === undefined) return `${target} belongs to no part`;
  if (to === from) return undefined;
  const may = MAY[from] ?? [];
  // text/pure is the part of text that the page may have as well.
  if (may.includes(to) || (to === 'text/pure' && may.includes('text')) || (may.includes('mains') && MAINS.test(target)))
    return undefined;
  return `${from} may not import ${to}; it may import ${may.join(', ') || 'nothing of ours'}`;
}

/** Every breach of the table, one line each: `file:line: imports what: why not`. */
function breaches(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    if (partOf(path) === undefined) return [`${path}:1: belongs to no part; give it a row in this test's tables`];
    return importsOf(text).flatMap(({ line, from }) => {
      if (from === undefined) return [`${path}:${line}: imports what is computed: nobody can check that`];
      if (!from.startsWith('.')) return []; // packages and Node's own modules
      // The code runs in dist/src/; from there, the addon is one folder further up; see src/native.
      const target = posix
        .join(posix.dirname(path), from)
        .replace(/^\.\.\/(build|prebuilds)\//, '$1/')
        .replace(/\.js$/, '.ts');
      const why = objection(path, target);
      return why === undefined ? [] : [`${path}:${line}: imports ${from}: ${why}`];
    });
  });
}

/** Every breach of the table of the C code, as above. */
function foreignIncludes(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    const from = cPartOf(path);
    if (from === undefined) return [`${path}:1: belongs to no part; give it a row in this test's tables`];
    if (from === 'tests') return [];
    return text.split('\n').flatMap((line, i) => {
      const included = /^\s*#\s*include\s*"([^"]+)"/.exec(line)?.[1];
      if (included === undefined) return [];
      const to = cPartOf(posix.join(posix.dirname(path), included)) ?? 'no part';
      const may = C_MAY[from] ?? [];
      if (to === from || may.includes(to)) return [];
      return [
        `${path}:${i + 1}: includes ${included}: ${from} may not include ${to}; it may include ${may.join(', ') || 'nothing of ours'}`,
      ];
    });
  });
}

const read = (paths: string[]) => Object.fromEntries(paths.map(path => [path, readFileSync(join(ROOT, path), 'utf8')]));

t.test('every import under src/ keeps to the table', async t => {
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.[cm]?[jt]sx?$/.test(path))
    .map(path => `src/${path}`)
    .sort();
  const files = read(paths);
  t.strictSame(breaches(files), []);
  const seen = Object.values(files).reduce((sum, text) => sum + importsOf(text).length, 0);
  t.ok(paths.length > 40 && seen > 150, `${seen} imports of ${paths.length} files were seen`);
  for (const [part, pattern] of PARTS)
    t.ok(
      paths.some(path => pattern.test(path)),
      `${part} is there`,
    );
  t.strictSame(PARTS.map(([part]) => part).sort(), Object.keys(MAY).sort(), 'both tables have the same parts');
});

t.test('every include under c/ keeps to the table', async t => {
  const paths = readdirSync(join(ROOT, 'c'), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.(c|h|cc)$/.test(path))
    .map(path => `c/${path}`)
    .sort();
  t.strictSame(foreignIncludes(read(paths)), []);
  t.ok(paths.length > 100, `${paths.length} files`);
  for (const [part, pattern] of C_PARTS)
    t.ok(
      paths.some(path => pattern.test(path)),
      `${part} is there`,
    );
  const parts = C_PARTS.map(([part]) => part).filter(part => part !== 'tests');
  t.strictSame(parts.sort(), Object.keys(C_MAY).sort(), 'both tables have the same parts');
  // Each room stands above what it uses: otherwise it could not be moved, or read, by itself.
  const below = (part: string, seen: string[]): string[] =>
    seen.includes(part) ? [[...seen, part].join(' > ')] : (C_MAY[part] ?? []).flatMap(to => below(to, [...seen, part]));
  t.strictSame(
    parts.flatMap(part => below(part, [])),
    [],
    'there is no circle',
  );
});

t.test('no program loads the tables of a language, which takes each start 11 ms; pages may', async t => {
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.startsWith('web/page/'))
    .map(path => `src/${path}`);
  const found = Object.entries(read(paths)).filter(([, text]) => /\.toLocale\w*String\(|\bIntl\./.test(text));
  t.strictSame(
    found.map(([path]) => path),
    [],
  );
  t.ok(paths.length > 100, `${paths.length} files`);
  t.strictSame([0, 999, 1244, 58228, 1000000].map(thousands), ['0', '999', '1,244', '58,228', '1,000,000']);
});

t.test('lines of C end at 120 columns', async t => {
  const paths = readdirSync(join(ROOT, 'c'), { recursive: true, encoding: 'utf8' })
    .filter(path => /\.(c|h|cc|mk)$|Makefile$/.test(path))
    .map(path => `c/${path}`);
  const long = Object.entries(read(paths)).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => ([...line].length > 120 ? [`${path}:${i + 1}`] : [])),
  );
  t.strictSame(long, []);
  t.ok(paths.length > 100, `${paths.length} files`);
});

t.test('a breach is found, and named with file and line', async t => {
  const unadvised = (found: string[]) => found.map(line => line.replace(/; it may (import|include) .*/, ''));
  t.match(breaches({ 'src/supermon/main.ts': "import '../query/sorting.js';" }), [
    /^src\/supermon\/main\.ts:1: imports .*: supermon may not import query; it may import text, options, net, /,
  ]);
  const invented: [path: string, text: string, found: string | undefined][] = [
    ['src/sender/send.ts', "import { x } from '../layout/codec.js';", undefined],
    ['src/sender/collect/stat.ts', "import { x } from '../pack.js';\nimport 'node:fs';", undefined],
    ['src/parts.ts', "const parts = { send: () => import('./sender/main.js') };", undefined],
    ['src/main.ts', "import('./cli/status.js');", undefined],
    ['src/native/index.ts', "createRequire(import.meta.url)('../../../build/beoboard.node');", undefined],
    ['src/cli/dump.ts', "import { mapBoard } from '../native/index.js';", undefined],
    [
      'src/sender/send.ts',
      "import { a } from 'node:fs';\n\nimport { b } from '../shm/writer.js';",
      'src/sender/send.ts:3: imports ../shm/writer.js: sender may not import shm/writer',
    ],
    [
      'src/sender/collect/stat.ts',
      "import type { b } from '../../shm/reader.js';",
      'src/sender/collect/stat.ts:1: imports ../../shm/reader.js: sender may not import shm/reader',
    ],
    [
      'src/receiver/main.ts',
      "\nexport { Snapshot } from '../shm/reader.js';",
      'src/receiver/main.ts:2: imports ../shm/reader.js: receiver may not import shm/reader',
    ],
    [
      'src/shm/reader.ts',
      "export * from './writer.js';",
      'src/shm/reader.ts:1: imports ./writer.js: shm/reader may not import shm/writer',
    ],
    [
      'src/shm/liveness.ts',
      "const later =\n  async () => await import('../receiver/main.js');",
      'src/shm/liveness.ts:2: imports ../receiver/main.js: shm/reader may not import receiver',
    ],
    [
      'src/cli/status.ts',
      "type T = typeof import('../ganglia-xml/render.js');",
      'src/cli/status.ts:1: imports ../ganglia-xml/render.js: cli may not import ganglia-xml',
    ],
    [
      'src/prometheus/main.ts',
      "const { x } = require('../native/index.js');",
      'src/prometheus/main.ts:1: imports ../native/index.js: prometheus may not import native',
    ],
    [
      'src/layout/codec.ts',
      "import { x } from '../text/text.js';",
      'src/layout/codec.ts:1: imports ../text/text.js: layout may not import text',
    ],
    [
      'src/service/log.ts',
      "import x = require('../layout/codec.js');",
      'src/service/log.ts:1: imports ../layout/codec.js: service may not import layout',
    ],
    [
      'src/main.ts',
      "import('./sender/pack.js');",
      'src/main.ts:1: imports ./sender/pack.js: main may not import sender',
    ],
    ['src/cli/demo.ts', "import '../main.js';", 'src/cli/demo.ts:1: imports ../main.js: cli may not import main'],
    [
      'src/load/main.ts',
      "import { compile } from '../../proto/compile.js';",
      'src/load/main.ts:1: imports ../../proto/compile.js: load may import nothing outside of src/',
    ],
    [
      'src/shm/reader.ts',
      "createRequire(import.meta.url)('../../../build/beoboard.node');",
      'src/shm/reader.ts:1: imports ../../../build/beoboard.node: shm/reader may not load the addon; native may',
    ],
    [
      'src/schedulers/bridge/tick.ts',
      "import { readState } from '../statefile.js';",
      'src/schedulers/bridge/tick.ts:1: imports ../statefile.js: schedulers/bridge may not import schedulers/state',
    ],
    [
      'src/web/joblook.ts',
      "import { slurmCalls } from '../schedulers/slurm/calls.js';",
      'src/web/joblook.ts:1: imports ../schedulers/slurm/calls.js: web may not import schedulers/slurm',
    ],
    ['src/cli/watch.ts', "import('./' + name);", 'src/cli/watch.ts:1: imports what is computed: nobody can check that'],
    ['src/shm/extra.ts', '', "src/shm/extra.ts:1: belongs to no part; give it a row in this test's tables"],
    [
      'src/cli/status.ts',
      "import '../shm/extra.js';",
      'src/cli/status.ts:1: imports ../shm/extra.js: src/shm/extra.ts belongs to no part',
    ],
  ];
  for (const [path, text, found] of invented)
    t.strictSame(unadvised(breaches({ [path]: text })), found === undefined ? [] : [found], `${path}: ${text}`);
  const includes: [path: string, text: string, found: string | undefined][] = [
    [
      'c/board/reader.c',
      '#include "reader.h"\n#include <fcntl.h>\n# include "writer.h" /* why */\n',
      'c/board/reader.c:3: includes writer.h: board may not include writer',
    ],
    [
      'c/lib/node.c',
      '#include "internal.h"\n#include "../rules/order.h"\n',
      'c/lib/node.c:2: includes ../rules/order.h: lib may not include rules',
    ],
    [
      'c/receive/receive.c',
      '#include "../board/mapped.h"\n',
      'c/receive/receive.c:1: includes ../board/mapped.h: receive may not include board/mapped',
    ],
    [
      'c/receive/links.c',
      '#include "../board/writer.h"\n',
      'c/receive/links.c:1: includes ../board/writer.h: receive/links may not include writer',
    ],
    [
      'c/mon/samples.c',
      '#include "../sender/options.h"\n',
      'c/mon/samples.c:1: includes ../sender/options.h: mon may not include sender',
    ],
    ['c/sender/slow/edac.c', '#include "source.h"\n#include "../../format/layout.gen.h"\n', undefined],
    ['c/gate/verdict.c', '#include "../beoboard.h"\n', undefined],
    [
      'c/gate/verdict.c',
      '#include "../board/reader.h"\n',
      'c/gate/verdict.c:1: includes ../board/reader.h: gate may not include board',
    ],
    ['c/test/fuzz/boards.c', '#include "../../board/mapped.h"\n', undefined],
    ['c/extra.c', '', "c/extra.c:1: belongs to no part; give it a row in this test's tables"],
    ['c/board/reader.c', '#include "extra.h"\n', 'c/board/reader.c:1: includes extra.h: board may not include no part'],
  ];
  for (const [path, text, found] of includes)
    t.strictSame(unadvised(foreignIncludes({ [path]: text })), found === undefined ? [] : [found], `${path}: ${text}`);
});
