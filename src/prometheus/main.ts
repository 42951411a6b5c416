// The verb `prometheus`: serves boards to Prometheus on the master: one scrape instead of one per node.

import { type Handler, type HttpRequest, type HttpResponse, HttpServer, sentence } from '../net/http.js';
import { Refusal } from '../net/requests.js';
import { listenAll, runServer } from '../net/runserver.js';
import { distinct } from '../options/boardnames.js';
import { defineVerb, parseVerb, type ValuesOf } from '../options/options.js';
import { createLog } from '../service/log.js';
import { InputError } from '../text/text.js';
import { ScrapedBoard } from './boards.js';
import { Exporter } from './exporter.js';
import { frontPage } from './frontpage.js';
import { MEDIA_TYPES } from './plan.js';
import { formatOf, parseScrape, parseShards, targetOf } from './request.js';
import { SchedulerFamilies } from './schedulerfamilies.js';

export const verb = defineVerb({
  name: 'prometheus',
  options: ['board', 'owner', 'listen', 'allow-host', 'proxy', 'node-metrics', 'slurm-dir', 'config'],
  examples: [
    'beoboard prometheus',
    "curl -sg 'http://127.0.0.1:9678/metrics?collect[]=state&nodes=node[01-12]'",
    'beoboard prometheus --board alpha=/dev/shm/a/board --board beta=/dev/shm/b/board',
  ],
  notes: `In prometheus.yml, add a job with honor_labels: true and the target MASTER:9678; docs/prometheus.md shows the whole file.
/metrics takes collect[]=NAME, nodes=LIST, and k=1 and of=8 for the first of eight shards; /sd?of=8 lists all eight as targets.
It listens on this machine only. For TLS and passwords, use a proxy. SIGTERM, SIGINT and SIGHUP stop it.`,
});

type PrometheusOptions = ValuesOf<typeof verb>;

/** The boards of the options. Throws a UsageError if two would have the same name. */
export function boardsOf({ board, owner }: Pick<PrometheusOptions, 'board' | 'owner'>): ScrapedBoard[] {
  const boards = board.map(({ name, path }) => new ScrapedBoard(name, path, owner));
  // Of several no two are ever told as one.
  return boards.length < 2 ? boards : distinct(boards.map(board => board.keepName()));
}

/** The shards of the board as targets, each with its own name: without it they would share one `up`. */
function shardsOf({ query, host, zone }: HttpRequest): HttpResponse {
  const { of, zone: given = zone } = parseShards(query);
  if (host === '') throw new InputError('the request has no Host header, of which the targets are made; send one');
  const target = targetOf(host, given);
  const groups = Array.from({ length: of }, (_, i) => ({
    targets: [target],
    labels: of === 1 ? {} : { __param_k: String(i + 1), __param_of: String(of), instance: `${target}/${i + 1}of${of}` },
  }));
  return { status: 200, type: 'application/json', body: `${JSON.stringify(groups)}\n` };
}

/** Answers the exporter's requests. */
export function responder(exporter: Exporter, { nodeMetrics }: Pick<PrometheusOptions, 'nodeMetrics'>): Handler {
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { path, query, accept, isForeign, token, take } = request;
    const front = (status: number): HttpResponse => {
      const body = frontPage(exporter.boards, nodeMetrics, token);
      return { status, type: 'text/html; charset=utf-8', body };
    };
    // A person who comes from elsewhere goes on from here.
    if (isForeign && /metrics$/.test(path)) return front(403);
    switch (path) {
      case '/metrics':
      case '/node-metrics': {
        const isOwn = path === '/metrics';
        if (!isOwn && !nodeMetrics)
          throw new Refusal(
            'switched_off',
            'node-metrics are switched off; start beoboard prometheus with --node-metrics',
          );
        const format = formatOf(accept);
        const scrape = parseScrape(query, isOwn);
        // What an earlier scrape has found would be as old as the time between the two.
        if (isOwn) await exporter.slurm?.look();
        await take(exporter.sizeOf(isOwn ? scrape : { selection: scrape.selection }));
        const body = exporter[isOwn ? 'metrics' : 'nodeMetrics'](scrape, format);
        return { status: 200, type: MEDIA_TYPES[format], body };
      }
      case '/sd':
        return shardsOf(request);
      case '/-/healthy':
        return sentence(200, 'beoboard prometheus is healthy.');
      case '/':
        return front(200);
      default:
        throw new Refusal('not_found', 'there is no such page; see /');
    }
  };
}

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  const exporter = new Exporter(boardsOf(options), new SchedulerFamilies(options.slurmDir));
  const log = createLog(verb.name);
  const server = new HttpServer(responder(exporter, options), {
    names: options.allowHost,
    proxies: options.proxy.flat(),
  });
  return await runServer(log, server, {
    listen: () => listenAll(server, options.listen),
    url: address => `http://${address}/metrics`,
    counted: {
      stuck: 'cut off: they stopped reading',
      misnamed: 'refused: asked for another host; name it by --allow-host if it is this one',
    },
    boards: () => exporter.boards.map(board => board.look()),
  });
}
