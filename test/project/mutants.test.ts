// Each wrong change of test/mutants/rows.ts can be made: its text stands once in its file, and its test is there.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../kit/places.js';
import { MUTANTS } from '../mutants/rows.js';

t.test('every row applies', async t => {
  const wrong = MUTANTS.flatMap(({ file, was, becomes, test }) => {
    const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
    const why = [
      text.split(was).length !== 2 && `stands ${text.split(was).length - 1} times in ${file}: ${was}`,
      was === becomes && `changes nothing: ${was}`,
      !existsSync(join(ROOT, 'test', `${test}.test.ts`)) && `no such test: ${test}`,
    ];
    return why.filter(one => one !== false);
  });
  t.strictSame(wrong, []);
});
