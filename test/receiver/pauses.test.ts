// Time on the master and on the nodes: pauses of the receiver and of a sender, a node whose time since boot decreases,
// and a wall clock that steps. A sampler looks at the board a thousand times a second, and at every look each node must
// have the state that the design defines for what was really sent.
//
// @seconds 14
// @shared 16
// @whole
// @days 3

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, keyLine, nodeKey } from '../../src/options/keys.js';
import { type Manner, pauseReceiver } from '../kit/pausing.js';
import { folder } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import {
  countsOf,
  course,
  goOn,
  hold,
  MS,
  now,
  type Point,
  pass,
  Reporter,
  ROAD,
  realNow,
  S,
  type Sample,
  Sampler,
  SLACK,
  StandIn,
  settled,
  stampsOf,
  startIn,
  startMaster,
  stop,
} from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { partOf, SEED } from '../kit/whole.js';

t.jobs = 4;

// ---- pauses of the receiver ----

/** Limits that are shorter than the pauses here, and the default ones. */
const QUICK = { uncertainAfter: 450 * MS, silentAfter: 1050 * MS, intervalMs: 100 };
const USUAL = { uncertainAfter: 4500 * MS, silentAfter: 10_500 * MS, intervalMs: 250 };

const pauses: [rule: string, pause: number, limits: typeof QUICK, manner?: Manner][] = [
  ['a pause of 2 s, with limits shorter than it', 2 * S, QUICK],
  ['a pause of 2 s, with the usual limits', 2 * S, USUAL, { patient: false }],
  ['a pause of 4 s, in which the board is stalled', 4 * S, QUICK],
  ['a pause within a drain, before it has taken anything', 2 * S, QUICK, { stopAt: 'before receive' }],
  ['a pause within a drain, when it has taken what there was', 2 * S, QUICK, { stopAt: 'after receive' }],
  ['a pause within a drain, before its heartbeat', 2 * S, QUICK, { stopAt: 'after drain' }],
  ['the drain after a pause, while nothing is laid down yet', 2 * S, QUICK, { holdAt: 0 }],
  ['the drain after a pause, while only a part is laid down', 2 * S, QUICK, { holdAt: 1 }],
];

t.comment(`SEED=${SEED}`);
for (const [rule, pause, limits, manner] of partOf(pauses, 6, SEED, 2))
  t.test(rule, { buffered: true }, t => pauseReceiver(t, pause, limits, manner));

// ---- a pause of a sender ----

t.test('a sender that stands still: live, uncertain, silent, and live again', { buffered: true }, async t => {
  const limits = ['--uncertain-after', '450ms', '--silent-after', '1050ms'];
  const master = await startMaster(t, {}, limits);
  const to = ['--to', `127.0.0.1:${master.port}`];
  const sender = startIn(t, {}, ['send', ...to, '--name', 'node1', '--interval', '100ms']);
  await sender.ready;
  const node = () => new Reporter('node1', 100, master.socket, master.reader).find();
  await until('it is live', () => node()?.state === 'live');
  const sampler = await Sampler.start(t, master.board);
  const stopped = await stop(sender.child);
  await until('it is silent', () => node()?.state === 'silent');
  const to2 = goOn(stopped);
  await until('it is live again', () => node()?.state === 'live');
  const samples = await sampler.end();
  const during = samples.filter(({ now, end }) => now > stopped.from && end < to2);
  // Unless the receiver itself paused, as on a slow machine, the states come in this order. The first and the last may
  // be too short for a look.
  const listened = during.every(({ since }) => since === during[0]?.since);
  const states = course(during, 'node1');
  if (listened) t.match('live, uncertain, silent', states.join(', '));
  const faults = during.flatMap(({ now, heartbeat, since, nodes }) =>
    nodes.flatMap(({ stamp, bySlot, seq }) => {
      const age = now - stamp;
      const silence = heartbeat - Math.max(stamp, since);
      const is = age <= 450 * MS ? 'live' : silence > 1050 * MS ? 'silent' : 'uncertain';
      return now - heartbeat > 3 * S || bySlot === is ? [] : [[seq, bySlot, is, age / MS]];
    }),
  );
  t.same(faults.slice(0, 10), [], `${during.length} looks`);
  const seqs = during.filter(({ heartbeat }) => heartbeat > stopped.from + 20 * MS).map(({ nodes }) => nodes[0]?.seq);
  t.equal(new Set(seqs).size, 1, 'nothing more came from it');
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
  const left = await until('it has left', () => node()?.state === 'left' && node());
  t.same(Object.keys(countsOf(left)), ['accepted'], 'a pause is no restart, and what was not sent is not lost');
});

// ---- a node's time since boot goes back ----

const CLUSTER: Key = { id: 1, node: undefined, secret: randomBytes(32) };
const BACK = { uncertainAfter: 500 * MS, resetAfter: 1000 * MS, silentAfter: 1500 * MS, interval: 100 * MS };
/**
 * If nothing was delayed for longer than this, a report came between the limit for a reset and the limit for silence,
 * and each state was seen; and no node was uncertain before, unless the receiver was late to take its reports.
 */
