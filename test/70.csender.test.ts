// The sender in C: given the same trees, identity and pretence it makes the same bytes as the one in TypeScript.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from './lib.js';
import { machines, parseHexDump, prepare, textOf } from './tree.js';

t.test('every machine, to the byte', async t => {
  const out = folder(t);
  const made = spawnSync('make', ['-s', '-C', join(ROOT, 'c', 'sender'), `OUT=${out}`, 'CC=gcc'], { encoding: 'utf8' });
  t.equal(made.status, 0, made.stderr);
  for (const machine of machines()) {
    const argv = prepare(machine, folder(t)).filter(word => word !== 'send');
    const { status, stdout, signal } = spawnSync(join(out, 'beoboard-send'), argv);
    t.same({ status, signal }, { status: 0, signal: null }, machine);
    t.ok(stdout.equals(parseHexDump(textOf(machine, 'report.hex'))), `${machine}: every byte`);
  }
});
