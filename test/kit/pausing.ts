// A pause of the receiver, with nodes of every kind, watched from before it until well after it. For the short and long
// tests of pauses. No test of its own.

import type { State } from '../../src/shm/liveness.js';
import {
  course,
  goOn,
  hold,
  MS,
  now,
  type Point,
  pass,
  type Reporter,
  S,
  type Sample,
  Sampler,
  StandIn,
  startMaster,
  stop,
} from './sampler.js';
import { until } from './until.js';

interface Test {
  teardown(end: () => void | Promise<void>): void;
  same(found: unknown, wanted: unknown, ...more: [string]): boolean;
  ok(value: unknown, ...more: [string]): boolean;
  notOk(value: unknown, ...more: [string]): boolean;
  equal(found: unknown, wanted: unknown, ...more: [string]): boolean;
  comment(...text: unknown[]): void;
}

export interface Limits {
  uncertainAfter: number;
  silentAfter: number;
  intervalMs: number;
}

export interface Manner {
  /** The point of a drain at which the pause begins; by default it begins between two drains. */
  stopAt?: Point;
  /** The first drain after the pause is held before this call of recvmmsg. */
  holdAt?: number;
  /** Wait until the quiet node is silent, before the pause and after it. */
  patient?: boolean;
}

/** What one call takes from a socket. */
const BATCH = 64;

export async function pauseReceiver(
  t: Test,
  pause: number,
  { uncertainAfter, silentAfter, intervalMs }: Limits,
  { stopAt, holdAt, patient = true }: Manner = {},
): Promise<void> {
  const standIn = stopAt !== undefined || holdAt !== undefined ? new StandIn(t) : undefined;
  const master = await startMaster(t, { env: standIn?.env ?? {} }, [
    '--uncertain-after',
    `${uncertainAfter / MS}ms`,
    '--silent-after',
    `${silentAfter / MS}ms`,
  ]);
  const node = (name: string) => master.node(name, intervalMs);
  const [quiet, gone, steady, leaver] = [node('quiet'), node('gone'), node('steady'), node('leaver')];
  const [dying, comer, busy, slow] = [node('dying'), node('comer'), node('busy'), master.node('slow', 10_000)];
  const all = [quiet, gone, steady, leaver, dying, comer, busy, slow];
  const is = (node: Reporter, state: State) => node.find()?.state === state;

  quiet.send();
  gone.send();
  gone.send(true);
  slow.send();
  busy.send();
  for (const node of [steady, leaver, dying]) node.begin(t, intervalMs);
  const sampler = await Sampler.start(t, master.board);
  await until('all are there', () => master.reader.snapshot().count === all.length - 1);
  if (patient) await until('the quiet one is silent', () => is(quiet, 'silent'));

  if (stopAt !== undefined) await standIn?.hold(stopAt);
  const stopped = await stop(master.child);
  standIn?.release();
  await pass(stopped.from + pause / 2);
  leaver.end();
  leaver.send(true);
  dying.end();
  comer.begin(t, intervalMs);
  if (holdAt !== undefined) for (let i = 0; i < BATCH; i++) busy.send();
  await pass(stopped.from + pause);
  const heldBefore = holdAt === undefined ? 0 : (standIn?.arm('before receive', holdAt) ?? 0);
  const to = goOn(stopped);
  if (holdAt !== undefined) {
    await until('its first drain is held', () => standIn?.isHeldSince(heldBefore));
    const { evidence } = master.reader.snapshot();
    t.ok(Number(evidence.heartbeatNs) < to, 'its heart has not beaten yet');
    t.ok(Number(evidence.listeningSinceNs) > to, 'before anything else it says that it has not listened');
    await pass(now() + 300 * MS);
    standIn?.release();
  }
  const heartbeat = () => Number(master.reader.snapshot().evidence.heartbeatNs);
  await until('it listens again', () => heartbeat() > to);
  if (patient) await until('the silent ones are silent again', () => is(quiet, 'silent') && is(dying, 'silent'));
  else await until('it has listened for a second', () => heartbeat() > to + S);
  await until('the new one has been heard', () => (comer.find()?.record.accepted ?? 0) > 0);
  const end = now();
  for (const node of all) node.end();
  await pass(now() + 100 * MS);
  const samples = await sampler.end();

  const truth = { uncertainAfter, silentAfter, pause: { from: stopped.from, to } };
  await hold(t, samples, all, truth);
  // The same again as a summary.
  const looks = {
    before: samples.filter(look => look.now < stopped.from),
    during: samples.filter(look => look.now > stopped.from && look.end < to),
    after: samples.filter(look => look.now > to),
  };
  for (const [when, { length }] of Object.entries(looks)) t.ok(length > 0, `looked ${length} times ${when}`);
  const judged = (samples: readonly Sample[], { name }: Reporter) => new Set(course(samples, name));
  for (const node of [steady, slow, comer]) {
    // This process has to send in time, which it cannot do if the machine itself stood still.
    const times = [...node.sent.map(({ after }) => after), end];
    const keptOn = times.every((time, i) => time - (times[i - 1] ?? time) < silentAfter) || node === slow;
    const reporting = samples.filter(look => look.now < end);
    t.ok(!keptOn || !judged(reporting, node).has('silent'), `${node.name} never silent`);
  }
  for (const node of [gone, leaver]) t.equal(course(samples, node.name).at(-1), 'left', node.name);
  t.notOk(judged([...looks.before, ...looks.during], leaver).has('left'), 'nobody can know yet that it left');
  for (const node of patient ? [quiet, dying] : []) t.equal(course(samples, node.name).at(-1), 'silent', node.name);
  const hasListened = looks.after.filter(look => look.heartbeat > to && look.now < to + silentAfter);
  for (const node of all) {
    t.notOk(judged(hasListened, node).has('silent'), `${node.name} is not silent for want of a listener`);
    const stalled = looks.during.filter(look => look.now > stopped.from + 3 * S);
    t.same([...judged(stalled, node)], stalled.length > 0 && node !== comer ? ['unknown'] : [], node.name);
    const { record } = node.find() ?? {};
    t.same(
      [record?.accepted, record?.lost, record?.unheard, record?.refused],
      [node.sent.length, 0, 0, 0],
      `${node.name}: all was heard, whenever it came`,
    );
    t.comment(`${node.name}: ${course(samples, node.name).join(', ')}`);
  }
}
