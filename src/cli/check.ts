// Whether the nodes are well, in one line and a Nagios exit code: for monitors, and for prologs of jobs. Blames no node
// when the receiver is stalled.

import { journalTroubles } from '../journalfile/state.js';
import { sentences } from '../layout/wording.gen.js';
import {
  defineVerb,
  parseVerb,
  portionOf,
  readAlone,
  UsageError,
  type Values,
  type ValuesOf,
} from '../options/options.js';
import { schedulerViewOf } from '../schedulerfile/schedulerview.js';
import type { State } from '../shm/liveness.js';
import { unknownText } from '../shm/noboard.js';
import { byProblem, PROBLEMS, type Problem, problemBit, problemsOf } from '../shm/problems.js';
import { BoardReader } from '../shm/reader.js';
import { plural } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { Failure } from '../text/failure.js';
import { foldParts } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { beginning, brief, characters, oneLine, shortened } from '../text/text.js';
import { unguardedText } from '../trouble/disagreements.js';
import { goneSources } from '../trouble/remembered.js';
import { type Census, takeCensus } from './census.js';
import { type Selection, select } from './selection.js';

export const verb = defineVerb({
  name: 'check',
  options: [
    'nodes',
    'where',
    'fail',
    'warning',
    'critical',
    'health',
    'ignore',
    'recent',
    'setup',
    'journal-run',
    'slurm-dir',
    'board',
    'owner',
    'config',
  ],
  letters: { w: 'warning', c: 'critical' },
  examples: [
    'beoboard check',
    'beoboard check --warning 0.1% --critical 1%,1',
    "beoboard check --where 'state == live && mem_avail < 1GiB' --warning 0 --critical 5%",
    'beoboard check --nodes "$SLURM_JOB_NODELIST" --fail open',
    'beoboard check --nodes node[001-064] --fail closed',
    'beoboard check --ignore held,ecc',
    'beoboard check --recent gpu_errors,oom',
    'beoboard check --setup',
  ],
  notes: `Prints one line of at most 1,023 bytes, with performance data after the bar |; if there is too little room, fewer names. Critical: nodes that are silent, that left longer than 10 minutes ago, or that are
named with --nodes and not on the board. Warning: these, and nodes that are uncertain, never reported, or unhealthy. beoboard status --help lists
problems; --ignore leaves some out, --health off all. A problem that went is recent for its quiet time: ten minutes if a
counter shows it, for ecc an hour, else a minute. It is told, and warns if --recent names it, and so is one that is not measured any more. A node that left less than 10 minutes ago is not an error. After the nodes come more
likely causes: an interface of this master that is down or through which no node is heard any more, and why reports are rejected. It warns of
two machines that report as one node, with both addresses, of a receiver that could not read its options again, of a full board, of IP
fragments that are not joined, of a journal of the board that does not write, and of a scheduler of whose hosts none is on the board. With
--where, nodes for which the condition holds are counted instead, and nodes named but not on the board.
The result is 3 if there is no board, it is stalled or no node is on it, so that no state is known, or if the node list cannot be read. --fail open makes
that 0, --fail closed makes it 2. With --fail open, names that are not on the board are reported but do not count.
For Slurm's PrologSlurmctld use beoboard-gate: it waits for nodes that may come back, and answers with 0 or 1 only.
--setup is for people who set up a master: of each part (board, receiver, links, list, keys, senders, clocks, journal,
scheduler, units) a line says what is right (ok), what may be so on purpose (--), or what is wrong (!!), and what to type.
Exit codes: 0 OK, 1 warning, 2 critical, 3 unknown, and wrong usage; with --setup 0 nothing is wrong, 1 something is, 2 wrong usage.`,
});

/** A node that left a short time ago was shut down on purpose; from this age on somebody may have forgotten it. */
const LEFT_TOO_LONG_MS = 600_000;

const WORDS = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const;
type Code = 0 | 1 | 2 | 3;

/** The parts of the line: the code, what is wrong or right, and figures for graphs. */
interface Verdict {
  readonly code: Code;
  readonly text: string;
  readonly figures?: string;
  readonly fails?: Fail;
}

/** Monitors cut what is longer: old NRPE passes on so many bytes of a line and its figures. */
const MOST_BYTES = 1023;

/** How many parts of each host list are shown; fewer if there is no room for so many. */
const MOST_PARTS = 5;

/** Nodes about which one thing is said, and what else is said of them. */
type CheckedNodes = readonly [what: string, names: readonly string[], note?: string];

/** A number of nodes, the first parts of their host list, and the note. */
function shown([what, names, note]: CheckedNodes, most: number): string {
  const facts = note === undefined ? [] : [note];
  if (most > 0) {
    const parts = foldParts(names);
    const cut = parts.slice(0, most).map(part => shortened(part, 100));
    facts.unshift(`${cut.join(',')}${parts.length > most ? ' and more' : ''}`);
  }
  return `${names.length} ${what}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`;
}

