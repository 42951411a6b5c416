// Racks as bars, where `status --watch` has room below the nodes: each with the mean CPU of its live nodes, and how many
// are not well, with a sign beside the colour.

import { COLUMNS, type Column } from '../query/columns.js';
import { groups, labelOf, meanOf, type NodeGroup } from '../query/groups.js';
import type { Survey } from '../query/survey.js';
import type { Painter } from '../terminal/style.js';
import { areInRacks, compareNames, RACK_PATTERN } from '../text/hostlists.js';
import { cutTo, GAP, padded, widest } from '../text/layout.js';
import { bar } from './totalstext.js';

const { field: CPU } = COLUMNS.find(({ name }) => name === 'cpu') as Column;
const [NAME_MOST, BAR] = [14, 8];

/** Found once for a look, the worst first; nodes whose names say no rack are in none. */
const known = new WeakMap<Survey, readonly NodeGroup[]>();
function racksOf(found: Survey): readonly NodeGroup[] {
  const formed = areInRacks(found.nodes.map(({ name }) => name))
    ? groups(found, { pattern: RACK_PATTERN }, undefined).filter(({ name, nodes }) => name !== nodes[0]?.name)
    : [];
  const worst = formed.sort((a, b) => illIn(b) - illIn(a));
  known.set(found, worst);
  return worst;
}

const illIn = ({ nodes, standing: { states, unhealthy } }: NodeGroup) => nodes.length - states.live + unhealthy;

function countsOf(rack: NodeGroup, paint: Painter): string {
  const { silent: gone } = rack.standing.states;
  const unwell = illIn(rack) - gone;
  const silent = gone > 0 ? [paint.state('silent', `!${gone}`)] : [];
  return [...silent, ...(unwell > 0 ? [paint.state('unhealthy', `*${unwell}`)] : [])].join(' ');
}

/** The lines of the racks of the chosen nodes, at most so many; none if there are no two, or too little room. */
export function rackLines(found: Survey, width: number, rows: number, paint: Painter): string[] {
  const racks = rows < 2 ? [] : (known.get(found) ?? racksOf(found));
  if (racks.length < 2) return [];
  const counts = new Map(racks.map(rack => [rack, countsOf(rack, paint)]));
  const wide = Math.min(NAME_MOST, widest(racks.map(labelOf)));
  const cell = wide + BAR + ' '.length + ' 100% '.length + widest(counts.values());
  const across = Math.max(1, Math.floor((width + GAP) / (cell + GAP)));
  const shown = racks.slice(0, across * (rows - 1)).sort((a, b) => compareNames(a.name ?? '', b.name ?? ''));
  const texts = shown.map(rack => {
    const mean = meanOf(found.snapshot, rack, CPU) as number | undefined;
    const load = mean === undefined ? '' : `${bar(mean / 100, BAR)} ${`${Math.round(mean)}%`.padStart(4)}`;
    const what = rack.standing.states.silent === rack.nodes.length ? 'silent' : load;
    return padded(`${padded(cutTo(labelOf(rack), wide), wide)} ${padded(what, BAR + 5)} ${counts.get(rack)}`, cell);
  });
  const high = Math.ceil(texts.length / across);
  const line = (row: number) => texts.filter((_, i) => i % high === row).join(' '.repeat(GAP));
  const some = shown.length < racks.length ? ` (the worst ${shown.length} of ${racks.length})` : '';
  const title = paint.title(`RACKS${some}: CPU of live nodes; ! silent, * otherwise not well`);
  return [title, ...Array.from({ length: high }, (_, row) => line(row).trimEnd())];
}
