// The health file as health checks of others write it: both senders take the same from it and log the same, and a
// running one keeps its last word while the file is half written.
//
// @seconds 30
// @waits
// @rest

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { Hearer, inNamespace, noFileSystem, startIn } from '../kit/hanging.js';
import { folder } from '../kit/places.js';
import { until } from '../kit/until.js';
import { ForeignTrees } from './foreigntrees.js';

const WARNS = 'ROOT/now/run/health counts as a warning: ';
const FORMAT = `${WARNS}its format is wrong`;

t.test('what both senders take from it', async t => {
  const trees = new ForeignTrees(t, 'vm', '\n[age_s]\nhealth = 61\n');
  const rows: [
    text: string,
    health: string | undefined,
    author?: string,
    said?: string | undefined,
    ...options: string[],
  ][] = [
    ['bad check scratch is not mounted\n', 'bad', 'check'],
    ['bad admin a fan is broken\n', 'bad', 'admin'],
    ['bad scratch is not mounted', 'bad', 'check'],
    ['warning\n', 'warning', 'check'],
    ['ok\t admin\n', 'ok', 'admin'],
    ['bad admin: \xff\0\r\n', 'bad', 'check'],
    ['ERROR:  nhc:  Health check failed:  check_fs_mount:  /scratch not mounted\n', 'warning', 'check', FORMAT],
    ['okay check\n', 'warning', 'check', FORMAT],
    ['ok check\nbad check\n', 'warning', 'check', FORMAT],
    ['ok\r\n', 'warning', 'check', FORMAT],
    ['', 'warning', 'check', FORMAT],
    ['ok admin\n'.padEnd(65_537), 'warning', 'check', `${WARNS}it is larger than 65536 bytes`],
    ['bad '.padEnd(65_536, 'x'), 'bad', 'check'],
    ['ok admin\n', 'ok', 'admin', undefined, '--health-max-age', '61s'],
    ['ok admin\n', 'warning', 'check', `${WARNS}it is older than --health-max-age`, '--health-max-age', '1m'],
    ['bad admin\n', 'bad', 'admin', undefined, '--health-max-age', '1m'],
  ];
  for (const [text, health, author, said, ...options] of rows) {
    trees.write({}, { 'run/health': text });
    const told = await trees.ask(...options);
    const what = JSON.stringify(text.slice(0, 40));
    t.match(told.report, { health, health_src: author, health_age_s: 61 }, what);
    t.equal(/^.*health.*$/m.exec(told.said)?.[0], said, what);
  }
});

t.test('a file that is dated ahead is no younger', async t => {
  const trees = new ForeignTrees(t, 'vm', '\n[age_s]\nhealth = -61\n');
  trees.write({}, { 'run/health': 'ok check\n' });
  t.match((await trees.ask('--health-max-age', '61s')).report, { health: 'ok', health_age_s: 0 });
  t.match((await trees.ask('--health-max-age', '1m')).report, { health: 'warning', health_age_s: 0 });
});

t.test('a file that is new and cannot be understood may be half written', async t => {
  const trees = new ForeignTrees(t, 'vm', '\n[age_s]\nhealth = 4\n');
  trees.write({}, { 'run/health': 'ERROR' });
  const { report, said } = await trees.ask();
  t.notOk((report.valid as string[]).includes('health'));
  t.notMatch(said, /health/);
});

for (const [what, sender] of [
  ['TypeScript', undefined],
  ['C', compileSender(t, SANITIZED)],
] as const)
  t.test(`a running sender in ${what}`, { skip: noFileSystem() ?? false }, async t => {
    const hearer = await Hearer.open(t);
    const run = folder(t);
    const file = join(run, 'health');
    chmodSync(run, 0o755);
    mkdirSync(join(run, 'scratch'));
    const write = (text: string) => {
      writeFileSync(file, text);
      chmodSync(file, 0o644);
    };
    write('ok check\n');
    const prefix = inNamespace(`mkdir /run/beoboard && mount --bind ${run} /run/beoboard`);
    const argv = ['send', '--name', 'node1', '--to', hearer.address, '--scratch', join(run, 'scratch')];
    const { lines } = startIn(t, { prefix, sender }, argv);
    const told = () => lines().filter(line => line.includes('/health '));
    const says = (word: number) => hearer.next(`it says ${word}`, ({ health }) => health === word);

    const before = await says(1);
    write('');
    const warned = await says(2);
    t.match(warned, { health_src: 2 });
    t.ok(warned.slow_boot_ns - before.slow_boot_ns >= 5_000_000_000n, 'its last word held for 5 s');
    const between = hearer.reports.filter(({ seq }) => seq >= before.seq && seq < warned.seq);
    t.ok(between.every(({ health }) => health === 1));
    await until('it is told', () => told().length === 1);
    t.match(told()[0], /\/run\/beoboard\/health counts as a warning: its format is wrong$/);

    for (const times of [1, 2]) {
      write('bad check a fan is broken\n');
      await says(3);
      chmodSync(file, 0o666);
      await hearer.next('it is ignored', ({ sets }) => !sets.includes('health'));
      await until('that is told', () => told().length === 1 + times);
      t.match(told().at(-1), /health is ignored: others may write it; chmod go-w it$/);
    }
    await hearer.more(3);
    t.equal(told().length, 3, 'once per change');
  });
