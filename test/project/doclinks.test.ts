// The documents: links lead somewhere, lines and pages are not too long, each page begins with what it answers, the index
// has all pages, phrases that nobody understood do not come back, tests and paths that they or comments name are there,
// and the changelog has the form of Keep a Changelog.
//
// @rest

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import t from 'tap';
import { ROOT } from '../kit/places.js';
import { notThere } from './testnames.js';

const among = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => posix.join(folder, name));
const DOCS = [...among('docs'), ...among('docs/internals')];
const PAGES = [...among('.'), ...DOCS, ...among('proto'), ...among('examples')];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** A page without its fenced blocks, in which links and long lines are allowed. */
const prose = (text: string) =>
  text.replace(/^ *```[\s\S]*?^ *```$/gm, fence => '\n'.repeat(fence.split('\n').length - 1));

/** The anchor that GitHub makes from a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
const anchors = (path: string) =>
  new Set([...prose(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)));

t.test('links lead somewhere', async t => {
  t.equal(anchorOf('What it costs, and `why`'), 'what-it-costs-and-why');
  let found = 0;
  for (const page of PAGES) {
    const wrong: string[] = [];
    for (const [, to = ''] of prose(read(page))
      .replace(/`[^`]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(to)) continue;
      found++;
      const [path = '', anchor] = to.split('#');
      const file = path === '' ? page : posix.join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) wrong.push(to);
      else if (anchor !== undefined && !anchors(file).has(anchor)) wrong.push(to);
    }
    t.same(wrong, [], page);
  }
  t.ok(found > 100, `${found} links`);
});

t.test('the index of a folder has every page', async t => {
  for (const page of DOCS.filter(name => posix.basename(name) !== 'README.md'))
    t.ok(read(posix.join(dirname(page), 'README.md')).includes(`(${posix.basename(page)})`), page);
});

t.test('a page begins with what it answers', async t => {
  for (const page of [...DOCS, 'README.md']) {
    const [title = '', blank, first = ''] = read(page).split('\n');
    t.match(title, /^# \S/, page);
    t.equal(blank, '');
    t.match(first, /^([A-Z*|]|`)/, `${page}: ${first.slice(0, 60)}`);
  }
});

/** Phrases that nobody understood, and what to write instead. */
const RIDDLES: [phrase: RegExp, instead: string][] = [
  [/going all the way/, 'say what is shown'],
  [/heard everything for/, 'listening without gaps for'],
  [/takes of the (node|master) \|/, 'say whose CPU it is'],
  [/left out by chance/, 'percentage of reports to drop at random'],
  [/the command line goes before/, 'the command line takes precedence'],
  [/must at least have proved/, 'minimum authentication'],
  [/tried for ever/, 'retried indefinitely'],
  [/is there, but nobody listens/, 'connection refused'],
  [/is none of its words/, 'is not a valid value'],
  [/shall not carry/, 'without'],
  [/in good order/, 'cleanly, clean shutdown'],
  [/by another road/, 'by another path'],
  [/somebody listens there already/, 'another program listens there'],
  [/is taken as absent/, 'is ignored'],
  [/for want of memory(?! \(Linux)/, 'because memory ran out'],
  [/what problems it/, 'its problems'],
  [/(reports|datagrams?|senders?) (are|is|was|were) refused/, 'rejected'],
  [/is believed\b/, 'is trusted'],
];

/** What users read: documents, manual pages, help, and the sources of these texts. */
const READ = [
  ...PAGES.filter(page => page !== 'CHANGELOG.md'),
  ...[...readdirSync(join(ROOT, 'c'), { recursive: true, encoding: 'utf8' })]
    .filter(name => /\.[1358]$|options\.c$|say\.c$|commandline\.c$/.test(name))
    .map(name => posix.join('c', name)),
  ...[...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })]
    .filter(name => name.endsWith('.ts') && !name.endsWith('.gen.ts'))
    .map(name => posix.join('src', name)),
  ...readdirSync(join(ROOT, 'packaging/completions')).map(name => posix.join('packaging/completions', name)),
];

t.test('phrases that nobody understood', async t => {
  t.ok(READ.length > 200, `${READ.length} files`);
  const found = READ.flatMap(path =>
    read(path)
      .split('\n')
      .flatMap((line, i) =>
        RIDDLES.filter(([what]) => what.test(line)).map(([, instead]) => `${path}:${i + 1}: ${instead}`),
      ),
  );
  t.same(found, []);
});

