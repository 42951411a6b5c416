// Nodes of a family that are hotter than its others: idle ones compared with idle ones, busy ones with busy ones, and
// only with nodes of the same hardware. By the floors and the limit that hold for the nodes of a job, but in one look.

import { Cursor } from '../readings/cursor.js';
import { type Measure, taken } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import { writeValue } from '../readings/units.js';
import { compareNames } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';
import { deviations } from './deviation.js';
import { limitOf } from './judge.js';
import { type BoardTrait, type FamilyOf, type Odd, oddOnes, type Parts, usualFamily } from './odd.js';
import { FEWEST } from './peers.js';
import { COMPARED, type Compared } from './readings.js';

/** Up to this use, in per cent, a node is idle, and from that on busy; what is between has no peers. */
const [IDLE_MOST, BUSY_LEAST] = [10, 80];

const measureOf = (name: string) => readingOf(name)?.measure as Measure;

/** A temperature, and the use by which nodes are idle or busy. */
interface ComparedHeat {
  readonly compared: Compared;
  readonly measure: Measure;
  readonly use: Measure;
  readonly traits: Readonly<Record<'idle' | 'busy', BoardTrait>>;
}

function heat(reading: string, part: string): ComparedHeat {
  const compared = COMPARED.find(one => one.reading === reading) as Compared & { atEqual: string };
  const { unit, measure } = readingOf(reading) as { unit: Parameters<typeof writeValue>[1]; measure: Measure };
  const trait = (when: 'idle' | 'busy'): BoardTrait => ({
    ...{ name: `${reading}_${when}`, label: `${part}, ${when}`, measure, text: value => writeValue(value, unit) },
  });
  return { compared, measure, use: measureOf(compared.atEqual), traits: { idle: trait('idle'), busy: trait('busy') } };
}

const HEATS = [heat('temp', 'CPU'), heat('gpu_temp', 'GPU')];

const hardware = measureOf('hw_hash');

interface HeatPeers {
  readonly family: string;
  readonly trait: BoardTrait;
  readonly compared: Compared;
  readonly members: number[];
  readonly values: number[];
}

/** Those that are beyond the limit, the hottest first; undefined: none is, or so many that they are no exceptions. */
function hotOf({ family, trait, compared, members, values }: HeatPeers): Odd | undefined {
  if (members.length < FEWEST) return undefined;
  const { each, middle } = deviations(compared, Float64Array.from(values));
  const limit = limitOf(values.length);
  const hot = members
    .flatMap((member, i) => ((each[i] as number) > limit ? { value: values[i] as number, members: [member] } : []))
    .sort((a, b) => b.value - a.value);
  if (hot.length === 0 || hot.length > members.length / 3) return undefined;
  const those = new Set(hot.flatMap(({ members }) => members));
  const others = { value: middle.median, members: members.filter(member => !those.has(member)) };
  return { family, trait, groups: [others, ...hot], isMinority: true };
}

/** The hot ones among live nodes, as the other odd ones; the first group has the median of all. */
export function* hotOnes(parts: Parts, familyOf: FamilyOf = usualFamily()): Generator<undefined, Odd[]> {
  const peers = new Map<string, HeatPeers>();
  const cursor = new Cursor();
  let count = 0;
  for (const { snapshot, all } of parts) {
    for (const node of all) {
      const number = count++;
      const family = node.state === 'live' ? familyOf(node) : undefined;
      if (family === undefined) continue;
      cursor.moveTo(snapshot, node.index);
      const kind = taken(hardware, cursor);
      if (Number.isNaN(kind)) continue;
      for (const { compared, measure, use, traits } of HEATS) {
        const [value, busy] = [taken(measure, cursor), taken(use, cursor)];
        const trait = busy <= IDLE_MOST ? traits.idle : busy >= BUSY_LEAST ? traits.busy : undefined;
        if (trait === undefined || Number.isNaN(value)) continue;
        const key = `${trait.name} ${kind} ${family}`;
        const some = getOrInsert(peers, key, () => ({ family, trait, compared, members: [], values: [] }));
        some.members.push(number);
        some.values.push(value);
      }
    }
    yield;
  }
  return [...peers.values()].flatMap(some => hotOf(some) ?? []);
}

/** All odd ones of these nodes: those of a family that nobody can blame come last, each in the order of families. */
export function* oddOnesOf(parts: () => Parts, familyOf?: FamilyOf): Generator<undefined, Odd[]> {
  const odd = [...(yield* oddOnes(parts(), familyOf)), ...(yield* hotOnes(parts(), familyOf))];
  return odd.sort((a, b) => Number(b.isMinority) - Number(a.isMinority) || compareNames(a.family, b.family));
}
