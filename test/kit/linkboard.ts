// A board whose nodes report by several links with different evidence: links that are up, one that is stalled, one that
// has just started listening, numbers without an entry, and reports without a link. Also the state of each node by the
// oracle. For tests of programs that read boards.

import { closeSync, openSync, writeSync } from 'node:fs';
import { bits, structs } from '../../src/layout/layout.gen.js';
import type { State } from '../../src/shm/liveness.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from './clocks.js';
import { judge } from './judging.js';
import { makeReport } from './reports.js';

const MS = 1_000_000n;
const S = 1000n * MS;
const OTHERS = 31;

interface LinkNode {
  name: string;
  link: number;
  state: State;
}

/** Writes 64-bit words into a board. */
export function poke(path: string, words: [offset: number, value: bigint][]): void {
  const fd = openSync(path, 'r+');
  const bytes = Buffer.alloc(8);
  for (const [offset, value] of words) {
    bytes.writeBigUInt64LE(value);
    writeSync(fd, bytes, 0, 8, offset);
  }
  closeSync(fd);
}

/** Writes one heartbeat of the receiver, but of no link. */
export function beat(path: string): void {
  poke(path, [[structs.board_header.fields.heartbeat_ns.offset, monotonicNs()]]);
}

/**
 * Makes it with the choices of `pick`. No node's state changes with time while the heartbeat continues: a node with an
 * interval of a second is not live, and one with an interval of ten minutes is, unless the board has a longest one.
 */
export function makeLinkBoard(path: string, pick: (n: number) => number, count = 40): LinkNode[] {
  const used = 1 + pick(6);
  const goodbye = 2 ** bits.flags.goodbye;
  const names = ['first', ...Array.from({ length: count }, (_, i) => `n${i}`)];
  // With a longest interval a node with one of ten minutes is judged by it: by 6 s and 12 s.
  const limits =
    pick(3) === 0
      ? { uncertainAfter: 100, silentAfter: 200, longestInterval: 60_000 }
      : { uncertainAfter: 4500, silentAfter: 10_500, longestInterval: 0 };
  const writer = openWriter({ path, cluster: '', capacity: count + 1, ...limits, nodes: names });
  const base = (monotonicNs() / MS) * MS;
  // Steps of 100 ms, with stamps between the steps: so no age is exactly at a limit.
  const ago = (seconds: number) => base - BigInt(pick(seconds * 10)) * 100n * MS;
  for (let i = 1; i <= used; i++)
    writer.deliver(
      makeReport({ hostname: 'first', seq: i, t_boot_ns: BigInt(i) * S, flags: goodbye }),
      base,
      0n,
      `eth${i}`,
    );
  const nodes = names.slice(1).map(hostname => ({
    hostname,
    // Mostly an existing link; but all numbers occur.
    link: pick(2) === 0 ? 1 + pick(used) : pick(3) === 0 ? [0, OTHERS][pick(2)]! : pick(32),
    interval_ms: pick(4) === 0 ? 600_000 : 1000,
    flags: pick(12) === 0 ? goodbye : 0,
    stampNs: ago(25) - 6n * S - 37n * MS,
    never: pick(20) === 0,
  }));
  for (const { stampNs, link, never, ...values } of nodes)
    if (!never) writer.deliver(makeReport(values), stampNs, 0n, link);
  writer.close();
  const evidence = Array.from({ length: 32 }, (_, link) => {
    // For missing links and for no link: evidence that would make every node silent, if a reader used it.
    if (link === 0 || (link > used && link !== OTHERS)) return { heartbeatNs: base, listeningSinceNs: 0n };
    const heartbeatNs = [base, base, ago(30)][pick(3)]!;
    return { heartbeatNs, listeningSinceNs: [base - 60n * S, base - 60n * S, ago(30)][pick(3)]! };
  });
  const { offset } = structs.board_header.fields.evidence;
  const words = evidence.flatMap(({ heartbeatNs, listeningSinceNs }, link): [number, bigint][] => [
    [offset + 16 * link, heartbeatNs],
    [offset + 16 * link + 8, listeningSinceNs > 0n ? listeningSinceNs : 0n],
  ]);
  poke(path, words);
  beat(path);
  const first: LinkNode = { name: 'first', link: used, state: 'left' };
  const others = nodes.map(({ hostname: name, link, interval_ms: intervalMs, flags, stampNs, never }) => {
    const known = link === OTHERS || (link > 0 && link <= used);
    const board = {
      ...{
        nowNs: base,
        heartbeatNs: base,
        listeningSinceNs: 0n,
        uncertainAfterNs: BigInt(limits.uncertainAfter) * MS,
        silentAfterNs: BigInt(limits.silentAfter) * MS,
        longestIntervalMs: limits.longestInterval || Number.POSITIVE_INFINITY,
      },
      ...{ retired: false, link: known ? evidence[link]! : { heartbeatNs: 0n, listeningSinceNs: 0n } },
    };
    return {
      name,
      link: never ? 0 : link,
      state: judge(board, never ? undefined : { stampNs, intervalMs, goodbye: flags !== 0 }),
    };
  });
  return [first, ...others];
}
