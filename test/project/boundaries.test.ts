// Which part may import which: the tables of the design as data, compared with every import under src/ and every
// include under c/. And that a type's name is declared in one file only, and nothing is exported that no other file uses.
// And how large each room is: after a change that makes one larger on purpose, node dist/test/project/boundaries.test.js
// --write.
//
// @rest

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t from 'tap';
import { thousands } from '../../src/text/text.js';
import { ROOT } from '../kit/places.js';

/** What stands above all folders: it begins a program, and loads the part of its verb. */
const MAIN = /^src\/(main|base|parts|runverb)\.ts$/;

/**
 * What each folder of src/ may import besides itself, a row for each, by floors: the lowest first. A folder imports from
 * the floors below it; beside it only what its row says. A folder in a folder that has a row is one by itself.
 */
const FLOORS: Record<string, string[]>[] = [
  // The ground: no board, no node.
  {
    layout: [],
    // text, to say why it cannot be loaded.
    native: ['text'],
    text: [],
    options: ['text', 'layout'],
    // What every daemon does; messages to a service manager, over sockets that Node does not have.
    service: ['native', 'text', 'options'],
    net: ['text', 'service'],
    // Knows nothing about what is shown there.
    terminal: ['text', 'service'],
  },
  // The board.
  { shm: ['layout', 'native', 'text', 'options', 'service'] },
  // What can be told of a node, and files that others leave.
  {
    // native, because it reads many.
    readings: ['layout', 'native', 'text', 'shm'],
    journalfile: ['layout', 'text', 'options', 'service', 'shm'],
    schedulerfile: ['text', 'service', 'shm'],
    acks: ['text', 'service', 'shm'],
  },
  // What is found, each with its sentence.
  {
    changes: ['layout', 'text', 'shm'],
    query: ['layout', 'text', 'options', 'shm', 'readings'],
    outliers: ['text', 'shm', 'readings', 'query'],
    // The sentences of the two rules of outliers.
    words: ['text', 'readings', 'schedulerfile', 'outliers'],
    trouble: [
      ...['layout', 'text', 'shm', 'readings', 'journalfile', 'schedulerfile', 'acks'],
      ...['changes', 'outliers', 'query', 'words'],
    ],
  },
  // Words and JSON for all who show something.
  {
    // native, because it prints structs as JSON.
    presentation: [
      ...['layout', 'native', 'text', 'terminal', 'shm', 'readings', 'journalfile', 'schedulerfile', 'acks'],
      ...['changes', 'query', 'trouble', 'words'],
    ],
    jobs: ['text', 'shm', 'readings', 'schedulerfile', 'outliers', 'query', 'trouble', 'presentation'],
    events: ['text', 'service', 'terminal', 'shm', 'journalfile', 'changes', 'presentation'],
  },
  // Faces: none knows another.
  {
    cli: [
      ...['layout', 'text', 'options', 'service', 'terminal', 'shm'],
      ...['readings', 'journalfile', 'schedulerfile', 'acks', 'changes', 'outliers', 'query', 'trouble'],
      ...['presentation', 'words', 'jobs', 'events'],
    ],
    web: [
      ...['layout', 'text', 'options', 'service', 'net', 'terminal', 'shm'],
      ...['readings', 'schedulerfile', 'acks', 'changes', 'outliers', 'query', 'trouble'],
      ...['presentation', 'words', 'jobs', 'events'],
    ],
    // Runs in a browser. That nothing of Node comes with it, its own project sees to, and the bundler.
    'web/page': ['text', 'acks', 'presentation', 'web'],
    prometheus: ['layout', 'text', 'options', 'service', 'net', 'shm', 'readings', 'schedulerfile'],
    // native, because it prints forms.
    'ganglia-xml': ['layout', 'native', 'text', 'options', 'service', 'net', 'shm', 'readings'],
    supermon: ['text', 'options', 'net', 'service', 'shm', 'readings'],
    // Queries one node, and knows no board.
    zoom: ['text', 'options', 'service', 'net', 'terminal', 'readings'],
  },
];

