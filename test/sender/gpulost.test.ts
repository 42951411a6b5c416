// A GPU that is lost, as a master has it: the built helper, a sender, a receiver, the gate and what the bridge sees. No
// verdict turns to "well" before the GPU was seen again. NVML is a stand-in; no GPU takes part.
//
// @seconds 12
// @waits
// @rest
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lookAt } from '../../src/schedulers/bridge/boardlook.js';
import { FATAL, watch } from '../../src/schedulers/bridge/rules.js';
import { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { compiled, compileSender, DYNAMIC, makeIn, preloadable } from '../kit/compiling.js';
import { inNamespace, startIn } from '../kit/hanging.js';
import { boardPath, memoryFolder } from '../kit/places.js';
import { run, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { POLICY } from '../slurm/bridgemodel.js';

t.setTimeout(600_000);

const made = (target: string) => join(makeIn('gpu', DYNAMIC, `OUT/${target}`), target);
const HELPER = made('beoboard-gpu');
const NVML = made('standin_nvml.so');
const HURRY = preloadable(made('hurry.so'));
const skip =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /run']).status !== 0 &&
  !process.env.CI &&
  'needs root and mount namespaces';

/** Two GPUs that work. */
const TWO = [
  ...['Init * 0', 'DeviceGetCount * 0 2', 'DeviceGetHandleByIndex * 0', 'DeviceGetUUID 0 0 10'],
  ...['DeviceGetUUID 1 0 11', 'DeviceGetTemperature * 0 61', 'DeviceGetUtilizationRates * 0 50 20'],
];

t.test('lost, then not counted, then not measured, and seen again', { skip }, async t => {
  const root = memoryFolder(t);
  const [script, folder] = [join(root, 'script'), join(root, 'run')];
  const file = join(folder, 'gpu');
  const answer = (...more: string[]) => {
    writeFileSync(`${script}.next`, [...TWO, ...more, ''].join('\n'));
    renameSync(`${script}.next`, script);
  };
  answer();
  for (const made of [folder, join(root, 'sys')]) mkdirSync(made);
  const argv = ['--file', file, '--library', NVML, '--sys', join(root, 'sys')];
  const help = () => {
    const env = { ...process.env, STANDIN_NVML: script, LD_PRELOAD: HURRY };
    const child = spawn(HELPER, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    return { child, said: follow(child, t) };
  };
  let helper = help();
  await until('there is a file', () => existsSync(file));
  const board = boardPath(t);
  const receiver = await startReceiver(t, board);
  const prefix = inNamespace(`mkdir /run/beoboard\nmount --bind '${folder}' /run/beoboard`);
  const options = ['--name', 'n1', '--sys', join(root, 'sys'), '--interval', '200ms'];
  startIn(t, { prefix, sender: compileSender(t, DYNAMIC) }, ['send', '--to', `127.0.0.1:${receiver.port}`, ...options]);
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const gate = compiled(t, 'gate', 'beoboard-gate');

  /** What is told of the node, where it may be told at one moment. */
  const verdict = () => {
    const look = lookAt([reader.snapshot()], () => 1);
    const policy = { ...POLICY, drainUnhealthy: FATAL };
    const isWell = watch(new Map(), look, policy, 0).get('n1')?.isWell ?? false;
    const argv = ['--board', board, '--health', '--wait', '0s', '--nodes', 'n1'];
    const { status, stderr } = spawnSync(gate, argv, { encoding: 'utf8' });
    const node = [...reader.snapshot().nodes()].find(({ name }) => name === 'n1');
    return { isWell, status, said: stderr.trim(), problems: node?.problems ?? [], doubts: node?.doubts ?? [] };
  };
  const says = (what: string, isIt: (now: ReturnType<typeof verdict>) => boolean) =>
    until(what, () => {
      const now = verdict();
      return isIt(now) && now;
    });
  const isLost = ({ isWell, status, problems }: ReturnType<typeof verdict>) =>
    !isWell && status === 1 && problems.includes('gpu_lost');
  const isUnmeasured = ({ isWell, status, doubts }: ReturnType<typeof verdict>) =>
    !isWell && status === 1 && doubts.includes('gpu_lost');
  const isWell = ({ isWell, status, problems, doubts }: ReturnType<typeof verdict>) =>
    isWell && status === 0 && problems.length + doubts.length === 0;
  const stays = async (what: string, isIt: typeof isLost) => {
    const before = reader.snapshot().node(0).report?.seq ?? 0;
    // Once for each report.
    for (let seq = before; seq < before + 10; seq++) {
      await until('one more report', () => (reader.snapshot().node(0).report?.seq ?? 0) > seq);
      t.ok(isIt(verdict()), what);
    }
  };

  await says('both work', isWell);
  answer('DeviceGetTemperature 1 15');
  t.match(
    (await says('one is lost', isLost)).said,
    /^beoboard-gate: no: n1 is unhealthy: a GPU has fallen off the bus$/,
  );
  t.match(helper.said.stderr, /^beoboard-gpu: GPU 1 \(GPU-11\): /m, 'the log has its number and its UUID');
  t.match((await run(['show', 'n1', '--board', board])).stdout, /GPU 1.*off_the_bus/, 'and the sheet its number');
  answer('DeviceGetCount * 0 1');
  helper.child.kill('SIGHUP');
  await stays('the driver does not count it', isLost);
  answer('DeviceGetCount * 0 2', 'DeviceGetHandleByIndex 1 999');
  helper.child.kill('SIGHUP');
  await stays('it gives no handle', isLost);
  helper.child.kill('SIGKILL');
  await helper.said.exit;
  const then = Date.now() / 1000 - 60;
  utimesSync(file, then, then);
  // The gate may have looked before the report that does not measure it came.
  await says('nothing reads it any more', now => isUnmeasured(now) && /when that was last measured/.test(now.said));
  await stays('not measured', isUnmeasured);
  helper = help();
  await says('a new helper does not find it', isLost);
  await stays('either', isLost);
  answer('Init * 9');
  helper.child.kill('SIGHUP');
  await stays('without the driver', now => isLost(now) || isUnmeasured(now));
  answer();
  helper.child.kill('SIGHUP');
  await says('it answers', isWell);
  t.equal(spawnSync(HELPER, [...argv, '--release', '1h']).status, 0);
  answer('Init * 9');
  await stays('the library is closed on purpose', isWell);
  const node = [...reader.snapshot().nodes()].find(({ name }) => name === 'n1');
  t.equal(node?.memory?.goneMs('gpu'), undefined, 'and what reads the GPUs is not missed');
});
