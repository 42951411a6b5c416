// Every option of the product, each defined once, and how a verb's command line, config file and environment are read.
// Does nothing with the values and never ends the process.

import { hostname } from 'node:os';
import { Command, CommanderError, Option as Flag } from 'commander';
import { type Address, parseAddress } from './addresses.js';
import { readConfig, type Setting } from './config.js';
import { parseDuration } from './durations.js';
import { parseNodeName, readNodes } from './nodeset.js';
import { InputError, nearest, oneLine, quote } from './text.js';

/** A command line that cannot be taken; the message is the whole line for stderr, `exitCode` that of the process. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;

  constructor(verb: string, wrong: string) {
    super(`beoboard ${verb}: ${wrong}`);
  }
}

/** `--help` was asked for: `text` belongs on stdout, and the exit code is 0. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';

  constructor(readonly text: string) {
    super('help was asked for');
  }
}

interface Option<T> {
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

/** A user id as number, a user name as text. */
function user(text: string): number | string {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1) return Number(text);
  if (/^[A-Za-z_][\w.@-]*\$?$/.test(text)) return text;
  throw new InputError(`${quote(text)} is no user; write a user name or a user id`);
}

/** What every option means wherever it is taken. The key is its long name, on the command line and in a config file. */
const options = {
  board: one('PATH', "the board's file", path, standard('/dev/shm/beoboard/board')),
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
  /** In commander's way: `<list>`, `[field]`, `[fields...]`. */
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

function describe(name: OptionName): string {
  const { about, most, value, fallback }: Option<unknown> = options[name];
  const again = value !== '' && most > 2 ? '; may be repeated' : '';
  return `${about}${again}${fallback.shown && ` (default: ${fallback.shown})`}`;
}

/** The option as it is shown to people: `--to ADDR[:PORT]`. */
function spelled(name: OptionName): string {
  return `--${name} ${options[name].value}`.trimEnd();
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(options, name);
}

function build(verb: Verb<OptionName>): Command {
  const command = new Command(`beoboard ${verb.name}`)
    .description(verb.summary)
    .helpOption('-h, --help', 'show this help');
  for (const name of verb.options) {
    const { value, env }: Option<unknown> = options[name];
    // Commander only collects: the parsers run later, for all sources alike.
    const option = new Flag(value ? `--${name} <value>` : `--${name}`, describe(name));
    if (value) option.argParser<string[] | undefined>((text, before) => [...(before ?? []), text]);
    if (env) option.env(env);
    command.addOption(option);
  }
  for (const argument of verb.arguments ?? []) command.argument(argument);
  command.configureHelp({
    optionTerm: ({ long, flags }) => {
      const name = long?.slice(2) ?? '';
      return isOption(name) ? spelled(name) : flags;
    },
  });
  const examples = ['Examples:', ...verb.examples.map(line => `  ${line}`)].join('\n');
  return command.addHelpText('after', `${verb.notes ? `\n${verb.notes.trim()}\n` : ''}\n${examples}`);
}

/** What commander refused, in our words. */
function explain(verb: Verb<OptionName>, command: Command, { code, message }: CommanderError): string {
  const help = `see beoboard ${verb.name} --help`;
  const [, subject = ''] = /'(.*)'/s.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownOption': {
      const [given = ''] = subject.split('=', 1);
      const name = given.replace(/^-+/, '');
      if (isOption(name) && verb.options.includes(name)) {
        return options[name].value
          ? `unknown option ${quote(given)}; write ${spelled(name)}`
          : `${given} takes no value; write ${given}`;
      }
      if (isOption(name)) return `--${name} is an option of other verbs; ${help}`;
      const meant = nearest(name, [...verb.options, 'help']);
      return `unknown option ${quote(given)}; ${meant ? `did you mean --${meant}?` : help}`;
    }
    case 'commander.optionMissingArgument': {
      const name = /^--(\S+)/.exec(subject)?.[1] ?? '';
      return `--${name} has no value; write ${isOption(name) ? spelled(name) : '--help'}`;
    }
    case 'commander.missingArgument':
      return `the argument ${subject.toUpperCase()} is missing; ${help}`;
    case 'commander.excessArguments':
      return `${quote(command.args[command.registeredArguments.length] ?? '')} is one argument too many; ${help}`;
    default:
      return `${oneLine(message.replace(/^error: /, ''))}; ${help}`;
  }
}

/** What the command line or the environment says; undefined when it says nothing. */
function fromCommand(command: Command, name: OptionName, source: 'cli' | 'env'): Setting | undefined {
  const key = camel(name);
  if (command.getOptionValueSource(key) !== source) return undefined;
  const value: unknown = command.getOptionValue(key);
  const texts = Array.isArray(value) ? value.map(String) : ['true'];
  // The shell's way to take a variable back is to leave it empty.
  if (source === 'env') {
    const { env = name }: Option<unknown> = options[name];
    return texts[0] === '' ? undefined : { where: env, texts };
  }
  const swallowed = texts.find(text => text.startsWith('--') && isOption(text.slice(2)));
  if (swallowed !== undefined) {
    throw new InputError(`--${name} has no value, ${swallowed} follows it; write ${spelled(name)}`);
  }
  return { where: `--${name}`, texts };
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
): { values: Values<K>; args: string[] } {
  let help = '';
  const command = build(verb).exitOverride();
  command.configureOutput({
    writeOut: text => {
      help += text;
    },
    writeErr: () => {},
  });
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') throw new HelpShown(help);
    throw new UsageError(verb.name, explain(verb, command, error));
  }
  try {
    return { values: readValues(verb, command) as Values<K>, args: command.args };
  } catch (error) {
    throw error instanceof InputError ? new UsageError(verb.name, error.message) : error;
  }
}

function readValues(verb: Verb<OptionName>, command: Command): Record<string, unknown> {
  const settings = new Map<string, Setting>();
  const file = fromCommand(command, 'config', 'cli');
  if (file) {
    const shape = ({ value, most }: Option<unknown>) => (value === '' ? 'flag' : most === 1 ? 'one' : 'many');
    const keys = verb.options.filter(name => name !== 'config');
    const shapes = Object.fromEntries(keys.map(name => [name, shape(options[name])] as const));
    for (const [key, setting] of readConfig(options.config.read(file) ?? '', shapes, Object.keys(options))) {
      settings.set(key, setting);
    }
  }
  const values: Record<string, unknown> = {};
  for (const name of verb.options) {
    const { fallback, most, read }: Option<unknown> = options[name];
    const given = fromCommand(command, name, 'cli') ?? settings.get(name) ?? fromCommand(command, name, 'env');
    const setting = given ?? { where: `the default of --${name}`, texts: fallback.texts() };
    if (setting.texts.length > most) {
      throw new InputError(
        `${setting.where} is given ${setting.texts.length} times; give it ${most === 1 ? 'once' : `at most ${most} times`}`,
      );
    }
    values[camel(name)] = read(setting);
  }
  return values;
}
