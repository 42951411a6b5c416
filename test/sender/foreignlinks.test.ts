// Network interfaces of other machines: traffic is counted once, whichever of several interfaces shows it, and by both
// senders alike.
//
// @seconds 5
// @rest

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ForeignTrees } from './foreigntrees.js';

/** An interface: whether it has a device, which is its master, what stands below it, and which port it is. */
interface Interface {
  device?: true;
  /** Its links are empty folders, as in a copy. */
  copied?: true;
  master?: string;
  lower?: readonly string[];
  port?: string;
  adapter?: string;
  speed?: string;
}

const HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;
const line = (name: string, bytes: number) => `${name.padStart(6)}: ${bytes} 1 0 0 0 0 0 0 ${bytes} 1 0 0 0 0 0 0\n`;

/** Puts these interfaces below /sys/class/net and into /proc/net/dev. Each has received as many bytes as its index. */
function plant(trees: ForeignTrees, interfaces: Readonly<Record<string, Interface>>): void {
  for (const tree of ['before', 'now']) {
    const net = join(trees.root, tree, 'sys', 'class', 'net');
    rmSync(net, { recursive: true, force: true });
    for (const [i, [name, { device, copied, master, lower = [], port, adapter, speed }]] of Object.entries(
      interfaces,
    ).entries()) {
      const at = join(net, name);
      mkdirSync(device ? join(at, 'device') : at, { recursive: true });
      const files = {
        ifindex: `${i + 1}`,
        flags: '0x1003',
        operstate: 'up',
        speed,
        phys_port_name: port,
        phys_switch_id: adapter,
      };
      for (const [leaf, text] of Object.entries(files))
        if (text !== undefined) writeFileSync(join(at, leaf), `${text}\n`);
      const make = (target: string, path: string) => (copied ? mkdirSync(path) : symlinkSync(target, path));
      if (master !== undefined) make(`../${master}`, join(at, 'master'));
      for (const below of lower) make(`../${below}`, join(at, `lower_${below}`));
    }
  }
  const text =
    HEAD +
    Object.keys(interfaces)
      .map((name, i) => line(name, i + 1))
      .join('');
  trees.write({ 'proc/net/dev': text }, { 'proc/net/dev': text });
}

type Entry = { name: string; rx_bytes?: string; interfaces?: number; mbps?: number };

/** The names in a report in their order; the rest by how many bytes it has. */
async function counted(trees: ForeignTrees): Promise<[string, string]> {
  const { report, said } = await trees.ask();
  const { net = [], net_rest } = report as unknown as { net?: Entry[]; net_rest?: Entry };
  const names = net.filter(({ name }) => name).map(({ name }) => name);
  if (net_rest?.name) names.push(`${net_rest.name}=${net_rest.rx_bytes}`);
  return [names.join(' '), said.trimEnd()];
}

const card: Interface = { device: true };
const leftOut = (names: string) => `interfaces whose traffic others count are left out: ${names}`;

