// One difference of a node is one `odd` of the journal, whoever of reader, receiver and journal ends and comes again
// meanwhile: as processes, with a job of a file.
//
// @seconds 64
// @waits
// @rest
// @days 3

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readState } from '../../src/schedulerfile/statefile.js';
import { boardPath, folder } from '../kit/places.js';
import { type Running, roomIn, run, start } from '../kit/program.js';
import { until } from '../kit/until.js';

/** So long a reader that goes on has to have looked, ms: four times. */
const LOOKED_MS = 20_000;
/** Three new readings of a link's speed, which comes every 10 s, begin a mark. */
const SLOW = { withinMs: 120_000 };

t.test('an odd node stays the same one over restarts', async t => {
  const [board, dir, journal] = [boardPath(t), folder(t), folder(t)];
  const jobs = join(dir, 'jobs');
  const receive = (port = 0) =>
    start(t, [
      'receive',
      '--board',
      board,
      '--listen',
      `127.0.0.1:${port}`,
      '--longest-interval',
      '10m',
      ...roomIn([]),
    ]);
  const read = () =>
    start(t, ['scheduler', '--board', board, '--slurm-dir', dir, '--scheduler', `file:${jobs}`, '--interval', '1s']);
  const follow = () =>
    start(t, ['journal', '--board', board, '--journal-dir', journal, '--journal-run', journal, '--slurm-dir', dir]);
  const state = () => {
    const found = readState(dir);
    return found.why === undefined ? found.state : undefined;
  };
  const told = async () => {
    const { stdout } = await run(['events', '--since', '1h ago', '--kind', 'odd', '--json', '--journal-dir', journal]);
    return stdout.split('\n').filter(line => line !== '');
  };
  const over = async ({ child, exit }: Running) => {
    child.kill();
    await exit;
  };

  let receiver = receive();
  const { listening } = await receiver.ready;
  const port = Number(listening?.[0]?.split(':').at(-1));
  const more = ['--size', '30', '--interval', '200ms', '--jobs', '1', '--jobs-file', jobs, '--odd', 'link'];
  start(t, ['load', '--to', `127.0.0.1:${port}`, ...more]);
  await until('the job is told', () => existsSync(jobs));
  let recorder = follow();
  let reader = read();
  const marked = () => state()?.odd?.marks[0];
  const mark = await until('a node is marked', marked, 200, SLOW);
  await until('the journal tells it', async () => (await told()).length > 0);

  /** Until this reader, and not one before, has looked for long, and the mark stands with its begin. */
  const stands = (what: string) => {
    const fromMs = state()?.mono_ms ?? 0;
    return until(
      what,
      () => {
        const now = state();
        const { node, since_ms } = marked() ?? {};
        const isSame = node === mark.node && since_ms === mark.since_ms;
        return isSame && now !== undefined && now.pid === reader.child.pid && now.mono_ms >= fromMs + LOOKED_MS;
      },
      200,
      SLOW,
    );
  };
  await over(reader);
  reader = read();
  t.ok(await stands('another reader keeps the mark'));
  await over(receiver);
  receiver = receive(port);
  await receiver.ready;
  t.ok(await stands('it stands behind another receiver'));
  for (const running of [recorder, reader, receiver]) await over(running);
  receiver = receive(port);
  await receiver.ready;
  reader = read();
  recorder = follow();
  t.ok(await stands('it stands after all have been away'));
  await recorder.ready;
  const lines = await told();
  t.equal(lines.length, 1, lines.join('\n'));
  t.match(JSON.parse(lines[0] as string), { event: 'odd', nodes: mark.node, reading: mark.reading, to: undefined });
});
