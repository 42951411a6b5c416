// What is compiled of c/, with every compiler, C library and sanitizer and for another processor: the tests that compare
// the same tables with several builds, of which `npm test` takes those that find what no other finds.
//   npm run test:long -- matrix

import { join } from 'node:path';
import t from 'tap';
import { MATRIX } from '../kit/compiling.js';
import { ROOT } from '../kit/places.js';

t.setTimeout(3_600_000);

for (const file of [
  ...['board/sanitizers', 'library/library', 'sender/csender', 'sender/gpu', 'supermon/mon', 'slurm/gate'],
  ...['schedulers/sensor', 'cli/shortverbs', 'project/documents'],
])
  t.spawn(
    process.execPath,
    [join(ROOT, 'dist', 'test', `${file}.test.js`)],
    { env: { ...process.env, [MATRIX]: 'all' }, timeout: 3_600_000 },
    file,
  );
