// The cluster in one line: what its live nodes have, use and move together.

import { type Survey, totalsOf } from '../query/survey.js';
import { BYTES_PER_SECOND, contractUnit, NUMBER, type Unit, writeValue } from '../readings/units.js';
import { plural } from '../shm/sentences.js';
import type { Part } from '../shm/snapshot.js';

const BYTES = contractUnit('bytes');
const WATTS = contractUnit('W');

/** A share as `####------`, which needs no font. */
export const bar = (share: number, columns: number): string =>
  '#'.repeat(Math.round(Math.max(0, Math.min(share, 1)) * columns)).padEnd(columns, '-');

/** `3.1 of 12.4 TiB`: a unit that both numbers share is written once. `wide`: of a bar before it. */
function share({ used, total }: Part, unit: Unit, wide: number): string {
  const [some, all] = [writeValue(used, unit), writeValue(total, unit)];
  const [, label] = all.split(' ');
  const before = wide === 0 ? '' : `${bar(used / total, wide)} `;
  return `${before}${label === undefined ? some : some.replace(` ${label}`, '')} of ${all}`;
}

function flow(first: number, one: string, second: number, other: string): string {
  return `${writeValue(first, BYTES_PER_SECOND)} ${one}, ${writeValue(second, BYTES_PER_SECOND)} ${other}`;
}

/**
 * What the live nodes among the chosen ones have, use and move together, as parts of a sentence. Each part says on how
 * many nodes it was measured, unless on all. Empty for fewer than two nodes, because a table says as much.
 * `wide`: of the bars of shares.
 */
export function totalsTexts(found: Survey, wide = 0): string[] {
  const { live } = found.standing.states;
  const totals = live > 1 ? totalsOf(found) : undefined;
  if (totals === undefined) return [];
  const { cpus, memory, network, fabric, disks, gpus, power } = totals;
  const parts = [
    cpus && { nodes: cpus.nodes, text: `CPUs ${share(cpus, NUMBER, wide)} busy` },
    memory && { nodes: memory.nodes, text: `memory ${share(memory, BYTES, wide)} used` },
    network && { nodes: network.nodes, text: `network ${flow(network.in, 'in', network.out, 'out')}` },
    fabric && { nodes: fabric.nodes, text: `fabric ${flow(fabric.in, 'in', fabric.out, 'out')}` },
    disks && { nodes: disks.nodes, text: `disks ${flow(disks.read, 'read', disks.written, 'written')}` },
    gpus && { nodes: gpus.nodes, text: `GPUs ${share(gpus, NUMBER, wide)} busy` },
    power && { nodes: power.nodes, text: `power ${writeValue(power.watts, WATTS)}` },
  ].filter(part => part !== undefined);
  return parts.map(({ nodes, text }) => (nodes === live ? text : `${text} on ${plural(nodes)}`));
}
