// All of what the rest takes by days: the tests that say `@days`, and those that ask `todayOf`, or `partOf` with a fourth
// number, of test/kit/whole.ts.
//   npm run test:long -- everyday

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../kit/places.js';

t.setTimeout(7_200_000);

const BY_DAYS = /^\/\/ @days|\btodayOf\(|\bpartOf\(.*, SEED, \d+\)/m;
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(path => /^\w+\/\w+\.test\.ts$/.test(path) && BY_DAYS.test(readFileSync(join(ROOT, 'test', path), 'utf8')))
  .map(path => path.replace(/ts$/, 'js'));

t.ok(files.length > 10, files.join());
for (const file of files)
  t.spawn(
    process.execPath,
    [join(ROOT, 'dist', 'test', file)],
    { env: { ...process.env, BEOBOARD_TEST_EVERY_DAY: '1' }, timeout: 3_600_000 },
    file,
  );
