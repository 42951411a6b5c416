// Makes what is derived from the contract's files and from the verbs: the manual pages, the completions of shells, the
// constants by which readers in other languages recognise a board, the dashboards for Grafana, and the schema of what
// `--json` prints. Run it after a build: `node dist/proto/library.js`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parts } from '../src/parts.js';
import { completions } from './completions.js';
import { readContract, writeFiles } from './contract.js';
import { dashboards } from './dashboards/index.js';
import { jsonSchema } from './jsonschema.js';
import { fromHeader, fromMarkdown, fromProgram, fromVerb } from './man.js';
import { shortHelp } from './shorthelp.js';

/**
 * Readers in other languages, written from the documents alone: they contain the constants by which they recognise a
 * board.
 */
const READERS = ['examples/go/board.go', 'examples/rust/board.rs'];

/** The expected contents of the generated files: path → text. */
export async function generateLibrary(root: string): Promise<Map<string, string>> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const contract = readContract(root);
  const verbs = (await Promise.all(Object.values(parts).map(load => load()))).map(({ verb }) => verb);
  const pages = ['beoboard(1)', 'beoboard(3)', 'beoboard(5)', 'beoboard-stat(5)'];
  const programs = ['nodes(1)', 'check(1)', 'gate(8)', 'gpu(8)', 'mon(8)', 'send(8)'].map(page => `beoboard-${page}`);
  const but = (page: string) => pages.filter(other => other !== page);
  const digits = (number = 0n) => number.toString(16).toUpperCase().padStart(16, '0');
  const hash = digits(contract.hashes.get('stat-v1'));
  const magic = digits(contract.constants.get('board')?.find(({ name }) => name === 'magic')?.value);
  const readers = READERS.map((path): [string, string] => [
    path,
    read(path)
      .replace(/(?<=\bSTAT_?HASH\b.*0x)[0-9a-f]{16}/i, hash)
      .replace(/(?<=\bMAGIC\b.*0x)[0-9a-f]{16}/i, magic),
  ]);
  return new Map([
    ...readers,
    ...completions(verbs),
    ...dashboards(),
    ...shortHelp(verbs),
    // beoboard-nodes(1) and beoboard-check(1) are programs of their own; with a section of its own a verb's page can be
    // beside them.
    ...verbs.map((verb): [string, string] => [
      `packaging/man/beoboard-${verb.name}.${programs.includes(`beoboard-${verb.name}(1)`) ? '1bb' : '1'}`,
      fromVerb(verb, ['beoboard(1)']),
    ]),
    ['docs/json.schema.json', `${JSON.stringify(jsonSchema(), null, 1)}\n`],
    ['c/lib/man/beoboard.1', fromProgram(verbs, [...programs, ...but('beoboard(1)')])],
    ['c/lib/man/beoboard.3', fromHeader(read('c/beoboard.h'), but('beoboard(3)'))],
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFiles(await generateLibrary(process.cwd()));
