// Makes what is taken from the contract and from the verbs of the program: the generated section of c/beoboard.h, c/lib's tables,
// the manual pages, and the completions of shells. Run it after a build: `node dist/proto/library.js`.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parts } from '../src/parts.js';
import { compile, DOCUMENTS } from './compile.js';
import { completions } from './completions.js';
import { emitPublic, emitTables, renew } from './header.js';
import { fromHeader, fromMarkdown, fromProgram } from './man.js';

/** Readers in other languages, which go by the documents alone: the hash by which they know the layout stands in them. */
const READERS = ['examples/python/board.py', 'examples/go/board.go', 'examples/rust/board.rs'];

/** What the generated files should hold: path → text. */
export async function generateLibrary(root: string): Promise<Map<string, string>> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const contract = compile(DOCUMENTS.map(path => ({ path, text: read(path) })));
  const header = renew(read('c/beoboard.h'), emitPublic(contract));
  const verbs = (await Promise.all(Object.values(parts).map(load => load()))).map(({ verb }) => verb);
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
    ['c/lib/man/beoboard.1', fromProgram(verbs, but('beoboard(1)'))],
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [path, text] of await generateLibrary(process.cwd())) writeFileSync(path, text);
