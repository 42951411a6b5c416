// Who is not among the trusted hosts gets no document. Runs in its own network, where clients can have other addresses.
//
// @rest

import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { beating, node, writeBoard } from '../kit/ganglia.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';

/** Whether a client of this address gets a document. */
async function isServed(port: number, from: string): Promise<boolean> {
  const socket = connect({ port, host: from, localAddress: from });
  let bytes = 0;
  socket.on('data', chunk => {
    bytes += chunk.length;
  });
  await once(socket, 'close').catch(() => undefined); // a reset is an end, too
  return bytes > 0;
}

function inside(): void {
  t.test('clients that are not among the trusted hosts', async t => {
    const path = boardPath(t);
    writeBoard(path, [node('n1')], beating());
    const any = '0.0.0.0:0';
    const running = start(t, ['ganglia', '--board', path, '--listen', any, '--trusted-hosts', '10.1.0.0/16,192.0.2.7']);
    const port = Number((await running.ready).listening?.[0]?.split(':').at(-1));
    for (const [from, served] of [
      ['127.0.0.1', true],
      ['10.1.255.3', true],
      ['192.0.2.7', true],
      ['192.0.2.8', false],
      ['10.2.0.1', false],
    ] as const)
      t.equal(await isServed(port, from), served, from);
    await until('it is told', () => /clients? refused: not among --trusted-hosts/.test(running.output().stderr));
  });
}

if (INSIDE) inside();
else {
  const addresses = ['10.1.255.3', '10.2.0.1', '192.0.2.7', '192.0.2.8'];
  inOwnNetwork(
    t,
    ['ip link set lo up', ...addresses.map(a => `ip address add ${a}/32 dev lo`)].join(' && '),
    import.meta.url,
  );
}
