// What belongs to a master, part by part: what is right, or what is wrong and what to type. For people who set one up.

import { spawnSync } from 'node:child_process';
import { readJournalStates } from '../journalfile/state.js';
import { bits } from '../layout/layout.gen.js';
import { type Surveyed, survey } from '../query/survey.js';
import { schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { keysOf } from '../shm/header.js';
import { unknownText } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import { plural } from '../shm/sentences.js';
import { isLoopback } from '../text/addresses.js';
import { Failure } from '../text/failure.js';
import { shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { unguardedText } from '../trouble/disagreements.js';
import type { Finding } from '../trouble/finding.js';
import { findingsOf } from '../trouble/findings.js';

/** `note`: it may be so on purpose. */
type Rating = 'right' | 'note' | 'wrong';
type SetupLine = readonly [part: string, rating: Rating, text: string];

const SIGNS: Readonly<Record<Rating, string>> = { right: 'ok', note: '--', wrong: '!!' };

/** The kinds of trouble that concern a part. */
const KINDS: Readonly<Record<string, readonly Finding['kind'][]>> = {
  receiver: ['receiver', 'reload', 'full', 'drops'],
  links: ['link', 'fragments'],
  senders: ['refused', 'rival', 'clone', 'sender'],
  clocks: ['clock', 'late'],
  journal: ['journal'],
};
const RECEIVE = '/etc/beoboard/receive.toml';
const RELOAD = 'systemctl reload beoboard-receive';
/** How long systemd may take, ms. */
const PATIENCE_MS = 10_000;

/** What systemd says of our units; nothing where it does not run. */
function unitLines(): SetupLine[] {
  const { status, stdout } = spawnSync(
    'systemctl',
    ['show', '--property=Id,ActiveState,UnitFileState,ConditionResult,ConditionTimestamp,Result', 'beoboard-*.service'],
    { encoding: 'utf8', timeout: PATIENCE_MS, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  if (status !== 0) return [];
  const units = stdout
    .split('\n\n')
    .map(block => Object.fromEntries(block.split('\n').map(line => [line.split('=')[0], line.replace(/^[^=]*=/, '')])))
    .filter(({ Id = '' }) => Id !== '');
  const named = (those: typeof units) => oneLine(those.map(({ Id = '' }) => Id.replace(/\.service$/, '')).join(', '));
  const failed = units.filter(({ ActiveState }) => ActiveState === 'failed');
  const skipped = units.filter(
    ({ ActiveState, UnitFileState, ConditionResult, ConditionTimestamp }) =>
      ActiveState === 'inactive' &&
      UnitFileState === 'enabled' &&
      ConditionResult === 'no' &&
      ConditionTimestamp !== '',
  );
  const mirrored = units.filter(({ Result }) => Result === 'exec-condition');
  const active = units.filter(({ ActiveState }) => ActiveState === 'active');
  return [
    ...failed.map(unit => ['units', 'wrong', `${named([unit])} has failed: journalctl -u ${named([unit])}`] as const),
    ...mirrored.map(
      unit =>
        ['units', 'note', `not started, because by mirror.toml a mirror has its board: ${named([unit])}`] as const,
    ),
    ...(skipped.length === 0
      ? []
      : [
          [
            'units',
            'note',
            `not started, because their files in /etc/beoboard are missing: ${named(skipped)}`,
          ] as const,
        ]),
    ['units', active.length === 0 ? 'note' : 'right', active.length === 0 ? 'none runs' : `run: ${named(active)}`],
  ];
}

/** The list of nodes, and who of it has never reported. */
function listLine(all: readonly Surveyed[], isListed: (node: Surveyed) => boolean): SetupLine {
  const never = all.filter(({ state }) => state === 'never');
  if (never.length > 0)
    return [
      'list',
      'wrong',
      `${plural(never.length)} never reported (${shownNames(never.map(({ name }) => name))}): ` +
        'on one of them, beoboard-send --check --config /etc/beoboard/send.toml',
    ];
  if (all.some(isListed)) return ['list', 'right', 'every node of it has reported'];
  return [
    'list',
    'note',
    `there is none, so a node that never reports is not missed: nodes = "@/etc/beoboard/nodes" in ${RECEIVE}, ${RELOAD}`,
  ];
}

/** All parts of the board's master. Throws a Failure if there is no board. */
function boardLines(reader: BoardReader, options: { journalRun: string; slurmDir: string }): SetupLine[] {
  const snapshot = reader.snapshot();
  const found = survey(snapshot);
  const { all } = found;
  const { cluster_name: cluster = '', capacity = 0, pid = 0 } = snapshot.header;
  const board = `${reader.path}: ${plural(all.length)} of at most ${capacity}${cluster === '' ? '' : `, cluster ${oneLine(cluster)}`}`;
  if (snapshot.stalled || snapshot.retired || snapshot.closed)
    return [
      ['board', 'right', board],
      ['receiver', 'wrong', `${unknownText(snapshot)}: systemctl status beoboard-receive`],
    ];
  const scheduler = schedulerViewOf(options.slurmDir, snapshot);
  const findings = groupBy(findingsOf(found, { journals: options.journalRun, withinMs: 0 }), ({ kind }) => kind);
  /** The trouble of a part, or if it has none this line. */
  const partLines = (otherwise: SetupLine): SetupLine[] => {
    const [part] = otherwise;
    const wrong = (KINDS[part] ?? []).flatMap(kind => findings.get(kind) ?? []);
    const texts = wrong.flatMap(({ sentences, what }) =>
      sentences.length > 0 ? sentences.map(({ text }) => text) : [what ?? ''],
    );
    return texts.length === 0 ? [otherwise] : texts.map(text => [part, 'wrong', text]);
  };
  const heard = snapshot.links.filter(({ accepted }) => accepted > 0);
  const at = heard.map(({ name, address, port, nodes }) => `${oneLine(name)} ${address}:${port} (${plural(nodes)})`);
  const isAlone = heard.every(({ address }) => isLoopback(address));
  const keys = keysOf(snapshot);
  const journals = readJournalStates(options.journalRun, reader.path).map(({ name }) => oneLine(name));
  const unguarded = unguardedText(scheduler, snapshot);
  const { trouble = unguarded } = scheduler;
  return [
    ['board', 'right', board],
    ...partLines(['receiver', 'right', `runs as process ${pid}`]),
    ...partLines([
      'links',
      heard.length === 0 || isAlone ? 'wrong' : 'right',
      heard.length === 0
        ? 'no node is heard by any'
        : isAlone
          ? `only this machine itself is heard: listen = ["0.0.0.0"] in ${RECEIVE}, systemctl restart beoboard-receive`
          : `nodes are heard by ${at.join(', ')}`,
    ]),
    listLine(all, ({ index }) => ((Number(snapshot.node(index).record.flags) >> bits.record_flags.listed) & 1) === 1),
    [
      'keys',
      keys.length === 0 ? 'note' : 'right',
      keys.length === 0
        ? `reports are not verified, so any machine can report as any node: beoboard keygen /etc/beoboard/cluster.key, and key-file in ${RECEIVE}`
        : `reports are verified with key ${keys.join(' or ')}`,
    ],
    ...partLines(['senders', 'right', 'no reports are rejected']),
    ...partLines(['clocks', 'right', 'those of nodes and master agree']),
    ...partLines([
      'journal',
      journals.length === 0 ? 'note' : 'right',
      journals.length === 0
        ? 'none, so what happened is soon forgotten: systemctl enable --now beoboard-journal@default'
        : `written: ${journals.join(', ')}`,
    ]),
    [
      'scheduler',
      trouble !== undefined && scheduler.isKnown ? 'wrong' : scheduler.isKnown ? 'right' : 'note',
      scheduler.isKnown ? (trouble ?? `${scheduler.name} is read`) : `not read: ${trouble}`,
    ],
  ];
}

/** The report, and whether nothing is wrong. */
export function setupReport(
  reader: BoardReader,
  options: { journalRun: string; slurmDir: string },
): { text: string; isRight: boolean } {
  const lines: SetupLine[] = [];
  try {
    lines.push(...boardLines(reader, options));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    lines.push(['board', 'wrong', `${error.message}: systemctl status beoboard-receive`]);
  }
  lines.push(...unitLines());
  return {
    text: lines.map(([part, rating, text]) => `${SIGNS[rating]}  ${part.padEnd(9)}  ${text}\n`).join(''),
    isRight: lines.every(([, rating]) => rating !== 'wrong'),
  };
}
