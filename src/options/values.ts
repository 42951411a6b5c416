// The kinds of values of options: how each is read from text, and what it may be, so that completions can offer it.
// Knows no option.

import { isIPv6 } from 'node:net';
import { type Address, type Network, parseAddress, parseHosts, parseNetwork } from '../text/addresses.js';
import { parseDuration } from '../text/durations.js';
import { attempt } from '../text/failure.js';
import { parseNodeName } from '../text/hostlists.js';
import { type Moment, parseMoment } from '../text/moments.js';
import { readNodes } from '../text/nodefiles.js';
import { didYouMean, fits, InputError, nearest, oneLine, quote } from '../text/text.js';

/** What kind of thing a value is. */
export type ValueKind =
  /** One of its words. */
  | 'word'
  /** Some of its words, separated by commas. */
  | 'words'
  | 'file'
  | 'folder'
  /** A host list, or @FILE. */
  | 'nodes'
  /** A host by name or address, and a port. */
  | 'address'
  /** A network interface of this machine. */
  | 'interface'
  | 'user'
  | 'command'
  | 'time'
  | 'number'
  /** A field of a report, as `beoboard describe` lists it, or a column of `status`. */
  | 'field'
  /** Several fields, separated by commas. */
  | 'fields'
  /** Something that no completion can offer: a free name, a condition. */
  | 'text';

export interface OptionValue<T> {
  readonly kind: ValueKind;
  /** What stands for it in help and errors, if that does not follow from its kind. */
  readonly shown?: string;
  /** All possible words, or words that are possible besides the values of its kind. */
  readonly words?: readonly string[];
  /** Throws an InputError that says what to write. */
  readonly parse: (text: string) => T;
}

function value<T>(kind: ValueKind, parse: (text: string) => T): OptionValue<T> {
  return { kind, parse };
}

function shownAs<T>(shown: string, kind: ValueKind, parse: (text: string) => T): OptionValue<T> {
  return { shown, kind, parse };
}

/** The same value, shown by another word. */
export const called = <T>(shown: string, value: OptionValue<T>): OptionValue<T> => ({ ...value, shown });

const SHOWN: Readonly<Record<ValueKind, string>> = {
  ...{ word: 'NAME', words: 'NAMES', file: 'FILE', folder: 'DIR', nodes: 'LIST', address: 'ADDR[:PORT]' },
  ...{ interface: 'IF', user: 'USER', command: 'COMMAND', time: 'TIME', number: 'N', field: 'FIELD' },
  ...{ fields: 'NAMES', text: 'NAME' },
};

/** What stands for a value in help and errors. */
export const shownOf = ({ kind, shown = SHOWN[kind] }: OptionValue<unknown>) => shown;

/** Parses a text in whose place something else may be written, which its error says, too. */
function orElse<T>(parse: () => T, other: string): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof InputError ? new InputError(`${error.message}, or ${other}`) : error;
  }
}

function path(text: string): string {
  if (text === '' || text.includes('\0')) throw new InputError(`${quote(text)} is not a file name; write a path`);
  return text;
}

export const file = value('file', path);

/** The scheduler of the cluster. */
export const scheduler: OptionValue<string> = {
  kind: 'word',
  words: ['slurm', 'gridengine', 'file:'],
  parse: text => {
    if (/^(?:slurm|gridengine)$|^file:[^\0]/.test(text)) return text;
    throw new InputError(`${quote(text)} is no scheduler that is known; write slurm, gridengine, or file:PATH`);
  },
};

export const folder = value('folder', path);

/**
 * The path of a file on other machines. It passes through up to three shells, and through programs that replace what
 * follows a %, so it may have only characters that are special to none of them.
 */
export const remoteFile = shownAs('PATH', 'file', (text): string => {
  if (/^(\/[A-Za-z0-9_.-]+)+$/.test(text) && !text.split('/').includes('..')) return text;
  throw new InputError(
    `${quote(text)} is not a plain absolute path; write one of letters, digits and . _ - without '..', as in /run/pace`,
  );
});

