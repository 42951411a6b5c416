// A port that could not be read is asked again by a running sender, of either language, a minute later and no sooner.
// Not part of `npm test`, because it takes that minute.
//   npm run test:long -- askedagain

import { join } from 'node:path';
import t from 'tap';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { Hearer, startIn } from '../kit/hanging.js';
import { type Files, ForeignTrees } from './foreigntrees.js';

t.setTimeout(300_000);
t.jobs = 2;

const port = (device: string, words: string): Files => {
  const dir = `sys/class/infiniband/${device}/ports/1`;
  const counters = ['rcv_data', 'xmit_data', 'rcv_packets', 'xmit_packets', 'rcv_errors', 'xmit_discards'];
  const files = counters.map(name => [`${dir}/counters/port_${name}`, `${words}\n`]);
  return { [`${dir}/state`]: '4: ACTIVE\n', [`${dir}/rate`]: '100 Gb/sec (4X EDR)\n', ...Object.fromEntries(files) };
};

for (const [what, sender] of [
  ['beoboard-send', compileSender(t, SANITIZED)],
  ['beoboard send', undefined],
] as const)
  t.test(what, async t => {
    const trees = new ForeignTrees(t);
    const now = join(trees.root, 'now');
    trees.write({}, { ...port('mlx5_0', '1000'), ...port('mlx5_1', 'x') });
    const hearer = await Hearer.open(t);
    const argv = ['send', '--name', 'n1', '--to', hearer.address, '--proc', `${now}/proc`, '--sys', `${now}/sys`];
    const running = startIn(t, { sender }, argv);
    const portsOf = ({ fabric }: { fabric?: { state: number } }) => (fabric?.state ?? 0) >>> 16;
    const { slow_boot_ns: first } = await hearer.next('a port counts', report => portsOf(report) === 1);
    trees.write({}, port('mlx5_1', '1000'));
    for (let [last, ports] = [first, 1]; ; ) {
      const report = await hearer.next('a round', ({ slow_boot_ns }) => slow_boot_ns > last);
      [last, ports] = [report.slow_boot_ns, portsOf(report)];
      const seconds = Number(last - first) / 1e9;
      if (ports === 1 && seconds < 120) continue;
      t.equal(ports, 2, 'both ports count');
      t.ok(seconds >= 59, `after ${seconds.toFixed(1)} s`);
      break;
    }
    running.child.kill('SIGTERM');
    await running.closed;
  });
