// `beoboard check --setup`: each part of a master, with what systemd says of the units by a stand-in for systemctl.

import { createSocket } from 'node:dgram';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

/** A unit as `systemctl show` prints it. */
const unit = (name: string, active: string, enabled = 'enabled', condition = 'yes') =>
  `Id=${name}.service\nActiveState=${active}\nUnitFileState=${enabled}\nConditionResult=${condition}\nConditionTimestamp=${condition === 'no' ? 'Mon' : ''}\n`;

t.test('a master from its first minute on', async t => {
  const [board, path, none] = [boardPath(t), folder(t), join(folder(t), 'none')];
  const units = (...blocks: string[]) => {
    const program = join(path, 'systemctl');
    writeFileSync(program, `#!/bin/sh\ncat <<'END'\n${blocks.join('\n')}END\n`);
    chmodSync(program, 0o755);
  };
  units();
  const ask = async (...more: string[]) => {
    const argv = ['check', '--setup', '--board', board, '--slurm-dir', none, '--journal-run', none, ...more];
    const { code, stdout, stderr } = await run(argv, { PATH: `${path}:${process.env.PATH}` });
    const lines = new Map<string, string>();
    for (const line of stdout.trimEnd().split('\n')) {
      t.match(line, /^(ok|--|!!) {2}[a-z]+ +\S/);
      const [, sign = '', part = '', text = ''] = /^(..) {2}(\S+) +(.*)$/.exec(line) ?? [];
      lines.set(part, `${sign} ${text}`);
    }
    return { code, stderr, lines };
  };
  const has = ({ lines }: Awaited<ReturnType<typeof ask>>, part: string, wanted: RegExp) =>
    t.match(lines.get(part), wanted, part);

  const first = await ask();
  t.equal(first.code, 1);
  t.same([...first.lines.keys()], ['board', 'units']);
  has(first, 'board', /^!! .*there is no board; start beoboard receive.*: systemctl status beoboard-receive$/);
  has(first, 'units', /^-- none runs$/);

  const receiver = await startReceiver(t, board, ['--nodes', 'n[1-2]']);
  const empty = await ask();
  t.equal(empty.code, 1);
  has(empty, 'board', /^ok .*: 2 nodes of at most \d+$/);
  has(empty, 'receiver', /^!! .*listens on 127\.0\.0\.1:\d+ only.*systemctl restart beoboard-receive/);
  has(empty, 'links', /^!! no node is heard by any$/);
  has(empty, 'list', /^!! 2 nodes never reported \(n\[1-2\]\): .*beoboard-send --check/);
  has(empty, 'keys', /^-- reports are not verified.*beoboard keygen/);
  has(empty, 'journal', /^-- none.*systemctl enable --now beoboard-journal@default$/);
  has(empty, 'scheduler', /^-- not read: /);

  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  for (const hostname of ['n1', 'n2'])
    socket.send(
      makeReport({ hostname, interval_ms: 600_000, t_real_ns: BigInt(Date.now()) * 1_000_000n }),
      receiver.port,
      '127.0.0.1',
    );
  const reader = openReader(t, board);
  await until('both are live', () => reader.nodeStates().states.every(state => state === 1));
  units(
    unit('beoboard-receive', 'active'),
    unit('beoboard-web', 'failed'),
    unit('beoboard-ganglia', 'inactive', 'enabled', 'no'),
    unit('beoboard-bridge', 'inactive', 'disabled', 'no'),
  );
  const live = await ask();
  t.equal(live.code, 1);
  has(live, 'receiver', /^ok runs as process \d+$/);
  has(live, 'links', /^!! only this machine itself is heard: listen = /);
  has(live, 'list', /^ok every node of it has reported$/);
  has(live, 'senders', /^ok /);
  has(live, 'clocks', /^ok /);
  // The last line of the units; what is wrong with some stands before.
  has(live, 'units', /^ok run: beoboard-receive$/);
  const { stdout } = await run(['check', '--setup', '--board', board], { PATH: `${path}:${process.env.PATH}` });
  t.match(stdout, /^!! {2}units {6}beoboard-web has failed: journalctl -u beoboard-web$/m);
  t.match(
    stdout,
    /^-- {2}units {6}not started, because their files in \/etc\/beoboard are missing: beoboard-ganglia$/m,
  );

  receiver.child.kill('SIGTERM');
  await receiver.exit;
  has(await ask(), 'receiver', /^!! the receiver was stopped.*: systemctl status beoboard-receive$/);

  const key = join(folder(t), 'key');
  t.match(await run(['keygen', key]), { code: 0 });
  const verified = await startReceiver(t, board, ['--key-file', key, '--require', 'none']);
  has(await ask(), 'keys', /^ok reports are verified with key \d+$/);
  verified.child.kill('SIGTERM');
  await verified.exit;
  for (const [option, value] of [
    ['--warning', '3'],
    ['--nodes', 'n1'],
  ] as const)
    t.match(await run(['check', '--setup', option, value]), {
      code: 2,
      stdout: '',
      stderr: `beoboard check: --setup and ${option} do not go together; leave one out`,
    });
});
