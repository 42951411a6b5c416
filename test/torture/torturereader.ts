// A reader for the torture, in its own process: looks at a board through the public TypeScript API again and again
// until it is killed, and prints what it saw, in the format of c/test/torturereader.c.

import { getter, REPORT_BYTES } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Node, Snapshot } from '../../src/shm/snapshot.js';
import { now } from '../kit/sampler.js';
import { isWhole } from './report.js';

const EVERY_MS = 20;

const [path = ''] = process.argv.slice(2);
const reader = new BoardReader(path);
const seqOf = getter('report', 'seq');

function isTorn({ view, reportAt, previousAt }: Node): boolean {
  return [reportAt, previousAt].some(
    at => at !== undefined && !isWhole(new Uint8Array(view.buffer, view.byteOffset + at, REPORT_BYTES)),
  );
}

const { board_header, link_evidence } = structs;

/** A time of a link's evidence in the snapshot; 0 for link 0, which has none. */
function time({ words }: Snapshot, link: number, field: keyof typeof link_evidence.fields): number {
  if (link === 0) return 0;
  const at = board_header.fields.evidence.offset + link * link_evidence.bytes + link_evidence.fields[field].offset;
  return (words[at / 4] as number) + (words[at / 4 + 1] as number) * 2 ** 32;
}

function look(): string {
  const before = now();
  try {
    const snapshot = reader.snapshot();
    if (snapshot.retired) return `retired ${before}`;
    const { nowNs, heartbeatNs, listeningSinceNs } = snapshot.evidence;
    const nodes = [...snapshot.nodes()].map(node => {
      const seq = node.reportAt === undefined ? -1 : seqOf(node.view, node.reportAt);
      const { link } = node;
      const since = time(snapshot, link, 'listening_since_ns');
      const by = [link, time(snapshot, link, 'heartbeat_ns'), since, since].join(':');
      return `${node.name}:${node.state}:${seq}:${isTorn(node) ? 0 : 1}:${by}`;
    });
    const stalled = snapshot.stalled ? 1 : 0;
    return ['ready', nowNs, now() - Number(nowNs), heartbeatNs, listeningSinceNs, stalled, ...nodes].join(' ');
  } catch (error) {
    if (!(error instanceof NoBoard)) throw error;
    return `${error.state} ${before}`;
  }
}

setInterval(() => process.stdout.write(`${look()}\n`), EVERY_MS);
// The program that started us does not read any more, so it has ended.
process.stdout.on('error', () => process.exit());
