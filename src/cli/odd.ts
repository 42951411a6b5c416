// The odd ones of each family of nodes: in what a few of them differ from the others. Reads the board once.

import { defineVerb, parseVerb } from '../options/options.js';
import { oddOnesOf } from '../outliers/heat.js';
import type { FamilyOf, Odd } from '../outliers/odd.js';
import { namesOf, type Survey, survey } from '../query/survey.js';
import { atOnce } from '../service/slices.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import { withReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type Painter, painter } from '../terminal/style.js';
import { usable } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { padded, widest, wrapped } from '../text/layout.js';
import { json, print, terminalWidth } from '../text/output.js';
import { oddJson, oddText } from '../words/odd.js';

export const verb = defineVerb({
  name: 'odd',
  options: ['nodes', 'where', 'by', 'json', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard odd',
    'beoboard odd rack11n[01-48]',
    "beoboard odd --by '/^[a-z]+/'",
    'beoboard odd --where \'name ~ "^gpu"\'',
    "beoboard odd --json | jq -r '.odd[] | select(.minority) | .groups[1:][].nodes'",
  ],
  notes: `A family is the nodes whose names differ only in the number at their end; --by makes other families: by a part of the name, or by a field.
Its live nodes are compared by kernel, software (sw_hash), sender version, report interval, clock state, CPUs online, memory, GPUs, link speed
and hardware (hw_hash); by the temperature of CPUs and GPUs, idle nodes (use up to 10 %) with idle ones and busy ones (from 80 %) with busy
ones of the same hardware, beside their median. Other software is reported only of nodes with the kernel of the others, other hardware only of nodes with their
CPUs, memory, GPUs and link speed. Sizes of memory within 1 % or 256 MiB are one. What a node does not measure is not compared.

At most a third of a family are the odd ones. Where more differ, nobody can say who is odd: these lines come last, with all groups.
Host lists and --where select lines that name one of these nodes; nodes are compared with their whole family all the same.
Exit codes: 0 done, whether or not nodes differ, 1 a name is not on the board, 2 usage, 4 no board, or stalled.`,
});

/** Those that name a chosen node. */
function chosen(odd: readonly Odd[], { all, nodes }: Survey): readonly Odd[] {
  if (nodes === all) return odd;
  const those = new Set(nodes.map(({ index }) => index));
  return odd.filter(({ groups, isMinority }) =>
    groups.slice(isMinority ? 1 : 0).some(({ members }) => members.some(at => those.has(at))),
  );
}

const UNDECIDED = 'No minority:';

/** A line for each, in this width. */
export function oddLines(
  snapshot: Snapshot,
  odd: readonly Odd[],
  { width, paint }: { readonly width: number; readonly paint: Painter },
): string[] {
  if (odd.length === 0) return ['no node differs from its family'];
  const names = snapshot.names();
  const wide = widest(odd.map(({ trait }) => trait.label)) + 2;
  const firstEven = odd.findIndex(({ isMinority }) => !isMinority);
  return odd.flatMap((one, i) => {
    const lines = wrapped(oddText(snapshot, names, one), width - wide).map(
      (part, at) => `${padded(at === 0 ? one.trait.label : '', wide)}${part}`,
    );
    return i === firstEven ? [...(i > 0 ? [''] : []), paint.title(UNDECIDED), ...lines] : lines;
  });
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const { by } = values;
  const { ruleOf } = by === undefined ? {} : await import('../query/groups.js');
  const rule = by && ruleOf && usable(() => ruleOf(by));
  const holds = values.where === undefined ? undefined : (await import('../query/conditions.js')).filter(values.where);
  const among = namesOf(values.nodes, args);
  return await withReader(values.board, values.owner, async reader => {
    const snapshot = reader.snapshot();
    if (snapshot.stalled || snapshot.retired) {
      process.stderr.write(`beoboard odd: ${unknownText(snapshot)}\n`);
      return NO_BOARD;
    }
    const found = usable(() => survey(snapshot, { among, holds }));
    const familyOf: FamilyOf | undefined = rule && (node => rule(snapshot, node));
    const odd = usable(() => chosen(atOnce(oddOnesOf(() => [found], familyOf)), found));
    if (values.json) {
      const names = snapshot.names();
      await print([`{"schema":1,"odd":[${odd.map(one => `\n${json(oddJson(snapshot, names, one))}`).join(',')}\n]}\n`]);
    } else {
      const lines = oddLines(snapshot, odd, { width: terminalWidth(), paint: painter(values.color) });
      await print(lines.map(line => `${line}\n`));
    }
    if (found.notOnBoard.length === 0) return 0;
    process.stderr.write(`beoboard odd: not on the board: ${fold(found.notOnBoard)}\n`);
    return 1;
  });
}
