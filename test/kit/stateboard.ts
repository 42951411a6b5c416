// Boards with nodes in given states, on given links, for tests of programs that answer by state: no state changes with
// time. No test of its own.

import type { Encodable } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import type { Writer } from '../../src/native/index.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from './clocks.js';
import { poke } from './linkboard.js';
import { boardPath, type Teardown } from './places.js';
import { makeReport } from './reports.js';

const S = 1_000_000_000n;

export interface Made {
  path: string;
  writer: Writer;
  /** Writes a report of a node that came so long ago. */
  lay(name: string, ago?: number, values?: Encodable<'report'>, link?: string): void;
}

/** Nodes by state; all that have reported did so by eth0, or by the link after an @ in the name. */
interface Nodes {
  live?: readonly string[];
  silent?: readonly string[];
  uncertain?: readonly string[];
  left?: readonly string[];
  never?: readonly string[];
  held?: readonly string[];
  /** Live, but its health check is bad. */
  unhealthy?: readonly string[];
}

type Limits = Record<'uncertainAfter' | 'silentAfter' | 'longestInterval', number>;

export const numbered = (count: number, from = 1, prefix = 'n') =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i + from).padStart(3, '0')}`);

/** No node's state changes with time while the heartbeat continues; see linkboard.ts. */
export function makeBoard(
  t: Teardown,
  nodes: Nodes,
  { dark = false, down = [] as string[], ...limits }: { dark?: boolean; down?: string[] } & Partial<Limits> = {},
): Made {
  const path = boardPath(t);
  const names = Object.values(nodes).flatMap((names: readonly string[]) => names.map(name => name.replace(/@.*/, '')));
  const writer = openWriter({
    ...{ path, cluster: '', capacity: names.length + 8, uncertainAfter: 4500, silentAfter: 10_500, nodes: names },
    ...limits,
    trust: { keys: [], required: 'none', clockWindow: 60_000 },
  });
  t.teardown(() => writer.close());
  const base = monotonicNs();
  let seq = 1;
  const links: string[] = [];
  const lay: Made['lay'] = (word, ago = 0, values = {}, link = word.split('@')[1] ?? 'eth0') => {
    if (!links.includes(link)) links.push(link);
    const [hostname] = word.split('@');
    const stamp = monotonicNs() - BigInt(Math.round(ago * 1000)) * 1_000_000n;
    const report = makeReport({ hostname: hostname ?? '', seq: seq++, t_boot_ns: BigInt(seq) * S, ...values });
    writer.deliver(report, stamp, 1_700_000_000n * S, link);
  };
  const seldom = { interval_ms: 600_000 };
  writer.listeningSince(base - 100n * S);
  for (const name of nodes.live ?? []) lay(name, 0, seldom);
  for (const name of nodes.held ?? []) lay(name, 0, { ...seldom, flags: 2 ** bits.flags.held });
  for (const name of nodes.unhealthy ?? [])
    lay(name, 0, { ...seldom, valid: 1n << BigInt(bits.valid.health), health: 3 });
  for (const name of nodes.left ?? []) lay(name, 70, { flags: 2 ** bits.flags.goodbye });
  for (const name of nodes.silent ?? []) lay(name, 34);
  for (const name of nodes.uncertain ?? []) lay(name, 6);
  writer.listeningSince(base - 100n * S);
  for (const link of down) writer.linkState(links.indexOf(link) + 1, 0, false, monotonicNs());
  writer.heartbeat(base);
  if (dark) writer.survey();
  return { path, writer, lay };
}

/** Makes the receiver stalled for so long. */
export const stall = ({ path }: Made, seconds: number) =>
  poke(path, [[structs.board_header.fields.heartbeat_ns.offset, monotonicNs() - BigInt(seconds) * S]]);

/** Makes it one of a mirror that knows of one master, and hears none. */
export const mirrored = ({ path }: Made) => poke(path, [[structs.board_header.fields.mirror_masters.offset, 1n]]);

/** Makes it one whose receiver or mirror has no heartbeat yet. */
export const unborn = ({ path }: Made) => poke(path, [[structs.board_header.fields.heartbeat_ns.offset, 0n]]);
