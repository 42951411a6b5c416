// Whether the nodes are well, in one line and an exit code as Nagios has them: for monitors, and for prologs of jobs.
// Blames no node for a receiver that is stalled.

import { Failure } from '../common/failure.js';
import { foldParts } from '../common/hostlists.js';
import { defineVerb, type Portion, parseVerb, UsageError, type Values, type ValuesOf } from '../common/options.js';
import { print } from '../common/output.js';
import { VERBS } from '../common/verbs.js';
import { AILMENTS, type Ailment, ailmentsOf } from '../shm/ailments.js';
import type { State } from '../shm/liveness.js';
import { BoardReader, heartbeatText, NoBoard, stalledText } from '../shm/reader.js';
import { type Census, takeCensus } from './census.js';

export const verb = defineVerb({
  name: 'check',
  summary: VERBS.check,
  options: ['nodes', 'fail', 'warning', 'critical', 'health', 'ignore', 'board', 'owner', 'config'],
  letters: { w: 'warning', c: 'critical' },
  examples: [
    'beoboard check',
    'beoboard check --warning 5 --critical 2%',
    'beoboard check --nodes $SLURM_JOB_NODELIST --fail open',
    'beoboard check --nodes node[001-064] --fail closed',
    'beoboard check --ignore held,ecc',
  ],
  notes: `One line, and behind the bar the figures. Critical: nodes that are silent, that left longer than 10 minutes ago, or that are named
with --nodes and not on the board. Warning: these, and nodes that are uncertain, never reported, or ill: beoboard status --help lists
what may ail them, --ignore leaves some of it out, --health off all. A node that left less than 10 minutes ago is no fault. Behind the nodes stands what is likelier at fault than they: an interface of this master that is down, or
by which none is heard any more, and why reports are refused. When there is no board, or a stalled one, nothing is known about any
node: that is 3, or with --fail open 0, with --fail closed 2. Exit codes: 0 OK, 1 warning, 2 critical, 3 unknown, and wrong usage.`,
});

/** A goodbye is the end of a shift, or a node that somebody forgot: from here on the latter. */
const LEFT_TOO_LONG_MS = 600_000;

const WORDS = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;
type Code = 0 | 1 | 2 | 3;

/** What makes the line: code, what is wrong or right, figures for graphs. */
interface Verdict {
  readonly code: Code;
  readonly text: string;
  readonly figures?: string;
}

/** A few parts of a host list: monitors cut long lines. */
function shown(names: readonly string[]): string {
  const parts = foldParts(names);
  const most = 5;
  const cut = parts.slice(0, most).map(part => (part.length > 100 ? `${part.slice(0, 99)}…` : part));
  return parts.length > most ? `${cut.join(',')} and more` : cut.join(',');
}

function limitOf({ number, percent }: Portion, total: number): number {
  return percent ? (number * total) / 100 : number;
}

/** The names of those whom each ailment ails. */
export type Ailing = ReadonlyMap<Ailment, readonly string[]>;

/** What ails the nodes that are asked about, but for what is to be ignored. */
function lookForAilments(
  reader: BoardReader,
  among: readonly string[] | undefined,
  ignored: readonly Ailment[],
): Ailing {
  const ailing = new Map<Ailment, string[]>();
  const add = (name: string, bits: number) => {
    for (const ailment of ailmentsOf(bits))
      if (!ignored.includes(ailment)) ailing.set(ailment, [...(ailing.get(ailment) ?? []), name]);
  };
  if (among === undefined) {
    const snapshot = reader.snapshot();
    const { ails } = snapshot.overview;
    for (let i = 0; i < ails.length; i++) if (ails[i] !== 0) add(snapshot.node(i).name, ails[i] as number);
  } else {
    for (const name of new Set(among)) add(name, reader.snapshotOf(name).overview.ails[0] ?? 0);
  }
  return new Map(AILMENTS.flatMap(ailment => (ailing.has(ailment) ? [[ailment, ailing.get(ailment) ?? []]] : [])));
}