/** A command as words; no shell would remove quotes. */
export const command = value('command', (text): string[] => {
  const words = text.split(/[ \t]+/).filter(word => word !== '');
  if (words.length > 0 && !/["'\\\n\0]/.test(text)) return words;
  throw new InputError(`${quote(text)} is not a command; write words, without quotes, as in 'pdsh -S -w'`);
});

/** A whole number from `low` to `high`; `10k` is 10000, `2M` is 2000000. */
export function count(low: number, high: number): OptionValue<number> {
  return value('number', text => {
    const [, digits, unit = ''] = /^(\d{1,15})([kM]?)$/.exec(text) ?? [];
    const write = `write ${low} to ${high}`;
    const example = high < 10_000 ? '' : ', as in 10000 or 10k';
    if (digits === undefined) throw new InputError(`${quote(text)} is not a whole number; ${write}${example}`);
    const number = Number(digits) * (unit === 'M' ? 1_000_000 : unit === 'k' ? 1_000 : 1);
    if (number < low || number > high) throw new InputError(`${quote(text)} is out of bounds; ${write}`);
    return number;
  });
}

/** A share from 0 to 1, written in per cent: `2%`, `0.5`. */
export const percent = shownAs('PERCENT', 'number', (text): number => {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,6})?)%?$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 100)
    throw new InputError(`${quote(text)} is not a percentage; write 0 to 100, as in 2% or 0.5`);
  return Number(digits) / 100;
});

const ALL_NODES = 100_000;

/** A number of nodes, and a share of all of them, in thousandths of a percent: the larger counts. */
interface Portion {
  readonly nodes: number;
  readonly share: number;
}

/** 5, 2%, or the larger of both: 2%,5. */
export const portion = shownAs('LIMIT', 'number', (text): Portion => {
  const [isValid, alone, whole = '', part = '', nodes] =
    /^(?:(\d{1,9})|(\d{1,9})(?:\.(\d{1,3}))?%(?:,(\d{1,9}))?)$/.exec(text) ?? [];
  if (isValid === undefined)
    throw new InputError(`${quote(text)} is not a number of nodes; write it as 5, 2% or 0.1%,1`);
  const share = Number(whole + part.padEnd(3, '0'));
  if (share > ALL_NODES) throw new InputError(`${quote(text)} is more than all nodes; write 0% to 100%`);
  return { nodes: Number(alone ?? nodes ?? 0), share };
});

/** Milliseconds, from `low` to `high`. */
export function time(low: string, high: string): OptionValue<number> {
  return value('time', text => {
    // A bare 0 needs no unit.
    const ms = text === '0' ? 0 : parseDuration(text);
    if (ms >= parseDuration(low) && ms <= parseDuration(high)) return ms;
    throw new InputError(`${quote(text)} is out of bounds; write ${low} to ${high}`);
  });
}

const SIZES: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})(KiB|MiB|GiB|TiB)$/.exec(text) ?? [];
  if (digits === '') throw new InputError(`${quote(text)} is not a size; write a number and KiB, MiB, GiB or TiB`);
  return Number(digits) * (SIZES[unit] as number);
}

/** Bytes, from `low` to `high`. */
export function bytes(low: string, high: string): OptionValue<number> {
  return shownAs('SIZE', 'text', text => {
    const size = parseBytes(text);
    if (size >= parseBytes(low) && size <= parseBytes(high)) return size;
    throw new InputError(`${quote(text)} is out of bounds; write ${low} to ${high}`);
  });
}

/** Some of the last events: so many, or those of so long, ms. */
type Last = { readonly count: number } | { readonly ms: number };

export const last: OptionValue<Last> = {
  kind: 'number',
  shown: 'N|TIME',
  parse: text => {
    if (/^[\d.]+(ms|s|m|h|d)$/.test(text)) return { ms: time('1s', '3650d').parse(text) };
    return { count: orElse(() => count(0, 4096).parse(text), 'a time as in 1h') };
  },
};

/** A few words for people. */
export const remark = shownAs('TEXT', 'text', (text): string => {
  const words = oneLine(text.trim());
  if (words === '' || !fits(words, 200)) throw new InputError('write one to 200 characters');
  return words;
});

/** A moment of the past or the future; times of day are in the past. */
export const moment = shownAs('TIME', 'text', (text): Moment => parseMoment(text, Date.now()));

/** A time, or `off`. */
export function timeOrOff(low: string, high: string): OptionValue<number | 'off'> {
  const { parse } = time(low, high);
  return {
    kind: 'time',
    words: ['off'],
    parse: text => (text === 'off' ? 'off' : orElse(() => parse(text), 'off')),
  };
}

/** `a, b or c` */
function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ');
}

/** One of these words. */
export function oneOf<const T extends string>(...words: readonly T[]): OptionValue<T> {
  const parse = (text: string) => {
    const found = words.find(word => word === text);
    if (found === undefined) throw new InputError(`${quote(text)} is not a valid value; use ${alternatives(words)}`);
    return found;
  };
  return { kind: 'word', words, parse };
}

/** Some of these words, separated by commas; `what` one of them is called. */
export function someOf<const T extends string>(what: string, ...words: readonly T[]): OptionValue<T[]> {
  const parse = (text: string) =>
    text.split(',').map(part => {
      const found = words.find(word => word === part);
      if (found !== undefined) return found;
      const advice = didYouMean(nearest(part, words), `write ${words.join(', ')}`);
      throw new InputError(`${quote(part)} is not ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}; ${advice}`);
    });
  return { kind: 'words', words, parse };
}