/** What nodes had and have not now: a problem of which the episode is not over, or a source that shows some. */
interface Recent {
  readonly what: string;
  readonly names: readonly string[];
  /** When it was last seen, and how often, or since when it is not measured. */
  readonly note: string;
  /** Those on which it warns. */
  readonly suspects: readonly string[];
}

/** The nodes with each problem, and those that had it. */
interface Troubles {
  readonly problems: readonly (readonly [problem: Problem, names: readonly string[]])[];
  readonly recent: readonly Recent[];
  readonly unmeasured: readonly Recent[];
}

const NO_TROUBLES: Troubles = { problems: [], recent: [], unmeasured: [] };

/** The problems that warn also when they are recent, unless --recent says otherwise. */
const RECENT: readonly string[] = ['gpu_errors', 'hung_tasks', 'throttled'];

/** What one node had: `ageMs` is when it was seen, or last measured. */
interface Past {
  readonly of: 'recent' | 'unmeasured';
  readonly what: string;
  readonly name: string;
  readonly ageMs: number;
  readonly count: number;
  readonly sinceMs: number;
  /** Whether the last report that measured it showed it, less than a minute ago: it warns as if it were there. */
  readonly isUnsettled: boolean;
}

/** A node's problems now, and what it had; undefined: nothing. */
function troubled(snapshot: Snapshot, index: number, ignored: number) {
  const state = snapshot.stateOf(index);
  if (state !== 'live' && state !== 'uncertain') return undefined;
  const of = (bits: Uint32Array) => (bits[index] ?? 0) & ~ignored;
  const { overview } = snapshot;
  const problems = of(overview.problems);
  const memory = snapshot.memoryOf(index);
  const unmeasured = of(overview.unmeasured) & ~problems;
  const recent = (memory?.recentBits ?? 0) & ~ignored & ~problems & ~unmeasured;
  const gone = goneSources(snapshot, index, memory);
  if ((problems | recent | unmeasured) === 0 && gone.length === 0) return undefined;
  const { name } = snapshot.node(index);
  const past = problemsOf(recent | unmeasured).flatMap((what): Past[] => {
    const episode = memory?.episode(what);
    const isRecent = (recent & problemBit(what)) !== 0;
    if (episode === undefined) return [];
    const ageMs = isRecent ? episode.seenMs : episode.measuredMs;
    return [
      {
        of: isRecent ? 'recent' : 'unmeasured',
        what,
        name,
        ageMs,
        count: episode.count,
        sinceMs: memory?.sinceMs ?? 0,
        isUnsettled: isRecent && (of(overview.unsettled) & problemBit(what)) !== 0,
      },
    ];
  });
  for (const { source, goneMs } of gone)
    past.push({ of: 'unmeasured', what: source, name, ageMs: goneMs, count: 1, sinceMs: 0, isUnsettled: false });
  return { name, problems, past };
}

/** Since when the first of these was no longer measured; or when one was last seen, and how often if one was again. */
function noteOn(of: Past['of'], those: readonly Past[]): string {
  const ages = those.map(({ ageMs }) => ageMs);
  if (of === 'unmeasured') return sentences.unmeasuredSince({ age: formatDuration(Math.max(...ages)) });
  const [count, age] = [those.reduce((sum, { count }) => sum + count, 0), formatDuration(Math.min(...ages))];
  if (count <= those.length) return sentences.recentOnce({ age });
  return sentences.recentOften({ count, time: formatDuration(Math.max(...those.map(({ sinceMs }) => sinceMs))), age });
}

/** The problems of the chosen nodes, without the ignored ones. */
function lookForTroubles(
  reader: BoardReader,
  among: readonly string[] | undefined,
  ignore: readonly Problem[],
  warning: readonly string[],
): Troubles {
  const ignored = ignore.reduce((bits, problem) => bits | problemBit(problem), 0);
  const nodes = (among === undefined ? [undefined] : [...new Set(among)]).flatMap(name => {
    const snapshot = name === undefined ? reader.snapshot() : reader.snapshotOf(name);
    return Array.from({ length: snapshot.count }, (_, i) => troubled(snapshot, i, ignored) ?? []).flat();
  });
  const past = nodes.flatMap(({ past }) => past);
  const withNotes = (of: Past['of']) =>
    [...PROBLEMS, 'health', 'gpu'].flatMap((what): Recent[] => {
      const those = past.filter(one => one.of === of && one.what === what);
      const names = those.map(({ name }) => name);
      const suspects = names.filter((_, i) => warning.includes(what) || those[i]?.isUnsettled);
      return those.length === 0 ? [] : [{ what, names, note: noteOn(of, those), suspects }];
    });
  return {
    problems: byProblem(nodes).map(([problem, those]) => [problem, those.map(({ name }) => name)]),
    ...{ recent: withNotes('recent'), unmeasured: withNotes('unmeasured') },
  };
}

