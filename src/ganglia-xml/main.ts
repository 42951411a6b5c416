// The verb `ganglia`: serves the boards to Ganglia's frontends, in place of gmond and, for web pages, of gmetad.

import { runServer } from '../net/runserver.js';
import { gzipped } from '../net/sending.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { createLog, type Log } from '../service/log.js';
import { heartbeatText, NoBoard, orNoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import type { Address } from '../text/addresses.js';
import { words } from '../text/tables.js';
import { type ClusterSource, Documents, type Naming, nameOf } from './documents.js';
import { METRIC_SETS } from './metrics.js';
import { EVERYTHING, LINE_MAX, parseQuery } from './query.js';
import { GangliaServer, type Serve } from './server.js';

export const verb = defineVerb({
  name: 'ganglia',
  options: words('board owner listen gzip-listen gmetad-listen grid cluster-name trusted-hosts metrics config'),
  examples: [
    'beoboard ganglia',
    'beoboard ganglia --listen 127.0.0.1 --metrics gmond',
    'beoboard ganglia --gmetad-listen 127.0.0.1 --grid campus --board alpha=/dev/shm/a/board --board beta=/dev/shm/b/board',
  ],
  notes: `In gmetad.conf: data_source "my cluster" 15 MASTER:8649. With --gmetad-listen, ganglia-web reads its pages directly from the board
($conf['ganglia_port'] = 8652); its graphs still need a gmetad that writes RRDs. Several boards are several clusters in one document.
While a receiver is stalled, its hosts keep their last values for a minute; then nothing is served until it is back.
SIGTERM, SIGINT and SIGHUP stop it.`,
});

type GangliaOptions = ValuesOf<typeof verb>;

/** For how long a stalled board is shown in its last state, ms: the time in which a receiver is restarted. */
const STALLED_MOST_MS = 60_000;

class BoardSource implements ClusterSource {
  readonly name: string | undefined;
  readonly #reader: BoardReader;

  constructor({ name, path }: GangliaOptions['board'][number], owner: GangliaOptions['owner']) {
    this.name = name;
    this.#reader = new BoardReader(path, owner);
  }

  *pieces(nodes: number): Generator<Snapshot> {
    let first = true;
    for (const snapshot of this.#reader.pieces(nodes)) {
      if (first) this.#check(snapshot);
      first = false;
      yield snapshot;
    }
  }

  one(name: string): Snapshot {
    const snapshot = this.#reader.snapshotOf(name);
    this.#check(snapshot);
    return snapshot;
  }

  /** No document is better than old readings that are recorded as new ones forever. */
  #check({ stalled, heartbeatAgeMs, path }: Snapshot): void {
    const isYoung = heartbeatAgeMs !== undefined && heartbeatAgeMs >= 0 && heartbeatAgeMs < STALLED_MOST_MS;
    if (!stalled || isYoung) return;
    throw new NoBoard('starting', path, `stalled, ${heartbeatText(heartbeatAgeMs)}; start beoboard receive`);
  }
}

/**
 * The second of the wall clock. It never goes back, because it is the time of every point that gmetad draws, and gmetad
 * accepts no point twice. A clock that was set back has to catch up.
 */
export function clock(now: () => number = Date.now): () => number {
  let last = 0;
  return () => {
    last = Math.max(last, Math.floor(now() / 1000));
    return last;
  };
}

/** A document as it is; logs a line if there is none. */
function* logged(pieces: Iterable<Uint8Array>, log: Log): Generator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    if (error instanceof NoBoard) log.seldom(`${error.state} ${error.path}`, `nothing to serve: ${error.message}`);
    throw error;
  }
}

function* overHttp(pieces: Iterable<Uint8Array>, type: string): Generator<Uint8Array> {
  let begun = false;
  for (const bytes of pieces) {
    if (!begun && bytes.length > 0) {
      yield Buffer.from(`HTTP/1.0 200 OK\r\nServer: beoboard\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`);
      begun = true;
    }
    yield bytes;
  }
}

async function compress(pieces: Iterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of gzipped(pieces)) chunks.push(chunk);
  return chunks;
}

/** For how long a compressed document is kept, ms: for its own second, and one more for late clients. */
const GZIPPED_MS = 2000;

