// The sender in C: with the same trees, identity, pretend file and key it makes the same bytes as the one in
// TypeScript, whoever compiles it and for whatever processor; with more compilers and C libraries by
//   npm run test:long -- matrix
//
// @seconds 14
// @rest

import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { enums, structs } from '../../src/layout/layout.gen.js';
import { builds, compileSender, INSTALLED, makeIn } from '../kit/compiling.js';
import { memoryFolder } from '../kit/places.js';
import { machines, parseHexDump, prepare, textOf } from '../kit/tree.js';
import { askC, askHere } from '../kit/twosenders.js';

const CLUSTER = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i));
const { auth_alg, tag } = structs.report.fields;

/** For each machine its trees, the command line for a report, and the expected report, signed with each kind of key. */
function prepareAll(t: Parameters<typeof memoryFolder>[0]) {
  const root = memoryFolder(t);
  return machines().map(machine => {
    const own = join(root, machine);
    mkdirSync(own);
    const argv = prepare(machine, own).filter(word => word !== 'send');
    const name = argv[argv.indexOf('--name') + 1] ?? '';
    const node = createHmac('sha256', CLUSTER).update(name).digest('hex');
    const keys = { none: '', cluster: `7 cluster ${CLUSTER.toString('hex')}\n`, node: `65535 node ${name} ${node}\n` };
    const ways = Object.entries(keys).map(([alg, line]) => {
      const file = join(own, `${alg}.key`);
      writeFileSync(file, line, { mode: 0o600 });
      return { alg, argv: line === '' ? argv : [...argv, '--key-file', file] };
    });
    return { machine, ways };
  });
}

const all = prepareAll(t);
/** The reports of the sender in TypeScript, by machine and kind of key. */
const wanted = new Map<string, Awaited<ReturnType<typeof askHere>>>();

t.test('the sender in TypeScript, with each kind of key', async t => {
  for (const { machine, ways } of all)
    for (const { alg, argv } of ways) {
      const answer = await askHere(argv);
      wanted.set(`${machine} ${alg}`, answer);
      const report = Buffer.from(answer.report, 'hex');
      const golden = parseHexDump(textOf(machine, 'report.hex'));
      if (alg === 'none') t.ok(report.equals(golden), `${machine}: the golden one`);
      t.equal(report[auth_alg.offset], (enums.auth_alg as readonly string[]).indexOf(alg), `${machine}: ${alg}`);
      t.equal(report.subarray(tag.offset).equals(Buffer.alloc(16)), alg === 'none');
    }
});

for (const { what, how, under, skip } of builds(['sanitized', 'installed', 'clang', 'aarch64']))
  t.test(`every machine, to the byte: ${what}`, { skip }, async t => {
    const sender = [...under, compileSender(t, how)].join(' ');
    for (const { machine, ways } of all)
      for (const { alg, argv } of ways)
        t.strictSame(askC(sender, argv), wanted.get(`${machine} ${alg}`), `${machine}, key: ${alg}`);
  });

t.test('it allocates nothing, so no round can leak', async t => {
  const out = makeIn('sender', INSTALLED);
  const objects = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.o'));
  const { stdout } = spawnSync('nm', ['-u', ...objects], { cwd: out, encoding: 'utf8' });
  t.match(stdout, / U openat?$/m, 'what it calls');
  t.notMatch(stdout, / U (\w*alloc|strn?dup|v?asprintf|getline|f?open(dir|memstream)|getaddrinfo)$/m);
});
