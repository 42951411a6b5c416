// The meaning of Slurm's words for the state of a node: IDLE+DRAIN, MIXED*, DOWN+NOT_RESPONDING. An unknown word makes
// the whole state unknown, and nothing is concluded about such a node.

const BASES = ['UNKNOWN', 'DOWN', 'IDLE', 'ALLOCATED', 'ERROR', 'MIXED', 'FUTURE'] as const;

export type Base = (typeof BASES)[number];

/** All flags that 22.05 to 24.11 add to a base state. */
const FLAGS = new Set([
  ...[
    'BLOCKED',
    'CLOUD',
    'COMPLETING',
    'DRAIN',
    'DYNAMIC_FUTURE',
    'DYNAMIC_NORM',
    'FAIL',
    'INVALID_REG',
    'MAINTENANCE',
  ],
  ...[
    'NOT_RESPONDING',
    'PERFCTRS',
    'PLANNED',
    'POWERED_DOWN',
    'POWERING_DOWN',
    'POWERING_UP',
    'POWER_DOWN',
    'POWER_DRAIN',
  ],
  ...['POWER_UP', 'REBOOT_CANCEL', 'REBOOT_ISSUED', 'REBOOT_REQUESTED', 'RESERVED', 'UNDRAIN', 'RESUME'],
]);

/** Characters after a base state in place of a flag, as `sinfo` and older versions write them. */
const SIGNS: Readonly<Record<string, string>> = {
  '*': 'NOT_RESPONDING',
  '~': 'POWERED_DOWN',
  '#': 'POWERING_UP',
  '!': 'POWER_DOWN',
  '%': 'POWERING_DOWN',
  $: 'MAINTENANCE',
  '@': 'REBOOT_ISSUED',
  '^': 'REBOOT_ISSUED',
  '-': 'PLANNED',
};

/** A node with one of these flags gets no new job, or not at once, or is not expected to be up. */
const HINDRANCES = ['DRAIN', 'FAIL', 'MAINTENANCE', 'NOT_RESPONDING', 'COMPLETING', 'INVALID_REG', 'BLOCKED'];

export interface NodeState {
  /** As Slurm wrote it. */
  readonly text: string;
  /** Undefined: one of its words is unknown. */
  readonly base: Base | undefined;
  readonly flags: ReadonlySet<string>;
}

/** Splits the words. */
export function nodeState(text: string): NodeState {
  const [first = '', ...more] = text.split('+');
  const flags = new Set(more);
  let word = first;
  for (let sign = SIGNS[word.at(-1) ?? '']; sign !== undefined; sign = SIGNS[word.at(-1) ?? '']) {
    flags.add(sign);
    word = word.slice(0, -1);
  }
  const base = BASES.find(known => known === word);
  return { text, base: more.every(flag => FLAGS.has(flag)) ? base : undefined, flags };
}

const some = (flags: ReadonlySet<string>, begins: string) => [...flags].some(flag => flag.startsWith(begins));

/**
 * Whether it is powered down because there are no jobs, or on its way down or up: the board does not expect to hear it.
 */
export function savesPower({ base, flags }: NodeState): boolean {
  return base !== undefined && some(flags, 'POWER');
}

/** Whether Slurm would start a job on it. */
export function isSchedulable({ base, flags }: NodeState): boolean {
  return (
    (base === 'IDLE' || base === 'MIXED' || base === 'ALLOCATED') &&
    !HINDRANCES.some(flag => flags.has(flag)) &&
    !some(flags, 'POWER') &&
    !some(flags, 'REBOOT')
  );
}
