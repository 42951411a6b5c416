// A receiver that was killed within the second after a verdict: whoever takes its board over remembers what readers have
// seen.
//
// @seconds 1

import { copyFileSync } from 'node:fs';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from '../kit/clocks.js';
import { boardPath } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';

const S = 1_000_000_000n;

t.test('a silence that no survey has noted', async t => {
  const [path, copy] = [boardPath(t), boardPath(t)];
  const open = (at: string) =>
    openWriter({
      ...{ path: at, cluster: '', capacity: 4, uncertainAfter: 4500, silentAfter: 10_500, longestInterval: 0 },
      nodes: [],
    });
  const writer = open(path);
  const now = monotonicNs();
  writer.listeningSince(now - 60n * S);
  for (const [name, ago] of [
    ['silent', 11n],
    ['uncertain', 10n],
    ['live', 1n],
  ] as const)
    writer.deliver(makeReport({ hostname: name }), now - ago * S, 0n, 'eth0');
  writer.heartbeat(now);
  const look = (at: string) => {
    const reader = new BoardReader(at);
    const found = [...reader.snapshot().nodes()].map(({ name, state, memory }) => ({
      ...{ name, state, silences: memory?.silence?.count ?? 0, words: memory?.lastWords !== undefined },
    }));
    reader.close();
    return found;
  };
  const row = (name: string, state: string, silences: number) => ({ name, state, silences, words: silences > 0 });
  t.match(look(path), [row('silent', 'silent', 0), row('uncertain', 'uncertain', 0)], 'readers see it at once');
  copyFileSync(path, copy);
  const next = open(copy);
  t.match(look(copy), [row('silent', 'silent', 1), row('uncertain', 'uncertain', 0), row('live', 'live', 0)]);
  next.resumed(monotonicNs());
  next.deliver(makeReport({ hostname: 'silent', seq: 9, t_boot_ns: 9n * S }), monotonicNs(), 0n, 'eth0');
  t.match(look(copy)[0], row('silent', 'live', 1), 'it is over, and remembered');
  next.close();
  writer.close();
});
