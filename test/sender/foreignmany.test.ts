// Thousands of block devices and interfaces: a tick looks at few names in /sys, whatever comes and goes.
//
// @seconds 8

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { KnownNames } from '../../src/sender/collect/known.js';
import { Collector } from '../../src/sender/collect.js';
import { memoryFolder } from '../kit/places.js';
import { readable } from '../kit/tree.js';

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}` }));

t.test('which names are looked at in a tick', async t => {
  const known = new KnownNames<number>();
  let tick = 0;
  /** How many names are looked at, how many of them are new, and whether none is left that never was. */
  const meet = (things: { name: string }[]) => {
    const due = known.meet(things);
    const fresh = [...due].filter(name => !known.rows.has(name)).length;
    for (const name of due) known.rows.set(name, tick);
    tick++;
    return [due.size, fresh, known.isWhole];
  };
  t.strictSame(meet(named('a', 1000)), [1000, 1000, true], 'all in the first tick');
  t.strictSame(
    Array.from({ length: 9 }, () => meet(named('a', 1000))[0]),
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
  );
  t.strictSame(
    Array.from({ length: 20 }, () => meet(named('a', 1000))[0]),
    [...new Array(15).fill(64), 40, 64, 64, 64, 64],
    'a pass begins every tenth tick, and takes as long as it takes',
  );
  const more = [...named('a', 1000), ...named('b', 600)];
  t.strictSame(
    [meet(more), meet(more), meet(more), meet(more)],
    [
      [256, 256, false],
      [256, 256, false],
      [152, 88, true],
      [64, 0, true],
    ],
    'new names come first',
  );
  for (let churn = 0; churn < 50; churn++) {
    const [looks = 0, fresh, isWhole] = meet([...more, ...named(`c${churn}-`, 100)]);
    t.ok(Number(looks) <= 164 && fresh === 100 && isWhole === true);
  }
  t.equal(known.rows.size, 1700, 'those that went are forgotten');
  t.ok(
    more.every(({ name }) => (known.rows.get(name) ?? 0) > tick - 40),
    'and names that come and go keep none from its turn',
  );
});

t.test('a set is clear until each name was looked at, and the log says so once', async t => {
  const root = memoryFolder(t);
  const [proc, sys] = [join(root, 'proc'), join(root, 'sys')];
  mkdirSync(join(proc, 'net'), { recursive: true });
  const told: string[] = [];
  const collector = new Collector({ proc, sys, tell: line => told.push(line) });
  t.teardown(() => collector.close());
  let second = 0n;
  const tick = () => {
    const view = new DataView(new ArrayBuffer(REPORT_BYTES));
    collector.collect(view, second++ * 1_000_000_000n);
    const { disks = 0, net = [] } = decodeReport(view, 0);
    const sets = readable(new Uint8Array(view.buffer)).valid as string[];
    return [sets.includes('disk') && disks, sets.includes('net') && net.filter(({ name }) => name).length];
  };
  /** So many disks and interfaces, each with a device. */
  const plant = (disks: number, interfaces: number) => {
    const make = (dir: string) => mkdirSync(join(dir, 'device'), { recursive: true });
    for (const { name } of named('disk', disks)) {
      make(join(sys, 'block', name));
      writeFileSync(join(sys, 'block', name, 'size'), '8\n');
    }
    for (const { name } of named('eth', interfaces)) make(join(sys, 'class/net', name));
    const numbers = ' 0'.repeat(16);
    writeFileSync(
      join(proc, 'diskstats'),
      named('disk', disks)
        .map(({ name }) => `8 0 ${name}${numbers}\n`)
        .join(''),
    );
    writeFileSync(
      join(proc, 'net/dev'),
      `|\n|\n${named('eth', interfaces)
        .map(({ name }) => `${name}:${numbers}\n`)
        .join('')}`,
    );
  };
  plant(2, 1);
  t.strictSame(tick(), [2, 1]);
  plant(400, 600);
  told.length = 0;
  t.strictSame(
    [tick(), tick(), tick()],
    [
      [false, false],
      [400, false],
      [400, 3],
    ],
  );
  t.strictSame(told, [
    `${proc}/net/dev has more new names than can be looked at in one tick: its readings are left out until all were`,
    `${proc}/diskstats has more new names than can be looked at in one tick: its readings are left out until all were`,
  ]);
  // When the last interface with a device has gone, the others are looked at closely, and not in one tick.
  for (const { name } of named('eth', 600)) rmSync(join(sys, 'class/net', name, 'device'), { recursive: true });
  const seen = Array.from({ length: 20 }, () => tick()[1]);
  t.ok(seen.lastIndexOf(false) > seen.indexOf(false));
  t.equal(seen.at(-1), 3);
});
