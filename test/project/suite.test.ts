// What `npm test` holds: something of each room; and a word behind it chooses a room, or files by how their names begin.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../kit/places.js';
import { choosesNothing } from './testnames.js';

const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(path =>
  /^\w+\/[\w-]+\.test\.ts$/.test(path),
);
const headOf = (path: string) => readFileSync(join(ROOT, 'test', path), 'utf8').split('\nimport ')[0] ?? '';

t.test('each room has tests in npm test', async t => {
  const roomOf = (path: string) => path.split('/')[0] ?? '';
  const short = new Set(tests.filter(path => !/^\/\/ @rest$/m.test(headOf(path))).map(roomOf));
  for (const room of new Set(tests.map(roomOf))) t.ok(short.has(room), room);
});

t.test('what a test says of itself is understood', async t => {
  for (const path of tests)
    for (const [line] of headOf(path).matchAll(/^\/\/ @.*$/gm))
      t.match(line, /^\/\/ @(seconds \d+|shared \d+|waits|rest|days \d+|whole)$/, path);
});

t.test('words', async t => {
  const chosen = (words: string) => choosesNothing(`npm test -- ${words}`);
  t.strictSame(chosen('board order slurm/gate dash types'), ['types'], 'a room, how a name begins, both');
  t.strictSame(chosen('oard tearin boards/tearing'), ['oard', 'boards/tearing'], 'and not the middle of one');
});