type Fail = Values<'fail'>['fail'];
type Limits = Values<'warning' | 'critical'> & { readonly fail?: Fail };

/** An empty board is no proof that all is well: after a boot of the master, reports may not reach it. */
const NOBODY = 'no node is on the board: nothing is known about nodes';

/** Whether names that are not on the board count as faults, because nothing is known about them. */
function excused(notOnBoard: readonly string[], fail: Fail): boolean {
  return fail === 'open' && notOnBoard.length > 0;
}

/** The groups that are not empty, with their numbers and names. */
function groupTexts(groups: readonly CheckedNodes[], most: number): string[] {
  return groups.filter(([, names]) => names.length > 0).map(group => shown(group, most));
}

/** The verdict with --where: nodes count for which the condition holds. */
export function judgeSelection(
  {
    names,
    asked,
    notOnBoard,
    remarks,
    warnings,
  }: Pick<Selection, 'names' | 'asked' | 'notOnBoard' | 'remarks' | 'warnings'>,
  condition: string,
  { warning, critical, fail }: Limits,
  most: number = MOST_PARTS,
): Verdict {
  const total = asked + notOnBoard.length;
  const open = excused(notOnBoard, fail);
  const count = names.length + (open ? 0 : notOnBoard.length);
  const limits = [warning, critical].map(limit => portionOf(limit, total)) as [number, number];
  const figures = `matching=${count};${limits.join(';')};0;${total}`;
  if (total === 0) return { ...ignorance([NOBODY, ...remarks, ...warnings].join('; '), fail), figures };
  const code = count > limits[1] ? 2 : count > limits[0] || warnings.length > 0 ? 1 : 0;
  const where = `with ${brief(condition, 200)}`;
  const parts = groupTexts(
    [
      [where, names],
      ['not on the board', notOnBoard],
    ],
    most,
  );
  const text = parts.length === 0 ? `${plural(total)}, none ${where}` : `of ${plural(total)} ${parts.join(', ')}`;
  return {
    code,
    text: [text, ...remarks, ...warnings].join('; '),
    ...(open && { fails: 'open' }),
    figures,
  };
}

/** The verdict on a board that has something to report. */
export function judgeCensus(
  census: Census,
  options: Limits,
  { problems, recent, unmeasured }: Troubles = NO_TROUBLES,
  most: number = MOST_PARTS,
): Verdict {
  const { counts, kept, notOnBoard, remarks, warnings } = census;
  const open = excused(notOnBoard, options.fail);
  const of = (...states: State[]) => kept.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  const gone = kept.filter(({ leftMs }) => (leftMs ?? 0) > LEFT_TOO_LONG_MS);
  const groups: [what: string, names: string[]][] = [
    ['silent', of('silent')],
    ['left longer than 10 minutes ago', gone.map(({ name }) => name)],
    ['not on the board', [...notOnBoard]],
    ['uncertain', of('uncertain')],
    ['never reported', of('never')],
  ];
  const unhealthy = new Set(problems.flatMap(([, names]) => names));
  const lately = [...recent, ...unmeasured].flatMap(({ suspects }) => suspects);
  const suspect = new Set([...unhealthy, ...lately]);
  const total = Object.values(counts).reduce((a, b) => a + b, 0) + notOnBoard.length;
  const excess = open ? notOnBoard.length : 0;
  const bad = groups.slice(0, 3).reduce((sum, [, names]) => sum + names.length, 0) - excess;
  // No node is counted twice: an uncertain one may have a problem too. A corrupt board may have a name twice.
  const named = groups.flatMap(([, names]) => names);
  const doubtful = named.length + suspect.size - named.filter(name => suspect.has(name)).length - excess;
  const [warning, critical] = [portionOf(options.warning, total), portionOf(options.critical, total)];
  const parts = groupTexts([...groups, ...problems], most);
  const told = (those: readonly Recent[]) =>
    those.map(({ what, names, note }) => shown([what, names, note], most)).join(', ');
  const nodes = plural(total);
  const figures = [
    `live=${counts.live};;;0;${total}`,
    `uncertain=${counts.uncertain};;;0;${total}`,
    `silent=${counts.silent};;;0;${total}`,
    `left=${counts.left};;;0;${total}`,
    `never=${counts.never};;;0;${total}`,
    `unhealthy=${unhealthy.size};;;0;${total}`,
    `missing=${doubtful};${warning};;0;${total}`,
    `down=${bad};;${critical};0;${total}`,
  ].join(' ');
  if (total === 0) return { ...ignorance([NOBODY, ...remarks, ...warnings].join('; '), options.fail), figures };
  return {
    code: bad > critical ? 2 : doubtful > warning || warnings.length > 0 ? 1 : 0,
    text: [
      parts.length === 0 ? `${nodes}, ${counts.live} live` : `of ${nodes} ${parts.join(', ')}`,
      ...(recent.length === 0 ? [] : [sentences.recent({ groups: told(recent) })]),
      ...(unmeasured.length === 0 ? [] : [sentences.unmeasured({ groups: told(unmeasured) })]),
      ...remarks,
      ...warnings,
    ].join('; '),
    ...(open && { fails: 'open' }),
    figures,
  };
}

