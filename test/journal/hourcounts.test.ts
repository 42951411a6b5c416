// How often troubles began within the last hour, by the lines of a journal.
//
// @seconds 1

import t from 'tap';
import { HourCounts } from '../../src/journal/hourcounts.js';
import type { Happening, Line } from '../../src/journalfile/format.js';

const NOW = Date.parse('2026-11-27T12:00:00.000Z');
const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

const line = (minutes: number, happening: Happening): Line => ({
  ...{ id: `abc-1-${minutes}`, at: at(minutes), mono_ms: 0, board: 'default', ring: 0, from: at(minutes) },
  ...happening,
});

t.test('of the node that had it most, within the hour', async t => {
  const counts = new HourCounts();
  const most = (later = 0) => counts.most(NOW + later * 60_000);
  t.equal(most(), undefined, 'no line');
  const lines = [
    line(90, { event: 'silent', nodes: 'n1' }),
    line(50, { event: 'silent', nodes: 'n[1-4]', count: 4 }),
    line(40, { event: 'heard_again', nodes: 'n[1-4]', count: 4, to: at(39) }),
    line(30, { event: 'silent', nodes: 'n2', more: 3, missed: 1 }),
    line(20, { event: 'problem', problem: 'oom', nodes: 'n[1-2]', count: 2, more: 3 }),
    line(20, { event: 'problem', problem: 'oom', nodes: 'n1', repeated: true }),
    line(15, { event: 'link_down', link: 'eth0', more: 1 }),
    line(10, { event: 'dark', link: 'eth0', count: 4 }),
    line(5, { event: 'boot', nodes: 'n1' }),
  ];
  for (const one of lines) counts.add(one);
  t.same(most(), { silent: 6, oom: 2 });
  t.same(most(15), { silent: 5, oom: 2 });
  t.same(most(46), {}, 'the board counts those of links');
  t.same(most(70), {});
});

t.test('nodes that share a line have what was only counted of each of them', async t => {
  const counts = new HourCounts();
  const silent = { event: 'silent', nodes: 'n[1-3]', count: 3 };
  counts.add(line(50, { ...silent, counts: { 'n[1-3]': 1 } }));
  counts.add(line(40, { ...silent, more: 2, missed: 4, counts: { 'n[1,3]': 2, n2: 8 } }));
  t.same(counts.often(NOW), { silent: { n2: 8 } });
  counts.add(line(30, { ...silent, more: 3, counts: { n1: 3, n2: 9, n3: 5 } }));
  t.same(counts.often(NOW), { silent: { n1: 3, n2: 9, n3: 5 } });
  counts.add(line(20, { ...silent, counts: { 'n[1-3]': 1 } }));
  t.same(counts.often(NOW), { silent: { n1: 4, n2: 10, n3: 6 } }, 'a board that counts anew');
});

t.test('a journal that is younger than an hour', async t => {
  const counts = new HourCounts();
  counts.add(line(30, { event: 'begin' }));
  counts.add(line(10, { event: 'silent', nodes: 'n1' }));
  t.equal(counts.most(NOW), undefined);
  t.same(counts.most(NOW + 45 * 60_000), { silent: 1 });
});
