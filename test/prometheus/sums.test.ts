// Sums whose members leave, return, are replaced or cannot be read, from end to end: both senders, receivers, and two
// exporters, of which one looks after each change and one seldom; and a board that has not heard of the changes. Nothing
// is claimed that did not happen, and no series falls. Energy is not among them: it is exported as power.
//
// @seconds 35
// @waits
// @rest

import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { decode } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { getOrInsert } from '../../src/text/maps.js';
import { endWith } from '../kit/children.js';
import { compileSender } from '../kit/compiling.js';
import { boardPath, memoryFolder } from '../kit/places.js';
import { commandOf, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { type Files, gone, other, type State, sums, unread } from '../sender/sums.js';
import { parse } from './expositionparser.js';

t.setTimeout(600_000);

/**
 * One grows only; others leave and return with their count, from zero, as another; one cannot be read; one counts on;
 * one is replaced at once by one that has counted more.
 */
const STEPS: readonly (readonly State[])[] = [
  [100, 4000, 5000, 6000, 7000, 8000, 9000],
  [101, gone, gone, gone, 7000, gone, 9000],
  [102, 4000, 3, other(9000), unread, 8016, 9000],
  [103, 4002, 7, other(9008), 7032, 8016, other(9900)],
  [104, gone, 7, other(9008), 7032, 8016, other(9900)],
  [105, 4002, 7, other(9016), 7032, 8016, other(9902)],
];
const REPLACED = 3;
const NEW_RUN = 4;
/** After these steps the second exporter looks, and the second board hears of them. */
const SELDOM = [0, 3, 5];

type Told = readonly (number | undefined)[];
/**
 * What senders, and then the first exporter and the second, tell after each step. Of a text of which a line cannot be
 * understood nothing is added up: what came with it is new in the next one.
 */
const DISKS: readonly [Told, Told, Told] = [
  [39_100, 39_101, undefined, 39_135, 34_067, 34_078],
  [39_100, 39_101, undefined, 39_135, 39_135, 39_146],
  [39_100, undefined, undefined, 39_135, undefined, 39_135],
];
/** With another number of interfaces it is another series, and begins where the last one was. */
const NETWORK: typeof DISKS = [
  DISKS[0],
  [39_103, 39_103, undefined, 39_103, 39_103, 39_103],
  [39_103, undefined, undefined, 39_138, undefined, 39_138],
];
/** A port that cannot be read is asked again after a minute: here all of them can. */
const FABRIC: typeof DISKS = [
  [39_100, 39_101, 39_102, 39_149, 34_067, 34_078],
  [39_100, 39_101, 39_102, 39_149, 39_149, 39_160],
  [39_100, undefined, undefined, 39_149, undefined, 39_149],
];
/** A tally knows what a member counted while it was away, and goes on in the next run. */
const TALLY: typeof DISKS = [
  [39_100, 39_101, undefined, 39_165, 34_067, 34_078],
  [39_100, 39_101, undefined, 39_165, 39_165, 39_176],
  [39_100, undefined, undefined, 39_165, undefined, 39_165],
];

const WATCHED = [
  { sum: 'disks', metric: 'disk_reads_total', told: DISKS },
  { sum: 'throttle', metric: 'throttle_events_total', told: TALLY },
  { sum: 'edac', metric: 'memory_errors_corrected_total', told: TALLY },
  { sum: 'fabric', metric: 'fabric_receive_bytes_total', told: FABRIC, unit: 4 },
  { sum: 'interfaces beyond three', metric: 'network_receive_packets_total', told: NETWORK },
].map(({ unit = 1, ...one }) => ({ ...one, unit, of: sums[one.sum] as (typeof sums)[string] }));

/** The files of all sums after a step. Those of /proc, which senders keep open, are of one length. */
function filesOf(members: readonly State[]): Files {
  const files: Record<string, string> = { 'proc/sys/kernel/random/boot_id': '12345678-1234-4234-8234-123456789abc\n' };
  const readable = members.map(one => (one === unread ? 7000 : one));
  for (const { sum, of } of WATCHED) Object.assign(files, of.files(sum === 'fabric' ? readable : members));
  // A disk that has left has no line, where it would have one without a medium.
  files['proc/diskstats'] = files['proc/diskstats']?.replace(/^.* 50( 0)+\n/gm, '') ?? '';
  for (const path of ['proc/diskstats', 'proc/net/dev'])
    files[path] = files[path]?.replace(/ (?=\S*\n$)/, space => space.padEnd(2048 - (files[path]?.length ?? 0))) ?? '';
  return files;
}

const foldersOf = (files: Files) => {
  const all = new Set<string>();
  for (const path of Object.keys(files)) for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) all.add(dir);
  return all;
};

/** Of files that change at once the kernel shows those of /sys first; of several members the first is read first. */
const turnOf = (path: string) => (/mc0|cpu0|mlx5_0/.test(path) ? 1 : path.startsWith('proc/') ? 2 : 0);

/** Lays the files of a step as the kernel would: what leaves is gone at once, and what comes is whole. */
function lay(tree: string, before: Files, now: Files): void {
  const [had, has] = [foldersOf(before), foldersOf(now)];
  for (const dir of had) {
    if (has.has(dir) || !has.has(dirname(dir))) continue;
    renameSync(join(tree, dir), join(tree, 'left'));
    rmSync(join(tree, 'left'), { recursive: true });
  }
  const changed = Object.entries(now).filter(([path, text]) => before[path] !== text);
  for (const [path, text] of changed.sort(([a], [b]) => turnOf(a) - turnOf(b))) {
    const to = join(tree, path);
    mkdirSync(dirname(to), { recursive: true });
    const isOpen = path.startsWith('proc/') && path in before;
    writeFileSync(isOpen ? to : join(tree, 'new'), text, { flag: isOpen ? 'r+' : 'w' });
    if (!isOpen) renameSync(join(tree, 'new'), to);
  }
}