/** The answer when nothing is known, as the options say. */
function ignorance(why: string, fail: Fail): Verdict {
  const code = fail === 'open' ? 0 : fail === 'closed' ? 2 : 3;
  return { code, text: why, ...(fail !== undefined && { fails: fail }) };
}

/** The verdict, with so many parts of each host list. */
async function lookAtBoard(values: ValuesOf<typeof verb>): Promise<(most: number) => Verdict> {
  const { where, nodes: among, fail } = values;
  for (const option of ['ignore', 'recent'] as const)
    if (where !== undefined && values[option] !== undefined)
      throw new UsageError(`--${option} and --where do not go together; leave one out`);
  const reader = new BoardReader(values.board, values.owner);
  const besides = (board: Snapshot, names: () => string[]) => [
    ...journalTroubles(values.journalRun, board).map(({ text }) => text),
    ...[unguardedText(schedulerViewOf(values.slurmDir, { names }), board)].filter(text => text !== undefined),
  ];
  const unknown = (board: Parameters<typeof unknownText>[0]) => () => ignorance(unknownText(board), fail);
  try {
    if (where !== undefined) {
      const selection = await select(reader, { condition: where }, { keep: () => true, among, besides });
      return selection.stalled ? unknown(selection) : most => judgeSelection(selection, where, values, most);
    }
    const census = takeCensus(reader, { keep: state => state !== 'live', among, besides });
    if (census.stalled) return unknown(census);
    const { ignore = [], recent = RECENT } = values;
    const troubles = values.health === 'on' ? lookForTroubles(reader, among, ignore, recent) : undefined;
    return most => judgeCensus(census, values, troubles, most);
  } finally {
    reader.close();
  }
}

/** The text in at most so many bytes; what is cut ends with …. */
function cut(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let end = Math.max(0, most - Buffer.byteLength('…'));
  // Not within a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${beginning(text, characters(bytes.toString('utf8', 0, end)))}…`;
}

/** The line of a verdict, in which as many names stand as there is room for; if there is too little without, it is cut. */
function lineOf(verdict: (most: number) => Verdict): { code: Code; line: string } {
  for (let most = MOST_PARTS; ; most--) {
    const { code, text, figures, fails } = verdict(most);
    const before = `BEOBOARD ${WORDS[code]}: `;
    const after = `${fails === undefined ? '' : `; fails ${fails}`}${figures === undefined ? '' : ` | ${figures}`}\n`;
    const shown = oneLine(text).replaceAll('|', '/');
    const room = MOST_BYTES - Buffer.byteLength(before + after);
    if (most === 0 || Buffer.byteLength(shown) <= room) return { code, line: `${before}${cut(shown, room)}${after}` };
  }
}

/** What --setup looks at. */
const OF_SETUP = ['setup', 'board', 'owner', 'journal-run', 'slurm-dir', 'config'];

async function checkSetup(values: ValuesOf<typeof verb>, given: Iterable<string>): Promise<number> {
  const other = [...given].find(name => !OF_SETUP.includes(name));
  if (other !== undefined) throw new UsageError(`--setup and --${other} do not go together; leave one out`);
  const { setupReport } = await import('./setup.js');
  const reader = new BoardReader(values.board, values.owner);
  try {
    const { text, isRight } = setupReport(reader, values);
    await print([text]);
    return isRight ? 0 : 1;
  } finally {
    reader.close();
  }
}

export async function main(argv: string[]): Promise<number> {
  if (argv.includes('--setup')) {
    const { values, given } = parseVerb(verb, argv);
    if (values.setup) return await checkSetup(values, given.keys());
  }
  let verdict: (most: number) => Verdict;
  try {
    verdict = await lookAtBoard(parseVerb(verb, argv).values);
  } catch (error) {
    // A monitor takes 2 as critical and reads stdout only.
    if (!(error instanceof UsageError || error instanceof Failure)) throw error;
    const message = error instanceof UsageError ? `beoboard ${verb.name}: ${error.message}` : error.message;
    verdict = () => ignorance(message, readAlone(verb, argv, 'fail'));
  }
  const { code, line } = lineOf(verdict);
  await print([line]);
  return code;
}