/** Daemons stand beside floors 5 and 6: they use what is found and what is below, and each writes one file. */
const DAEMON_FLOOR = 4;
const DAEMONS: Record<string, string[]> = {
  sender: ['layout', 'native', 'text', 'options', 'service'],
  receiver: ['layout', 'native', 'text', 'options', 'service', 'shm'],
  // Writes mirrors only through the addon: never with a receiver's writer.
  relay: ['layout', 'native', 'text', 'options', 'service', 'shm'],
  journal: ['text', 'options', 'service', 'shm', 'journalfile', 'schedulerfile', 'acks', 'changes'],
  schedulers: ['text', 'options', 'service', 'shm', 'readings', 'schedulerfile', 'outliers'],
  'schedulers/bridge': ['layout', 'text', 'options', 'service', 'shm', 'schedulerfile', 'schedulers'],
  load: ['layout', 'native', 'text', 'options', 'service'],
  demo: ['text', 'options', 'service'],
};

const MAY: Record<string, string[]> = {
  ...Object.assign({}, ...FLOORS),
  ...DAEMONS,
  main: ['text', 'options', 'service', 'mains'],
};

/** What no row can say: files that may not import some others, and why. */
const NEVER: [from: RegExp, to: RegExp, why: string][] = [
  [/^src\/(?!receiver\/)/, /^src\/shm\/writer\.ts$/, 'only the receiver writes boards'],
  [
    /^src\/receiver\/(?!(absence|forget)\.ts)/,
    /^src\/shm\/(?!notice\.ts|trust\.ts|writer\.ts)/,
    "only absence.ts and forget.ts look at the receiver's board, as any reader does",
  ],
  [
    /^src\/schedulers\/bridge\//,
    /^src\/schedulerfile\/(differences|schedulerview|statefile)\.ts$/,
    "the bridge acts on a scheduler's own answers, never on the file that the reader writes",
  ],
  [/^src\/web\/page\//, /^src\/web\/(?!page\/|(wire|answers)\.ts)/, 'only these are of both the server and its page'],
  ...['slurm/', 'gridengine/', 'file.ts'].map((one): [RegExp, RegExp, string] => [
    new RegExp(`^src/(?!schedulers/(chosen.ts|${one}))`),
    new RegExp(`^src/schedulers/${one}`),
    'only chosen.ts knows which scheduler is behind the door',
  ]),
];

/** The entry points of the verbs; outside of their part, only main.ts and parts.ts may import them. */
const MAINS =
  /^src\/([a-z-]+\/main|schedulers\/bridge\/main|cli\/[a-z-]+|receiver\/(?:clear|forget)|relay\/mirror|ganglia-xml\/xml|prometheus\/print)\.ts$/;

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
  ['board', /^c\/board\/(column|newest|parts|reader|seqlock)\.[ch]$/],
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
  ['receive/sockets', /^c\/receive\/(interfaces|kerneldrops|local|sockets|stamps)\.[ch]$/],
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
  'board/repair': ['format', 'board', 'board/mapped', 'board/file', 'board/records', 'board/memory'],
  'board/writer': [
    ...['base', 'format', 'rules', 'board', 'writer'],
    ...['board/mapped', 'board/file', 'board/memory', 'board/records', 'board/rejected', 'board/repair'],
  ],
  'receive/sockets': ['base', 'format'],
  // The one owner of what is known of links: it can write nothing board-wide.
  'receive/links': ['base', 'board', 'linktable', 'receive/sockets'],
  receive: ['base', 'board', 'writer', 'receive/sockets', 'receive/links'],
  relay: [
    'format',
    'rules',
    'board',
    'writer',
    'judge',
    ...['mapped', 'file', 'memory', 'records', 'repair'].map(part => `board/${part}`),
  ],
  addon: ['api', 'base', 'format', 'rules', 'board', 'writer', 'judge', 'receive', 'relay', 'verbs'],
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

/** The most lines that people write in src/, and in c/ without its tests and examples: what comes, something else makes room for. */
const MOST_LINES: Record<string, number> = { src: 60_000, c: 33_000 };

/** The lines of each room when they were last accepted; growth beyond is told. */
const LINES: Record<string, number> = {
  'c/addon': 1888,
  'c/base': 4248,
  'c/beoboard.h': 879,
  'c/board': 3708,
  'c/collect': 2333,
  'c/format': 90,
  'c/gate': 864,
  'c/gpu': 1662,
  'c/judge': 801,
  'c/lib': 1002,
  'c/mon': 1170,
  'c/receive': 2804,
  'c/relay': 1632,
  'c/rules': 747,
  'c/sender': 6099,
  'c/sensor': 749,
  'c/verbs': 2215,
  'src/acks': 282,
  'src/changes': 1059,
  'src/cli': 5321,
  'src/demo': 274,
  'src/events': 369,
  'src/ganglia-xml': 1378,
  'src/jobs': 733,
  'src/journal': 1718,
  'src/journalfile': 1292,
  'src/layout': 484,
  'src/load': 1026,
  'src/main': 190,
  'src/native': 600,
  'src/net': 1539,
  'src/options': 1766,
  'src/outliers': 1633,
  'src/presentation': 1904,
  'src/prometheus': 2092,
  'src/query': 1040,
  'src/readings': 1613,
  'src/receiver': 1049,
  'src/relay': 2061,
  'src/schedulerfile': 1198,
  'src/schedulers': 2056,
  'src/schedulers/bridge': 2168,
  'src/sender': 6134,
  'src/service': 779,
  'src/shm': 2370,
  'src/supermon': 899,
  'src/terminal': 245,
  'src/text': 2320,
  'src/trouble': 2130,
  'src/web': 3464,
  'src/web/page': 5639,
  'src/words': 94,
  'src/zoom': 1076,
};

const cPartOf = (path: string) => C_PARTS.find(([, files]) => files.test(path))?.[0];

/** The folder of a file, as it stands in the table. */
function partOf(path: string): string | undefined {
  if (MAIN.test(path)) return 'main';
  const [, folder = '', inside = ''] = path.split('/');
  return [`${folder}/${inside}`, folder].find(name => name in MAY && name !== 'main');
}

/** What stands before what is imported, in code as Biome lays it out (style is a check of every run). */
const IMPORTS =
  /(?:^(?:import|export)\b[\w\s{},*]*?\bfrom\s+|^import\s+(?=['"])|\bimport\(|\brequire\(|\bcreateRequire\([^)]*\)\()\s*(?:'([^']*)'|"([^"]*)")?(?!\s*\+)/gm;

/** A source without its comments; its lines stay. */
const codeOf = (text: string): string =>
  text
    .replace(/\/\*.*?\*\/ ?/g, '')
    .replace(/^\s*(?:\/\*|\*|\/\/).*$/gm, '')
    .replace(/(?<=[\s,{])\/\/.*$/gm, '');

/** Every import of a file, also of types: its line and the imported path; undefined if the path is computed. */
function importsOf(text: string): { line: number; from: string | undefined; isAll: boolean }[] {
  const code = codeOf(text);
  return [...code.matchAll(IMPORTS)].map(match => ({
    line: code.slice(0, match.index).split('\n').length,
    from: match[1] ?? match[2],
    isAll: match[0].startsWith('export *'),
  }));
}

/** Why a file may not import another; undefined if it may. */
function objection(path: string, target: string): string | undefined {
  const from = partOf(path) ?? '';
  if (ADDON.test(target)) return from === 'native' ? undefined : `${from} may not load the addon; native may`;
  if (!target.startsWith('src/')) return `${from} may import nothing outside of src/`;
  const to = partOf(target);
  if (to === undefined) return `${target} belongs to no part`;
  const may = MAY[from] ?? [];
  if (to === from || may.includes(to) || (may.includes('mains') && MAINS.test(target)))
    return NEVER.find(([importer, imported]) => importer.test(path) && imported.test(target))?.[2];
  return `${from} may not import ${to}; it may import ${may.join(', ') || 'nothing of ours'}`;
}

/** The file that a file imports by that path. The code runs in dist/src/; from there, the addon is one folder further up. */
const targetOf = (path: string, from: string) =>
  posix
    .join(posix.dirname(path), from)
    .replace(/^\.\.\/(build|prebuilds)\//, '$1/')
    .replace(/\.js$/, '.ts');

/** Circles, each as the way through it. */
function circles(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const [found, done] = [[] as string[], new Set<string>()];
  const follow = (one: string, way: string[]) => {
    if (way.includes(one)) found.push([...way.slice(way.indexOf(one)), one].join(' > '));
    else if (!done.has(one)) {
      for (const next of graph.get(one) ?? []) follow(next, [...way, one]);
      done.add(one);
    }
  };
  for (const one of graph.keys()) follow(one, []);
  return found;
}

/** What imports what, types included: files, or the folders in which they are. */
function graphOf(files: Record<string, string>, of: (path: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(files)) {
    const from = of(path);
    const to = graph.get(from) ?? new Set();
    graph.set(from, to);
    for (const { from: imported = '' } of importsOf(text)) {
      const target = targetOf(path, imported);
      if (imported.startsWith('.') && target in files && of(target) !== from) to.add(of(target));
    }
  }
  return graph;
}

/** Every breach of the table, one line each: `file:line: imports what: why not`. */
function breaches(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    if (partOf(path) === undefined)
      return [`${path}:1: belongs to no part; give its folder a row in this test's tables`];
    return importsOf(text).flatMap(({ line, from }) => {
      if (from === undefined) return [`${path}:${line}: imports what is computed: nobody can check that`];
      if (!from.startsWith('.')) return []; // packages and Node's own modules
      const target = targetOf(path, from);
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

/** What declares a type, within a function, too; `type Name` in an import does not. */
const DECLARED =
  /^\s*(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:const (?=enum))?(?:type|interface|class|enum) (\w+)(?=<|\s+(?:[={]|extends\b|implements\b))/gm;

/** The names of types that are declared in several files, each with these: a search finds uses of another type. */
function namesakes(files: Record<string, string>): string[] {
  const places = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(files))
    for (const [, name = ''] of text.matchAll(DECLARED)) places.set(name, (places.get(name) ?? new Set()).add(path));
  return [...places].filter(([, all]) => all.size > 1).map(([name, all]) => `${name}: ${[...all].join(', ')}`);
}

/** What exports names: one that is declared there, or those in braces. */
const EXPORTED =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const (?=enum))?(?:(?:type|interface|class|enum|function\*?|const|let) (\w+)|(?:type |const )?\{([^}]*)\})/gm;

/** The names that a file exports, as others know them. */
function exportsOf(text: string): string[] {
  return [...text.matchAll(EXPORTED)].flatMap(([, name, list = '']) =>
    name !== undefined ? [name] : [...list.matchAll(/(\w+)\s*(?=,|$)/g)].map(([, one = '']) => one),
  );
}

/**
 * Exports that no other file uses. A file uses those names of one that it imports, also through an `export *`, that stand
 * anywhere in it; scripts, which are also imported by computed paths, need not be imported.
 */
function unshared(files: Record<string, string>): string[] {
  const [importers, passedOn] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  for (const [path, text] of Object.entries(files))
    for (const { from = '', isAll } of importsOf(text)) {
      const target = targetOf(path, from).replace(/^(\.\.\/|dist\/)+/, '');
      const all = isAll ? passedOn : importers;
      all.set(target, (all.get(target) ?? new Set()).add(path));
    }
  const usersOf = (path: string): string[] => [
    ...(importers.get(path) ?? []),
    ...[...(passedOn.get(path) ?? [])].flatMap(usersOf),
  ];
  const words = new Map(Object.entries(files).map(([path, text]) => [path, new Set(codeOf(text).match(/\w+/g))]));
  return Object.entries(files).flatMap(([path, text]) => {
    const users = path.endsWith('.mjs') ? Object.keys(files) : usersOf(path);
    const isUsed = (name: string) => users.some(user => user !== path && words.get(user)?.has(name));
    return exportsOf(text)
      .filter(name => !isUsed(name))
      .map(name => `${path}: ${name}`);
  });
}

const read = (paths: string[]) => Object.fromEntries(paths.map(path => [path, readFileSync(join(ROOT, path), 'utf8')]));

/** The sources below a folder of the clone whose names match, in order. */
const sourcesIn = (folder: string, name: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => name.test(path))
    .map(path => `${folder}/${path}`)
    .sort();

t.test('every import under src/ keeps to the table', async t => {
  const paths = sourcesIn('src', /\.[cm]?[jt]sx?$/);
  const files = read(paths);
  t.strictSame(breaches(files), []);
  const seen = Object.values(files).reduce((sum, text) => sum + importsOf(text).length, 0);
  t.ok(paths.length > 40 && seen > 150, `${seen} imports of ${paths.length} files were seen`);
  const folders = new Set(paths.map(partOf));
  t.strictSame([...folders].sort(), Object.keys(MAY).sort(), 'each folder has a row, and each row a folder');
  const byFolder = graphOf(files, path => partOf(path) ?? path);
  byFolder.delete('main');
  t.strictSame(circles(byFolder), [], 'no folders import each other in a circle');
  t.strictSame(circles(graphOf(files, path => path)), [], 'nor do files');
});

/** The lines of files by room: folders with a row, and those of c/. */
function linesByRoom(files: Record<string, string>): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const [path, text] of Object.entries(files)) {
    const room = path.startsWith('src/') ? `src/${partOf(path)}` : path.split('/').slice(0, 2).join('/');
    lines[room] = (lines[room] ?? 0) + text.split('\n').length - 1;
  }
  return lines;
}

t.test('src/ and c/ stay within their lines', async t => {
  const paths = [
    ...sourcesIn('src', /^(?!.*\.gen\.ts$).*\.ts$/),
    ...sourcesIn('c', /^(?!(test|examples)\/|.*\.gen\.h$).*\.(c|h|cc)$/),
  ];
  const now = linesByRoom(read(paths));
  for (const [tree, most] of Object.entries(MOST_LINES)) {
    const sumOf = (lines: Record<string, number>) =>
      Object.entries(lines).reduce((sum, [room, count]) => sum + (room.startsWith(`${tree}/`) ? count : 0), 0);
    const sum = sumOf(now);
    t.ok(sum > 10_000 && sum <= most, `${tree}/ has ${sum} lines, at most ${most}: take away as much as you add`);
    t.comment(`${tree}/: ${sum} of ${most} lines, ${sum - sumOf(LINES)} more than accepted`);
  }
  for (const room of new Set([...Object.keys(LINES), ...Object.keys(now)])) {
    const growth = (now[room] ?? 0) - (LINES[room] ?? 0);
    if (growth !== 0) t.comment(`${room}: ${growth > 0 ? '+' : ''}${growth}`);
  }
  if (!process.argv.includes('--write')) return;
  const path = join(ROOT, 'test', 'project', 'boundaries.test.ts');
  const rows = Object.keys(now)
    .sort()
    .map(room => `  '${room}': ${now[room]},\n`);
  const table = /(?<=^const LINES: Record<string, number> = )\{.*?\};/ms;
  writeFileSync(path, readFileSync(path, 'utf8').replace(table, `{\n${rows.join('')}};`));
});

t.test('a row allows nothing of a floor above its own', async t => {
  const floors = new Map(FLOORS.flatMap((folders, i) => Object.keys(folders).map(name => [name, i + 1] as const)));
  const tooHigh = (rows: Record<string, string[]>, most: number, beside: readonly string[]) =>
    Object.entries(rows).flatMap(([name, may]) =>
      may.filter(to => !beside.includes(to) && (floors.get(to) ?? Infinity) > most).map(to => `${name} > ${to}`),
    );
  for (const [i, rows] of FLOORS.entries()) t.strictSame(tooHigh(rows, i + 1, []), [], `floor ${i + 1}`);
  t.strictSame(tooHigh(DAEMONS, DAEMON_FLOOR, Object.keys(DAEMONS)), [], 'daemons');
  t.strictSame(circles(new Map(Object.entries(MAY))), [], 'no rows allow a circle');
  const [a, b] = ['src/shm/a.ts', 'src/shm/b.ts'];
  const both = { [a]: "import type { B } from './b.js';", [b]: "export * from './c.js';\nimport('./a.js');" };
  t.strictSame(circles(graphOf(both, path => path)), [`${a} > ${b} > ${a}`]);
});

t.test('every include under c/ keeps to the table', async t => {
  const paths = sourcesIn('c', /\.(c|h|cc)$/);
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
  t.strictSame(circles(new Map(Object.entries(C_MAY))), [], 'there is no circle');
});

t.test('no program loads the tables of a language, which takes each start 11 ms; pages may', async t => {
  const paths = sourcesIn('src', /^(?!web\/page\/).*\.ts$/);
  const found = Object.entries(read(paths)).filter(([, text]) => /\.toLocale\w*String\(|\bIntl\./.test(text));
  t.strictSame(
    found.map(([path]) => path),
    [],
  );
  t.ok(paths.length > 100, `${paths.length} files`);
  t.strictSame([0, 999, 1244, 58228, 1000000].map(thousands), ['0', '999', '1,244', '58,228', '1,000,000']);
});

t.test(
  'the page takes the present from the server, whose moments it shows: the browser may be minutes off',
  async t => {
    const found = Object.entries(read(sourcesIn('src', /^web\/page\/.*\.ts$/))).flatMap(([path, text]) =>
      /\bDate\.now\(|\bnew Date\(\)/.test(text) ? [path.replace(/^.*\//, '')] : [],
    );
    // One compares the clocks, and the other has it until the server's is known.
    t.strictSame(found.sort(), ['formats.ts', 'pace.ts']);
  },
);

/** Lines that decide by what an error says, which may change, rather than by its code. */
const decidedByWords = (files: Record<string, string>): string[] =>
  Object.entries(files).flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => {
      const asks =
        /\.(test|exec)\([^;]*\bmessage\b|\bmessage\)?\??\.(includes|startsWith|endsWith|match|search|indexOf)\(/;
      return asks.test(line) || /\.message\)? [!=]==? ['"`]/.test(line) ? [`${path}:${i + 1}`] : [];
    }),
  );

t.test('no decision hangs on the words of an error', async t => {
  const paths = sourcesIn('src', /\.ts$/);
  t.strictSame(decidedByWords(read(paths)), []);
  for (const line of [
    'if (!/has been writing/.test((error as Error).message)) throw error;',
    "if (!message.includes('beoboard.node')) return undefined;",
    "if (error.message === 'gone') return;",
  ])
    t.strictSame(decidedByWords({ x: line }), ['x:1'], line);
});

t.test('no name of a type is declared in two files: it would be found where it means something else', async t => {
  const paths = sourcesIn('src', /\.ts$/);
  const files = read(paths);
  t.strictSame(namesakes(files), [], 'name it for what it is in its file, or import the one');
  const seen = Object.values(files).reduce((sum, text) => sum + [...text.matchAll(DECLARED)].length, 0);
  t.ok(seen > 500, `${seen} types`);
  const [a, b] = ['src/shm/a.ts', 'src/web/page/b.ts'];
  const invented: [a: string, b: string, isFound: boolean][] = [
    ['export type Kind = 1;', 'type Kind<T> = T;', true],
    ['interface Kind {', 'function f() {\n  class Kind extends Map {}', true],
    ['export interface Kind\n  extends Map {}', 'export abstract class Kind implements Map {', true],
    ['declare class Kind {', 'export const enum Kind {', true],
    ['type Kind =\n  | 1;\ntype Kind = 2;', "import {\n  type Kind,\n  type Kind as Other,\n} from './a.js';", false],
    ['type Kind = 1;', 'type Kinds = 1;\n// type Kind = 2;\nexport type { Kind };', false],
  ];
  for (const [one, other, isFound] of invented)
    t.strictSame(namesakes({ [a]: one, [b]: other }), isFound ? [`Kind: ${a}, ${b}`] : [], `${one} ${other}`);
});

t.test('nothing is exported that no other file uses', async t => {
  const paths = ['src', 'proto', 'test', 'bench', 'scripts', 'packaging'].flatMap(folder =>
    sourcesIn(folder, /\.(ts|mjs)$/),
  );
  const files = read(paths);
  t.strictSame(unshared(files), [], 'keep it to its file, or remove it');
  const seen = Object.values(files).reduce((sum, text) => sum + exportsOf(text).length, 0);
  t.ok(seen > 2000, `${seen} exports`);
  const [a, b, c] = ['src/shm/a.ts', 'src/shm/b.ts', 'test/shm/c.ts'];
  const invented: [a: string, b: string, c: string, found: string[]][] = [
    ['export const one = 1;', 'const one = 2;', '', [`${a}: one`]],
    ['export const one = 1;', "import { one } from './a.js';", '', []],
    ['export interface Kind {', '', "import type { Kind } from '../../src/shm/a.js';", []],
    ['export async function f() {', '', "const { f } = await import('../../src/shm/a.js');", []],
    ['export const { one, two } = all;', "import { two } from './a.js';", '', [`${a}: one`]],
    ['export type Kind = 1;', "export * from './a.js';", "import type { Kind } from '../../src/shm/b.js';", []],
    ['export class Kind {', "export * from './a.js';", '', [`${a}: Kind`]],
    [
      '',
      "export { one as two, type Kind } from './x.js';",
      "import { two } from '../../src/shm/b.js';",
      [`${b}: Kind`],
    ],
  ];
  for (const [one, two, three, found] of invented)
    t.strictSame(unshared({ [a]: one, [b]: two, [c]: three }), found, [one, two, three].join(' '));
});

t.test('lines of C end at 120 columns', async t => {
  const paths = sourcesIn('c', /\.(c|h|cc|mk)$|Makefile$/);
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
  const withComment = 'Snapshot, // as readers have it';
  const invented: [path: string, text: string, found: string | undefined][] = [
    ['src/sender/send.ts', "import { x } from '../layout/codec.js';", undefined],
    ['src/sender/collect/stat.ts', "import { x } from '../pack.js';\nimport 'node:fs';", undefined],
    ['src/parts.ts', "const parts = { send: () => import('./sender/main.js') };", undefined],
    ['src/main.ts', "import('./cli/status.js');", undefined],
    ['src/native/index.ts', "createRequire(import.meta.url)('../../../build/beoboard.node');", undefined],
    ['src/load/main.ts', "import { BulkSender } from '../native/index.js';", undefined],
    [
      'src/sender/send.ts',
      "import { a } from 'node:fs';\n\nimport { b } from '../shm/writer.js';",
      'src/sender/send.ts:3: imports ../shm/writer.js: sender may not import shm',
    ],
    [
      'src/sender/collect/stat.ts',
      "import type { b } from '../../shm/reader.js';",
      'src/sender/collect/stat.ts:1: imports ../../shm/reader.js: sender may not import shm',
    ],
    [
      'src/receiver/main.ts',
      "\nexport { Snapshot } from '../shm/reader.js';",
      "src/receiver/main.ts:2: imports ../shm/reader.js: only absence.ts and forget.ts look at the receiver's board, as any reader does",
    ],
    [
      'src/shm/reader.ts',
      "export * from './writer.js';",
      'src/shm/reader.ts:1: imports ./writer.js: only the receiver writes boards',
    ],
    [
      'src/shm/liveness.ts',
      "const later =\n  async () => await import('../receiver/main.js');",
      'src/shm/liveness.ts:2: imports ../receiver/main.js: shm may not import receiver',
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
      'src/shm/reader.ts:1: imports ../../../build/beoboard.node: shm may not load the addon; native may',
    ],
    [
      'src/schedulers/bridge/tick.ts',
      "import { readState } from '../../schedulerfile/statefile.js';",
      "src/schedulers/bridge/tick.ts:1: imports ../../schedulerfile/statefile.js: the bridge acts on a scheduler's own answers, never on the file that the reader writes",
    ],
    [
      'src/web/joblook.ts',
      "import { slurmCalls } from '../schedulers/slurm/calls.js';",
      'src/web/joblook.ts:1: imports ../schedulers/slurm/calls.js: web may not import schedulers',
    ],
    [
      'src/schedulers/poll.ts',
      "import { slurmCalls } from './slurm/calls.js';",
      'src/schedulers/poll.ts:1: imports ./slurm/calls.js: only chosen.ts knows which scheduler is behind the door',
    ],
    [
      'src/text/text.ts',
      `import type {\n  ${withComment}\n} from '../shm/snapshot.js';`,
      'src/text/text.ts:1: imports ../shm/snapshot.js: text may not import shm',
    ],
    [
      'src/text/text.ts',
      `/${'*'} why ${'*'}/ import { Snapshot } from '../shm/snapshot.js';`,
      'src/text/text.ts:1: imports ../shm/snapshot.js: text may not import shm',
    ],
    ['src/cli/watch.ts', "import('./' + name);", 'src/cli/watch.ts:1: imports what is computed: nobody can check that'],
    ['src/extra/more.ts', '', "src/extra/more.ts:1: belongs to no part; give its folder a row in this test's tables"],
    [
      'src/cli/status.ts',
      "import '../extra/more.js';",
      'src/cli/status.ts:1: imports ../extra/more.js: src/extra/more.ts belongs to no part',
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
