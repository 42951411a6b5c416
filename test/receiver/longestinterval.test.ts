// The longest interval by which a node is judged: what one report that says ten minutes can do, with keys and without;
// what people are told; and that a running receiver takes another.
//
// @seconds 6
// @waits

import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { survey } from '../../src/query/survey.js';
import { openWriter } from '../../src/shm/writer.js';
import { anomalies } from '../kit/anomalies.js';
import { now } from '../kit/clocks.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);
const S = 1_000_000_000n;

/** The states of nodes whose last report, with an interval of ten minutes, is so many seconds old, by slot and by word. */
function judged(t: Test, longestInterval: number, ages: readonly number[]) {
  const path = boardPath(t);
  const limits = { uncertainAfter: 100, silentAfter: 200, longestInterval };
  const writer = openWriter({ path, cluster: '', capacity: 16, ...limits, nodes: [] });
  const { mono } = now();
  // Silent is whoever was not heard by a link that listened.
  writer.deliver(makeReport({ hostname: 'first', interval_ms: 600_000 }), mono - 150n * S, 0n, 'eth0');
  writer.listeningSince(mono - 170n * S);
  for (const age of ages)
    writer.deliver(makeReport({ hostname: `n${age}`, interval_ms: 600_000 }), mono - BigInt(age) * S, 0n, 'eth0');
  writer.heartbeat(mono);
  writer.survey();
  writer.close();
  const reader = openReader(t, path);
  const snapshot = reader.snapshot();
  const nodes = [...snapshot.nodes()].slice(1);
  const told = anomalies(survey(snapshot)).filter(({ kind }) => kind === 'interval');
  const isDark = snapshot.links.some(({ darkSinceNs }) => darkSinceNs !== 0n);
  return { states: nodes.map(({ state }) => state), told: told.map(({ text }) => text), isDark };
}

t.test('how long one report holds', async t => {
  // With limits of 0.1 s and 0.2 s: 6 s and 12 s by a minute, 60 s and 120 s by ten.
  const ages = [1, 5, 7, 11, 59, 61];
  t.match(judged(t, 0, ages), { states: ['live', 'live', 'live', 'live', 'live', 'uncertain'], told: [] });
  t.same(judged(t, 600_000, ages).states, ['live', 'live', 'live', 'live', 'live', 'uncertain']);
  const { states, told } = judged(t, 60_000, ages);
  t.same(states, ['live', 'live', 'uncertain', 'uncertain', 'silent', 'silent']);
  t.match(told, [
    /^7 nodes \(.*\) report every 10m, and are judged as if every 1m: uncertain 6\.0s after each report, silent after 12\.0s; give the receiver --longest-interval 10m, or let them report more often$/,
  ]);
  // A link whose nodes have all passed the first of these limits is dark.
  for (const [longest, age, isDark] of [
    [60_000, 5, false],
    [60_000, 7, true],
    [600_000, 59, false],
  ] as const)
    t.equal(judged(t, longest, [age, age + 1]).isDark, isDark, `${longest}, ${age}`);
  // A header that says less than a minute says a minute.
  t.same(judged(t, 1000, ages).states, states);
});

t.test('what a receiver takes', async t => {
  const at = folder(t);
  const key = join(at, 'key');
  t.match(await run(['keygen', key]), { code: 0 });
  const longest = async (name: string, ...more: string[]) => {
    // With what it has by default, unlike the receivers of other tests.
    const receiver = start(t, ['receive', '--board', join(at, name), '--listen', '127.0.0.1:0', ...more]);
    const { listening } = await receiver.ready;
    const port = Number(listening?.[0]?.split(':').at(-1));
    const reader = openReader(t, join(at, name));
    return { receiver: { ...receiver, port }, of: () => Number(reader.snapshot().header.longest_interval_ms), reader };
  };
  const config = join(at, 'toml');
  writeFileSync(config, '');
  const open = await longest('open', '--config', config);
  t.equal(open.of(), 60_000);
  t.equal((await longest('signed', '--key-file', key)).of(), 600_000);
  t.equal((await longest('both', '--key-file', key, '--require', 'none')).of(), 60_000, 'a report needs no signature');
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  socket.send(makeReport({ hostname: 'n1', interval_ms: 600_000 }), open.receiver.port, '127.0.0.1');
  const intervals = async () => {
    const { stdout } = await run(['status', '--long', '--board', join(at, 'open')]);
    return stdout.replace(/\s+/g, ' ').includes('n1 reports every 10m, and is judged as if every 1m: ');
  };
  await until('a longer one is accepted', () => [...open.reader.snapshot().nodes()].length === 1);
  t.ok(await intervals(), 'and status names the node and the option');
  writeFileSync(config, 'longest-interval = "10m"\n');
  open.receiver.child.kill('SIGHUP');
  await until('it takes another', () => open.of() === 600_000);
  t.notOk(await intervals());
  for (const wrong of ['59s', '601s'])
    t.match(await run(['receive', '--longest-interval', wrong]), { code: 2, stderr: /60s to 600s/ });
});
