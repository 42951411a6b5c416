// The tests that a line of a document or of a comment names, and which of them are not there. No test of its own.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../kit/places.js';

const filesOf = (folder: string) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
const PATHS = filesOf('test');
const [LONG, SHORT] = [/^(.*)\.long\.test\.ts$/, /^(?!.*\.long\.)(.*)\.test\.ts$/];
const namesOf = (pattern: RegExp, paths: readonly string[]) => paths.flatMap(path => pattern.exec(path)?.[1] ?? []);
const TESTS = [...namesOf(SHORT, PATHS), ...namesOf(LONG, PATHS)];
const ROOMS = [...new Set(TESTS.map(name => name.split('/')[0]))].join('|');
/** A room may have the name of a folder of src/. */
const SOURCES = filesOf('src').map(path => path.replace(/\.ts$/, ''));

/** The rule of scripts/test.mjs. */
const { chooses } = (await import(pathToFileURL(join(ROOT, 'scripts', 'testwords.mjs')).href)) as {
  chooses(word: string, test: string): boolean;
};

/** Commands whose words choose tests or benchmarks, the names of those, and by which rule. */
const CHOOSING: [what: RegExp, names: string[], chooses: (word: string, name: string) => boolean][] = [
  [/npm (?:test|run test:(?:all|rest)) -- (.+)/, namesOf(SHORT, PATHS), chooses],
  [/npm run test:long -- (.+)/, namesOf(LONG, PATHS), chooses],
  [/npm run bench -- (.+)/, namesOf(/^(.*)\.bench\.mjs$/, filesOf('bench')), (word, name) => name.includes(word)],
];

/** The words of a command that choose nothing; undefined if the command does not choose. */
export function choosesNothing(command: string): string[] | undefined {
  for (const [what, names, chooses] of CHOOSING) {
    const [, words] = what.exec(command) ?? [];
    if (words !== undefined)
      return words.split(' ').filter(word => !word.startsWith('--') && !names.some(name => chooses(word, name)));
  }
  return undefined;
}

/** Whether test/ has a path; a word in capitals, or `*`, stands for any part of it. What is run has another ending. */
function isThere(path: string): boolean {
  const parts = path.replace(/\.js$/, '.ts').split(/([A-Z]{2,}|\*)/);
  const pattern = new RegExp(`^${parts.map((part, i) => (i % 2 ? '[^/]*' : part.replace(/\W/g, '\\$&'))).join('')}$`);
  return PATHS.some(there => pattern.test(there));
}

/** Ways to name a test or a file of test/, and whether it is there. */
const WAYS: [what: RegExp, isThere: (name: string) => boolean][] = [
  [/(?<![\w/.-])(?:dist\/)?(test\/[\w*](?:[\w/.*-]*[\w*])?)/g, path => isThere(path.slice('test/'.length))],
  [/(?<![\w*/.-])([\w*.-]+\.test\.[tj]s)\b/g, name => isThere(`*/${name}`)],
  [
    new RegExp(`\`((?:kit|${ROOMS})/[\\w-]+)(?:\\.long|\\.ts)?\``, 'g'),
    name => TESTS.includes(name) || isThere(`${name}.ts`) || SOURCES.includes(name),
  ],
  [
    /((?:npm test|npm run test:(?:all|rest|long)) -- (?![A-Z]+\b)[\w-]+)/g,
    command => choosesNothing(command)?.length === 0,
  ],
  // Tests had numbers once.
  [/\b(tests? \d+)\b/gi, () => false],
];

/** What a line names of tests and is not there. */
export const notThere = (line: string): string[] =>
  WAYS.flatMap(([what, isThere]) =>
    [...line.matchAll(what)].map(([, name = '']) => name).filter(name => !isThere(name)),
  );
