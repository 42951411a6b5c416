// Acknowledges lines of the trouble list: they are dimmed for all who look, for a time, as far as they are about the
// nodes that they have now. Changes no verdict.

import { userInfo } from 'node:os';
import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { forms } from '../options/table.js';
import { VERBS } from '../options/verbs.js';
import { wallTime } from '../presentation/sentences.js';
import { survey } from '../query/survey.js';
import { schedulerViewOf } from '../schedulers/schedulerview.js';
import { BoardReader } from '../shm/reader.js';
import { dayLater } from '../text/moments.js';
import { json, print } from '../text/output.js';
import { didYouMean, nearest, oneLine, quote, shortened } from '../text/text.js';
import { changeAcks, readAcks } from '../trouble/ackfile.js';
import type { Ack } from '../trouble/acks.js';
import type { TroubleInfo } from '../trouble/info.js';
import { troubleOf } from '../trouble/trouble.js';

export const verb = defineVerb({
  name: 'ack',
  summary: VERBS.ack,
  options: ['until', 'reason', 'withdraw', 'slurm-dir', 'journal-run', 'json', 'board', 'owner', 'config'],
  forms: forms.ack,
  arguments: ['[keys...]'],
  examples: [
    'beoboard ack',
    'beoboard ack root_full --until 18:00',
    "beoboard ack together:rack17 --until '2026-11-30 08:00' --reason 'PDU replaced on Monday'",
    'beoboard ack silent --until +8h',
    'beoboard ack silent --withdraw',
  ],
  notes: `The key of a line is under trouble[].key in beoboard status --json, and in the page's address when its row is chosen. Without keys, ack
lists what is acknowledged. An acknowledged line is dimmed for all, with your name and the reason, until that time. It is bright again when
another node joins it. States, exit codes, metrics and alerts stay as they are. Run it as the user of the receiver, or as root.
Exit codes: 0 done, 1 no such line, 2 usage, 4 no board.`,
});

/** Who asks, for people: with sudo, the user who called it. */
function asker(): string {
  const { SUDO_USER = '' } = process.env;
  if (SUDO_USER !== '') return shortened(oneLine(SUDO_USER), 64);
  try {
    return shortened(oneLine(userInfo().username), 64);
  } catch {
    // In a container a user may have no name.
    return `user ${process.getuid?.()}`;
  }
}

/** The time until which it holds. Throws a UsageError if that is over. */
function untilOf(until: { readonly ms: number; readonly isTimeOfDay: boolean }, nowMs: number): string {
  const ms = until.isTimeOfDay && until.ms <= nowMs ? dayLater(until.ms, 1) : until.ms;
  if (ms <= nowMs) throw new UsageError(verb.name, `--until: ${wallTime(ms)} is over; write 18:00 or +8h`);
  return new Date(ms).toISOString();
}

const told = ({ key, nodes, by, until, reason }: Ack) =>
  `${oneLine(key)}${nodes === '' ? '' : ` (${oneLine(nodes)})`}: by ${oneLine(by)} until ${wallTime(Date.parse(until))}${reason === undefined ? '' : `: ${oneLine(reason)}`}`;

/** Those that hold. */
const present = (board: string, nowMs: number) => {
  const { acks, acksWhy: why } = readAcks(board);
  return { acks: acks.filter(({ until }) => Date.parse(until) > nowMs), why };
};

/** Why a key has no line that can be acknowledged; undefined: it has. */
function wrongKey(key: string, lines: readonly TroubleInfo[]): string | undefined {
  const line = lines.find(line => line.key === key);
  if (line?.dim === 'ended') return `${quote(key)} is over; nothing is to be acknowledged`;
  const keys = lines.filter(({ dim }) => dim !== 'ended').map(line => line.key);
  if (line !== undefined) return undefined;
  if (keys.length === 0) return `${quote(key)}: there is no trouble`;
  const there = `there are ${keys.slice(0, 8).map(oneLine).join(', ')}`;
  return `there is no line ${quote(key)}; ${didYouMean(nearest(key, keys), there)}`;
}

export async function main(argv: string[]): Promise<number> {
  const { values, args: keys } = parseVerb(verb, argv);
  const { board, until, reason, withdraw } = values;
  const nowMs = Date.now();
  if (keys.length === 0 && (until !== undefined || withdraw || reason !== undefined))
    throw new UsageError(verb.name, 'no key given; beoboard status --json has them under trouble');
  if (withdraw && until !== undefined)
    throw new UsageError(verb.name, '--withdraw and --until do not go together; leave one out');
  if (keys.length > 0 && !withdraw && until === undefined)
    throw new UsageError(verb.name, 'until when? give --until 18:00, or --until +8h');
  const reader = new BoardReader(board, values.owner);
  try {
    const snapshot = reader.snapshot();
    const known = schedulerViewOf(values.slurmDir, snapshot);
    const lines = troubleOf(survey(snapshot), {
      scheduler: known.isKnown ? known : undefined,
      journals: values.journalRun,
    });
    const wrong: string[] = [];
    const isIn = new Set(keys);
    if (withdraw) {
      const there = new Set(present(board, nowMs).acks.map(({ key }) => key));
      wrong.push(...keys.filter(key => !there.has(key)).map(key => `${quote(key)} is not acknowledged`));
      if (wrong.length < keys.length) changeAcks(board, nowMs, acks => acks.filter(({ key }) => !isIn.has(key)));
    } else if (until !== undefined && keys.length > 0) {
      wrong.push(...keys.flatMap(key => wrongKey(key, lines) ?? []));
      const why = reason === undefined ? {} : { reason };
      const about = { by: asker(), at: new Date(nowMs).toISOString(), until: untilOf(until, nowMs), ...why };
      const made = lines
        .filter(({ key, dim }) => isIn.has(key) && dim !== 'ended')
        .map(({ key, nodes = '' }) => ({ key, nodes, ...about }));
      const taken = new Set(made.map(({ key }) => key));
      if (made.length > 0) changeAcks(board, nowMs, acks => [...acks.filter(({ key }) => !taken.has(key)), ...made]);
    }
    const { acks, why } = present(board, nowMs);
    if (why !== undefined) wrong.push(why);
    const shown = keys.length === 0 ? acks : acks.filter(({ key }) => isIn.has(key));
    if (values.json) await print([`${json({ schema: 1, acks: shown })}\n`]);
    else await print(shown.map(ack => `${told(ack)}\n`));
    for (const text of wrong) process.stderr.write(`beoboard ack: ${text}\n`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    reader.close();
  }
}
