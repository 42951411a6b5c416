// The meaning of Slurm's words for the state of a node: IDLE+DRAIN, MIXED*, DOWN+NOT_RESPONDING. An unknown word makes
// the whole state unknown, and nothing is concluded about such a node; but a word of power saving counts beside any.

import type { StateMeaning } from '../../schedulerfile/scheduler.js';
import { own } from '../../text/tables.js';

// The words below are those of Slurm 20.02 to 26.05, as src/common/slurm_protocol_defs.c and src/api/node_info.c of each
// print them for `scontrol show node`, and as sinfo(1) explains them. None was new or gone between 22.05 and 23.11, nor
// is since 25.05.

/** The words for base states, and each in the words of all schedulers. */
const BASES = {
  UNKNOWN: 'unknown',
  DOWN: 'down',
  IDLE: 'idle',
  ALLOCATED: 'allocated',
  ERROR: 'error',
  MIXED: 'allocated',
  FUTURE: 'future',
} as const;

type SlurmBaseState = keyof typeof BASES;

/** The versions that write a word, the first and the last one; without a number: as far as the tables go. */
interface WordVersions {
  readonly from?: string;
  readonly to?: string;
}

interface Flag extends WordVersions {
  /** A node with this flag gets no new job, or not at once, or is not expected to be up. */
  readonly hinders?: true;
  /** Only programs ask for it by this name: scontrol has no word for the flag. */
  readonly isRequest?: true;
}

const [hinders, isRequest] = [true, true] as const;

/** What stands behind a base state and a plus. All that begin with POWER are of power saving. */
export const FLAGS: Readonly<Record<string, Flag>> = {
  BLOCKED: { from: '24.05', hinders },
  CLOUD: {},
  COMPLETING: { hinders },
  DRAIN: { hinders },
  DYNAMIC: { from: '21.08', to: '21.08' },
  DYNAMIC_FUTURE: { from: '22.05' },
  DYNAMIC_NORM: { from: '22.05' },
  EXTERNAL: { from: '25.05' },
  FAIL: { hinders },
  INVALID_REG: { from: '21.08', hinders },
  MAINTENANCE: { from: '21.08', hinders },
  NOT_RESPONDING: { from: '21.08', hinders },
  PERFCTRS: { from: '21.08', to: '23.11', hinders },
  PLANNED: { from: '21.08' },
  POWER: { to: '20.11', hinders },
  POWERED_DOWN: { from: '21.08', hinders },
  POWERING_DOWN: { hinders },
  POWERING_UP: { from: '21.08', hinders },
  POWER_DOWN: { from: '21.08', hinders },
  POWER_DRAIN: { isRequest, hinders },
  POWER_UP: { from: '21.08', hinders },
  REBOOT_CANCEL: { isRequest, hinders },
  REBOOT_ISSUED: { from: '21.08', hinders },
  REBOOT_REQUESTED: { from: '21.08', hinders },
  RESERVED: { from: '21.08' },
  RESUME: { from: '21.08' },
  UNDRAIN: { isRequest },
};

/** A word in the place of a base state, which it hides: UNKNOWN is said where that may be another than IDLE. */
interface Instead extends WordVersions {
  readonly base: SlurmBaseState;
  readonly flag: string;
}

/** What versions before 21.08 write in place of a base state and a flag. */
export const INSTEAD: Readonly<Record<string, Instead>> = {
  CANCEL_REBOOT: { to: '20.11', base: 'UNKNOWN', flag: 'REBOOT_REQUESTED' },
  MAINT: { to: '20.11', base: 'UNKNOWN', flag: 'MAINTENANCE' },
  PERFCTRS: { to: '20.11', base: 'IDLE', flag: 'PERFCTRS' },
  POWER_UP: { to: '20.11', base: 'UNKNOWN', flag: 'POWERING_UP' },
  REBOOT: { to: '20.11', base: 'UNKNOWN', flag: 'REBOOT_REQUESTED' },
  RESERVED: { to: '20.11', base: 'IDLE', flag: 'RESERVED' },
  RESUME: { to: '20.11', base: 'UNKNOWN', flag: 'RESUME' },
};

/** Characters after a base state in place of a flag, as sinfo of all versions and scontrol before 21.08 write them. */
export const SIGNS: Readonly<Record<string, WordVersions & { readonly flag: string }>> = {
  '*': { flag: 'NOT_RESPONDING' },
  '~': { flag: 'POWERED_DOWN' },
  '#': { flag: 'POWERING_UP' },
  '%': { flag: 'POWERING_DOWN' },
  $: { flag: 'MAINTENANCE' },
  '@': { flag: 'REBOOT_REQUESTED' },
  '!': { from: '21.08', flag: 'POWER_DOWN' },
  '^': { from: '21.08', flag: 'REBOOT_ISSUED' },
  '-': { from: '21.08', flag: 'PLANNED' },
};

interface NodeState {
  readonly text: string;
  /** Undefined: one of its words is unknown. */
  readonly base: SlurmBaseState | undefined;
  readonly flags: ReadonlySet<string>;
}

/** Splits the words. */
export function nodeState(text: string): NodeState {
  const [first = '', ...more] = text.split('+');
  const flags = new Set(more);
  let word = first;
  for (let sign = own(SIGNS, word.slice(-1)); sign !== undefined; sign = own(SIGNS, word.slice(-1))) {
    flags.add(sign.flag);
    word = word.slice(0, -1);
  }
  const instead = own(INSTEAD, word);
  if (instead !== undefined) flags.add(instead.flag);
  const base = instead?.base ?? (Object.hasOwn(BASES, word) ? (word as SlurmBaseState) : undefined);
  // An unknown word may be one of power saving.
  if (base === undefined) flags.add(word);
  return { text, base: more.every(flag => own(FLAGS, flag) !== undefined) ? base : undefined, flags };
}

/**
 * Whether it is powered down because there are no jobs, or on its way down or up, perhaps in a word of a newer version:
 * the board does not expect to hear it.
 */
export function savesPower({ flags }: NodeState): boolean {
  return [...flags].some(flag => flag.startsWith('POWER'));
}

/** Whether Slurm would start a job on it. */
export function isSchedulable({ base, flags }: NodeState): boolean {
  return (
    (base === 'IDLE' || base === 'MIXED' || base === 'ALLOCATED') && ![...flags].some(flag => own(FLAGS, flag)?.hinders)
  );
}

const ifSo = (is: boolean) => (is ? true : undefined);

/** The same in the words of all schedulers. */
export function meaningOf(text: string): StateMeaning {
  const state = nodeState(text);
  return {
    base: state.base && BASES[state.base],
    takes_jobs: ifSo(isSchedulable(state)),
    ending: ifSo(state.flags.has('COMPLETING')),
    asleep: ifSo(savesPower(state)),
    aside: state.flags.has('MAINTENANCE') ? 'in maintenance' : state.flags.has('DRAIN') ? 'drained' : undefined,
  };
}
