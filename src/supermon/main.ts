// The verb `supermon`: serves boards, and other servers of the same kind, by the protocol of Supermon.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { listenAll, runServer } from '../net/runserver.js';
import { distinct } from '../options/boardnames.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { createLog, type Log } from '../service/log.js';
import { BoardSamples } from './boardsamples.js';
import { Child } from './children.js';
import { Concentrator } from './concentrator.js';
import { SupermonServer } from './server.js';

export const verb = defineVerb({
  name: 'supermon',
  options: ['board', 'owner', 'listen', 'from', 'config'],
  examples: [
    'beoboard supermon',
    'beoboard supermon --from rack1:2709 --from rack2:2709',
    'beoboard supermon --board alpha=/dev/shm/a/board --board beta=/dev/shm/b/board',
  ],
  notes: `Clients send # for the schema, S for a sample of everything, or 0x40S for the load averages only. The answer is an s-expression;
docs/supermon.md describes it. Try it: echo S | nc -N 127.0.0.1 2709
With --from and without --board, it serves the other servers only. By default it listens on this machine only. There are no passwords.
SIGTERM, SIGINT and SIGHUP end it.`,
});

function logChild(child: Child, log: Log): void {
  const { name, trouble, why, nodes } = child;
  if (trouble === undefined) log.info(`${name}: its nodes are served`);
  else log.warn(`${name}: ${why}; its ${nodes} nodes are unknown until it answers`);
}

export async function main(argv: string[]): Promise<number> {
  const { values: options, given } = parseVerb(verb, argv);
  const named = options.from.length > 0 && !given.has('board') ? [] : distinct(options.board);
  const boards = named.map(({ name, path }) => new BoardSamples(name, path, options.owner));
  const log = createLog(verb.name);
  // The number of this run: in another network a server may have the same host and port.
  const name = `${hostname()}/${randomBytes(8).toString('hex')}`;
  const children = options.from.map(address => new Child(address, name, child => logChild(child, log)));
  const concentrator = new Concentrator(name, boards, children);
  const server = new SupermonServer(concentrator.answer, undefined, concentrator.sizeOf);
  return await runServer(log, server, {
    listen: async () => {
      const bound = await listenAll(server, options.listen);
      for (const child of children) void child.meet();
      return bound;
    },
    exposed: 'there are no passwords: everybody who reaches it can read the names and values of all nodes',
    counted: {
      stuck: 'cut off: they stopped reading, sent nothing for too long, or there were too many clients',
      bad: 'asked for something that does not exist',
    },
    boards: () => boards.map(board => board.count()),
    close: () => {
      for (const child of children) child.close();
    },
  });
}
