// The board as a file: its states of opening, taking it over, and the remains of a receiver that was killed in the
// middle of its work. The broken states are made by hand, byte by byte.
// @whole
// @shared 8

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { mapBoard, texts, type Writer } from '../../src/native/index.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { type BoardOptions, openWriter } from '../../src/shm/writer.js';
import { now } from '../kit/clocks.js';
import { testProgram } from '../kit/compiling.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { NOT_WHOLE } from '../kit/whole.js';
import { makeOlder } from '../kit/writtenboard.js';

const S = 1_000_000_000n;

const LIKE = { cluster: '', capacity: 8, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] };

function open(path: string, more: Partial<BoardOptions> = {}): Writer {
  return openWriter({ path, ...LIKE, ...more });
}

/** Puts report number `seq` of a node on the board, and writes a heartbeat. */
function lay(writer: Writer, hostname: string, seq: number): void {
  const { mono, real } = now();
  const t_boot_ns = 100n * S + BigInt(seq) * S;
  if (deliver(writer, makeReport({ hostname, seq, t_boot_ns }), mono, real) !== 'accepted')
    throw new Error('not accepted');
  writer.heartbeat(mono);
}

function look<T>(path: string, at: (snapshot: Snapshot) => T): T {
  const reader = new BoardReader(path);
  try {
    return at(reader.snapshot());
  } finally {
    reader.close();
  }
}

/** The state that a reader finds. */
function stateFor(reader: BoardReader): string {
  try {
    return reader.snapshot() && 'ready';
  } catch (error) {
    return error instanceof NoBoard ? error.state : String(error);
  } finally {
    reader.close();
  }
}

const seqs = (path: string) =>
  look(path, snapshot => Object.fromEntries([...snapshot.nodes()].map(node => [node.name, node.report?.seq])));

/** Where a record and one of its slots are in the file. */
function place(path: string, index: number, slot: number) {
  const { header } = look(path, snapshot => snapshot);
  const record = Number(header.records_offset) + index * header.record_stride;
  return { record, slot: record + header.slots_offset + slot * header.slot_stride, header };
}

function poke(path: string, offset: number, value: bigint): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, 8, offset);
  closeSync(fd);
}

const peek = (path: string, offset: number) => readFileSync(path).readBigUInt64LE(offset);