const UNDISTURBED = 400 * MS;

/**
 * A node that reports like a restored machine (time and sequence number go back), or like one where only the clock goes
 * back.
 */
class Restored {
  readonly sent: { after: number; before: number }[] = [];
  #bootNs = 1_000_000_000_000_000n;
  #seq = 1_000_000;

  constructor(
    readonly name: string,
    readonly socket: Reporter['socket'],
    readonly key: Key | undefined,
    /** By how much its sequence number goes back. */
    readonly numbers: number,
  ) {}

  goBack(): void {
    this.#bootNs -= 1_000_000_000_000n;
    this.#seq -= this.numbers;
  }

  send(): void {
    const after = now();
    const report = makeReport({
      hostname: this.name,
      seq: this.#seq++,
      interval_ms: BACK.interval / MS,
      // The node's wall clock is right and is not changed: a proved reset needs a later wall clock.
      t_real_ns: REAL + BigInt(after),
      t_boot_ns: this.#bootNs + BigInt(after),
      auth_alg: enums.auth_alg.indexOf(this.key === undefined ? 'none' : 'node'),
      key_id: this.key?.id ?? 0,
    });
    if (this.key !== undefined) sign(report, this.key);
    if (this.socket.send(report, report.length, 0, 1) !== 1) throw new Error('not sent');
    this.sent.push({ after, before: now() });
  }
}

const REAL = realNow() - BigInt(now());

/** The longest time between two consecutive ones. */
const longest = (times: readonly number[]) => Math.max(...times.map((time, i) => time - (times[i - 1] ?? time)));

t.test('the time since boot goes back while a node reports: uncertain, never silent', { buffered: true }, async t => {
  const key = join(folder(t), 'key');
  writeFileSync(key, keyLine(CLUSTER), { mode: 0o600 });
  const limits = ['--uncertain-after', `${BACK.uncertainAfter / MS}ms`, '--silent-after', `${BACK.silentAfter / MS}ms`];
  const keys = ['--key-file', key, '--require', 'none', '--clock-window', 'off'];
  const master = await startMaster(t, {}, [...limits, ...keys]);
  const nodes = (['none', 'node'] as const).flatMap(proof =>
    [0, 1000].map(numbers => {
      const name = `${proof}-${numbers}`;
      return new Restored(name, master.socket, proof === 'node' ? nodeKey(CLUSTER, name) : undefined, numbers);
    }),
  );
  const find = (name: string) => new Reporter(name, 100, master.socket, master.reader).find();
  // A node that reports moves the heartbeat, so that a silence shows as soon as it exists.
  const steady = master.node('steady', 100).begin(t, 10);
  let due = now();
  /** All nodes report every 100 ms until this is true. */
  const report = async (done: () => boolean) => {
    while (!done()) {
      for (const node of nodes) node.send();
      due = Math.max(due + BACK.interval, now());
      await pass(due);
    }
  };
  const live = (resets: number) =>
    nodes.every(({ name }) => {
      const node = find(name);
      return node?.state === 'live' && node.record.resets === resets;
    });
  let rounds = 0;
  /**
   * One round: time goes back on all nodes, and they are heard again. Returns the samples, unless this process was too
   * late to send or to look.
   */
  const round = async (): Promise<Sample[] | undefined> => {
    await report(() => live(rounds));
    const sampler = await Sampler.start(t, master.board);
    const from = now();
    await report(() => now() > from + 2 * BACK.interval && live(rounds));
    // Nobody reported while the sampler started, which may take long.
    const ready = now();
    for (const node of nodes) node.goBack();
    // Half an interval later, so that no report comes exactly when a limit ends.
    due = (nodes[0]?.sent.at(-1)?.before ?? 0) + BACK.interval / 2;
    await pass(due);
    rounds++;
    await report(() => live(rounds));
    const back = now();
    await report(() => now() > back + 2 * BACK.interval);
    await settled(master.reader);
    const samples = await sampler.end();
    // A node may be silent only if it was not heard: none of its reports that the receiver had to accept was in the
    // socket when the drain of this heartbeat began.
    const faults = samples.flatMap(({ heartbeat, nodes: seen }) =>
      seen.flatMap(({ name, stamp, bySlot, byColumn }) => {
        if (bySlot !== 'silent' && byColumn !== 'silent') return [];
        // The time of one node never goes back, so that all of its reports have to be accepted.
        const refused = name === steady.name ? 0 : BACK.resetAfter;
        const { sent } = [steady, ...nodes].find(node => node.name === name) as { sent: Restored['sent'] };
        const unheard = sent.filter(
          ({ after, before }) =>
            after > stamp + refused + SLACK && before + ROAD < Math.min(heartbeat, stamp + BACK.silentAfter),
        );
        return unheard.length === 0 ? [] : [[name, (heartbeat - stamp) / MS, unheard.length]];
      }),
    );
    t.same(faults.slice(0, 10), [], `round ${rounds}: ${samples.length} looks`);
    const end = samples.at(-1)?.now ?? back;
    const sent = nodes.flatMap(node => [
      longest([...node.sent.filter(({ after }) => after > from).map(({ before }) => before), end]),
    ]);
    const looked = longest(samples.map(({ now }) => now));
    const listened = samples.every(({ since }) => since === samples[0]?.since);
    t.comment(`round ${rounds}: ${Math.max(...sent) / MS} ms between two reports, ${looked / MS} ms between two looks`);
    const late = Math.max(...samples.map(({ now, heartbeat }) => now - heartbeat));
    const inTime = Math.max(...sent) + late < BACK.uncertainAfter;
    const undisturbed = listened && inTime && Math.max(looked, ...sent) < UNDISTURBED;
    return undisturbed ? samples.filter(({ now }) => now > ready) : undefined;
  };
  await until(
    'the receiver has listened for so long that it calls nodes silent',
    () => master.reader.snapshot().listenedMs * MS > BACK.silentAfter,
  );
  const samples = await until('a round went undisturbed', round);
  for (const { name } of nodes) t.same(course(samples, name), ['live', 'uncertain', 'live'], name);
});