/** One compressed document at a time, for all clients that ask within its second. */
function shared(documents: Documents, now: () => number, log: Log): () => Promise<Uint8Array[]> {
  let last: { localtime: number; chunks: Promise<Uint8Array[]> } | undefined;
  return () => {
    const localtime = now();
    if (last?.localtime === localtime) return last.chunks;
    const made = { localtime, chunks: compress(logged(documents.gmond(localtime), log)) };
    last = made;
    const forget = () => {
      if (last === made) last = undefined;
    };
    made.chunks.then(() => setTimeout(forget, GZIPPED_MS).unref(), forget);
    return made.chunks;
  };
}

/** The contents of `/status`; `doubled`: how often a board was left out because of its name. */
function statusOf({ counts, clients }: GangliaServer, { board }: GangliaOptions, doubled: number): Buffer {
  const boards = board.map(({ path }) => path);
  return Buffer.from(`${JSON.stringify({ schema: 1, boards, clients, ...counts, doubled })}\n`);
}

/** Opens every port; returns their addresses in the order of the options. */
async function open(
  server: GangliaServer,
  options: GangliaOptions,
  names: Naming['names'],
  log: Log,
): Promise<Address[]> {
  const sources = options.board.map(board => new BoardSource(board, options.owner));
  let doubled = 0;
  const onDouble = (name: string, path: string) => {
    doubled++;
    log.seldom(`double ${path}`, `${path}: not served: another board is called ${name}, too; ${RENAME}`);
  };
  const documents = new Documents(sources, options.grid, METRIC_SETS[options.metrics], { names, onDouble });
  const now = clock();
  const bound: Address[] = [];
  const listen = async (address: Address, serve: Serve, longestQuery?: number) => {
    const at = await server.listen(address, serve, longestQuery);
    bound.push(at);
    return at;
  };
  const answer: Serve = async line => {
    const query = line === undefined ? undefined : parseQuery(line);
    if (query === undefined) {
      server.counts.bad++;
      return undefined;
    }
    const pieces = query.status ? [statusOf(server, options, doubled)] : logged(documents.gmetad(query, now()), log);
    return query.http ? overHttp(pieces, query.status ? 'application/json' : 'application/xml') : pieces;
  };
  for (const address of options.listen) await listen(address, async () => logged(documents.gmond(now()), log));
  for (const address of options.gzipListen) await listen(address, shared(documents, now, log));
  for (const address of options.gmetadListen) {
    const { port } = await listen(address, async () => logged(documents.gmetad(EVERYTHING, now()), log));
    await listen({ host: address.host, port: address.port === 0 ? 0 : port + 1 }, answer, LINE_MAX);
  }
  return bound;
}

const RENAME = 'give one another name, --board NAME=PATH';

/** The cluster of a board; or why there is none: the receiver may be started later. */
function clusterOf(path: string, owner: GangliaOptions['owner']): string | NoBoard {
  const reader = new BoardReader(path, owner);
  const found = orNoBoard(() => reader.nodeStates().board.header.cluster_name);
  reader.close();
  return found;
}

/** What Ganglia calls the clusters. Throws a UsageError if two are called alike, or a name is of none. */
function namesOf({ board, clusterName }: GangliaOptions, clusters: readonly (string | NoBoard)[]): Map<string, string> {
  const names = new Map(clusterName.map(({ cluster, text }) => [cluster, text]));
  const found = board.map(({ name }, i) => {
    const cluster = name ?? clusters[i];
    return typeof cluster === 'string' ? nameOf({ name: undefined }, cluster) : undefined;
  });
  const unknown = [...names.keys()].find(name => !found.includes(name));
  if (unknown !== undefined && !found.includes(undefined))
    throw new UsageError(
      `--cluster-name: no board is of cluster ${unknown}, but of ${found.join(', ')}; write that, or --board ${unknown}=PATH`,
    );
  const shown = found.map(name => name && (names.get(name) ?? name));
  const twice = shown.find((name, i) => name !== undefined && shown.indexOf(name) < i);
  if (twice !== undefined)
    throw new UsageError(`--board: two clusters are called ${twice}, and gmetad would count one of them; ${RENAME}`);
  return names;
}

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  const clusters = options.board.map(({ path }) => clusterOf(path, options.owner));
  const names = namesOf(options, clusters);
  const log = createLog(verb.name);
  const server = new GangliaServer(options.trustedHosts.flat());
  return await runServer(log, server, {
    listen: () => open(server, options, names, log),
    counted: {
      refused: 'refused: not among --trusted-hosts',
      stuck: 'cut off: they stopped reading',
      bad: 'asked for something that does not exist; write /CLUSTER/HOST/METRIC',
    },
    boards: () => clusters,
  });
}
