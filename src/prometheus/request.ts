// Parses the parameters of a scrape: `?collect[]=cpu&nodes=LIST&k=1&of=8`. Each invalid word is an InputError with a
// sentence.

import { qualityOf } from '../net/accept.js';
import { checked } from '../net/parameters.js';
import { NameRanges } from '../text/hostlists.js';
import { didYouMean, InputError, nearest, quote } from '../text/text.js';
import { COLLECTORS, type CollectorName, DEFAULT_COLLECTORS } from './families.js';
import type { Format } from './plan.js';
import type { SampleSelection } from './sample.js';

const MOST_NAMES = 100_000;
const MOST_SHARDS = 1024;

const KNOWN = ['nodes', 'k', 'of'];

/** What to export, and for which nodes. */
export interface Scrape {
  readonly collectors: readonly CollectorName[];
  readonly selection: SampleSelection;
}

function collectorOf(text: string): CollectorName {
  const known = COLLECTORS.find(name => name === text);
  if (known !== undefined) return known;
  const otherwise = `there are ${COLLECTORS.join(', ')}`;
  throw new InputError(`${quote(text)} is not a collector; ${didYouMean(nearest(text, COLLECTORS), otherwise)}`);
}

/** The collectors in the order of the table, each once; without any, the default ones. */
export function collectorsOf(names: readonly string[]): CollectorName[] {
  if (names.length === 0) return [...DEFAULT_COLLECTORS];
  const wanted = new Set(names.map(collectorOf));
  return COLLECTORS.filter(name => wanted.has(name));
}

function whole(query: URLSearchParams, name: string, low: number, high: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= low && number <= high) return number;
  throw new InputError(`${name} is ${quote(text)}; write a whole number of ${low} to ${high}`);
}

/** What a scrape asks for; `collects`: it may choose collectors. Throws an InputError. */
export function parseScrape(query: URLSearchParams, collects = true): Scrape {
  checked(query, collects ? ['collect[]', ...KNOWN] : KNOWN, ['collect[]', 'nodes']);
  if (query.has('of') && !query.has('k')) throw new InputError('of is given without k; write k=1 to k=of as well');
  if (query.has('k') && !query.has('of'))
    throw new InputError('k is given without of; write of=N, the number of shards, as well');
  const shards = whole(query, 'of', 1, MOST_SHARDS) ?? 1;
  const shard = whole(query, 'k', 1, shards);
  const lists = query.getAll('nodes');
  // A list from outside must never name a file of this machine. The lists are joined into one, because otherwise each
  // could be as long as the limit for all.
  const names = lists.length === 0 ? undefined : NameRanges.parse(lists.join(','), MOST_NAMES);
  return { collectors: collectorsOf(query.getAll('collect[]')), selection: { names, shard: shard ?? 1, shards } };
}

/** What `/sd` is asked for: the number of shards, and the zone of link-local targets. Throws an InputError. */
export function parseShards(query: URLSearchParams): { of: number; zone: string | undefined } {
  checked(query, ['of', 'zone'], ['zone']);
  const zone = query.get('zone') ?? undefined;
  if (zone !== undefined && !/^[\w.@-]{1,15}$/.test(zone))
    throw new InputError(`zone is ${quote(zone)}; write the interface of Prometheus's machine, as in zone=eth0`);
  return { of: whole(query, 'of', 1, MOST_SHARDS) ?? 1, zone };
}

/**
 * The host of a request as a target: the Host header has no zone of a link-local address, without which nobody can
 * connect to it, or has it as URLs do.
 */
export function targetOf(host: string, zone: string): string {
  const [, address, given = zone, port] =
    /^\[(fe[89ab][\da-f]:[\da-f:.]*)(?:%(?:25)?([^\]]+))?\](.*)$/i.exec(host) ?? [];
  return address === undefined || given === '' ? host : `[${address}%${given}]${port}`;
}

/** The available format that the client prefers; text if it does not say. */
export function formatOf(accept: string): Format {
  const open = qualityOf(accept, 'application/openmetrics-text', text => text === undefined || text === '1.0.0') ?? 0;
  const plain = qualityOf(accept, 'text/plain', text => text === undefined || text === '0.0.4') ?? 0;
  return open > 0 && open >= plain ? 'openmetrics' : 'text';
}
