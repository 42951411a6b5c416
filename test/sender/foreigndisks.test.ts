// Block devices of other machines: which count is told by /sys/block and not by their names, and by both senders alike.
//
// @seconds 12
// @shared 5
// @whole

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NOT_WHOLE } from '../kit/whole.js';
import { ForeignTrees } from './foreigntrees.js';

/** A block device: of what size, and which links and folders it has. */
interface Device {
  size?: number;
  device?: true;
  slaves?: readonly string[];
  folders?: readonly string[];
}

const line = (name: string, ms: number, inflight = '0') =>
  `   8       0 ${name} 1 0 8 0 1 0 8 0 ${inflight} ${ms} ${ms}\n`;

/** Puts these devices below /sys/block as the kernel does, with partitions in /proc/diskstats. */
function plant(
  trees: ForeignTrees,
  devices: Readonly<Record<string, Device>>,
  partitions: readonly string[] = [],
): void {
  for (const tree of ['before', 'now']) {
    const sys = join(trees.root, tree, 'sys');
    for (const part of ['block', 'devices/pci0', 'devices/virtual'])
      rmSync(join(sys, part), { recursive: true, force: true });
    mkdirSync(join(sys, 'block'));
    for (const [name, { size = 8, device, slaves, folders = [] }] of Object.entries(devices)) {
      const place = name.replaceAll('/', '!');
      const at = join(sys, 'devices', device ? 'pci0' : 'virtual', 'block', place);
      mkdirSync(at, { recursive: true });
      writeFileSync(join(at, 'size'), `${size}\n`);
      for (const folder of folders) mkdirSync(join(at, folder), { recursive: true });
      if (slaves !== undefined) mkdirSync(join(at, 'slaves'), { recursive: true });
      for (const slave of slaves ?? []) symlinkSync(`../../${slave}`, join(at, 'slaves', slave));
      if (device) symlinkSync('../../../0:0:0:0', join(at, 'device'));
      symlinkSync(join('..', 'devices', device ? 'pci0' : 'virtual', 'block', place), join(sys, 'block', place));
    }
  }
  const names = [...Object.keys(devices), ...partitions];
  const text = (ms: number) => names.map((name, i) => line(name, ms * (i + 1))).join('');
  trees.write({ 'proc/diskstats': text(0) }, { 'proc/diskstats': text(10) });
}

/** As the kernel makes them since 2.6.27. */
const real: Device = { device: true, slaves: [] };
const on = (...slaves: string[]): Device => ({ slaves });

t.test('whole disks are those of hardware, whatever their names are', async t => {
  const trees = new ForeignTrees(t);
  const whole = { sda: real, sdbc: real, vda: real, nvme0n1: real, fioa: real, rssda: real, 'cciss/c0d0': real };
  const rows: [string, Record<string, Device>, number][] = [
    ['of any name', whole, 7],
    [
      'arrays with names',
      { sda: real, sdb: real, md_named: { ...on('sda', 'sdb'), folders: ['md'] }, md127: on('sda') },
      2,
    ],
    ['volumes of ZFS and LVM', { sda: real, zd0: on(), zd16: on(), 'dm-0': on('sda') }, 1],
    [
      'pseudo devices of multipathing',
      { sda: real, sdb: real, emcpowera: on(), sddlmaa: on(), vpatha: on(), 'dm-0': on('sda', 'sdb') },
      2,
    ],
    ['on a network', { sda: real, nbd0: on(), 'etherd!e0.0': on(), drbd0: on(), rnbd0: on(), rbd0: real }, 1],
    [
      'on files and in memory',
      {
        sda: real,
        loop0: { slaves: [], folders: ['loop'] },
        ram0: on(),
        zram0: on(),
        nullb0: on(),
        bcache0: on('sda'),
      },
      1,
    ],
    [
      'drives and flash',
      {
        sda: real,
        sr0: real,
        fd0: real,
        mmcblk0: real,
        mmcblk0boot0: real,
        mmcblk0rpmb: real,
        mtdblock0: real,
        ubiblock0_0: real,
      },
      2,
    ],
    ['a device made of others', { sda: real, super0: { device: true, slaves: ['sda'] } }, 1],
    ['no medium', { sda: real, sdb: { ...real, size: 0 } }, 1],
    [
      'paths of NVMe, and what shows them as one',
      { nvme0n1: real, nvme0c0n1: real, nvme0c1n1: real, nvme1n1: real },
      3,
    ],
  ];
  for (const [what, devices, disks] of rows) {
    plant(trees, devices, ['sda1', 'nvme0n1p1', 'md_named1', 'zd0p1', 'emcpowera1']);
    const { report, said } = await trees.ask();
    t.strictSame([report.disks, said], [disks, ''], what);
  }
});

t.test('where sysfs says nothing of a device, its name decides', async t => {
  const trees = new ForeignTrees(t);
  const names = 'sda xvda nvme0n1 pmem0 cciss/c0d0 md_named zd0 emcpowera nbd0 rbd0 sddlmaa'.split(' ');
  plant(trees, Object.fromEntries(names.map(name => [name, {}])));
  t.equal((await trees.ask()).report.disks, 5);
  trees.write({ 'sys/block': null }, { 'sys/block': null });
  const { report, said } = await trees.ask();
  t.equal(report.disks, 5, 'nor is there /sys/block');
  t.match(said, /^cannot read ROOT\/\w+\/sys\/block: whole disks are recognized by their names\n$/);
});

t.test('requests in flight below zero, as unsigned kernels write them, are none', async t => {
  const trees = new ForeignTrees(t);
  plant(trees, { sda: real, sdb: real, sdc: real, sdd: real });
  const rows: [string[], number][] = [
    [['4294967295', '2', '4294967290', '1'], 3],
    [['-1', '2147483648', '0', '7'], 7],
    [['2147483647', '0', '0', '0'], 2147483647],
    [['18446744073709551615', '5', '0', '0'], 5],
  ];
  for (const [inflight, sum] of rows) {
    const text = inflight.map((count, i) => line(`sd${'abcd'[i]}`, 1, count)).join('');
    trees.write({ 'proc/diskstats': text }, { 'proc/diskstats': text });
    const { report, said } = await trees.ask();
    t.strictSame([report.disks, report.disk_inflight ?? 0, said], [4, sum, ''], inflight.join(' '));
  }
});

t.test('tens of thousands of block devices', { skip: NOT_WHOLE }, async t => {
  const trees = new ForeignTrees(t);
  plant(
    trees,
    { sda: real, sdb: real },
    Array.from({ length: 20_000 }, (_, i) => `zd${i}p1`),
  );
  const { report, said } = await trees.ask();
  t.strictSame([report.disks, said], [2, '']);
  t.ok((report.valid as string[]).includes('disk_share'));
});
