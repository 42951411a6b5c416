// The verb `web`: serves a page that shows all nodes of a board at a glance, and its data to programs.

import { once } from 'node:events';
import { HttpServer } from '../net/http.js';
import { defineVerb, forms, parseVerb } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { createLog } from '../service/log.js';
import { onStop, tellParent } from '../service/process.js';
import { Service } from '../service/service.js';
import { type Address, formatAddress, isLoopback } from '../text/addresses.js';
import { readPageFiles } from './pagefiles.js';
import { HEADERS, responder } from './routes.js';
import { Wall } from './wall.js';

export const verb = defineVerb({
  name: 'web',
  summary: VERBS.web,
  options: ['board', 'owner', 'listen', 'allow-host', 'proxy', 'base', 'show-jobs', 'slurm-dir', 'config'],
  forms: forms.web,
  examples: [
    'beoboard web',
    'beoboard web --base /cluster --allow-host cluster.example.org',
    'beoboard web --show-jobs',
  ],
  notes: `It listens on this machine only, and serves everybody who can connect. For access from elsewhere, with passwords and TLS, use a proxy:
docs/web.md shows Apache, nginx and Open OnDemand. Programs read api/v1/nodes and others; api/v1/openapi.json describes them. The last 15
minutes are kept in memory. SIGTERM, SIGINT and SIGHUP stop it.`,
});

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  const log = createLog(verb.name);
  const stop = onStop('SIGHUP');
  const service = new Service();
  stop.addEventListener('abort', () => service.stopping());
  const stopped = once(stop, 'abort');
  const page = readPageFiles();
  const wall = new Wall({
    board: options.board,
    owner: options.owner,
    build: page.build,
    slurmDir: options.showJobs ? options.slurmDir : undefined,
  });
  const server = new HttpServer(responder(wall, page, options.base), {
    names: options.allowHost,
    proxies: options.proxy.flat(),
    strict: true,
    headers: HEADERS,
  });
  try {
    await wall.begin();
    const bound: Address[] = [];
    for (const address of options.listen) bound.push(await server.listen(address));
    const open = bound.filter(({ host }) => !isLoopback(host)).map(formatAddress);
    if (open.length > 0)
      log.warn(
        `${open.join(', ')}: everybody who reaches it can see the names, addresses and readings of all nodes${options.showJobs ? ', and whose jobs run where' : ''}`,
      );
    const listening = bound.map(formatAddress);
    tellParent({ listening });
    const status = `serving on ${listening.map(address => `http://${address}${options.base}/`).join(', ')}`;
    log.info(`ready: ${status}`);
    const { trouble } = wall.watcher;
    if (trouble !== undefined) log.warn(`nothing to show yet: ${trouble}`);
    service.ready(status);
    service.watch(() => wall.isAlive);
    if (!stop.aborted) await stopped;
    await server.end();
    log.info(`clean shutdown; ${server.counts.served} served, ${server.counts.stuck} cut off`);
    return 0;
  } finally {
    server.close();
    wall.close();
  }
}
