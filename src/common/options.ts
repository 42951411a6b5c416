// Every option of the product, each defined once, and how a verb's command line, config file and environment are read.
// Does nothing with the values and never ends the process.

import { hostname } from 'node:os';
import { type Address, type Network, parseAddress, parseNetwork } from './addresses.js';
import { readConfig, type Setting } from './config.js';
import { parseDuration } from './durations.js';
import { HelpShown, UsageError, usable } from './failure.js';
import { parseNodeName, readNodes } from './hostlists.js';
import { InputError, nearest, quote } from './text.js';

export { HelpShown, UsageError };

interface Option<T> {
  /** Its name on the command line and in a file, where another verb's option has that name, too. */
  readonly long?: string;
  /** What stands for the value in help and errors; empty for a flag. */
  readonly value: string;
  readonly about: string;
  /** How many times it may be given. */
  readonly most: number;
  readonly env?: string;
  readonly fallback: Fallback;
  /** Makes the value from the texts given; InputErrors are told with `where`. */
  readonly read: (given: Setting) => T;
}

/** The default as somebody would write it, so that it is read by the same parser, and how help shows it. */
interface Fallback {
  readonly texts: () => readonly string[];
  readonly shown: string;
}

type Parser<T> = (text: string) => T;

const NOTHING: Fallback = { texts: () => [], shown: '' };
const standard = (...texts: string[]): Fallback => ({ texts: () => texts, shown: texts.join(', ') });

function at<T>({ where }: Setting, parse: Parser<T>, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof InputError ? new InputError(`${where}: ${error.message}`) : error;
  }
}

function flag(about: string): Option<boolean> {
  return { value: '', about, most: Number.POSITIVE_INFINITY, fallback: NOTHING, read: ({ texts }) => texts.length > 0 };
}

/** An option with a default always has a value. */
function one<T>(value: string, about: string, parse: Parser<T>, fallback: Fallback): Option<T> {
  return { value, about, most: 1, fallback, read: given => at(given, parse, given.texts[0] ?? '') };
}

function optional<T>(value: string, about: string, parse: Parser<T>, env?: string): Option<T | undefined> {
  const read = (given: Setting) => (given.texts[0] === undefined ? undefined : at(given, parse, given.texts[0]));
  return { value, about, most: 1, fallback: NOTHING, read, ...(env ? { env } : {}) };
}

function many<T>(
  value: string,
  about: string,
  parse: Parser<T>,
  fallback = NOTHING,
  most = Number.POSITIVE_INFINITY,
): Option<T[]> {
  return { value, about, most, fallback, read: given => given.texts.map(text => at(given, parse, text)) };
}

function path(text: string): string {
  if (text === '' || text.includes('\0')) throw new InputError(`${quote(text)} names no file; write a path`);
  return text;
}

/**
 * The path of a file on other machines. It passes through up to three shells and through programs that replace what follows a %,
 * so only what none of them knows is taken.
 */
function pacePath(text: string): string {
  if (/^(\/[A-Za-z0-9_.-]+)+$/.test(text) && !text.split('/').includes('..')) return text;
  throw new InputError(`${quote(text)} is no path for this; write one from / on, of letters, digits, . _ - alone`);
}

/** A command in words; there is no shell that would take quotes away. */
function commandWords(text: string): string[] {
  const words = text.split(/[ \t]+/).filter(word => word !== '');
  if (words.length > 0 && !/["'\\\n\0]/.test(text)) return words;
  throw new InputError(`${quote(text)} is no command; write words, without quotes, as in 'pdsh -S -w'`);
}

/** A whole number from `low` to `high`; `10k` is 10000, `2M` is 2000000. */
function count(low: number, high: number): Parser<number> {
  return text => {
    const [, digits, unit = ''] = /^(\d{1,15})([kM]?)$/.exec(text) ?? [];
    if (digits === undefined) throw new InputError(`${quote(text)} is no whole number; write it as 10000 or 10k`);
    const number = Number(digits) * (unit === 'M' ? 1_000_000 : unit === 'k' ? 1_000 : 1);
    if (number < low || number > high) throw new InputError(`${quote(text)} is out of bounds; write ${low} to ${high}`);
    return number;
  };
}

/** A share from 0 to 1, written in per cent: `2%`, `0.5`. */
function percent(text: string): number {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,6})?)%?$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 100)
    throw new InputError(`${quote(text)} is no share in per cent; write 0 to 100, as in 2% or 0.5`);
  return Number(digits) / 100;
}

