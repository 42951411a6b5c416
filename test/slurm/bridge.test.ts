// The bridge beside a real Slurm: it drains dead nodes, gives back live ones, releases what an administrator takes
// over, survives being killed, and does nothing while it is switched off. bridge.long.test.ts has longer tests.
//
// @seconds 23
// @waits
// @rest
// @days 3

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { OrdersFollower } from '../../src/schedulerfile/orderfile.js';
import type { LastTick } from '../../src/schedulers/bridge/bridgestatus.js';
import { readJournal } from '../../src/schedulers/bridge/journal.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { keyFile, SigningNodes } from './signingnodes.js';

const run = verbRun(t);

t.setTimeout(600_000);

const NODES = nodeNames(8);
const OURS = /^beoboard: silent since \d\d:\d\d:\d\dZ #[0-9a-f]{6}$/;

const besideIt = async (t: Test) => {
  const slurm = await Slurm.start(t, { nodes: NODES });
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  t.teardown(() => delete process.env.SLURM_CONF);
  const own = folder(t);
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, [
    ...['--key-file', keyFile(own), '--uncertain-after', '400ms', '--silent-after', '1s'],
  ]);
  const nodes = new SigningNodes(t, receiver.port, [...NODES, 'stranger'], 100);
  const [journal, off, config] = [join(own, 'journal'), join(own, 'off'), join(own, 'bridge.toml')];
  writeFileSync(config, 'enforce = true\ndrain-after = "1s"\nresume-after = "2s"\ninterval = "1s"\n');
  const orders = join(own, 'orders');
  const follower = new OrdersFollower(orders);
  const common = [
    ...['bridge', '--config', config, '--journal', journal, '--kill-switch', off, '--board', board],
    ...['--bridge-dir', orders],
  ];
  const bridge = () => start(t, common);
  const last = () => JSON.parse(readFileSync(join(journal, 'status'), 'utf8')) as LastTick;
  const ticks = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const before = last().mono_ms;
      await until('a tick is over', () => last().mono_ms !== before);
    }
  };
  const show = async (name: string) => {
    const { stdout } = await slurm.run('scontrol', '-o', 'show', 'node', name);
    const [, state = '', reason] = / State=(\S+) .*?(?: Reason=(.*) \[\S+@\S+\])?$/m.exec(stdout) ?? [];
    return { state, reason };
  };
  const becomes = (name: string, state: RegExp) =>
    until(`${name} is ${state}`, async () => state.test((await show(name)).state) && show(name), 50);
  const update = async (name: string, ...words: string[]) =>
    t.equal((await slurm.run('scontrol', 'update', `nodename=${name}`, ...words)).code, 0);
  const entries = (what: string, node?: string) =>
    (readJournal(journal)?.entries ?? []).filter(
      entry => entry.what === what && (node === undefined || ('node' in entry && entry.node === node)),
    );

  await until('all are heard', async () => {
    const { stdout } = await run(['nodes', '--state', 'live', '--count', '--board', board]);
    return stdout === '9\n';
  });
  // A node dies: a dry run prints the orders that are then really given.
  const dry = start(t, [...common, '--dry-run']);
  await dry.ready;
  nodes.kill('node001');
  await slurm.kill('node001');
  const line = await until('it has said so', () => /^scontrol .*$/m.exec(dry.output().stdout)?.[0]);
  t.match(await show('node001'), { state: 'IDLE', reason: undefined });
  t.equal(readJournal(journal), undefined, 'nor is anything written down');
  dry.child.kill('SIGTERM');
  t.equal(await dry.exit, 0);
  t.equal(dry.output().stdout, `${line}\n`, 'once');
  let running = bridge();
  await running.ready;
  const drained = await becomes('node001', /DRAIN/);
  t.match(drained.reason, OURS);
  await until('it is written down', () => entries('result').length === 1);
  t.match(entries('intent'), [
    { act: 'drain', before: { state: 'IDLE' }, evidence: { state: 'silent', proved: true } },
  ]);
  t.match(entries('result'), [{ outcome: 'done', rc: 0, after: { state: 'IDLE+DRAIN', reason: drained.reason } }]);
  t.equal(line, `scontrol update nodename=node001 state=drain reason='${drained.reason}'`);
  await until('it says why', () => running.output().stderr.includes(`${line}: silent for`));
  t.equal(statSync(journal).mode & 0o777, 0o700);
  t.match(running.output().stderr, /cannot write \S+\/orders\/orders: ENOENT; beoboard journal does not learn .*\n/);
  mkdirSync(orders);

  // Only one bridge runs, and it survives being killed, and so does slurmctld.
  t.match(await run(common), { code: 1, stderr: /lock: another bridge runs with this folder; end it first/ });
  t.match(await run([...common, '--undrain-own']), { code: 1, stderr: /another bridge runs/ });
  running.child.kill('SIGKILL');
  await running.exit;
  await slurm.kill('slurmctld');
  slurm.again('slurmctld');
  await until('slurmctld answers', async () => (await slurm.run('scontrol', 'ping')).code === 0);
  running = bridge();
  await running.ready;
  await ticks(3);
  t.equal(entries('intent').length, 1, 'one silence is drained once');
  await follower.look();
  t.match(follower.next(), [{ n: 1, act: 'drain', node: 'node001', outcome: 'done', reason: drained.reason }]);
  t.match(await show('node001'), { state: /DRAIN/, reason: drained.reason });
  t.match(
    (await run([...common, '--status'])).stdout,
    / {2}node001 {2}beoboard: silent since .*\nLast actions:\n.* drain node001\n/,
  );

  // It comes back; the second node is not ours to give back; the drain of the third is lifted by the administrator.
  await update('node003', 'state=drain', 'reason=disk');
  nodes.kill('node002');
  nodes.kill('node003');
  nodes.boot('node001');
  slurm.again('node001');
  await becomes('node001', /^IDLE(\+NOT_RESPONDING)?$/);
  await until('that is written down', () => entries('result', 'node001').length === 2);
  t.match(entries('result', 'node001'), [{ act: 'drain' }, { act: 'undrain', outcome: 'done' }]);
  await becomes('node002', /DRAIN/);
  await update('node002', 'state=undrain');
  await until('it has let go', () => entries('let_go', 'node002').length === 1);
  t.match(entries('theirs'), [{ node: 'node003', after: { state: 'IDLE+DRAIN', reason: 'disk' } }]);
  await update('node003', 'state=undrain');
  await ticks(3);
  t.notMatch((await show('node002')).state, /DRAIN/, 'an administrator is obeyed in this silence');
  t.notMatch((await show('node003')).state, /DRAIN/, 'also where he was first');
  nodes.revive('node002');
  nodes.revive('node003');

  // A sender without a key neither kills nor revives a node.
  for (let i = 0; i < 50; i++)
    nodes.send({ hostname: `node${String(i).padStart(3, '0')}`, boot_id: 5n, seq: i }, false);

  // Switched off, and on again.
  writeFileSync(off, '');
  nodes.kill('node004');
  await until('it is off', () => last().trouble?.endsWith('/off exists: nothing is done'));
  await ticks(3);
  t.equal((await show('node004')).state, 'IDLE');
  rmSync(off);
  t.match((await becomes('node004', /DRAIN/)).reason, OURS);
  t.equal(entries('intent').length, 4, 'node001, node001, node002, node004');

  // It ends and leaves its drains; lifting them is a separate command.
  running.child.kill('SIGTERM');
  t.equal(await running.exit, 0);
  t.match((await show('node004')).state, /DRAIN/);
  t.match(await run([...common, '--status']), { code: 1, stdout: /^No enforcing bridge is running/ });
  t.match(await run([...common, '--undrain-own', '--dry-run']), {
    code: 0,
    stdout: 'scontrol update nodename=node004 state=undrain\n',
  });
  t.match((await show('node004')).state, /DRAIN/);
  t.match(await run([...common, '--undrain-own']), { code: 0, stdout: '' });
  await follower.look();
  const acts = follower.next().map(({ act, node }) => `${act} ${node ?? ''}`);
  // What happens to two nodes at once has no order.
  t.match(
    [...acts.slice(0, 2).sort(), ...acts.slice(2)],
    [
      ...['drain node002', 'resume node001', 'let_go node002', 'switched_off ', 'switched_on ', 'drain node004'],
      'resume node004',
    ],
  );
  // From 23.11 on, without slurmdbd, Slurm keeps the reason.
  const { stdout: version } = await slurm.run('scontrol', '--version');
  const reason = / 2[012]\./.test(version) ? undefined : OURS;
  t.match(await show('node004'), { state: /^IDLE(\+NOT_RESPONDING)?$/, reason });
};

withSlurm(t, import.meta.url, () => void t.test('the bridge beside it', besideIt));
