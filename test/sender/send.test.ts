// The sender as a process: this machine's own /proc reaches the board, field by field, and the sender copes with absent
// masters.
//
// @seconds 13
// @waits

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bitNames, decodeReport } from '../../src/layout/codec.js';
import { Hearer } from '../kit/hanging.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, memoryFolder } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

t.test('status --json says what /proc says at that moment, field by field', async t => {
  const board = boardPath(t);
  const beoboard = verbChild(t);
  const { port } = await startReceiver(t, board);
  const meminfo = () =>
    new Map([...readFileSync('/proc/meminfo', 'utf8').matchAll(/^(\S+):\s+(\d+)/gm)].map(([, k, v]) => [k, Number(v)]));
  const stat = () => readFileSync('/proc/stat', 'utf8');
  const number = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  /** Cumulative and changing values: the report's must be between those read before and after it. */
  const moving = () => ({
    cpu_user_ms: number(stat(), /^cpu +(\d+)/) * 10,
    cpu_idle_ms: number(stat(), /^cpu +\d+ \d+ \d+ (\d+)/) * 10,
    ctxt: number(stat(), /^ctxt (\d+)/m),
    intr: number(stat(), /^intr (\d+)/m),
    forks: number(stat(), /^processes (\d+)/m),
    majfaults: number(readFileSync('/proc/vmstat', 'utf8'), /^pgmajfault (\d+)/m),
  });
  const before = moving();
  const sent = await run(['send', '--once', '--to', `127.0.0.1:${port}`, '--name', 'self']);
  t.equal(sent.code, 0, sent.stderr);
  const reader = openReader(t, board);
  await until('it is on the board', () => reader.snapshot().count === 1);
  const after = moving();
  const { code, stdout } = await beoboard(['status', '--json', '--board', board]);
  t.equal(code, 0);
  const status = JSON.parse(stdout);
  t.equal(status.schema, 1);
  t.equal(status.board.path, board);
  t.equal(status.board.nodes, 1);
  t.equal(status.board.stalled, false);
  const [node] = status.nodes;
  t.match(node, { name: 'self', state: 'left', reports: 1, lost: 0, address: '127.0.0.1' });
  const { report } = node;
  for (const [field, low] of Object.entries(before)) {
    const high = after[field as keyof typeof after];
    t.ok(report[field] >= low && report[field] <= high, `${field}: ${low} <= ${report[field]} <= ${high}`);
  }
  const memory = meminfo();
  t.equal(report.mem_total_mib, Math.floor((memory.get('MemTotal') ?? 0) / 1024));
  t.equal(report.swap_total_mib, Math.floor((memory.get('SwapTotal') ?? 0) / 1024));
  t.equal(report.mem_commit_limit_mib, Math.floor((memory.get('CommitLimit') ?? 0) / 1024));
  t.equal(report.os_release, readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim());
  t.equal(report.boot_id, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 16));
  t.equal(report.hostname, 'self');
  t.equal(report.cpus_online, stat().match(/^cpu\d+ /gm)?.length);
  const uptime = number(readFileSync('/proc/uptime', 'utf8'), /^(\S+)/);
  t.ok(Math.abs(Number(BigInt(report.t_boot_ns) / 1_000_000n) / 1000 - uptime) < 60, 'the uptime');
  const devices = readFileSync('/proc/net/dev', 'utf8');
  for (const { name, rx_bytes } of report.net) {
    const now = number(devices, new RegExp(`^ *${name}: *(\\d+)`, 'm'));
    t.ok(rx_bytes <= now, `${name}: ${rx_bytes} <= ${now}`);
  }
  t.equal(report.cpu_busy_pm, undefined, 'no share without a tick before');
  const { blocks, bsize } = statfsSync('/', { bigint: true });
  t.equal(report.root_total_mib, Number((blocks * bsize) >> 20n), 'the slow side has had its round');
  t.ok(BigInt(report.slow_boot_ns) >= BigInt(report.start_boot_ns));
  const xml = await beoboard(['xml', '--board', board]);
  t.match(xml.stdout, new RegExp(`<METRIC NAME="mem_total" VAL="${report.mem_total_mib * 1024}"`));
  t.match(xml.stdout, new RegExp(`<METRIC NAME="cpu_num" VAL="${report.cpus_online}"`));
  t.match(xml.stdout, new RegExp(`<METRIC NAME="load_one" VAL="${(report.load1_c / 100).toFixed(2)}"`));
});

