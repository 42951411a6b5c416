// Makes what the C library takes from the contract and from the program: the generated section of c/beoboard.h, c/lib's tables,
// the manual pages, and the completions of shells. Run it after a build: `node dist/proto/library.js`.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile, DOCUMENTS, writeFiles } from './compile.js';
import { completions } from './completions.js';
import { emitPublic, emitTables, renew } from './header.js';
import { fromHeader, fromMarkdown, fromProgram, verbsOf } from './man.js';

/** What the built program says at `beoboard ARGS --help`. */
function help(root: string, ...args: string[]): string {
  return execFileSync(process.execPath, [join(root, 'dist', 'bin', 'beoboard.cjs'), ...args, '--help'], {
    encoding: 'utf8',
  });
}

/** Readers in other languages, which go by the documents alone: the hash by which they know the layout stands in them. */
const READERS = ['examples/python/board.py', 'examples/go/board.go', 'examples/rust/board.rs'];

/** What the generated files should hold: path → text. */
export function generateLibrary(root: string): Map<string, string> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const contract = compile(DOCUMENTS.map(path => ({ path, text: read(path) })));
  const header = renew(read('c/beoboard.h'), emitPublic(contract));
  const all = help(root);
  const verbs = verbsOf(all).map((verb): [string, string] => [verb, help(root, verb)]);
  const pages = ['beoboard(1)', 'beoboard(3)', 'beoboard(5)', 'beoboard-stat(5)'];
  const but = (page: string) => pages.filter(other => other !== page);
  const hash = contract.hashes.get('stat-v1')?.toString(16).toUpperCase().padStart(16, '0');
  const readers = READERS.map((path): [string, string] => [
    path,
    read(path).replace(/(?<=STAT_?HASH\b.*0x)[0-9a-fA-F]{16}/i, hash ?? ''),
  ]);
  return new Map([
    ...readers,
    ...completions(verbs),
    ['c/beoboard.h', header],
    ['c/lib/header.gen.h', emitTables(contract)],
    ['c/lib/man/beoboard.1', fromProgram(all, verbs, but('beoboard(1)'))],
    ['c/lib/man/beoboard.3', fromHeader(header, but('beoboard(3)'))],
    [
      'c/lib/man/beoboard.5',
      fromMarkdown('beoboard', "layout of beoboard's shared file", read('proto/board-v2.md'), but('beoboard(5)')),
    ],
    [
      'c/lib/man/beoboard-stat.5',
      fromMarkdown('beoboard-stat', "a node's report to beoboard", read('proto/stat-v1.md'), but('beoboard-stat(5)')),
    ],
  ]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFiles(generateLibrary(process.cwd()));