/** The comments in a source, a line each; a document has all of its lines. */
const told = (path: string) =>
  read(path)
    .split('\n')
    .map(line => (path.endsWith('.md') ? line : (/(?:^|\s)(?:\/\/|#|\/\*)\s.*|^\s*\/?\*+\s.*/.exec(line)?.[0] ?? '')));
const COMMENTED = /\.(md|[cm]?[jt]s|cc?|h|mk|py|sh|go|rs|css|html|toml|ya?ml|conf|service|socket)$|\/Makefile$/;

/** Sources with comments. What tests feed to programs says nothing of this project. */
const SOURCES = ['c', 'src', 'test', 'bench', 'scripts', 'proto', 'packaging', 'examples']
  .flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(name => posix.join(folder, name)),
  )
  .filter(path => COMMENTED.test(path) && !/^test\/(corpus|golden|vectors)\//.test(path));

t.test('a test that is named in a document or in a comment is there', async t => {
  const wrong = ['test/nowhere', 'test/board/70.board.ts', '`board/70`', '`kit/no.ts`', '`npm test -- 73`', 'test 60'];
  for (const name of [...wrong, '71.board.test.ts']) t.equal(notThere(`see ${name}.`).length, 1, name);
  const right = [
    'test/board/board.test.ts',
    'dist/test/kit/until.js',
    'test/ROOM/',
    'test/packages/guest/*.sh',
    '9 tests',
  ];
  const also = ['`fuzz/fuzz`', '`web/page`', '`npm run test:long -- links`', 'npm test -- WORD', 'c/test/standin.c'];
  for (const name of [...right, ...also]) t.same(notThere(`see ${name}.`), [], name);
  const found = [...new Set([...PAGES, ...SOURCES])].flatMap(path =>
    told(path).flatMap((line, i) => notThere(line).map(name => `${path}:${i + 1}: ${name}`)),
  );
  t.same(found, []);
  t.ok(SOURCES.length > 500, `${SOURCES.length} sources`);
});

/** A file with its ending, or anything below a folder of ours. */
const PATH =
  /(?<![\w./@$*~<-])(?:(?:(?:\.\.?|[\w-]+)\/)*[\w.-]*[\w-]\.(?:[cm]?[jt]s|cc?|h|py|mk|sh)(?![\w(/*-]|\.\w)|(?:bench|c|docs|examples|packaging|proto|python|scripts|src)\/[\w./-]*\w)/g;
/** Of the kernel, of libraries, of Slurm, made; and what is no file. */
const FOREIGN =
  /^(linux|fs)\/|^net\/.*\.[ch]$|^src\/(common\/slurm_|api\/)|^sysexits\.h$|^(Node\.js|beoboard\.cjs)$|[A-Z]{2,}|^\w(\.\w)+$/;
const FILES = new Set(SOURCES.map(path => posix.basename(path)));

/** The paths in a line of a source that lead nowhere from the root, from c/, src/ or test/, or from its own folder. */
const goneFrom = (source: string, line: string) =>
  [...line.matchAll(PATH)].flatMap(([path]) => {
    const ours = path.replace(/^dist\/(.*)\.js$/, '$1.ts');
    const places = ['', 'c', 'src', 'test', dirname(source)].map(from => join(ROOT, from, ours));
    const isThere =
      FILES.has(path.replace(/\.js$/, '.ts')) || places.some(at => existsSync(at) || existsSync(`${at}.ts`));
    return isThere || FOREIGN.test(path) ? [] : [path];
  });

t.test('a path that a comment names is there', async t => {
  for (const path of 'c/seqlock.h src/common/options ../seqlock.h base/nowhere.c dist/proto/no.js nowhere.h'.split(' '))
    t.same(goneFrom('c/lib/node.c', ` * by ${path}.`), [path], path);
  for (const path of [
    'c/board',
    'src/options/line',
    '../board/seqlock.h',
    'base/text.h',
    'dist/proto/man.js',
    'text.h',
  ])
    t.same(goneFrom('c/lib/node.c', ` * by ${path}.`), [], path);
  const found = SOURCES.flatMap(path =>
    told(path).flatMap((line, i) => goneFrom(path, line).map(name => `${path}:${i + 1}: ${name}`)),
  );
  t.same(found, []);
});

t.test('a page that a source names is there', async t => {
  let named = 0;
  const found = SOURCES.flatMap(path =>
    [...read(path).matchAll(/\bdocs\/[a-z/]+\.md\b/g)].flatMap(([page]) => {
      named++;
      return existsSync(join(ROOT, page)) ? [] : [`${path}: ${page}`];
    }),
  );
  t.same(found, []);
  t.ok(named > 100, `${named} names`);
});

/** The words of a line; text in backticks is one word. */
const wordsOf = (line: string) => line.match(/(`[^`]*`|[^\s`])+/g) ?? [];

/** How many cells a row of a table has; a `|` in a cell is written as `\\|`. */
const cells = (row: string) => row.replaceAll('\\|', '').split('|').length;

t.test('a table has a head, and each of its rows as many cells as this', async t => {
  const broken = (text: string) =>
    (prose(text).match(/(^\|.*\n?)+/gm) ?? []).filter(table => {
      const [head = '', rule = '', ...rows] = table.trimEnd().split('\n');
      return !/^\|[-:| ]+\|$/.test(rule) || [rule, ...rows].some(row => cells(row) !== cells(head));
    });
  t.equal(broken('| a | b |\n|---|---|\n| c |\n').length, 1, 'a row lacks a cell');
  t.equal(broken('| a | b |\n|---|---|\n\n| c | d |\n').length, 1, 'a row stands alone');
  t.same(broken('| a | b |\n|---|--:|\n| c | `d \\| e` |\n'), []);
  for (const page of PAGES) t.same(broken(read(page)), [], page);
});

t.test('lines wrap at 120 columns', async t => {
  for (const page of [...DOCS, ...among('proto'), 'README.md', 'CONTRIBUTING.md']) {
    const long = prose(read(page))
      .split('\n')
      .flatMap((line, i) => {
        // Tables, headings, pictures and comments cannot be wrapped, nor can one long word.
        if (line.length <= 120 || /^(\||#|<!--|!\[)/.test(line)) return [];
        return wordsOf(line.replace(/^\s*([-*]|\d+\.)\s/, '')).length > 1 ? [`${page}:${i + 1}`] : [];
      });
    t.same(long, [], page);
  }
});

t.test('there are not too many words', async t => {
  const count = (paths: readonly string[]) => paths.reduce((sum, path) => sum + read(path).split(/\s+/).length, 0);
  for (const [paths, most] of [
    [['README.md', ...among('docs')], 39_500],
    [among('docs/internals'), 18_500],
  ] as const) {
    const words = count(paths);
    t.ok(words > most / 2 && words <= most, `${words} of at most ${most}: say each thing once`);
  }
});

/** What is wrong with the form of a changelog: https://keepachangelog.com/en/1.1.0/, with one line for each change. */
function wrongForm(text: string): string[] {
  const wrong: string[] = [];
  const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  const [, ...versions] = text.split(/^## /m);
  const named = versions.map(version => version.slice(0, version.indexOf('\n')));
  named.forEach((name, i) => {
    const is = i === 0 ? /^\[Unreleased\]$/ : /^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/;
    if (!is.test(name)) wrong.push(`heading: ${name}`);
  });
  const numbers = named.slice(1).map(name => name.replace(/\d+/g, digits => digits.padStart(9, '0')));
  if (numbers.length === 0 || numbers.join() !== numbers.toSorted().reverse().join())
    wrong.push('newest version first');
  versions.forEach((version, i) => {
    const [before = '', ...sections] = version.split(/^### /m);
    if (before.trim() !== named[i]) wrong.push(`${named[i]}: text before the first section`);
    const order = sections.map(section => kinds.indexOf(section.slice(0, section.indexOf('\n'))));
    if (order.join() !== [...new Set(order)].toSorted().join() || order.includes(-1))
      wrong.push(`${named[i]}: sections`);
    for (const section of sections) {
      const [kind, ...lines] = section.split('\n').filter(line => line !== '');
      if (lines.length === 0) wrong.push(`${named[i]}, ${kind}: empty`);
      for (const line of lines)
        if (!/^- [A-Z`/].*\.$/.test(line) || line.length > 300) wrong.push(`${named[i]}, ${kind}: ${line}`);
      if (new Set(lines).size < lines.length) wrong.push(`${named[i]}, ${kind}: a line twice`);
    }
  });
  return wrong;
}

t.test('the changelog: by version, by kind, a line for each change', async t => {
  const good = '# Changelog\n\n## [Unreleased]\n\n## [0.10.0] - 2026-01-02\n\n### Added\n\n- A.\n\n### Fixed\n\n- B.\n';
  const with9 = `${good}\n## [0.9.0] - 2026-01-01\n\n### Added\n\n- A.\n`;
  t.same(wrongForm(with9), []);
  for (const [from, to] of [
    ['## [Unreleased]\n\n', ''],
    ['[0.10.0] - 2026-01-02', '0.10.0'],
    ['[0.10.0]', '[0.8.0]'],
    ['### Added', '### New'],
    ['### Fixed', '### Added'],
    ['### Added\n\n- A.\n\n### Fixed', '### Fixed\n\n- A.\n\n### Added'],
    ['- B.\n', ''],
    ['- B.', '- B'],
    ['- B.', '- B.\n  C.'],
    ['- B.', '- B.\n- B.'],
    ['- B.', `- B${'b'.repeat(300)}.`],
    ['### Added', 'New are:\n\n### Added'],
  ] as const)
    t.equal(wrongForm(with9.replace(from, to)).length > 0, true, to);
  t.same(wrongForm(read('CHANGELOG.md')), []);
});
