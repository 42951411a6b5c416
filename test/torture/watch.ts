// A reader for the torture, in a process of its own: looks at a board through the public face of TypeScript, again and again until
// it is killed, and prints what it saw, in the words of c/test/watch.c.

import { getter, REPORT_BYTES } from '../../src/layout/codec.js';
import { BoardReader, NoBoard, type Node } from '../../src/shm/reader.js';
import { now } from '../sampler.js';
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

function look(): string {
  const before = now();
  try {
    const snapshot = reader.snapshot();
    if (snapshot.retired) return `retired ${before}`;
    const { nowNs, heartbeatNs, listeningSinceNs } = snapshot.evidence;
    const nodes = [...snapshot.nodes()].map(node => {
      const seq = node.reportAt === undefined ? -1 : seqOf(node.view, node.reportAt);
      return `${node.name}:${node.state}:${seq}:${isTorn(node) ? 0 : 1}`;
    });
    const stalled = snapshot.stalled ? 1 : 0;
    return ['ready', nowNs, now() - Number(nowNs), heartbeatNs, listeningSinceNs, stalled, ...nodes].join(' ');
  } catch (error) {
    if (!(error instanceof NoBoard)) throw error;
    return `${error.state} ${before}`;
  }
}

setInterval(() => process.stdout.write(`${look()}\n`), EVERY_MS);
// Whoever started us reads no more: he is gone.
process.stdout.on('error', () => process.exit());