/** Milliseconds, from `low` to `high`. */
function time(low: string, high: string): Parser<number> {
  return text => {
    const ms = parseDuration(text);
    if (ms >= parseDuration(low) && ms <= parseDuration(high)) return ms;
    throw new InputError(`${quote(text)} is out of bounds; write ${low} to ${high}`);
  };
}

/** The same, or `off`. */
function windowOf(low: string, high: string): Parser<number | 'off'> {
  const parse = time(low, high);
  return text => {
    try {
      return text === 'off' ? 'off' : parse(text);
    } catch (error) {
      throw error instanceof InputError ? new InputError(`${error.message}, or off`) : error;
    }
  };
}

function oneOf<const T extends string>(...words: readonly T[]): Parser<T> {
  return text => {
    const found = words.find(word => word === text);
    if (found !== undefined) return found;
    throw new InputError(`${quote(text)} is no word for it; write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
  };
}

function destination(text: string): Address | '-' {
  if (text === '-') return '-';
  const address = parseAddress(text);
  if (address.port === 0)
    throw new InputError(`${quote(text)} has port 0; write the port that the receiver listens on`);
  return address;
}

/** Ganglia's own ports. */
const GMOND_PORT = 8649;
const GMETAD_PORT = 8651;

/** There is no port that everybody would expect. */
function withPort(text: string): Address {
  const address = parseAddress(text, -1);
  if (address.port === -1) throw new InputError(`${quote(text)} has no port; write ADDR:PORT`);
  return address;
}

function multicastGroup(text: string): Address {
  const address = parseAddress(text);
  if (/^ff/i.test(address.host) ? address.host.includes(':') : /^2(2[4-9]|3\d)\./.test(address.host)) return address;
  throw new InputError(`${quote(text)} is no multicast group; write one of 224.0.0.0 to 239.255.255.255 or ff00::/8`);
}

/** As the kernel takes them. */
function interfaceName(text: string): string {
  if (/^[^\s/:]+$/.test(text) && Buffer.byteLength(text) <= 15 && text !== '.' && text !== '..') return text;
  throw new InputError(`${quote(text)} is no interface; write a name as in /sys/class/net`);
}

// The name becomes a file name and an XML value at Ganglia's, which takes no more than this.
function clusterName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text)) return text;
  throw new InputError(
    `${quote(text)} is no cluster name; write 1 to 63 letters, digits, . _ -, a letter or digit first`,
  );
}

function namePrefix(text: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,49}$/.test(text)) return text;
  throw new InputError(`${quote(text)} begins no node name; write 1 to 50 of a-z 0-9 . _ -, a letter or digit first`);
}

/** One of these words. */
function word<const T extends string>(...words: T[]): Parser<T> {
  return text => {
    const found = words.find(word => word === text);
    if (found === undefined) throw new InputError(`${quote(text)} is none of its words; write ${words.join(' or ')}`);
    return found;
  };
}

/** A board, and the name of the cluster that it is shown as. */
export interface NamedBoard {
  readonly name?: string;
  readonly path: string;
}

function namedBoard(text: string): NamedBoard {
  const [, name, rest] = /^([^=/]*)=(.*)$/s.exec(text) ?? [];
  return name === undefined ? { path: path(text) } : { name: clusterName(name), path: path(rest ?? '') };
}

/** Addresses and networks, separated by commas. */
function networks(text: string): Network[] {
  return text.split(',').map(part => parseNetwork(part.trim()));
}

const STATES = ['live', 'uncertain', 'silent', 'left', 'never', 'unknown'] as const;

/** Words for states, separated by commas. */
function stateWords(text: string): (typeof STATES)[number][] {
  return text.split(',').map(word => {
    const state = STATES.find(known => known === word);
    if (state !== undefined) return state;
    const meant = nearest(word, STATES);
    throw new InputError(
      `${quote(word)} is no state; ${meant ? `did you mean ${meant}?` : `write ${STATES.join(', ')}`}`,
    );
  });
}

function fieldName(text: string): string {
  if (/^-?[A-Za-z_][\w.]*$/.test(text)) return text;
  throw new InputError(`${quote(text)} names no field; beoboard describe lists them`);
}

/** Names separated by commas. */
function fieldNames(text: string): string[] {
  return text.split(',').map(fieldName);
}

/** What groups nodes: equal values of a field, or what a pattern finds in their names. */
export type Grouping = { readonly field: string } | { readonly pattern: RegExp };

/** A field, or a regular expression between slashes. */
function grouping(text: string): Grouping {
  const pattern = /^\/(.+)\/$/s.exec(text)?.[1];
  if (pattern === undefined) return { field: fieldName(text) };
  try {
    return { pattern: new RegExp(pattern, 'u') };
  } catch {
    throw new InputError(`${quote(text)} is no regular expression; write '/^rack[0-9]+/', say`);
  }
}

/** So many, or so many in a hundred. */
export interface Portion {
  readonly number: number;
  readonly percent: boolean;
}

function portion(text: string): Portion {
  const [, digits, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (digits === undefined) throw new InputError(`${quote(text)} is no number of nodes; write it as 5 or 2%`);
  return { number: Number(digits), percent: percent === '%' };
}

/** Only that there is something: what fields there are is known to who evaluates it. */
function condition(text: string): string {
  if (text.trim() === '') throw new InputError("it is empty; write one as in 'load > cpus'");
  return text;
}

/** A user id as number, a user name as text. */
function user(text: string): number | string {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1) return Number(text);
  if (/^[A-Za-z_][\w.@-]*\$?$/.test(text)) return text;
  throw new InputError(`${quote(text)} is no user; write a user name or a user id`);
}

/** What every option means wherever it is taken. The key is its long name, on the command line and in a config file. */
const options = {
  board: one('PATH', "the board's file", path, standard('/dev/shm/beoboard/board')),
  boards: {
    ...many(
      '[NAME=]PATH',
      "a board's file, and the name of the cluster that it is shown as",
      namedBoard,
      standard('/dev/shm/beoboard/board'),
    ),
    long: 'board',
  },
  to: many(
    'ADDR[:PORT]',
    'where reports go: names, [V6]:PORT, port 8677; - writes the datagram to stdout',
    destination,
  ),
  listen: many(
    'ADDR[:PORT]',
    'where to listen, IPv4 or IPv6, [::] hears IPv6 alone; port 0 picks one and prints it',
    parseAddress,
    standard('0.0.0.0:8677'),
  ),
  serve: {
    ...many(
      'ADDR[:PORT]',
      'where to serve what a gmond serves, port 8649; port 0 picks one and prints it',
      text => parseAddress(text, GMOND_PORT),
      standard(`0.0.0.0:${GMOND_PORT}`),
    ),
    long: 'listen',
  },
  'gzip-listen': many('ADDR:PORT', 'where to serve the same compressed; port 0 picks one and prints it', withPort),
  'gmetad-listen': many(
    'ADDR[:PORT]',
    'where to serve what a gmetad serves: the whole tree at PORT, 8651, and queries at the port behind it; port 0 picks both',
    text => parseAddress(text, GMETAD_PORT),
  ),
  'trusted-hosts': many(
    'LIST',
    'who may ask, besides this machine: addresses and networks, 10.0.0.1,10.1.0.0/16',
    networks,
  ),
  grid: one('NAME', "the grid's name", clusterName, standard('unspecified')),
  metrics: one(
    'WHICH',
    'gmond: those of a default gmond alone; all: ours as well',
    word('all', 'gmond'),
    standard('all'),
  ),
  group: many('ADDR[:PORT]', 'a multicast group to join, port 8677', multicastGroup),
  interface: optional('IF', 'the interface for multicasts, by name', interfaceName),
  ttl: one('N', 'routers that multicasts may pass, plus one, 0 to 255', count(0, 255), standard('1')),
  name: one('NAME', "the node's name", parseNodeName, {
    texts: () => [hostname().split('.', 1)[0]?.toLowerCase() ?? ''],
    shown: 'the host name up to its first dot, in lower case',
  }),
  cluster: optional('NAME', "the cluster's name", clusterName),
  'key-file': optional('FILE', 'the key, in a file that only its owner can read', path),
  require: optional(
    'WHAT',
    'what a report must at least have proved: none, cluster, or node (default: cluster with --key-file, else none)',
    oneOf('none', 'cluster', 'node'),
  ),
  'clock-window': one(
    'TIME',
    "how far a node's wall clock may be off when it starts to report with a key, 100ms to 24h, or off",
    windowOf('100ms', '24h'),
    standard('60s'),
  ),
  node: optional('LIST', 'the nodes whose own keys are to be derived, as a host list or @FILE', readNodes),
  'key-id': optional('N', 'the number of the key, 0 to 65535 (default: 1)', count(0, 65_535)),
  interval: one('TIME', 'from one report to the next, 100ms to 600s', time('100ms', '600s'), standard('1s')),
  'pace-file': optional('PATH', 'another interval for a time, in a file that root writes: interval 10s for 1h', path),
  'pace-min': one(
    'TIME',
    'the shortest interval that such a file may ask for',
    time('100ms', '600s'),
    standard('250ms'),
  ),
  'pace-max': one('TIME', 'the longest', time('100ms', '600s'), standard('60s')),
  'paced-interval': {
    ...optional('TIME', 'from one report to the next, 100ms to 600s', time('100ms', '600s')),
    long: 'interval',
  },
  'paced-for': { ...optional('TIME', 'for how long, 1s to 744h', time('1s', '744h')), long: 'for' },
  'paced-file': {
    ...one('PATH', 'the file on the nodes', pacePath, standard('/run/beoboard/pace')),
    long: 'pace-file',
  },
  off: flag('remove the file: each node goes back to its own interval'),
  via: one(
    'COMMAND',
    'what runs a command on nodes: words, behind which the nodes come as one host list; ssh is called for each node',
    commandWords,
    standard('clush -S -w'),
  ),
  'dry-run': flag('print the command lines, and run nothing'),
  once: flag('send one report, flagged as the last, and end'),
  aligned: flag('send on the wall clock, all nodes at once, instead of spread over the interval'),
  nodes: optional(
    'LIST',
    'the nodes as a host list, node[001-128],login1, or @FILE with a list on each line',
    readNodes,
  ),
  capacity: one('N', 'records on the board, 1 to 1000000', count(1, 1_000_000), standard('10240')),
  'uncertain-after': one('TIME', 'no longer live after', time('100ms', '24h'), standard('4.5s')),
  'silent-after': one('TIME', 'silent after', time('100ms', '24h'), standard('10.5s')),
  drain: one(
    'TIME',
    'from one emptying of the sockets to the next, 0ms to 100ms',
    time('0ms', '100ms'),
    standard('5ms'),
  ),
  proc: many('DIR', 'another /proc; given twice: the tick before, and the report', path, standard('/proc'), 2),
  sys: many('DIR', 'another /sys; given twice: the tick before, and the report', path, standard('/sys'), 2),
  scratch: one(
    'DIR',
    'the local scratch of which space is reported; never a network file system',
    path,
    standard('/tmp'),
  ),
  pretend: optional('FILE', 'TOML with what no tree holds (clocks, number …): repeats a report to the byte', path),
  config: optional('FILE', 'TOML with the same names; the command line goes before it', path),
  json: flag('one JSON object instead of text'),
  watch: flag('again every second, until it is ended'),
  owner: optional('USER', 'believe a board of this user too, by name or id', user, 'BEOBOARD_OWNER'),
  rate: optional('N', 'reports a second, as in 1000 or 100k', count(1, 100_000_000)),
  count: one('N', 'how many nodes', count(1, 1_000_000), standard('1000')),
  prefix: one('NAME', 'what the names of the nodes begin with', namePrefix, standard('node')),
  loss: one('PERCENT', 'of all reports, as many are left out by chance', percent, standard('0')),
  'restart-every': optional('TIME', 'each node restarts its sender about as often, 1s to 500h', time('1s', '500h')),
  silent: optional('LIST', 'nodes that fall silent, as behind a switch that fails: a host list, or @FILE', readNodes),
  'silent-from': one('TIME', 'when they fall silent, after the start', time('0ms', '500h'), standard('10s')),
  'silent-for': optional('TIME', 'for how long, 1ms to 500h; without it for good', time('1ms', '500h')),
  seed: one('N', 'the same seed gives the same cluster, 0 to 4294967295', count(0, 4_294_967_295), standard('1')),
  columns: optional(
    'NAMES',
    'columns of the table: name, state, age, load … or fields as beoboard describe has them',
    fieldNames,
  ),
  sort: optional('FIELD', 'rows by a field or column, the largest first; -FIELD the smallest first', fieldName),
  grouping: {
    ...optional(
      'RULE',
      "a line for each group of nodes: by a field, or by a part of the name as in '/^rack[0-9]+/'",
      grouping,
    ),
    long: 'group',
  },
  exceptions: flag('only nodes that are not live; one line when all is well'),
  long: flag('a row for every node, and lists in full'),
  csv: flag('comma-separated values: names of columns, then a line for each node'),
  plain: flag('sentences instead of a table'),
  color: one('WHEN', 'colours: auto, always or never', word('auto', 'always', 'never'), standard('auto')),
  fail: optional(
    'WAY',
    'open or closed: what to say of nodes when there is no board, or a stalled one',
    word('open', 'closed'),
  ),
  warning: one('N[%]', 'more nodes than this that are not live are a warning', portion, standard('0')),
  critical: one('N[%]', 'more nodes than this that are silent, or left for long, are critical', portion, standard('0')),
  expand: flag('one name in each line'),
  fold: flag('one host list, as in node[001-128],login1'),
  counted: { ...flag('only how many there are'), long: 'count' },
  state: optional('STATES', 'nodes in these states: live, uncertain, silent, left, never, unknown', stateWords),
  where: optional('CONDITION', "nodes for which it holds, as in 'mem_avail_mib < 1024 && state == live'", condition),
  exclude: optional('LIST', 'a host list, or @FILE, to be left out', text => readNodes(text, 'any')),
  // setTimeout's 31 bits of ms are 596 hours; beyond them it would fire at once.
  for: optional('TIME', 'end after this time, 1ms to 500h', time('1ms', '500h')),
};

export type OptionName = keyof typeof options;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

/** The values of the options picked, under their names in camel case: `uncertain-after` is `uncertainAfter`. */
export type Values<K extends OptionName> = {
  readonly [N in K as Camel<N>]: (typeof options)[N] extends Option<infer T> ? T : never;
};

export interface Verb<K extends OptionName> {
  readonly name: string;
  /** One line, for the list of verbs as well. */
  readonly summary: string;
  readonly options: readonly K[];
  /** Letters that stand for options: `-w LIST`. */
  readonly letters?: Readonly<Record<string, K>>;
  /** `<list>`, `[field]`, `[fields...]`: needed, optional, any number of them. */
  readonly arguments?: readonly string[];
  /** Whole command lines. */
  readonly examples: readonly string[];
  /** Said below the options. */
  readonly notes?: string;
}

/** Says what a verb is called, does and takes; the options give its values their types. */
export function defineVerb<const K extends OptionName>(verb: Verb<K>): Verb<K> {
  return verb;
}

/** The name that people write. */
function longOf(name: OptionName): string {
  const { long = name }: Option<unknown> = options[name];
  return long;
}

/** The option as it is shown to people: `--to ADDR[:PORT]`. */
function spelled(name: OptionName): string {
  return `--${longOf(name)} ${options[name].value}`.trimEnd();
}

/** The option of this verb that people call so. */
function named(verb: Verb<OptionName>, long: string): OptionName | undefined {
  return verb.options.find(name => longOf(name) === long);
}

function describe(name: OptionName): string {
  const { about, most, value, env, fallback }: Option<unknown> = options[name];
  const again = value !== '' && most > 2 ? '; may be repeated' : '';
  return `${about}${again}${fallback.shown && ` (default: ${fallback.shown})`}${env ? ` (env: ${env})` : ''}`;
}

/** The text in lines of so many characters, each but the first indented. */
function wrapped(text: string, width: number, indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`);
}

function helpOf(verb: Verb<OptionName>): string {
  const letters = Object.entries(verb.letters ?? {});
  const terms = verb.options.map(name => {
    const letter = letters.find(([, meant]) => meant === name)?.[0];
    return [letter === undefined ? spelled(name) : `-${letter}, ${spelled(name)}`, describe(name)] as const;
  });
  const rows = [...terms, ['-h, --help', 'show this help'] as const];
  const indent = Math.max(...rows.map(([term]) => term.length)) + 4;
  const width = Math.max(40, (process.stdout.columns ?? 80) - indent);
  return [
    `Usage: ${['beoboard', verb.name, '[options]', ...(verb.arguments ?? [])].join(' ')}`,
    `\n${verb.summary}`,
    '\nOptions:',
    ...rows.map(([term, about]) => `  ${term.padEnd(indent - 2)}${wrapped(about, width, indent)}`),
    ...(verb.notes ? [`\n${verb.notes.trim()}`] : []),
    '\nExamples:',
    ...verb.examples.map(line => `  ${line}`),
    '',
  ].join('\n');
}

/** What stands on a command line: the texts of each option in their order, and the arguments. */
interface Line {
  readonly texts: ReadonlyMap<OptionName, readonly string[]>;
  readonly args: readonly string[];
}

/** Why a word that looks like an option is none of this verb. */
function unknown(verb: Verb<OptionName>, given: string): InputError {
  const help = `see beoboard ${verb.name} --help`;
  const long = given.replace(/^-+/, '');
  const meant = named(verb, long);
  if (meant !== undefined) return new InputError(`unknown option ${quote(given)}; write ${spelled(meant)}`);
  if (Object.keys(options).some(name => longOf(name as OptionName) === long))
    return new InputError(`--${long} is an option of other verbs; ${help}`);
  const near = nearest(long, [...verb.options.map(longOf), 'help']);
  return new InputError(`unknown option ${quote(given)}; ${near ? `did you mean --${near}?` : help}`);
}

/** Takes a command line apart: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, flags, `--`. Reads no value. */
function takeApart(verb: Verb<OptionName>, argv: readonly string[]): Line {
  const texts = new Map<OptionName, string[]>();
  const args: string[] = [];
  let wrong: InputError | undefined;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') {
      args.push(...argv.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    if (word === '--help' || word === '-h') throw new HelpShown(helpOf(verb));
    const [, long, inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const letter = verb.letters?.[word[1] ?? ''];
    const name = long !== undefined ? named(verb, long) : letter;
    if (name === undefined) {
      // Help that is asked for further on goes before what is wrong here.
      wrong ??= unknown(verb, word.split('=', 1)[0] ?? '');
      continue;
    }
    let text = long !== undefined ? inline : word.length > 2 ? word.slice(2) : undefined;
    if (options[name].value === '') {
      if (text !== undefined) wrong ??= new InputError(`${spelled(name)} takes no value; write ${spelled(name)}`);
      text = 'true';
    } else {
      text ??= argv[++i];
      if (text === undefined) wrong ??= new InputError(`--${longOf(name)} has no value; write ${spelled(name)}`);
      else if (text.startsWith('--') && named(verb, text.slice(2)) !== undefined)
        wrong ??= new InputError(`--${longOf(name)} has no value, ${text} follows it; write ${spelled(name)}`);
    }
    texts.set(name, [...(texts.get(name) ?? []), text ?? '']);
  }
  if (wrong !== undefined) throw wrong;
  checkArguments(verb, args);
  return { texts, args };
}

/** Whether there are as many arguments as the verb takes. */
function checkArguments(verb: Verb<OptionName>, args: readonly string[]): void {
  const takes = verb.arguments ?? [];
  const help = `see beoboard ${verb.name} --help`;
  const missing = takes.find((name, i) => name.startsWith('<') && args[i] === undefined);
  if (missing !== undefined)
    throw new InputError(`the argument ${missing.replace(/[<>.]/g, '').toUpperCase()} is missing; ${help}`);
  const extra = takes.at(-1)?.includes('...') ? undefined : args[takes.length];
  if (extra !== undefined) throw new InputError(`${quote(extra)} is one argument too many; ${help}`);
}

function camel(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Reads what follows the verb's name. The command line goes before the config file, that before the environment, that
 * before the default. Throws a UsageError for what cannot be taken, and HelpShown for `--help`.
 */
export function parseVerb<K extends OptionName>(
  verb: Verb<K>,
  argv: readonly string[],
): { values: Values<K>; args: readonly string[] } {
  return usable(verb.name, () => {
    const line = takeApart(verb, argv);
    return { values: readValues(verb, line) as Values<K>, args: line.args };
  });
}

/** What a config file says, by option. */
function fromFile(verb: Verb<OptionName>, texts: readonly string[]): Map<string, Setting> {
  const shape = ({ value, most }: Option<unknown>) => (value === '' ? 'flag' : most === 1 ? 'one' : 'many');
  const keys = verb.options.filter(name => name !== 'config');
  const shapes = Object.fromEntries(keys.map(name => [longOf(name), shape(options[name])] as const));
  const file = options.config.read({ where: '--config', texts }) ?? '';
  return readConfig(file, shapes, (Object.keys(options) as OptionName[]).map(longOf));
}

function readValues(verb: Verb<OptionName>, line: Line): Record<string, unknown> {
  const config = line.texts.get('config');
  const settings = config === undefined ? undefined : fromFile(verb, config);
  const values: Record<string, unknown> = {};
  for (const name of verb.options) {
    const { fallback, most, read, env }: Option<unknown> = options[name];
    const texts = line.texts.get(name);
    // The shell's way to take a variable back is to leave it empty.
    const variable = env === undefined ? '' : (process.env[env] ?? '');
    const setting = (texts && { where: `--${longOf(name)}`, texts }) ??
      settings?.get(longOf(name)) ??
      (variable === '' ? undefined : { where: env ?? '', texts: [variable] }) ?? {
        where: `the default of --${longOf(name)}`,
        texts: fallback.texts(),
      };
    if (setting.texts.length > most) {
      throw new InputError(
        `${setting.where} is given ${setting.texts.length} times; give it ${most === 1 ? 'once' : `at most ${most} times`}`,
      );
    }
    values[camel(name)] = read(setting);
  }
  return values;
}
