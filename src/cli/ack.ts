// Acknowledges lines of the trouble list: they are dimmed for all who look, for a time, as far as they are about what
// their nodes have now. Changes no verdict.

import { changeAcks, readAcks } from '../acks/ackfile.js';
import type { Ack } from '../acks/acks.js';
import type { TroubleInfo } from '../acks/info.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { timeText } from '../presentation/troublelines.js';
import { survey } from '../query/survey.js';
import { schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { withReader } from '../shm/reader.js';
import { BOARD_MOST, expand, fold } from '../text/hostlists.js';
import { json, print } from '../text/output.js';
import { own } from '../text/tables.js';
import { didYouMean, few, nearest, oneLine, quote } from '../text/text.js';
import { troubleOf } from '../trouble/trouble.js';
import { asker, untilOf } from './asker.js';

export const verb = defineVerb({
  name: 'ack',
  options: ['until', 'reason', 'withdraw', 'slurm-dir', 'journal-run', 'json', 'board', 'owner', 'config'],
  arguments: ['[keys...]'],
  examples: [
    'beoboard ack',
    'beoboard ack root_full --until 18:00',
    "beoboard ack together:rack17 --until '2026-11-30 08:00' --reason 'PDU replaced on Monday'",
    'beoboard ack silent --until +8h',
    'beoboard ack silent --withdraw',
  ],
  notes: `The key of a line is under trouble[].key in beoboard status --json, and in the page's address when its row is chosen. A kind
chooses all of its lines (silent: also silent:at-…). Without keys, ack lists what is acknowledged, and the keys of the other lines. An acknowledged line is dimmed for all, with your name and
the reason, until that time at most. It holds for what its nodes have now: what begins later, or on another node, is bright. A node that flaps stays dimmed as long as it does. States, exit codes, metrics and alerts stay as they are. Run it as the user of the receiver, or as root.
Exit codes: 0 done, 1 no such line, 2 usage, 4 no board.`,
});

const told = ({ key, nodes, at, flapping, by, until, reason }: Ack) => {
  const [begun, end] = [at, until].map(time => timeText(time, Date.now()));
  const which = `what began before ${begun}${flapping === undefined ? '' : `, and later while ${oneLine(flapping)} flaps`}`;
  return `${oneLine(key)}${nodes === '' ? '' : ` (${oneLine(nodes)})`}: ${which}, by ${oneLine(by)} until ${end}${reason === undefined ? '' : `: ${oneLine(reason)}`}`;
};

const present = (board: string, nowMs: number) => {
  const { acks, acksWhy: why } = readAcks(board);
  return { acks: acks.filter(({ until }) => Date.parse(until) > nowMs), why };
};

/** Lines that are about the question, not about the board. */
const OF_THE_LOOK: Readonly<Record<string, string>> = {
  acks: 'is about what is acknowledged itself',
  not_on_board: 'is about names that somebody asked for',
};

const keysOf = (lines: readonly TroubleInfo[]) => lines.filter(({ dim }) => dim !== 'ended').map(({ key }) => key);

/** Those with that key, and those whose key goes on behind it: `silent` is all silent nodes. */
const keyed = <T extends { readonly key: string }>(key: string, list: readonly T[]) =>
  list.filter(one => one.key === key || one.key.startsWith(`${key}:`));

/** Why a key has no line that can be acknowledged; undefined: it has. */
function wrongKey(key: string, lines: readonly TroubleInfo[]): string | undefined {
  const ofLook = own(OF_THE_LOOK, key);
  if (ofLook !== undefined) return `${quote(key)} ${ofLook}, and cannot be acknowledged`;
  const those = keyed(key, lines);
  if (those.length > 0 && those.every(({ dim }) => dim === 'ended'))
    return `${quote(key)} is over; nothing is to be acknowledged`;
  const keys = keysOf(lines);
  if (those.length > 0) return undefined;
  if (keys.length === 0) return `${quote(key)}: there is no trouble`;
  const there = `there are ${keys.slice(0, 8).map(oneLine).join(', ')}`;
  return `there is no line ${quote(key)}; ${didYouMean(nearest(key, keys), there)}`;
}

type AckOptions = ValuesOf<typeof verb>;

/** The lines of trouble, and the master's boot. Throws NoBoard. */
async function troubleLines({ board, owner, slurmDir, journalRun }: AckOptions, acks: readonly Ack[] = []) {
  return await withReader(board, owner, async reader => {
    const snapshot = reader.snapshot();
    const known = schedulerViewOf(slurmDir, snapshot);
    const scheduler = known.isKnown ? known : undefined;
    const lines = troubleOf(survey(snapshot), { scheduler, journals: journalRun, acks });
    return { lines, boot: String(snapshot.header.master_boot_id) };
  });
}

const namesIn = (nodes = '') => (nodes === '' ? [] : expand(nodes, BOARD_MOST));
const nodesOf = (lines: readonly TroubleInfo[]) => fold([...new Set(lines.flatMap(({ nodes }) => namesIn(nodes)))]);

/** What is left of an earlier one beside new ones: if one has its key, that of the nodes which this is not about. */
function leftOf(earlier: Ack, made: readonly Ack[]): Ack[] {
  const taken = made.find(({ key }) => key === earlier.key);
  if (taken === undefined) return [earlier];
  const names = new Set(namesIn(taken.nodes));
  const nodes = fold(namesIn(earlier.nodes).filter(name => !names.has(name)));
  return nodes === '' ? [] : [{ ...earlier, nodes }];
}

/** Acknowledges the lines of these keys, as they are now. Returns what is wrong with the others. */
async function acknowledge(keys: readonly string[], values: AckOptions, until: string): Promise<string[]> {
  const { board, reason } = values;
  const { lines, boot } = await troubleLines(values);
  // Behind the look: whatever it found had begun.
  const nowMs = Date.now();
  const monoMs = Number(process.hrtime.bigint() / 1_000_000n);
  const about = { by: asker(), at: new Date(nowMs).toISOString(), mono_ms: monoMs, boot };
  const made = [...new Set(keys)].flatMap((key): Ack[] => {
    const those = keyed(key, lines).filter(({ dim }) => dim !== 'ended');
    if (those.length === 0) return [];
    const flapping = nodesOf(those.filter(({ flapping }) => flapping !== undefined));
    const [times = 1, ...others] = new Set(those.map(({ times = 1 }) => times));
    return [
      {
        ...{ key, nodes: nodesOf(those), ...(flapping !== '' && { flapping }), ...about },
        ...(others.length === 0 && those.every(({ count }) => count === 1) && { times }),
        ...{ until, ...(reason !== undefined && { reason }) },
      },
    ];
  });
  if (made.length > 0) changeAcks(board, nowMs, acks => [...acks.flatMap(ack => leftOf(ack, made)), ...made]);
  return keys.flatMap(key => wrongKey(key, lines) ?? []);
}

/** How many keys a line for people has: the worst come first. */
const MOST_KEYS = 20;

/** The keys that can still be acknowledged, in a line; none if there is no such line. */
async function openKeys(values: AckOptions, acks: readonly Ack[]): Promise<string[]> {
  const { lines } = await troubleLines(values, acks);
  const open = lines.filter(
    ({ key, ack, dim }) => own(OF_THE_LOOK, key) === undefined && ack === undefined && dim !== 'ended',
  );
  if (open.length === 0) return [];
  // Of a key that is acknowledged, too, for what began before.
  const which = ({ key, nodes = '', since }: TroubleInfo) =>
    since === undefined || !acks.some(ack => ack.key === key)
      ? oneLine(key)
      : `${oneLine(key)} (${`${oneLine(nodes)} since`.trim()} ${timeText(since, Date.now())})`;
  return [`not acknowledged: ${few(open.map(which), MOST_KEYS)}\n`];
}

/** Withdraws what is acknowledged under these keys. Returns what is wrong with the others. */
function withdraw(keys: readonly string[], board: string, nowMs: number): string[] {
  const those = present(board, nowMs).acks;
  const there = those.map(({ key }) => key);
  const wrong = keys.filter(key => keyed(key, those).length === 0);
  if (wrong.length < keys.length)
    changeAcks(board, nowMs, acks => acks.filter(ack => keys.every(key => keyed(key, [ack]).length === 0)));
  return wrong.map(key => {
    const near = nearest(key, there);
    return `${quote(key)} is not acknowledged${near === undefined ? '' : `; ${didYouMean(oneLine(near), '')}`}`;
  });
}

export async function main(argv: string[]): Promise<number> {
  const { values, args: keys } = parseVerb(verb, argv);
  const { board, until } = values;
  const nowMs = Date.now();
  if (keys.length === 0 && (until !== undefined || values.withdraw || values.reason !== undefined))
    throw new UsageError('no key given; beoboard status --json has them under trouble');
  if (values.withdraw && until !== undefined)
    throw new UsageError('--withdraw and --until do not go together; leave one out');
  if (keys.length > 0 && !values.withdraw && until === undefined)
    throw new UsageError('until when? give --until 18:00, or --until +8h');
  // Whoever mistypes the path is told so.
  await withReader(board, values.owner, async reader => reader.links());
  const wrong = values.withdraw
    ? withdraw(keys, board, nowMs)
    : until === undefined
      ? []
      : await acknowledge(keys, values, new Date(untilOf(until, nowMs)).toISOString());
  const { acks, why } = present(board, nowMs);
  if (why !== undefined) wrong.push(why);
  const shown = keys.length === 0 ? acks : acks.filter(({ key }) => keys.includes(key));
  if (values.json) await print([`${json({ schema: 1, acks: shown })}\n`]);
  else await print([...shown.map(ack => `${told(ack)}\n`), ...(keys.length === 0 ? await openKeys(values, acks) : [])]);
  for (const text of wrong) process.stderr.write(`beoboard ack: ${text}\n`);
  return wrong.length === 0 ? 0 : 1;
}
