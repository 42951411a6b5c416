// The verb `web`: serves a page that shows all nodes of a board at a glance, and its data to programs.

import { resolve } from 'node:path';
import { HttpServer } from '../net/http.js';
import { listenAll, runServer } from '../net/runserver.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { createLog } from '../service/log.js';
import { Failure } from '../text/failure.js';
import { words } from '../text/tables.js';
import { shellWord } from '../text/text.js';
import { readPageFiles } from './pagefiles.js';
import { HEADERS, responder } from './routes.js';
import { Wall } from './wall.js';

export const verb = defineVerb({
  name: 'web',
  options: words('board owner listen allow-host proxy base show-jobs slurm-dir journal-run config'),
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
  const { values: options, given } = parseVerb(verb, argv);
  const log = createLog(verb.name);
  const page = readPageFiles();
  const wall = new Wall({
    board: options.board,
    owner: options.owner,
    named: given.has('board') ? ` --board ${shellWord(resolve(options.board))}` : '',
    build: page.build,
    journalRun: options.journalRun,
    slurmDir: options.showJobs ? options.slurmDir : undefined,
  });
  const server = new HttpServer(responder(wall, page, options.base), {
    names: options.allowHost,
    proxies: options.proxy.flat(),
    strict: true,
    headers: HEADERS,
  });
  return await runServer(log, server, {
    listen: async () => {
      await wall.begin();
      return await listenAll(server, options.listen);
    },
    url: address => `http://${address}${options.base}/`,
    exposed: `everybody who reaches it can see the names, addresses and readings of all nodes${options.showJobs ? ', and whose jobs run where' : ''}`,
    boards: () => [wall.watcher.trouble && new Failure(wall.watcher.trouble, 1)],
    isAlive: () => wall.isAlive,
    close: () => wall.close(),
  });
}