/** The same, or `none`. */
export function someOrNone<const T extends string>(what: string, ...words: readonly T[]): OptionValue<T[]> {
  const { kind, parse } = someOf(what, ...words);
  return {
    kind,
    words: [...words, 'none'],
    parse: text => (text === 'none' ? [] : orElse(() => parse(text), 'none')),
  };
}

export const nodes = value('nodes', text => readNodes(text));

interface WrittenNames {
  readonly names: readonly string[];
  /** Why no node can have them all; undefined: each can be a node's. */
  readonly wrong?: string;
}

export const nodesOrScheduler = value('nodes', (text): WrittenNames => {
  try {
    return { names: readNodes(text) };
  } catch (error) {
    const names = attempt(() => readNodes(text, 'slurm'));
    if (names === undefined) throw error;
    return { names, wrong: (error as Error).message };
  }
});

/** Names as other programs have them, too. */
export const anyNodes = value('nodes', text => readNodes(text, 'any'));

/** An address; one without a port has this one. */
export function address(port?: number): OptionValue<Address> {
  return value('address', text => parseAddress(text, port));
}

/** An address that needs a port, because there is no usual one. */
export const addressWithPort = shownAs('ADDR:PORT', 'address', (text): Address => {
  const address = parseAddress(text, -1);
  if (address.port === -1) throw new InputError(`${quote(text)} has no port; write ADDR:PORT`);
  return address;
});

/** An address at which two consecutive ports are served. */
export function addressOfTwo(port: number): OptionValue<Address> {
  return value('address', text => {
    const address = parseAddress(text, port);
    if (address.port === 65_535)
      throw new InputError(
        `${quote(text)} is the last port, and queries need the port after it; write a port of 0 to 65534`,
      );
    return address;
  });
}

export const destination: OptionValue<Address | '-'> = {
  kind: 'address',
  words: ['-'],
  parse: text => {
    if (text === '-') return '-';
    const address = parseAddress(text);
    if (address.port === 0)
      throw new InputError(`${quote(text)} has port 0; write the port that the receiver listens on`);
    return address;
  },
};

export const multicastGroup = shownAs('ADDR[:PORT]', 'text', (text): Address => {
  const address = parseAddress(text);
  if (/^ff/i.test(address.host) ? address.host.includes(':') : /^2(2[4-9]|3\d)\./.test(address.host)) return address;
  throw new InputError(
    `${quote(text)} is not a multicast group; write one of 224.0.0.0 to 239.255.255.255 or ff00::/8`,
  );
});

/** Addresses and networks, separated by commas. */
const listOf = (parse: (text: string) => Network) =>
  shownAs('LIST', 'text', (text): Network[] => text.split(',').map(part => parse(part.trim())));
export const networks = listOf(parseNetwork);
/** The same of hosts, not of everybody. */
export const hosts = listOf(parseHosts);

/** A network interface, named as the kernel names them. */
export const networkInterface = value('interface', (text): string => {
  if (/^[^\s/:]+$/.test(text) && Buffer.byteLength(text) <= 15 && text !== '.' && text !== '..') return text;
  throw new InputError(`${quote(text)} is not an interface; write a name as in /sys/class/net`);
});

/** The name of a host or its address, without a port. */
export const hostName = value('text', (text): string => {
  const address = text.replace(/^\[(.*)\]$/, '$1');
  if (isIPv6(address)) return address;
  if (text.length <= 253 && /^[A-Za-z0-9_]([\w-]*\w)?(\.\w([\w-]*\w)?)*$/.test(text)) return text;
  throw new InputError(`${quote(text)} is not a host name; write it without a port, as in master.example`);
});

/** Words separated by commas; only the code that uses them knows which are valid. */
export const words = shownAs('NAMES', 'text', (text): string[] => text.split(',').map(word => word.trim()));

export const nodeName = value('text', parseNodeName);

/** The name becomes a file name and an XML value in Ganglia, which accepts only this. */
export const clusterName = value('text', (text): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text)) return text;
  throw new InputError(
    `${quote(text)} is not a cluster name; write 1 to 63 letters, digits, . _ -, a letter or digit first`,
  );
});

/** A cluster, and the name that Ganglia has for it. */
interface GangliaName {
  readonly cluster: string;
  /** As gmond sends it and gmetad takes it, in UTF-8. */
  readonly text: string;
}

/** gmetad makes a folder of it, with two bytes for each one beyond ASCII. */
const GANGLIA_NAME_MAX = 120;

