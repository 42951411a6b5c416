// The tests with a real Slurm once more, with the one of Debian 13 in a root of its own: the reader, the bridge's drain
// and undrain, the gate as PrologSlurmctld. As root, with mmdebstrap and a mirror of Debian; some minutes.
//   npm run test:long -- newerslurm

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { slurmRoot } from '../kit/slurmroot.js';

t.setTimeout(3_600_000);

const skip = process.getuid?.() === 0 ? lacks('mmdebstrap', 'mmdebstrap') : 'not root';

t.test('Slurm 24.11 of Debian 13', { skip }, async t => {
  const path = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  const env = { ...process.env, PATH: `${slurmRoot(path, 'trixie')}:${process.env.PATH}` };
  const { stdout } = spawnSync('slurmctld', ['-V'], { encoding: 'utf8', env });
  t.match(stdout, /^slurm-wlm 24\.11\./);
  for (const name of ['real.test.js', 'bridge.test.js', 'gate.long.test.js'])
    await t.spawn(process.execPath, [join(ROOT, 'dist', 'test', 'slurm', name)], { env, timeout: 1_800_000 }, name);
});