/** The verdict on a board that tells something. */
export function judgeCensus(
  census: Census,
  options: Pick<Values<'warning' | 'critical'>, 'warning' | 'critical'>,
  ailing: Ailing = new Map(),
): Verdict {
  const { counts, kept, strangers, remarks } = census;
  const of = (...states: State[]) => kept.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  const gone = kept.filter(({ leftMs }) => (leftMs ?? 0) > LEFT_TOO_LONG_MS);
  const groups: [what: string, names: string[]][] = [
    ['silent', of('silent')],
    ['left longer than 10 minutes ago', gone.map(({ name }) => name)],
    ['not on the board', [...strangers]],
    ['uncertain', of('uncertain')],
    ['never reported', of('never')],
  ];
  const ill = new Set([...ailing.values()].flat());
  const total = Object.values(counts).reduce((a, b) => a + b, 0) + strangers.length;
  const bad = groups.slice(0, 3).reduce((sum, [, names]) => sum + names.length, 0);
  // Nobody twice: one that is uncertain may be ill, too.
  const doubtful = new Set([...groups.flatMap(([, names]) => names), ...ill]).size;
  const [warning, critical] = [limitOf(options.warning, total), limitOf(options.critical, total)];
  const code = bad > critical ? 2 : doubtful > warning ? 1 : 0;
  const told = groups
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${names.length} ${what} (${shown(names)})`)
    .concat([...ailing].map(([ailment, names]) => `${names.length} ${ailment} (${shown(names)})`));
  const nodes = `${total} ${total === 1 ? 'node' : 'nodes'}`;
  const figures = [
    `live=${counts.live};;;0;${total}`,
    `uncertain=${counts.uncertain};;;0;${total}`,
    `silent=${counts.silent};;;0;${total}`,
    `left=${counts.left};;;0;${total}`,
    `never=${counts.never};;;0;${total}`,
    `ailing=${ill.size};;;0;${total}`,
    `missing=${doubtful};${warning};;0;${total}`,
    `down=${bad};;${critical};0;${total}`,
  ];
  return {
    code,
    text: [told.length === 0 ? `${nodes}, ${counts.live} live` : `of ${nodes} ${told.join(', ')}`, ...remarks].join(
      '; ',
    ),
    figures: figures.join(' '),
  };
}

/** What to say when nothing is known, as was asked for. */
function ignorance(why: string, fail: 'open' | 'closed' | undefined): Verdict {
  const code = fail === 'open' ? 0 : fail === 'closed' ? 2 : 3;
  return { code, text: `${why}${fail === undefined ? '' : `; fails ${fail}`}` };
}

function lookAtBoard(values: ValuesOf<typeof verb>): Verdict {
  const reader = new BoardReader(values.board, values.owner);
  try {
    const census = takeCensus(reader, { keep: state => state !== 'live', among: values.nodes });
    if (!census.stalled) {
      const ailing = values.health === 'on' ? lookForAilments(reader, values.nodes, values.ignore ?? []) : undefined;
      return judgeCensus(census, values, ailing);
    }
    return ignorance(
      `${stalledText(census.closed)}, ${heartbeatText(census.heartbeatAgeMs)}: nothing is known about nodes`,
      values.fail,
    );
  } catch (error) {
    if (error instanceof NoBoard) return ignorance(error.message, values.fail);
    throw error;
  } finally {
    reader.close();
  }
}

export async function main(argv: string[]): Promise<number> {
  let verdict: Verdict;
  try {
    verdict = lookAtBoard(parseVerb(verb, argv).values);
  } catch (error) {
    // A monitor takes 2 as critical and reads stdout alone.
    if (!(error instanceof UsageError || error instanceof Failure)) throw error;
    verdict = { code: 3, text: error.message };
  }
  const { code, text, figures } = verdict;
  await print([
    `BEOBOARD ${WORDS[code]}: ${text.replaceAll('|', '/')}${figures === undefined ? '' : ` | ${figures}`}\n`,
  ]);
  return code;
}
