// The contract of this project: its documents, its names, and the files that are generated from it. Run it after a
// build: `node dist/proto/contract.js`.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.js';
import { emitC, emitDictionary, emitLayout, emitTerms, emitTestLayout } from './emit.js';
import { emitLastWords, emitProblems, emitPublic, emitStates, emitTables, renew } from './header.js';
import { type Contract, ContractError, type Names } from './model.js';
import { emitPython } from './python.js';
import { emitWordingC, emitWordingLayout, readWording, WORDING } from './wording.js';

const DOCUMENTS = ['proto/stat-v1.md', 'proto/board-v2.md', 'proto/relay-v1.md'];

export const NAMES: Names = {
  prefix: 'bb',
  notice: 'Generated from the documents in proto/. Do not edit: change these and run `npm run generate`.',
  message: 'report',
  reasons: 'reason',
  beyond: 'range',
};

/** Throws ContractError. */
export function readContract(root: string): Contract {
  return compile(
    DOCUMENTS.map(path => ({ path, text: readFileSync(join(root, path), 'utf8') })),
    NAMES,
  );
}

/** What only C looks into, and tests: a relay's entries, and the tables of a board. */
const OF_C = ['index_entry', 'column_entry', 'relay_report', 'relay_record', 'relay_link'];

/** The expected contents of the generated files: path → text. */
export function generate(root: string): Map<string, string> {
  const contract = readContract(root);
  const header = readFileSync(join(root, 'c/beoboard.h'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const reasons = (contract.enums.get(NAMES.reasons) ?? []).map(({ name }) => name);
  const wording = readWording(readFileSync(join(root, WORDING), 'utf8'), reasons);
  const sections = [emitStates, emitProblems, emitLastWords, emitPublic].map(emit => emit(contract));
  const renewed = renew(header, sections);
  return new Map([
    ['c/format/layout.gen.h', emitC(contract)],
    ['c/beoboard.h', renewed],
    ['c/format/header.gen.h', emitTables(contract)],
    ['src/layout/layout.gen.ts', emitLayout(contract, OF_C)],
    ['test/kit/layout.gen.ts', emitTestLayout(contract, OF_C)],
    ['src/layout/dictionary.gen.ts', emitDictionary(contract)],
    ['src/layout/wording.gen.ts', emitWordingLayout(wording, NAMES.notice)],
    ['c/verbs/wording.gen.h', emitWordingC(wording, NAMES.notice)],
    // Options use the words of states, and must not import the layout.
    ['src/layout/terms.gen.ts', emitTerms(contract)],
    ['python/beoboard/_abi.py', emitPython(renewed, contract, version)],
  ]);
}

/** Writes only the files that differ, so that what depends on the others is not built again. */
export function writeFiles(files: Map<string, string>): void {
  for (const [path, text] of files)
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    writeFiles(generate(process.cwd()));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