/** What the report at that place says of each sum. */
function toldBy(view: DataView, at: number): Told {
  const report = decode('report', view, at) as Readonly<Record<string, unknown>>;
  return WATCHED.map(({ of }) =>
    ((report.valid as bigint) >> BigInt(bits.valid[of.set])) & 1n ? Number(of.told(report)) : undefined,
  );
}

t.test('what is told of sums whose members change', async t => {
  const tree = memoryFolder(t);
  const boards = [boardPath(t), boardPath(t)] as const;
  const ports: number[] = [];
  for (const board of boards) ports.push((await startReceiver(t, board)).port);
  const readers = boards.map(board => new BoardReader(board));
  t.teardown(() => {
    for (const reader of readers) reader.close();
  });
  const exporter = async (of: readonly string[]) => {
    const argv = of.flatMap((board, i) => ['--board', `${i}=${board}`]);
    const { listening } = await start(t, ['prometheus', ...argv, '--listen', '127.0.0.1:0']).ready;
    return listening?.[0] ?? '';
  };
  const [often, seldom] = [await exporter([boards[0]]), await exporter(boards)];
  /** Of each board and node, what is exported of each sum. */
  const scrape = async (address: string): Promise<Record<string, Told>> => {
    const document = parse(Buffer.from(await (await fetch(`http://${address}/metrics`)).arrayBuffer()), 'text');
    const all = new Map<string, (number | undefined)[]>();
    WATCHED.forEach(({ metric, unit }, i) => {
      for (const { labels, value } of document.get(`beoboard_node_${metric}`)?.series ?? [])
        getOrInsert(all, `${labels.cluster} ${labels.node}`, () => WATCHED.map(() => undefined as number | undefined))[
          i
        ] = value / unit;
    });
    return Object.fromEntries(all);
  };

  const names = ['ts', 'c'] as const;
  const c = compileSender(t);
  /** The last report of each node that was passed on. */
  const heard = new Map<string, Told>();
  let step = 0;
  let passes = true;
  const wrong: string[] = [];
  const addresses = new Map<string, string>();
  for (const name of names) {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    t.teardown(() => socket.close());
    await once(socket, 'listening');
    addresses.set(name, `127.0.0.1:${socket.address().port}`);
    socket.on('message', datagram => {
      const told = toldBy(new DataView(datagram.buffer, datagram.byteOffset, datagram.length), 0);
      told.forEach((sum, i) => {
        const [of] = WATCHED[i]?.told ?? [];
        const [before, after] = [of?.slice(0, step).findLast(one => one !== undefined), of?.[step] ?? of?.[step + 1]];
        const isNew = step === NEW_RUN && sum === after;
        if (sum !== undefined && !isNew && (sum < (before ?? 0) || sum > (after ?? 0)))
          wrong.push(`${name}: ${WATCHED[i]?.sum} is ${sum} in step ${step}`);
      });
      heard.set(name, told);
      socket.send(datagram, ports[0] as number, '127.0.0.1');
      if (passes) socket.send(datagram, ports[1] as number, '127.0.0.1');
    });
  }
  const open = (name: string): ChildProcess => {
    const roots = ['--proc', join(tree, 'proc'), '--sys', join(tree, 'sys')];
    const argv = ['send', '--to', addresses.get(name) ?? '', '--name', name, ...roots];
    const [program, ...args] = commandOf(argv, [], name === 'c' ? c : '');
    const child = spawn(program, args, { stdio: 'ignore' });
    endWith(t, child);
    return child;
  };
  let senders: ChildProcess[] = [];

  let files: Files = {};
  for (const [i, members] of STEPS.entries()) {
    if (i === NEW_RUN) {
      for (const sender of senders) sender.kill('SIGTERM');
      await Promise.all(senders.map(sender => once(sender, 'exit')));
      heard.clear();
    }
    step = i;
    passes = false;
    const next = filesOf(members);
    // Those of /proc and of /sys change at once.
    if (i === REPLACED) for (const sender of senders) sender.kill('SIGSTOP');
    lay(tree, files, next);
    if (i === REPLACED) for (const sender of senders) sender.kill('SIGCONT');
    files = next;
    if (i === 0 || i === NEW_RUN) senders = names.map(open);
    const expected = JSON.stringify(WATCHED.map(({ told: [sums] }) => sums[i]));
    // Some are read every ten seconds, and again after as many if a change came in between.
    for (const name of names)
      await until(`step ${i} is told by ${name}`, () => JSON.stringify(heard.get(name)) === expected, 100, {
        withinMs: 35_000,
      });
    passes = SELDOM.includes(i);
    const has = (snapshot: Snapshot, name: string) => {
      const at = snapshot.names().indexOf(name);
      const report = at < 0 ? undefined : snapshot.node(at).reportAt;
      return report !== undefined && JSON.stringify(toldBy(snapshot.view, report)) === expected;
    };
    const on = (reader: BoardReader) => names.every(name => has(reader.snapshot(), name));
    for (const reader of passes ? readers : readers.slice(0, 1))
      await until(`step ${i} is on a board`, () => on(reader));
    const [first, second] = [1, 2].map(who => WATCHED.map(({ told }) => told[who]?.[i]));
    t.strictSame(await scrape(often), { '0 ts': first, '0 c': first }, `step ${i}`);
    if (passes)
      t.strictSame(
        await scrape(seldom),
        { '0 ts': second, '0 c': second, '1 ts': second, '1 c': second },
        `step ${i}, of one that looks seldom, and of a board that did not hear of the steps before`,
      );
  }
  t.strictSame(wrong, [], 'nothing else was told on the way');
});