t.test('where interfaces have a device', async t => {
  const trees = new ForeignTrees(t);
  const part = (port: string): Interface => ({ device: true, adapter: 'a1', port });
  const rows: [string, Record<string, Interface>, string, string][] = [
    [
      'bridges, veth pairs and VLANs never count',
      { lo: {}, eth0: { ...card, master: 'br0' }, br0: { lower: ['eth0'] }, veth1: {}, 'eth0.7': { lower: ['eth0'] } },
      'eth0',
      '',
    ],
    [
      'slaves of a bond do',
      { bond0: { lower: ['eth0', 'eth1'] }, eth0: { ...card, master: 'bond0' }, eth1: { ...card, master: 'bond0' } },
      'eth0 eth1',
      '',
    ],
    ['netvsc', { eth0: card, enP1s1: { ...card, master: 'eth0' } }, 'eth0', leftOut('enP1s1')],
    [
      'netvsc in a copy',
      { enP1s1: { ...card, copied: true, master: 'eth0' }, eth0: { ...card, copied: true, lower: ['enP1s1'] } },
      'eth0',
      leftOut('enP1s1'),
    ],
    [
      'net_failover in a bond',
      {
        bond0: {},
        ens3: { ...card, master: 'bond0' },
        ens3nsby: { ...card, master: 'ens3' },
        ens4: { ...card, master: 'ens3' },
      },
      'ens3',
      leftOut('ens3nsby, ens4'),
    ],
    [
      'representors of VFs and SFs',
      {
        up0: { ...card, adapter: 'a1', port: 'p0' },
        r0: part('pf0vf0'),
        r1: part('c1pf0vf12'),
        r2: part('pf1sf88'),
        r3: part('p0pf0vf3'),
      },
      'up0',
      leftOut('r0, r1, r2, r3'),
    ],
    ['guests of Xen', { eth0: card, xenbr0: { lower: ['vif1.0'] }, 'vif1.0': card, 'vif12.3': card }, 'eth0', ''],
    ['what only looks like one of Xen', { eth0: card, vif1: card, 'vif1.0-emu': card }, 'eth0 vif1 vif1.0-emu', ''],
    [
      'ports of a switch',
      {
        p0: { ...card, adapter: 'a1', port: 'p0' },
        p1: { ...card, adapter: 'a1', port: 'p1s0' },
        pf: { ...card, adapter: 'a1', port: 'pf0' },
      },
      'p0 p1 pf',
      '',
    ],
    [
      'a representor whose adapter does not count',
      {
        r0: part('pf0vf0'),
        eth9: { ...card, adapter: 'a2', port: 'p0' },
        v: { ...card, master: 'eth9', adapter: 'a1' },
      },
      'r0 eth9',
      leftOut('v'),
    ],
    [
      'more than a line has room for',
      Object.fromEntries([
        ['up', { ...card, adapter: 'a1' }],
        ...Array.from({ length: 11 }, (_, i) => [`r${i}`, part(`pf0vf${i}`)]),
      ]),
      'up',
      leftOut('r0, r1, r2, r3, r4, r5, r6, r7 and 3 more'),
    ],
  ];
  for (const [what, interfaces, names, said] of rows) {
    plant(trees, interfaces);
    t.strictSame(await counted(trees), [names, said], what);
  }
});

t.test('where none has a device, what stands on others of the same namespace is left out', async t => {
  const trees = new ForeignTrees(t);
  plant(trees, { lo: {}, eth0: {}, eth1: {}, tun0: {} });
  t.strictSame(await counted(trees), ['eth0 eth1 tun0', ''], 'a container with interfaces whose others are elsewhere');
  plant(trees, {
    br0: { lower: ['eth0', 'eth1'] },
    eth0: { master: 'br0' },
    eth1: { master: 'br0' },
    'eth0.7': { lower: ['eth0'] },
    a: {},
    b: {},
  });
  t.strictSame(await counted(trees), ['eth0 eth1 a rest=6', leftOut('br0, eth0.7')]);
});

t.test('virtual interfaces do not take the place of a card whose line is not understood', async t => {
  const trees = new ForeignTrees(t);
  plant(trees, { lo: {}, docker0: {}, veth1: {}, eth0: card });
  const text = (rx: string) => `${HEAD}${['lo', 'docker0', 'veth1'].map(line).join('')}  eth0: ${rx} 1 0\n`;
  trees.write({ 'proc/net/dev': text('-1') }, { 'proc/net/dev': text('-1') });
  t.strictSame(await counted(trees), [
    '',
    ['before', 'now']
      .map(tree => `ROOT/${tree}/proc/net/dev has a line that is not understood: it is left out`)
      .join('\n'),
  ]);
});

t.test('a name with a colon, which kernels before 4.20 take', async t => {
  const trees = new ForeignTrees(t);
  plant(trees, { lo: {}, eth0: card, 'team0:1': {}, 'eth0:a:b': card });
  t.strictSame(await counted(trees), ['eth0 eth0:a:b', '']);
});

t.test('a speed that drivers write for one that is not known', async t => {
  const trees = new ForeignTrees(t);
  const speeds = ['65535', '4294967295', '-1', '65534'];
  plant(trees, Object.fromEntries(speeds.map((speed, i) => [`eth${i}`, { ...card, speed }])));
  const { report } = await trees.ask();
  const { net, net_rest } = report as unknown as { net: Entry[]; net_rest: Entry };
  t.strictSame(
    [...net, net_rest].map(({ mbps = 0 }) => mbps),
    [0, 0, 0, 65534],
  );
});

t.test('thousands of interfaces', async t => {
  const trees = new ForeignTrees(t);
  const many = (more: Interface) => Object.fromEntries(Array.from({ length: 4500 }, (_, i) => [`veth${i}`, more]));
  plant(trees, { eth0: card, ...many({}) });
  t.strictSame(await counted(trees), ['eth0', ''], 'of which one counts');
  plant(trees, many({}));
  t.strictSame(
    await counted(trees),
    [
      `veth0 veth1 veth2 rest=${(4500 * 4501) / 2 - 6}`,
      'there are more than 1024 network interfaces with a speed: they are left out',
    ],
    'which all count',
  );
});