t.test('every destination gets the same bytes; numbers and flags; goodbye at SIGTERM', async t => {
  const masters = [await Hearer.open(t), await Hearer.open(t)];
  const to = masters.flatMap(master => ['--to', master.address]);
  const sender = start(t, ['send', '--interval', '100ms', '--name', 'node1', ...to]);
  await sender.ready;
  await Promise.all(masters.map(master => master.more(4)));
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
  for (const master of masters) await until('the goodbye is heard', () => master.last.marks.includes('goodbye'));
  const [one, two] = masters;
  t.same(one?.raw, two?.raw);
  const reports = one?.reports ?? [];
  t.same(
    reports.map(report => report.seq),
    reports.map((_, i) => i),
    'each number once',
  );
  t.same(
    reports.map(({ marks }) => marks.includes('first')),
    reports.map((_, i) => i === 0),
  );
  t.same(
    reports.map(({ marks }) => marks.includes('goodbye')),
    reports.map((_, i) => i === reports.length - 1),
  );
  t.ok(reports.every((report, i) => i === 0 || report.t_boot_ns > (reports[i - 1]?.t_boot_ns ?? 0n)));
  t.ok(reports.every(report => report.start_boot_ns === reports[0]?.start_boot_ns));
  t.equal(reports[0]?.cpu_busy_pm, undefined);
  // The second report may follow the first so soon that no tick of CPU time has passed.
  t.type(reports[2]?.cpu_busy_pm, 'number', 'from then on there are shares');
  t.type(reports[1]?.late_us, 'number');
  t.match(
    sender.output().stderr,
    /^beoboard[ -]send: ready: node1 reports every 100ms to 127.0.0.1:\d+, 127.0.0.1:\d+\n/,
  );
});

t.test(
  'a master that is not there is logged once, counted and retried indefinitely; it takes nothing from the others',
  async t => {
    const there = await Hearer.open(t);
    // A port that was free a moment ago, and on which nobody listens now.
    const gone = await freePort();
    const sender = start(t, [
      'send',
      '--interval',
      '100ms',
      '--to',
      there.address,
      '--to',
      `127.0.0.1:${gone}`,
      '--to',
      'no-such-host.invalid',
    ]);
    await sender.ready;
    await there.more(5);
    const told = () =>
      sender
        .output()
        .stderr.split('\n')
        .filter(line => /nothing listens there/.test(line));
    await until('it is told', () => told().length > 0);
    t.match(
      sender.output().stderr,
      /no-such-host.invalid:8677 (is not known to|cannot be looked up).*reports to it are lost until it answers/,
    );
    const back = await Hearer.open(t, '127.0.0.1', gone);
    const [first] = await back.more(3);
    await until('it has told that it is back', () =>
      /accepts reports again, \d+ were missed/.test(sender.output().stderr),
    );
    t.ok((first?.seq ?? 0) > 0);
    const seqs = back.reports.map(report => report.seq);
    t.same(
      seqs,
      seqs.map((_, i) => (seqs[0] ?? 0) + i),
      'from then on none is missing',
    );
    t.equal(told().length, 1);
  },
);

async function freePort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>(resolve => socket.close(resolve));
  return port;
}

t.test('--once --to -: one datagram on stdout, flagged as the last', async t => {
  const root = memoryFolder(t);
  const proc = join(root, 'proc');
  mkdirSync(proc);
  writeFileSync(join(proc, 'loadavg'), '1.25 2.50 3.75 4/567 8901\n');
  const child = start(t, [
    'send',
    '--once',
    '--to',
    '-',
    '--name',
    'node1',
    '--proc',
    proc,
    '--sys',
    join(root, 'sys'),
  ]);
  const chunks: Buffer[] = [];
  child.child.stdout?.on('data', (data: Buffer) => chunks.push(data));
  t.equal(await child.exit, 0);
  const bytes = Buffer.concat(chunks);
  t.equal(bytes.length, 1216);
  const report = decodeReport(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0);
  t.match(report, { hostname: 'node1', load1_c: 125, load5_c: 250, load15_c: 375, threads: 567 });
  t.equal(report.mem_total_mib, undefined, 'what was not there is not measured');
  t.match(new Set(bitNames('flags', report.flags)), new Set(['first', 'goodbye']));
});