// ---- steps of the wall clock ----

const STEPS = [100n, -100n, 3_600_000n, -3_600_000n].map(ms => ms * 1_000_000n);
/** Longer than the smaller steps, so that a stamp that is wrong by such a step is clearly wrong. */
const WAIT = 150 * MS;

/** Where the receive thread is when the clock steps; `nowhere`: between two drains. */
const MOMENTS: readonly (Point | 'stopped')[] = [
  'nowhere',
  'begun',
  'before receive',
  'after receive',
  'after drain',
  'stopped',
];

for (const first of partOf(['report', 'step'] as const, 2, SEED))
  t.test(`the wall clock steps, the ${first} first`, { buffered: true }, async t => {
    const standIn = new StandIn(t);
    const master = await startMaster(t, { env: standIn.env });
    const [node, steady] = [master.node('node1', 1000), master.node('steady', 1000)];
    const shows = (seq: number) =>
      until(`number ${seq} is there`, () => {
        const found = node.find();
        return found?.report?.seq === seq && found;
      });
    node.send();
    await shows(0);
    steady.begin(t, 20);
    const sampler = await Sampler.start(t, master.board);
    for (const moment of MOMENTS)
      for (const by of STEPS) {
        const stopped = moment === 'stopped' && (await stop(master.child));
        if (moment !== 'nowhere' && moment !== 'stopped') await standIn.hold(moment);
        if (first === 'step') await standIn.step(by);
        const sent = node.send();
        if (first === 'report') await standIn.step(by);
        if (moment !== 'nowhere') await pass(now() + WAIT);
        if (stopped) goOn(stopped);
        standIn.release();
        const { stampNs } = await shows(sent.seq);
        const stamp = Number(stampNs);
        const [earliest, latest] = stampsOf(sent, true);
        const what = `by ${by / 1_000_000n} ms ${moment === 'nowhere' ? 'between two drains' : moment}`;
        t.ok(stamp <= latest, `${what}: not younger than it is, but by ${(stamp - latest) / MS} ms`);
        t.ok(stamp >= earliest, `${what}: not older than the drain before, but by ${(earliest - stamp) / MS} ms`);
        // A drain after the step has emptied the socket: from then on, all stamps are exact again.
        const stepped = now();
        await until('it is digested', () => Number(master.reader.snapshot().evidence.heartbeatNs) > stepped);
        const next = node.send();
        const exact = Number((await shows(next.seq)).stampNs);
        const [from, to] = stampsOf(next, false);
        t.ok(from <= exact && exact <= to, `${what}: the next one is exact`);
      }
    steady.end();
    await pass(now() + 100 * MS);
    await hold(t, await sampler.end(), [node, steady], {
      uncertainAfter: 4.5 * S,
      silentAfter: 10.5 * S,
      stepped: true,
    });
    for (const reporter of [node, steady])
      t.same(countsOf(reporter.find()), { accepted: reporter.sent.length }, `${reporter.name}: no state has changed`);
  });

t.test('the kernel and the receiver never agree on the wall clock', { buffered: true }, async t => {
  // No real machine is in this state for longer than a moment. An arrival is then only known to be between two readings
  // of the monotonic clock: the drain before, which emptied the socket, and the moment of reading.
  const standIn = new StandIn(t);
  const master = await startMaster(t, { env: standIn.env });
  standIn.stepKernel(false);
  const node = master.node('node1', 1000);
  for (const by of [3_600_000_000_000n, -3_600_000_000_000n, -3_600_000_000_000n]) {
    await standIn.step(by);
    for (let i = 0; i < 5; i++) {
      const sent = node.send();
      const found = await until('it is there', () => {
        const found = node.find();
        return found?.report?.seq === sent.seq && found;
      });
      const stamp = Number(found.stampNs);
      t.ok(stamp >= sent.heartbeat, 'not older than the drain before');
      t.ok(stamp <= Number(found.snapshot.evidence.nowNs), 'not younger than the look at it');
      t.equal(found.state, 'live');
    }
  }
  t.same(countsOf(node.find()), { accepted: node.sent.length });
});