t.test('a name so long that its lock would have the name of another file', async t => {
  const place = folder(t);
  for (const length of [251, 255]) {
    const path = join(place, 'b'.repeat(length));
    const others = `${path}.lock`.slice(0, place.length + 1 + 255);
    writeFileSync(others, 'precious');
    t.throws(() => open(path), /the board's name is too long; choose a --board of at most 250 characters/);
    t.equal(readFileSync(others, 'utf8'), 'precious');
  }
  open(join(place, 'c'.repeat(250))).close();
});

t.test('states of opening: none is trusted, none is an error', async t => {
  const fresh = (t: { teardown(end: () => void): void }) => {
    const path = boardPath(t);
    const writer = open(path);
    lay(writer, 'node1', 0);
    writer.close();
    return path;
  };
  const field = structs.board_header.fields;
  const rows: [string, string, (path: string) => void, RegExp][] = [
    ['absent', 'no file', path => execFileSync('rm', [path]), /no board/],
    ['starting', 'empty', path => truncateSync(path, 0), /shorter than a header/],
    ['starting', 'shorter than a header', path => truncateSync(path, 100), /shorter than a header/],
    ['starting', 'version not stored yet', path => poke(path, field.version.offset, 0n), /not finished/],
    ['foreign', 'another magic', path => poke(path, field.magic.offset, 1n), /is not a board/],
    ['foreign', 'the major version before', path => poke(path, 8, 0x10000n), /major version/],
    ['foreign', 'another major version', path => poke(path, 8, 0x30000n), /major version/],
    ['foreign', 'another datagram', path => poke(path, field.stat_hash.offset, 1n), /another layout/],
    ['truncated', 'shorter than it says', path => truncateSync(path, 4096), /shorter than its header/],
    [
      'truncated',
      'index leads out',
      path => poke(path, field.index_offset.offset, 1n << 40n),
      /leads? out of the file/,
    ],
    [
      'truncated',
      'column leads out',
      path => poke(path, field.column_offset.offset, (1n << 64n) - 8n),
      /leads? out of the file/,
    ],
    [
      'truncated',
      'records lead out',
      path => poke(path, field.records_offset.offset, 1n << 63n),
      /leads? out of the file/,
    ],
    ['truncated', 'absurd capacity', path => poke(path, field.capacity.offset, 0xffffffffn), /capacity/],
    ['truncated', 'no stride', path => poke(path, field.record_stride.offset, 0n), /stride|slots_offset/],
    ['retired', 'retired', path => poke(path, field.state.offset, 2n), /retired/],
    ['foreign', 'a directory', path => execFileSync('sh', ['-c', `rm ${path}; mkdir ${path}`]), /regular file/],
    ['foreign', 'a FIFO', path => execFileSync('sh', ['-c', `rm ${path}; mkfifo ${path}`]), /regular file/],
    ['foreign', 'a link', path => execFileSync('sh', ['-c', `mv ${path} ${path}2; ln -s ${path}2 ${path}`]), /link/],
  ];
  for (const [state, what, spoil, why] of rows) {
    t.test(`${state}: ${what}`, async t => {
      const path = fresh(t);
      spoil(path);
      const opened = mapBoard(path, undefined);
      t.equal(opened.state, state);
      if (opened.state !== 'ready') t.match(opened.why, why);
      t.equal(stateFor(new BoardReader(path)), state, 'and no reader gives a snapshot');
    });
  }
});

t.test('a board is made with the right of everybody to read it, and of nobody else to write it', async t => {
  const path = join(folder(t), 'deeper', 'board');
  const umask = process.umask(0o077);
  const writer = open(path);
  process.umask(umask);
  t.equal(statSync(path).mode & 0o777, 0o644);
  t.equal(statSync(dirname(path)).mode & 0o777, 0o755);
  t.equal(statSync(`${path}.lock`).mode & 0o777, 0o600);
  t.equal(existsSync(`${path}.new`), false);
  writer.close();
});

t.test('a second writer is refused, and told who is there', async t => {
  const path = boardPath(t);
  const writer = open(path);
  t.throws(() => open(path), {
    message: new RegExp(`another receiver \\(pid ${process.pid}\\) writes .*; stop it or choose`),
  });
  writer.close();
  open(path).close();
});

t.test('files that other users planted are not written to', async t => {
  const rows: [string, (path: string) => void, RegExp][] = [
    ['a link', path => symlinkSync('/etc/passwd', path), /is a link/],
    ['a link that leads nowhere', path => symlinkSync('/nowhere', path), /is a link/],
    ['a hard link', path => linkSync(join(dirname(path), 'mine'), path), /hard links/],
    ['a directory', path => mkdirSync(path), /directory|not a board/],
    ['a FIFO', path => execFileSync('mkfifo', [path]), /is not a board/],
    ['a file of mine that is not a board', path => writeFileSync(path, 'my thesis'), /is not a board/],
    ['a link for the lock', path => symlinkSync('/etc/passwd', `${path}.lock`), /cannot lock/],
  ];
  for (const [what, plant, why] of rows)
    t.test(what, async t => {
      const path = boardPath(t);
      writeFileSync(join(dirname(path), 'mine'), 'mine');
      plant(path);
      const before = existsSync(path) && lstatSync(path).isFile() ? readFileSync(path, 'utf8') : '';
      t.throws(() => open(path), { message: why });
      if (before !== '') t.equal(readFileSync(path, 'utf8'), before, 'untouched');
    });
  t.test('a directory that others can write', async t => {
    const path = boardPath(t);
    chmodSync(dirname(path), 0o777);
    t.throws(() => open(path), { message: /can be written by others/ });
    chmodSync(dirname(path), 0o1777);
    open(path).close();
  });
  t.test("another user's board", { skip: process.getuid?.() !== 0 && 'needs root to give a file away' }, async t => {
    const path = boardPath(t);
    open(path).close();
    execFileSync('chown', ['1234', path]);
    t.throws(() => open(path), { message: /belongs to user 1234/ });
    t.match(mapBoard(path, undefined), { state: 'foreign', why: /belongs to user 1234, .*--owner 1234/ });
    t.equal(mapBoard(path, 1234).state, 'ready', 'but believed when it is named');
  });
});

t.test('a new receiver takes over with everything on the board', async t => {
  const path = boardPath(t);
  const first = open(path);
  lay(first, 'node1', 1);
  lay(first, 'node1', 2);
  lay(first, 'node2', 7);
  first.close();
  const reader = openReader(t, path);
  t.equal(reader.snapshot().closed, true);
  const inode = statSync(path).ino;
  const second = open(path);
  t.teardown(() => second.close());
  t.equal(statSync(path).ino, inode, 'the same file');
  t.same(seqs(path), { node1: 2, node2: 7 });
  t.equal(
    look(path, snapshot => snapshot.header.instance),
    2,
  );
  t.equal(reader.snapshot().closed, false, 'who had it mapped sees the new receiver');
  lay(second, 'node1', 5);
  t.equal(reader.snapshot().node(0).report?.seq, 5);
  t.equal(reader.snapshot().node(0).record.unheard, 2, 'what came meanwhile was not heard');
  t.equal(reader.snapshot().node(0).record.lost, 0);
  t.equal(reader.snapshot().node(0).previous?.seq, 2);
});

t.test('what is missing while a link is down was not heard, and on the others it is lost', async t => {
  const path = boardPath(t);
  const writer = open(path);
  t.teardown(() => writer.close());
  writer.resumed(0n);
  const deliver = (hostname: string, seq: number, second: number, link: string) =>
    writer.deliver(makeReport({ hostname, seq, t_boot_ns: BigInt(seq) * S }), BigInt(second) * S, 0n, link);
  const missing = () =>
    look(path, snapshot => [...snapshot.nodes()].map(({ record }) => [record.lost, record.unheard]));
  for (const [name, link] of [
    ['a', 'eth0'],
    ['b', 'eth1'],
    ['moves', 'eth0'],
    ['comes', 'eth1'],
  ] as const) {
    t.equal(deliver(name, 1, 10, link), 0);
  }
  writer.linkState(1, 0, true, 11n * S);
  for (const [name, link] of [
    ['b', 'eth1'],
    ['moves', 'eth1'],
  ] as const)
    t.equal(deliver(name, 4, 13, link), 0);
  writer.linkState(1, 1, true, 14n * S);
  for (const [name, link] of [
    ['a', 'eth0'],
    ['comes', 'eth0'],
  ] as const)
    t.equal(deliver(name, 4, 15, link), 0);
  t.same(
    missing(),
    [
      [0, 2],
      [2, 0],
      [0, 2],
      [2, 0],
    ],
    'by the link of the report before',
  );
  for (const name of ['a', 'b', 'moves', 'comes']) t.equal(deliver(name, 6, 17, name === 'b' ? 'eth1' : 'eth0'), 0);
  t.same(
    missing(),
    [
      [1, 2],
      [3, 0],
      [1, 2],
      [3, 0],
    ],
    'and then counts as lost again',
  );
});

t.test('a receiver killed at any point leaves a board that the next one repairs', async t => {
  const prepared = (t: { teardown(end: () => void): void }) => {
    const path = boardPath(t);
    const writer = open(path);
    lay(writer, 'node1', 1);
    lay(writer, 'node1', 2);
    lay(writer, 'node1', 3);
    writer.close();
    // Three reports: number 1 was overwritten; slot 0 holds the third (sequence 6), slot 1 the second (sequence 4).
    return path;
  };
  const slot = structs.slot.fields;
  const record = structs.record.fields;

  t.test('in the middle of a slot: the newest whole report stays readable before and after', async t => {
    const path = prepared(t);
    const at = place(path, 0, 1);
    poke(path, at.slot + slot.head.offset, 7n);
    poke(path, at.slot + slot.tail.offset, 8n);
    poke(path, at.slot + slot.report.offset + 64, 0xdeadn);
    t.same(seqs(path), { node1: 3 });
    t.equal(
      look(path, snapshot => snapshot.node(0).previous),
      undefined,
      'the half-written one is not shown',
    );
    const writer = open(path);
    t.teardown(() => writer.close());
    t.equal(peek(path, at.slot + slot.head.offset), 7n, 'left as it is: no slot ever becomes empty again');
    t.same(seqs(path), { node1: 3 });
    lay(writer, 'node1', 4);
    t.same(seqs(path), { node1: 4 });
    t.equal(
      look(path, snapshot => snapshot.node(0).previous?.seq),
      3,
    );
  });

  t.test('after the slot, before the order block: the next number follows the report', async t => {
    const path = prepared(t);
    const at = place(path, 0, 0);
    poke(path, at.record + record.history_seq.offset, 2n);
    poke(path, Number(at.header.column_offset), 0n);
    const writer = open(path);
    t.teardown(() => writer.close());
    t.equal(peek(path, at.record + record.history_seq.offset), 3n);
    const { mono, real } = now();
    t.equal(deliver(writer, makeReport({ seq: 3, t_boot_ns: 103n * S }), mono, real), 'duplicate');
    lay(writer, 'node1', 4);
    t.equal(
      look(path, snapshot => snapshot.node(0).record.lost),
      0,
    );
  });

  t.test('in the middle of the order block', async t => {
    const path = prepared(t);
    const at = place(path, 0, 0);
    poke(path, at.record + record.order_head.offset, 7n);
    poke(path, at.record + record.order_tail.offset, 8n);
    poke(path, at.record + record.known.offset, 0xbadn);
    const writer = open(path);
    t.teardown(() => writer.close());
    const head = peek(path, at.record + record.order_head.offset);
    t.equal(head % 2n, 0n);
    t.equal(head, peek(path, at.record + record.order_tail.offset));
    lay(writer, 'node1', 4);
    const { record: after } = look(path, snapshot => snapshot.node(0));
    t.same([after.reboots, after.lost, after.known[0]?.boot_id], [0, 0, 1n]);
  });

  t.test('after the slot, before the column: its word is rebuilt from the report', async t => {
    const path = prepared(t);
    const at = place(path, 0, 0);
    const word = peek(path, Number(at.header.column_offset));
    poke(path, Number(at.header.column_offset), 5n);
    open(path).close();
    t.equal(peek(path, Number(at.header.column_offset)), word);
    t.equal((word >> 1n) & 0xfffffn, 1000n, 'the interval in ms');
  });

  for (const [counter, history] of [
    ['lost', 0b1011n],
    ['unheard', 0b1111n],
  ] as const)
    t.test(`what is not yet counted as ${counter} is not taken back below zero`, async t => {
      const path = prepared(t);
      const at = place(path, 0, 0);
      poke(path, at.record + record.history.offset, history);
      poke(path, at.record + record.history_lost.offset, 0b0100n);
      const writer = open(path);
      t.teardown(() => writer.close());
      const { mono, real } = now();
      t.equal(deliver(writer, makeReport({ seq: 1, t_boot_ns: 101n * S }), mono, real), 'late');
      t.equal(
        look(path, snapshot => snapshot.node(0).record[counter]),
        0,
      );
    });

  t.test('in the middle of an insertion: entry without count', async t => {
    const path = prepared(t);
    poke(path, structs.board_header.fields.count.offset, 0n);
    const writer = open(path);
    t.teardown(() => writer.close());
    t.same(seqs(path), { node1: 3 });
    lay(writer, 'node2', 0);
    t.same(seqs(path), { node1: 3, node2: 0 });
  });
});

t.test('what cannot be taken over is replaced, and the old one retired', async t => {
  const field = structs.board_header.fields;
  const rows: [string, (path: string) => void][] = [
    ['of another boot of the master', path => poke(path, field.master_boot_id.offset, 7n)],
    ['of another layout', path => poke(path, field.board_hash.offset, 7n)],
    ['of another datagram', path => poke(path, field.stat_hash.offset, 7n)],
    ['with an index that lies', path => poke(path, Number(place(path, 0, 0).header.index_offset), 0x7fffffffn)],
  ];
  for (const [what, spoil] of rows)
    t.test(what, async t => {
      const path = boardPath(t);
      const first = open(path);
      lay(first, 'node1', 1);
      first.close();
      const mapped = openReader(t, path);
      t.equal(mapped.snapshot().count, 1);
      spoil(path);
      const inode = statSync(path).ino;
      const second = open(path);
      t.teardown(() => second.close());
      t.not(statSync(path).ino, inode);
      t.same(seqs(path), {});
      lay(second, 'node2', 1);
      t.equal(mapped.snapshot().node(0).name, 'node2', 'a reader that had the old one mapped follows by itself');
    });
  t.test('of another cluster: refused, it may be a mistake', async t => {
    const path = boardPath(t);
    open(path, { cluster: 'alpha' }).close();
    t.throws(() => open(path, { cluster: 'beta' }), { message: /cluster "alpha"; give --cluster/ });
  });
});

/** Delivers the report of that number and time, which is another machine's if it has other times. */
function layOf(writer: Writer, seq: number, other = 0n): string {
  const { mono, real } = now();
  const t_boot_ns = 100n * S + BigInt(seq) * S - other;
  return deliver(writer, makeReport({ seq, t_boot_ns, t_real_ns: real - other }), mono, real);
}

/** Lays reports of two machines in turns, until that is known. */
function layTwo(writer: Writer, first = 1): void {
  for (let seq = first; seq < first + 7; seq++) {
    layOf(writer, seq);
    layOf(writer, seq, 5n);
  }
  writer.heartbeat(now().mono);
}

const isCloned = (path: string) => look(path, snapshot => snapshot.node(0).clone !== undefined);

t.test('a board of an older layout, or with less memory, is copied into one that remembers', async t => {
  const { board_hash } = structs.board_header.fields;
  const path = boardPath(t);
  open(path).close();
  const ours = peek(path, board_hash.offset);
  // Of 0.1.0, without mirrors; without accepted keys and a failed reload; without links in pieces; without a memory;
  // without one of trouble; with one that is shorter.
  const older = [
    [0x41b546ae8c5eb7d1n, 0],
    [0xba826339fdaf92dan, 0],
    [0x04ee0e215f6c265dn, 0],
    [0xc2633808c94fe37fn, 0],
    [0x6a1ff5d3f02fcb17n, 192],
    [ours, 64],
  ] as const;
  for (const [hash, memory] of older) {
    const path = boardPath(t);
    const first = open(path);
    layTwo(first);
    lay(first, 'node2', 1);
    first.close();
    makeOlder(path, hash, memory);
    const { header } = place(path, 0, 0);
    const reader = openReader(t, path);
    t.same(
      [...reader.snapshot().nodes()].map(({ name, report, clone }) => [name, report?.seq, clone !== undefined]),
      [
        ['node1', 7, memory > 0],
        ['node2', 1, false],
      ],
      'it is read',
    );
    const inode = statSync(path).ino;
    const second = open(path);
    lay(second, 'node3', 1);
    t.not(statSync(path).ino, inode);
    t.same(seqs(path), { node1: 7, node2: 1, node3: 1 });
    t.equal(peek(path, board_hash.offset), ours);
    t.equal(reader.snapshot().header.version, 0x20001, 'a mapped reader follows');
    t.equal(layOf(second, 7, 5n), memory < 192 ? 'duplicate' : 'late', 'what is not remembered, and what is');
    t.equal(layOf(second, 8), 'accepted');
    t.equal(layOf(second, 8, 5n), 'late');
    second.close();
    t.equal(isCloned(path), memory > 0);
    const { record, header: made } = place(path, 0, 0);
    const since = peek(path, record + made.memory_offset + structs.memory.fields.remembers_since_ns.offset);
    t.ok(since >= header.started_ns, 'trouble since then');
  }
});

t.test('what is remembered outlives its receiver, another lock and another capacity', async t => {
  const path = boardPath(t);
  const first = open(path);
  layTwo(first);
  t.ok(isCloned(path));
  first.close();
  const inode = statSync(path).ino;
  open(path).close();
  t.ok(isCloned(path));
  t.equal(statSync(path).ino, inode, 'in place');
  rmSync(`${path}.lock`);
  open(path).close();
  t.ok(isCloned(path));
  t.not(statSync(path).ino, inode, 'a copy');
  const last = open(path, { capacity: 100 });
  t.ok(isCloned(path));
  t.equal(layOf(last, 6, 5n), 'late', 'the digests, too');
  last.close();
  // As if it had been killed while it wrote that.
  const { record, header } = place(path, 0, 0);
  const clone = record + header.memory_offset;
  poke(path, clone, peek(path, clone) - 1n);
  t.notOk(isCloned(path));
  const again = open(path, { capacity: 100 });
  t.notOk(isCloned(path), 'nothing of it can be trusted');
  t.equal(peek(path, clone) % 2n, 0n);
  t.equal(peek(path, clone), peek(path, clone + structs.memory.fields.clone_tail.offset));
  layTwo(again, 8);
  t.ok(isCloned(path), 'and it is found out again');
  t.equal(layOf(again, 80), 'accepted');
  t.equal(layOf(again, 6, 5n), 'replay', 'as far back as there is a history');
  again.close();
});

t.test('another capacity or node list: a new board with the records that stay', async t => {
  const path = boardPath(t);
  const first = open(path);
  for (const name of ['node1', 'node2', 'node3']) lay(first, name, 5);
  first.close();
  const reader = openReader(t, path);
  reader.snapshot();

  t.throws(() => open(path, { capacity: 2 }), { message: /3 nodes do not fit; give --capacity 3/ });
  t.same(seqs(path), { node1: 5, node2: 5, node3: 5 }, 'and nothing is lost by that');
  open(path, { capacity: 100 }).close();
  t.same(seqs(path), { node1: 5, node2: 5, node3: 5 });
  t.equal(reader.snapshot().header.capacity, 100, 'a mapped reader follows');

  const listed = open(path, { capacity: 100, nodes: ['node2', 'node4'] });
  t.same(seqs(path), { node2: 5, node4: undefined });
  t.same(
    look(path, snapshot => [...snapshot.nodes()].map(node => node.record.flags)),
    [1n, 1n],
  );
  const { mono, real } = now();
  t.equal(deliver(listed, makeReport({ hostname: 'node1' }), mono, real), 'stranger');
  listed.close();
  open(path, { capacity: 100 }).close();
  t.same(seqs(path), { node2: 5 }, 'without a list, who never reported goes');
});

t.test('a full board refuses new names and serves the old ones', async t => {
  const path = boardPath(t);
  const writer = open(path, { capacity: 2 });
  t.teardown(() => writer.close());
  lay(writer, 'node1', 0);
  lay(writer, 'node2', 0);
  const { mono, real } = now();
  t.equal(deliver(writer, makeReport({ hostname: 'node3' }), mono, real), 'full');
  lay(writer, 'node1', 1);
  t.same(seqs(path), { node1: 1, node2: 0 });
  t.same(
    look(path, snapshot => snapshot.refused),
    { full: 1 },
  );
});

t.test('the name index finds each of many names, and no other', async t => {
  const path = boardPath(t);
  const capacity = 2000;
  const writer = open(path, { capacity });
  t.teardown(() => writer.close());
  for (let i = 0; i < capacity; i++) lay(writer, `n${i}`, 0);
  for (let i = 0; i < capacity; i++) lay(writer, `n${i}`, 1);
  const found = seqs(path);
  t.equal(Object.keys(found).length, capacity);
  t.ok(Object.values(found).every(seq => seq === 1));
});

t.test('one node alone', async t => {
  const path = boardPath(t);
  const writer = open(path, { capacity: 100 });
  for (let i = 0; i < 60; i++) lay(writer, `n${i}`, i + 1);
  const reader = new BoardReader(path);
  const all = [...reader.snapshot().nodes()].map(({ name, report, state }) => [name, report?.seq, state]);
  for (const [name, seq, state] of all) {
    const one = reader.snapshotOf(String(name));
    if (one.count !== 1) t.fail(`${name}: ${one.count} nodes`);
    const node = one.node(0);
    t.strictSame([node.name, node.report?.seq, node.state], [name, seq, state]);
  }
  for (const name of ['n60', 'n', 'n1x', '', 'N1']) t.equal(reader.snapshotOf(name).count, 0, JSON.stringify(name));
  const several = reader.nodesNamed(['n7', 'n60', 'n3']);
  t.same(
    [...several].map(([name, node]) => [name, node.name, node.report?.seq]),
    [
      ['n7', 'n7', 8],
      ['n3', 'n3', 4],
    ],
    'each stays readable beside the others',
  );
  t.equal(reader.snapshotOf('n').header.capacity, 100, 'what is told of the board is there all the same');
  writer.forget(['n0']);
  t.equal(reader.snapshotOf('n0').count, 0, 'it follows to another board');
  t.equal(reader.snapshotOf('n59').node(0).report?.seq, 60);
  t.equal(reader.snapshot().count, 59);
  writer.close();
  reader.close();
});

t.test('texts are told apart by their first NUL or their end, whatever stands in them', async t => {
  const [first, stride, most] = [16, 12, 8];
  const pieces = ['n1', '', 'eightlet', 'nine_char', '\xc3\xbc', '\xc3', '\xff\xfe\x80'].map(piece =>
    Buffer.from(piece, 'latin1'),
  );
  const bytes = Buffer.alloc(first + (pieces.length - 1) * stride + most);
  for (const [i, piece] of pieces.entries()) bytes.set(piece.subarray(0, most), first + i * stride);
  const found = texts(bytes, first, stride, most, pieces.length);
  t.same(
    found.split('\0'),
    pieces.map(piece => piece.toString('utf8', 0, most)),
  );
  t.same(found.split('\0'), ['n1', '', 'eightlet', 'nine_cha', 'ü', '\ufffd', '\ufffd\ufffd\ufffd']);
  t.equal(texts(bytes, bytes.length, stride, most, 0), '');
  t.throws(() => texts(bytes, first, stride, most, pieces.length + 1), /not so many texts/);
  t.throws(() => texts(bytes, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1), /not so many texts/);
});

t.test('a snapshot of a board that was cut short is refused, not a crash', async t => {
  const path = boardPath(t);
  const writer = open(path);
  lay(writer, 'node1', 0);
  writer.close();
  const reader = openReader(t, path);
  reader.snapshot();
  truncateSync(path, 2048);
  t.equal(stateFor(reader), 'truncated');
});

t.test('sizes of the file are what the document says', async t => {
  const path = boardPath(t);
  open(path, { capacity: 100 }).close();
  const { header } = place(path, 0, 0);
  t.equal(header.record_stride, 384 + 2 * 1280 + 576);
  t.equal(structs.slot.fields.report.offset + REPORT_BYTES, structs.slot.fields.tail.offset);
  t.equal(statSync(path).size, header.file_bytes);
  t.equal(bits.board_state.retired, 1);
});

const HUGE = 2 * 1024 * 1024;

/** How this process has mapped a file: where each mapping begins, and how much of it is huge pages, KiB. */
function mappings(path: string): { begin: number; hugeKib: number }[] {
  const { ino } = statSync(path);
  const entries = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return entries
    .filter(entry => entry.split(/\s+/)[4] === String(ino) && entry.includes(path))
    .map(entry => ({
      begin: Number.parseInt(entry, 16),
      hugeKib: Number(/^ShmemPmdMapped:\s+(\d+) kB$/m.exec(entry)?.[1] ?? 0),
    }));
}

/** Whether the kernel makes huge pages of a file in shared memory on request: since Linux 6.1, if it has any. */
function hugePagesFault(t: Parameters<typeof folder>[0]): string | false {
  const dir = folder(t);
  const probe = `
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char *argv[]) {
  const size_t huge = ${HUGE};
  int fd = open(argv[argc - 1], O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)huge) != 0) return 2;
  uint8_t *room = mmap(0, 2 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  room += -(uintptr_t)room % huge;
  uint8_t *map = mmap(room, huge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  map[0] = 1;
  return madvise(map, huge, 25) != 0;
}
`;
  writeFileSync(join(dir, 'probe.c'), probe);
  const program = join(dir, 'probe');
  execFileSync('cc', ['-std=c11', '-D_GNU_SOURCE', '-o', program, join(dir, 'probe.c')]);
  const { status } = spawnSync(program, [join(dir, 'file')]);
  return status !== 0 && 'the kernel makes no huge pages of shared memory';
}

t.test('a large board is mapped at a multiple of a huge page, by its writer and by its readers', async t => {
  const path = boardPath(t);
  const writer = open(path, { capacity: 2000 });
  lay(writer, 'node1', 0);
  const reader = new BoardReader(path);
  t.equal(reader.snapshot().count, 1);
  const found = mappings(path);
  t.equal(found.length, 2);
  for (const { begin } of found) t.equal(begin % HUGE, 0);
  await t.test('and is made of huge pages', { skip: hugePagesFault(t) }, async t => {
    for (const { hugeKib } of found) t.ok(hugeKib * 1024 >= HUGE, `${hugeKib} KiB`);
  });
  reader.close();
  t.equal(mappings(path).length, 1, 'nothing of it stays mapped');
  writer.close();
  t.equal(mappings(path).length, 0);
});

// In another process, because the kernel's answers are replaced there.
for (const [what, error, ms, atFirst, later] of [
  ['take long', 0, 60, 'all', 2],
  ['are not there', 'ENOMEM', 0, 1, 1],
  ['are not free', 'EAGAIN', 0, 'all', 'all'],
] as const)
  t.test(
    `huge pages that ${what}: a board all the same, and nothing waits long when it is replaced`,
    { skip: NOT_WHOLE },
    async t => {
      const [path, log] = [boardPath(t), join(folder(t), 'log')];
      const script = `
import { statSync } from 'node:fs';
import { openWriter } from ${JSON.stringify(new URL('../../src/shm/writer.js', import.meta.url).href)};
const asked = () => statSync(${JSON.stringify(log)}).size;
const writer = openWriter(${JSON.stringify({ ...LIKE, path, capacity: 7000, nodes: ['node1', 'node2'] })});
const first = asked();
writer.forget(['node1']);
console.log(JSON.stringify([first, asked() - first]));
writer.close();
`;
      const env = {
        ...process.env,
        LD_PRELOAD: testProgram('test/collapsing.so'),
        COLLAPSE_LOG: log,
        COLLAPSE_MS: String(ms),
        COLLAPSE_ERROR: String(error === 0 ? 0 : constants.errno[error]),
      };
      const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
      const pieces = Math.floor(statSync(path).size / HUGE);
      t.ok(pieces > 4);
      const [first, more] = JSON.parse(told);
      t.equal(first, atFirst === 'all' ? pieces : atFirst, 'when it is made');
      t.ok(more >= 1 && more <= (later === 'all' ? pieces : later), `${more} when it is replaced`);
      t.strictSame(look(path, snapshot => snapshot.names()).sort(), ['node1', 'node2']);
    },
  );
