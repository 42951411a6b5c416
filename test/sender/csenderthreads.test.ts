// The threads of the sender in C under ThreadSanitizer: some hundred reports, while a source hangs and recovers, names
// are resolved and options are read again.
//
// @seconds 19
// @waits
// @rest
// @days 3

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender, RACES, SANITIZED } from '../kit/compiling.js';
import { HangingFolder, Hearer, noFileSystem, startIn } from '../kit/hanging.js';
import { folder } from '../kit/places.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
// These tests mostly wait, so several run at the same time.
t.jobs = 4;
const sender = compileSender(t, RACES);
const noFolder = process.env.CI !== 'true' && (noFileSystem() ?? false);
/** A race ends the program with exit code 66. `setarch -R` is needed because TSan expects fixed addresses. */
const env = { TSAN_OPTIONS: 'halt_on_error=1:exitcode=66' };
const FIXED = ['setarch', '-R'];

t.test('what hangs, look-ups and SIGHUP', { buffered: true, skip: noFolder }, async t => {
  const hearer = await Hearer.open(t);
  const others = new HangingFolder(t, '/run/beoboard');
  others.write({ health: 'ok check\n', power: '345\n', gpu: 'gpu 1 nvidia 1\n50 60 70 100 200 1 0 0\n' });
  const config = join(folder(t), 'send.toml');
  const port = hearer.address.split(':')[1];
  const destinations = [hearer.address, `localhost:${port}`, 'no-such-host.invalid', '127.0.0.1:9'];
  const write = (count: number, name: string) =>
    writeFileSync(
      config,
      `to = ${JSON.stringify(destinations.slice(0, count))}\nname = "${name}"\ninterval = "100ms"\n`,
    );
  write(4, 'node1');
  const running = startIn(t, { prefix: [...others.prefix, ...FIXED], sender, env }, [
    'send',
    '--config',
    config,
    '--scratch',
    folder(t),
  ]);
  await hearer.next('all is there', ({ sets }) => ['health', 'power', 'gpu', 'taint'].every(set => sets.includes(set)));
  for (let round = 0; round < 5; round++) {
    others.hang(round % 2 === 0 ? 'read' : 'open');
    await hearer.next('it is seen to hang', ({ marks }) => marks.includes('slow_stale'));
    write(1 + (round % 4), `node${round}`);
    running.child.kill('SIGHUP');
    await hearer.next('it has its other name', ({ hostname }) => hostname === `node${round}`);
    others.release();
    await hearer.next('it is back', ({ marks, sets }) => !marks.includes('slow_stale') && sets.includes('health'));
  }
  running.child.kill('SIGTERM');
  t.equal(await running.exit, 0);
  await until('the goodbye is heard', () => hearer.last.marks.includes('goodbye'));
  t.notMatch(running.lines().join('\n'), /ThreadSanitizer/);
  t.ok(hearer.reports.length > 100, `${hearer.reports.length} datagrams`);
});

for (const [sanitizer, program, prefix] of [
  ['ThreadSanitizer', sender, FIXED],
  ['AddressSanitizer', compileSender(t, SANITIZED), []],
] as const)
  t.test(`ten option files, one after the other: ${sanitizer}`, { buffered: true }, async t => {
    const hearer = await Hearer.open(t);
    const own = folder(t);
    const config = join(own, 'send.toml');
    const port = hearer.address.split(':')[1];
    // The paths are the same in all files, but at another offset in each, so a pointer into an old file would be found.
    const write = (i: number) => {
      const more = Array.from({ length: i }, (_, k) => `127.0.0.1:${9 + k}`).concat(i % 2 ? [`localhost:${port}`] : []);
      const lines = [
        `name = "node${i}"`,
        `cluster = "${'c'.repeat(1 + i * 6)}"`,
        `to = ${JSON.stringify([hearer.address, ...more])}`,
        'interval = "100ms"',
        `scratch = "${own}"`,
        'proc = "/proc"',
        'sys = "/sys"',
      ];
      writeFileSync(config, `${(i % 3 ? lines : lines.reverse()).join('\n')}\n`);
    };
    write(0);
    const running = startIn(t, { prefix: [...prefix], sender: program, env }, ['send', '--config', config]);
    await hearer.next('the scratch is measured', ({ sets }) => sets.includes('scratch'));
    for (let i = 1; i <= 10; i++) {
      write(i);
      running.child.kill('SIGHUP');
      await hearer.next('it has its other name', ({ hostname }) => hostname === `node${i}`);
    }
    const { t_boot_ns } = hearer.last;
    // Its paths are read every ten seconds; after 12 s of its own clock they have been read once more.
    await hearer.next('it has looked again', report => report.t_boot_ns > t_boot_ns + 12_000_000_000n);
    for (const set of ['scratch', 'taint', 'root', 'filesystems', 'stat', 'net'])
      t.ok(hearer.last.sets.includes(set), `${set} is measured as before`);
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    t.strictSame(
      running.lines().filter(line => /Sanitizer|runtime error|: cannot |does not/.test(line)),
      [],
    );
  });

t.test('the only report of a run', { buffered: true }, async t => {
  const hearer = await Hearer.open(t);
  const argv = ['send', '--once', '--to', hearer.address, '--to', `localhost:${hearer.address.split(':')[1]}`];
  for (let i = 0; i < 3; i++) {
    const running = startIn(t, { prefix: FIXED, sender, env }, argv);
    t.equal(await running.exit, 0, running.lines().join('\n'));
  }
});
