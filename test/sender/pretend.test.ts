// --pretend: two runs on the same trees give the same bytes, whatever the machine and the moment; every key is used.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { bitNames, decodeReport } from '../../src/layout/codec.js';
import { readPretence } from '../../src/sender/pretend.js';
import { InputError } from '../../src/text/text.js';
import { folder, memoryFolder, ROOT } from '../kit/places.js';
import { start } from '../kit/program.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

const KEYS = `t_real_ns = 1700000000123456789
t_boot_ns = 5000000000000
before_boot_ns = 4998000000000
start_boot_ns = 7
seq = 41
late_us = 12
collect_us = 345
agent_cpu_ms = 678
missed_ticks = 9
version = "1.2.3"
machine = "aarch64"
page_kib = 64
[adjtimex]
offset_us = -5
maxerror_us = 600
unsynchronised = true
`;

function tree(root: string, busy: number): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(
    'proc/stat',
    `cpu  ${busy} 0 0 1000 0 0 0 0 0 0\nintr 1\nctxt 2\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n`,
  );
  write('proc/diskstats', ` 8 0 sda 1 0 8 0 1 0 8 0 0 ${busy * 10} 0\n`);
  write('proc/sys/kernel/osrelease', '6.1.0-test\n');
  write('proc/sys/kernel/random/boot_id', '01234567-89ab-cdef-0123-456789abcdef\n');
  write('sys/block/sda/size', '100\n');
}

t.test('every key is used, and two runs give the same bytes', async t => {
  const root = memoryFolder(t);
  tree(join(root, 'a'), 100);
  tree(join(root, 'b'), 200);
  writeFileSync(join(root, 'p.toml'), KEYS);
  const trees = ['a', 'b'].flatMap(name => ['--proc', join(root, name, 'proc'), '--sys', join(root, name, 'sys')]);
  const once = async () => {
    const sender = start(t, [
      'send',
      '--once',
      '--to',
      '-',
      '--name',
      'node1',
      '--pretend',
      join(root, 'p.toml'),
      ...trees,
    ]);
    const chunks: Buffer[] = [];
    sender.child.stdout?.on('data', (data: Buffer) => chunks.push(data));
    t.equal(await sender.exit, 0, sender.output().stderr);
    return Buffer.concat(chunks);
  };
  const [first, second] = [await once(), await once()];
  t.equal(first.length, 1216);
  t.same(first, second);
  const report = decodeReport(new DataView(first.buffer, first.byteOffset, first.length), 0);
  t.match(report, {
    t_real_ns: 1_700_000_000_123_456_789n,
    t_boot_ns: 5_000_000_000_000n,
    start_boot_ns: 7n,
    seq: 41,
    late_us: 12,
    collect_us: 345,
    agent_cpu_ms: 678,
    missed_ticks: 9,
    agent_version: 0x10203,
    arch: 2,
    page_kib: 64,
    clock_offset_us: -5,
    clock_maxerr_us: 600,
    boot_id: 0x0123456789abcdefn,
    cpu_busy_pm: 1000,
    disk_busiest_pm: 500,
  });
  t.same(bitNames('flags', report.flags), ['goodbye', 'clock_unsync']);
});

t.test('the slow sets, too', async t => {
  const root = memoryFolder(t);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o644 });
    chmodSync(join(root, path), 0o644);
  };
  const zone = (tree: string, uj: number) => {
    write(`${tree}/sys/class/powercap/intel-rapl:0/name`, 'package-0\n');
    write(`${tree}/sys/class/powercap/intel-rapl:0/max_energy_range_uj`, '100000000\n');
    write(`${tree}/sys/class/powercap/intel-rapl:0/energy_uj`, `${uj}\n`);
  };
  zone('a', 99_000_000);
  zone('b', 4_000_000);
  const mounts = '1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /data rw - xfs /dev/sda2 rw\n';
  write('b/proc/self/mountinfo', mounts);
  write('b/proc/1/cgroup', '0::/kubepods/pod1\n');
  write('b/proc/sys/kernel/osrelease', '6.1.0-test\n');
  write('etc/os-release', 'ID=debian\n');
  write('run/health', 'bad check\n');
  write('run/power', '333\n');
  write(
    'p.toml',
    `t_real_ns = 1
t_boot_ns = 2
start_boot_ns = 1
slow_boot_ns = 77
run = "run"
etc = "etc"
[age_s]
health = 12
power = -1
[statvfs."/"]
frsize = 4096
blocks = 25600
bavail = 2560
files = 1000
ffree = 500
[statvfs."/data/tmp"]
frsize = 1024
blocks = 2048
bavail = 1024
files = 0
ffree = 0
[links]
"/scratch" = "/data/tmp"
`,
  );
  const trees = ['a', 'b'].flatMap(name => ['--proc', join(root, name, 'proc'), '--sys', join(root, name, 'sys')]);
  const args = ['--pretend', join(root, 'p.toml'), '--scratch', '/scratch', ...trees];
  const sender = start(t, ['send', '--once', '--to', '-', '--name', 'node1', ...args]);
  const chunks: Buffer[] = [];
  sender.child.stdout?.on('data', (data: Buffer) => chunks.push(data));
  t.equal(await sender.exit, 0, sender.output().stderr);
  const bytes = Buffer.concat(chunks);
  const report = decodeReport(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0);
  t.match(report, {
    slow_boot_ns: 77n,
    energy_cpu_mj: 104_000, // 99 J, then 1 J to the end of the counter's range, then 4 J
    health_age_s: 12,
    power_node_w: 333,
    root_total_mib: 100,
    root_avail_mib: 10,
    root_inodes_free_pm: 500,
    scratch_total_mib: 2,
    scratch_avail_mib: 1,
    scratch_inodes_free_pm: 1000,
    virt: 2,
  });
  t.ok(bitNames('valid', report.valid).includes('sw_hash'));
  t.notOk(
    bitNames('valid', report.valid).includes('hw_hash'),
    'no tree tells of hardware, and this machine is not asked',
  );
  t.same(bitNames('flags', report.flags), ['first', 'goodbye', 'container']);
});

/** Wrong files, and what is said about each: blocks of TOML and a sentence. */
const GOLDEN = readFileSync(join(ROOT, 'test', 'golden', 'pretend.txt'), 'utf8');
/** Stands in front of each block that does not begin with one of these keys itself. */
const REQUIRED = 't_real_ns = 1\nt_boot_ns = 2\nstart_boot_ns = 3\n';

t.test('wrong files are refused, and the key is named', async t => {
  const file = join(folder(t), 'p.toml');
  for (const block of GOLDEN.trimEnd().split('\n\n')) {
    const [, toml = '', why = ''] = /^(.*)\n {2}(.*)$/s.exec(block) ?? [];
    writeFileSync(file, /^\[?(t_real_ns|t_boot_ns|start_boot_ns)/.test(toml) ? toml : `${REQUIRED}${toml}`);
    t.throws(() => readPretence(file), new InputError(`${file}: ${why}; see docs/senders.md`), toml);
  }
});

t.test('a pretended run makes one report', async t => {
  const file = join(folder(t), 'p.toml');
  writeFileSync(file, KEYS);
  const { code, stderr } = await run(['send', '--to', '-', '--pretend', file]);
  t.equal(code, 2);
  t.match(stderr, /add --once/);
});
