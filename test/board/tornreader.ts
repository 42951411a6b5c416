// A reader for the tests of tearing, in its own process: reads a board of c/test/torn.c through the public interface
// again and again until it is told to end, and sends what must never be seen: { looks, fault }.

import { decode, getter } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Node, Snapshot } from '../../src/shm/snapshot.js';

const [path = ''] = process.argv.slice(2);
const reader = new BoardReader(path);

const headOf = getter('slot', 'head');
/** The words of a report that identify it, as make_report() in c/test/reports.h fills them. */
const WORDS = Object.entries(structs.report.fields)
  .filter(([, { type, count, kind }]) => type === 'u64' && count === 0 && kind === 'counter')
  .map(([, { offset }]) => offset);

/** What earlier looks have shown of a node. */
const known = new Map<string, { seq: number; historySeq: number }>();

/** The fault of a slot that looks complete. */
function slotFault(view: DataView, slot: number, name: string): string | undefined {
  const { stamp_ns, stamp_real_ns, report } = decode('slot', view, slot);
  const told = (offset: number) => (BigInt(report.seq) << 16n) | BigInt(offset);
  const at = slot + structs.slot.fields.report.offset;
  if (WORDS.some(offset => view.getBigUint64(at + offset, true) !== told(offset))) return 'torn: words of two reports';
  if (report.hostname !== name) return 'torn: the name';
  return stamp_ns !== report.t_real_ns || stamp_real_ns !== told(0) ? 'torn: a stamp of another report' : undefined;
}

function nodeFault(node: Node, { header, evidence }: Snapshot): string | undefined {
  const { name, report, previous, record } = node;
  const before = known.get(name);
  if (report === undefined) return before === undefined ? undefined : 'vanished: no report';
  for (let slot = 0; slot < header.slots; slot++) {
    const at = node.offset + header.slots_offset + slot * header.slot_stride;
    const fault = headOf(node.view, at) === 0n ? undefined : slotFault(node.view, at, name);
    if (fault !== undefined) return fault;
  }
  const historySeq = Number(record.history_seq);
  if (report.seq < (before?.seq ?? 0)) return 'backward: an older report than was seen before';
  if (previous !== undefined && previous.seq >= report.seq) return 'backward: the one before is the newer';
  if (historySeq > report.seq) return 'backward: the order block knows a later report than the slots';
  // 0: it could not be read, or a takeover has just cleared it.
  if (historySeq !== 0 && historySeq < (before?.historySeq ?? 0)) return 'backward: order block';
  // In each round, the first nodes report, and then a heartbeat with the same time follows.
  if (/^n[0-3]$/.test(name) && (node.stampNs ?? 0n) < evidence.heartbeatNs)
    return 'backward: a heartbeat without the reports before it';
  known.set(name, { seq: report.seq, historySeq: historySeq || (before?.historySeq ?? 0) });
  return undefined;
}

function look(): string | undefined {
  let snapshot: Snapshot;
  try {
    snapshot = reader.snapshot();
  } catch (error) {
    if (!(error instanceof NoBoard)) throw error;
    return known.size === 0 ? undefined : `vanished: ${error.message}`;
  }
  const here = new Set<string>();
  for (const node of snapshot.nodes()) {
    const fault = nodeFault(node, snapshot);
    if (fault !== undefined) return `${node.name}: ${fault}`;
    here.add(node.name);
  }
  const gone = [...known.keys()].find(name => !here.has(name));
  return gone === undefined ? undefined : `${gone}: vanished: the record`;
}

let looks = 0;
let fault: string | undefined;
let ended = false;
process.on('message', () => {
  ended = true;
});
process.on('disconnect', () => process.exit());

function again(): void {
  fault ??= look();
  looks++;
  if (!ended) setImmediate(again);
  else process.send?.({ looks, fault }, () => process.disconnect());
}
process.send?.('ready');
again();
