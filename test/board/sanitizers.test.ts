// The C core under the sanitizers: writer and readers at full speed, with corrupt datagrams in between; and the
// receiver's thread beside one that makes requests. With other compilers and for another processor by
//   npm run test:long -- matrix
//
// @seconds 10
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { builds, MATRIX, makeIn, OF_MUSL } from '../kit/compiling.js';
import { boardPath, folder } from '../kit/places.js';

const SEED = process.env.SEED ?? '1';
t.comment(`seed ${SEED}`);

/** A second or two; under ThreadSanitizer, and in an emulator, a round takes longer. */
const ROUNDS: Record<string, number> = { races: 1500, aarch64: 600 };
const MOST = 6000;
/** In the matrix for longer. */
const TIMES = process.env[MATRIX] === undefined ? 1 : 4;

for (const { name, what, how, under, skip } of builds(['sanitized', 'races'], OF_MUSL)) {
  const run = (t: Test, program: string, ...words: string[]) => {
    const made = join(makeIn('', how, program), program);
    const [command = '', ...argv] = [...under, made, ...words];
    const { status, stdout, stderr } = spawnSync(command, argv, {
      encoding: 'utf8',
      timeout: 600_000,
      killSignal: 'SIGKILL',
    });
    t.equal(status, 0, `${stdout}${stderr}`);
    t.equal(stderr, '');
    return stdout;
  };
  t.test(what, { skip }, async t => {
    const told = run(t, 'stress', boardPath(t), String((ROUNDS[name] ?? MOST) * TIMES), SEED);
    t.match(told, /^\d+ reports and \d+ spoiled ones, 0 faults\n$/);
  });
  // An emulator does not translate all that it asks of sockets.
  if (under.length === 0)
    t.test(`the receiver: ${what}`, { skip }, async t => {
      const told = run(t, 'drain', join(folder(t), 'place', 'board'), '2000', SEED);
      t.match(told, /^8000 sent, [1-9]\d* received, [1-9]\d* accepted, \d+ dropped\n$/);
    });
}
