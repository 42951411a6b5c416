// The receiver: one thread of C takes, stamps and lays down what comes; here it is configured, watched and ended.

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { formatAddress } from '../common/addresses.js';
import { Failure } from '../common/failure.js';
import { createLog } from '../common/log.js';
import { defineVerb, parseVerb, UsageError, type Values } from '../common/options.js';
import { onStop, tellParent } from '../common/process.js';
import { Receiver } from '../native/index.js';
import { openWriter } from '../shm/writer.js';
import { bufferAdvice, tellChanges } from './housekeeping.js';

export const verb = defineVerb({
  name: 'receive',
  summary: 'receive reports and lay them on the board',
  options: [
    'board',
    'listen',
    'group',
    'interface',
    'cluster',
    'nodes',
    'capacity',
    'uncertain-after',
    'silent-after',
    'drain',
    'config',
  ],
  examples: [
    'beoboard receive',
    'beoboard receive --listen 10.0.0.1 --cluster alpha --nodes node[001-128]',
    'beoboard receive --group 239.255.86.77 --interface eth0',
    'beoboard receive --listen 127.0.0.1:0 --board /dev/shm/my/board',
  ],
  notes:
    'Without --nodes every name that reports gets a record, first come, first served. SIGTERM and SIGINT end it; the board stays and can be read.',
});

type Options = Values<(typeof verb.options)[number]>;

const LOOK_MS = 1000;

/** Opens every socket, joins every group, and adds to `bound` where it listens. */
async function listen(receiver: Receiver, options: Options, bound: string[]): Promise<void> {
  for (const { host, port } of options.listen) {
    const { address } = await lookup(host).catch(() => {
      throw new Error(`cannot listen on ${host}: the name is not known`);
    });
    bound.push(formatAddress({ host: address, port: receiver.listen(address, port) }));
  }
  for (const { host, port } of options.group)
    bound.push(formatAddress({ host, port: receiver.join(host, port, options.interface) }));
}

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  if (options.uncertainAfter >= options.silentAfter)
    throw new UsageError(
      verb.name,
      '--uncertain-after is not below --silent-after; a node is uncertain before it is silent',
    );
  const log = createLog(verb.name);
  const stop = onStop();
  const stopped = once(stop, 'abort');
  const receiver = new Receiver(BigInt(Math.round(options.drain * 1e6)));
  const bound: string[] = [];
  try {
    await Promise.race([listen(receiver, options, bound), stopped]);
    if (stop.aborted) return 0;
    receiver.start(
      openWriter({
        path: options.board,
        cluster: options.cluster ?? '',
        capacity: options.capacity,
        uncertainAfter: options.uncertainAfter,
        silentAfter: options.silentAfter,
        nodes: options.nodes ?? [],
      }),
    );
  } catch (error) {
    receiver.stop();
    throw new Failure((error as Error).message, 1);
  }
  let last = receiver.status();
  const advice = bufferAdvice(last.receiveBuffer);
  if (advice !== undefined) log.warn(advice);
  tellParent({ listening: bound });
  log.info(`ready: listening on ${bound.join(', ')}, board ${options.board}`);
  const watch = setInterval(() => {
    const status = receiver.status();
    tellChanges(last, status, log);
    last = status;
  }, LOOK_MS);
  await stopped;
  clearInterval(watch);
  receiver.stop();
  log.info(`ended in good order; the board stays at ${options.board}`);
  return 0;
}