/** gmetad passes on what it read unescaped, so that `&amp;` would make its own document invalid; a slash ends it. */
export const gangliaName = shownAs('NAME=TEXT', 'text', (written): GangliaName => {
  const [, cluster, name = ''] = /^([^=]*)=(.*)$/s.exec(written) ?? [];
  if (cluster === undefined)
    throw new InputError(`${quote(written)} is not NAME=TEXT; write the cluster and its name in Ganglia, alpha=My HPC`);
  if (/^(|\.|\.\.|__SummaryInfo__)$|[&<>"/\x00-\x1f\x7f]/.test(name) || Buffer.byteLength(name) > GANGLIA_NAME_MAX)
    throw new InputError(
      `${quote(name)} is not a cluster name that gmetad can handle; write 1 to ${GANGLIA_NAME_MAX} bytes without & < > " /`,
    );
  return { cluster: clusterName.parse(cluster), text: name };
});

export const namePrefix = value('text', (text): string => {
  if (/^[a-z0-9][a-z0-9._-]{0,49}$/.test(text)) return text;
  throw new InputError(
    `${quote(text)} is not a prefix of node names; write 1 to 50 of a-z 0-9 . _ -, a letter or digit first`,
  );
});

/** A board, and the cluster name under which it is shown. */
export const namedBoard = shownAs('[NAME=]PATH', 'file', text => {
  const [, name, rest] = /^([^=/]*)=(.*)$/s.exec(text) ?? [];
  return name === undefined ? { path: path(text) } : { name: clusterName.parse(name), path: path(rest ?? '') };
});

const isField = (text: string) => /^-?[A-Za-z_][\w.-]*$/.test(text);

function fieldName(text: string): string {
  if (isField(text)) return text;
  throw new InputError(`${quote(text)} is not a field; beoboard describe lists them`);
}

/** A word of a NATS subject: for a site, a cluster, a master. */
export const relayName = value('text', (text): string => {
  if (/^[a-z0-9_-]{1,32}$/.test(text)) return text;
  throw new InputError(`${quote(text)} is not a name for a subject; write 1 to 32 of a-z 0-9 _ -`);
});

/** A NATS server. Credentials come from files, because everybody can read a command line. */
export const natsServer = shownAs('URL', 'address', (text): string => {
  if (/^(nats|tls):\/\/(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(:\d{1,5})?$/.test(text)) return text;
  if (/@/.test(text))
    throw new InputError(
      'the address contains a password that others could read; write it into a file for --nats-login',
    );
  throw new InputError(`${quote(text)} is not a server of NATS; write nats://HOST:4222 or tls://HOST:4222`);
});

/** A master, and the file with the public key of its relay. */
export const trustedMaster = shownAs('MASTER=FILE', 'file', text => {
  const [, name = '', file = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (file === '')
    throw new InputError(`${quote(text)} is not MASTER=FILE; write the master's name and its key, m1=m1.pub`);
  return { name: relayName.parse(name), path: path(file) };
});

export const field = value('field', fieldName);

/** The path of a URL without a slash at its end; empty for the root. */
export const urlPath = shownAs('PATH', 'text', (text): string => {
  if (/^(\/[\w.~-]+)*\/?$/.test(text) && text.startsWith('/')) return text.replace(/\/$/, '');
  throw new InputError(`${quote(text)} is not a path of a URL; write it as in /cluster`);
});

/** Names separated by commas. */
export const fields = value('fields', text => text.split(',').map(fieldName));

/** A rule that groups nodes: equal values of a field, or what a pattern finds in their names. */
export type GroupingRule = { readonly field: string } | { readonly pattern: string };

/** A field, or a regular expression between slashes. */
export const grouping = shownAs('RULE', 'field', (text): GroupingRule => {
  const pattern = /^\/(.+)\/$/s.exec(text)?.[1];
  // An invalid regular expression is found by the code that uses it: loading the library here would take longer than
  // everything else.
  if (pattern !== undefined) return { pattern };
  if (isField(text)) return { field: text };
  throw new InputError(
    `${quote(text)} is neither a field nor a pattern between slashes; write one as in os_release or '/^rack[0-9]+/'`,
  );
});

/** A condition is only checked to be non-empty; the code that evaluates it knows the fields. */
export const condition = shownAs('CONDITION', 'text', (text): string => {
  if (text.trim() === '') throw new InputError("it is empty; write one as in 'load > cpus'");
  return text;
});

/** A user id as number, a user name as text. */
export const user = value('user', (text): number | string => {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1) return Number(text);
  if (/^[A-Za-z_][\w.@-]*\$?$/.test(text)) return text;
  throw new InputError(`${quote(text)} is not a user; write a user name or a user id`);
});
