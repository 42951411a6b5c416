// The help of programs in C whose options are those of a verb: the words are the verb's.

import { helpText, termsOf } from '../src/options/help.js';
import { letterOf, spelled, type Verb } from '../src/options/verb.js';
import { NAMES } from './contract.js';

interface ShortProgram {
  readonly macro: string;
  readonly verb: string;
  readonly summary?: string;
  /** The verb's options that it lacks. */
  readonly without: readonly string[];
  /** Its own options, each behind one of the verb's. */
  readonly own?: Readonly<Record<string, readonly (readonly [term: string, about: string])[]>>;
  readonly notes: string;
  readonly examples: readonly string[];
}

const PROGRAMS: Readonly<Record<string, readonly ShortProgram[]>> = {
  'c/verbs/help.gen.h': [
    {
      macro: 'CHECK_HELP',
      verb: 'check',
      summary: 'check whether nodes are well: beoboard check in C, for prologs, cron and loops',
      without: ['where', 'setup', 'slurm-dir', 'config'],
      notes: `Its answers are those of beoboard check, which also says why no node has reported, and warns when
a scheduler's hosts are not on the board. For --where, --setup, --slurm-dir and --config use it.
Exit codes: 0 OK, 1 warning, 2 critical, 3 unknown, and wrong usage.`,
      examples: [
        'beoboard-check --warning 0.1% --critical 1%,1',
        'beoboard-check --nodes "$SLURM_JOB_NODELIST" --fail open',
        'beoboard-check --ignore held,ecc',
        'beoboard-check --recent gpu_errors,oom',
      ],
    },
    {
      macro: 'NODES_HELP',
      verb: 'nodes',
      summary: 'print the names of nodes in given states: beoboard nodes in C, for prologs, cron\nand loops',
      without: ['where', 'job-id', 'user', 'for', 'slurm-dir', 'config'],
      notes: `Its answers are identical to those of beoboard nodes. For --where, --job-id, --user, --for, --slurm-dir and
--config use that.
Exit codes: 0 done, 1 a name is not on the board, 2 usage, 4 no board, or a stalled one: then nothing is known about any node.`,
      examples: [
        'beoboard-nodes --state live',
        'x=$(beoboard-nodes --state silent,uncertain) && sbatch --exclude="$x" job.sh',
        'beoboard-nodes --state silent --for-at-least 5m',
        'beoboard-nodes --healthy --nodes rack17n[01-48] --count',
        'beoboard-nodes --with-problem root_full,scratch_full',
        'beoboard-nodes --with-state --names /etc/beoboard/slurm-names --nodes CN-7,Node008',
      ],
    },
  ],
  'c/sender/help.gen.h': [
    {
      macro: 'SEND_HELP',
      verb: 'send',
      without: [],
      own: {
        sys: [
          [
            '--root DIR',
            'where a container has the root of its machine, with its /proc and /sys: reports the machine, not the container',
          ],
        ],
        pretend: [
          ['--user USER', 'switch to this user, by name or id, after opening what needs another user'],
          ['--seccomp', 'block every system call that is not needed (seccomp)'],
        ],
      },
      notes:
        'SIGTERM and SIGINT stop it with a last report, flagged goodbye. A master that cannot be reached is logged once and ' +
        'retried indefinitely. SIGHUP reads --config again; destinations, name and interval can change without losing a ' +
        'report. An interval of more than a second is reached in steps: it doubles when twelve reports, over at least twelve ' +
        'seconds, have announced that; a shorter one holds at once. When the name changes, the old one says goodbye. A pace ' +
        "file holds one line, interval TIME for TIME. It is trusted if it belongs to root, beoboard or the sender's user and " +
        'nobody else can write it.',
      examples: [
        'beoboard-send --to master',
        'beoboard-send --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s --user nobody',
        'beoboard-send --to 239.255.86.77 --interface eth0',
        'beoboard-send --once --to - | xxd | head -4',
      ],
    },
  ],
};

const COLUMNS = 80;

function textOf({ verb: name, summary, without, own = {}, ...rest }: ShortProgram, verbs: readonly Verb[]): string {
  const verb = verbs.find(one => one.name === name);
  if (verb === undefined) throw new Error(`there is no verb ${name}`);
  const terms = new Map(termsOf(verb));
  const rows = verb.options.flatMap(option => {
    const letter = letterOf(verb, option);
    const term = `${letter === undefined ? '' : `-${letter}, `}${spelled(verb, option)}`;
    return [...(without.includes(option) ? [] : [[term, terms.get(term) ?? ''] as const]), ...(own[option] ?? [])];
  });
  return helpText(
    {
      usage: `beoboard-${name} [options]`,
      summary: summary ?? verb.summary,
      rows: [...rows, ['-h, --help', 'show this help'], ['-V, --version', 'show the version']],
      ...rest,
    },
    COLUMNS,
  );
}

/** A text as a string of C: bytes that are not of ASCII as numbers, of which three digits cannot be mistaken. */
const inC = (line: string) =>
  [...Buffer.from(line)]
    .map(byte => (byte > 126 ? `\\${byte.toString(8)}` : String.fromCharCode(byte).replace(/["\\]/, '\\$&')))
    .join('')
    .replace('\n', '\\n');

/** The headers: path → text. */
export function shortHelp(verbs: readonly Verb[]): [path: string, text: string][] {
  return Object.entries(PROGRAMS).map(([path, programs]) => {
    const macros = programs.map(program => {
      const lines = textOf(program, verbs)
        .trimEnd()
        .split('\n')
        .flatMap(line => `${line}\n`.match(/.{1,100}(?: |\n)|\n/gs) ?? []);
      return `#define ${program.macro} \\\n${lines.map(line => `  "${inC(line)}"`).join(' \\\n')}\n`;
    });
    return [
      path,
      `/* ${NAMES.notice.replace('the documents in proto/', "proto/shorthelp.ts and a verb's options")} */\n${macros.join('\n')}`,
    ];
  });
}
