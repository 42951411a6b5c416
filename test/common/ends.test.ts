// How all servers end: who is getting an answer gets it whole, who waits for nothing is gone at once, and who does not
// read keeps no server for longer than its bound. And what a client has taken, by which it is judged.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { GangliaServer } from '../../src/ganglia-xml/server.js';
import { HttpServer } from '../../src/net/http.js';
import { takenFrom } from '../../src/service/taken.js';
import { SupermonServer } from '../../src/supermon/server.js';
import { until } from '../kit/until.js';

const MIB = 1 << 20;
/** Much more than the kernel takes for a client that reads nothing. */
const WHOLE = 25;
const LOCAL = { host: '127.0.0.1', port: 0 };

function* pieces() {
  for (let i = 0; i < WHOLE; i++) yield Buffer.alloc(MIB, 'x');
}

/** Each server, its port, and what asks it for one answer. */
const SERVERS = {
  http: async () => {
    const server = new HttpServer(() => ({ status: 200, type: 'text/plain', body: pieces() }));
    return { server, port: (await server.listen(LOCAL)).port, request: 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' };
  },
  ganglia: async () => {
    const server = new GangliaServer([]);
    return { server, port: (await server.listen(LOCAL, async () => pieces(), 100)).port, request: '/\n' };
  },
  supermon: async () => {
    const server = new SupermonServer(async function* () {
      yield* pieces();
    });
    return { server, port: (await server.listen(LOCAL)).port, request: 'S\nS\n' };
  },
};

async function client(t: Test, port: number, request = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  t.teardown(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

for (const [name, open] of Object.entries(SERVERS))
  t.test(name, async t => {
    await t.test('finishes answers under way', async t => {
      const { server, port, request } = await open();
      t.teardown(() => server.close());
      const [reading, idle] = [await client(t, port, request), await client(t, port)];
      let bytes = 0;
      reading.once('readable', () => undefined);
      await until('one is being answered, and one is there', () => reading.readableLength > 0 && server.clients === 2);
      const ended = server.end(3_600_000);
      // Where nothing would look like a whole answer, it is a reset.
      await new Promise(resolve => idle.resume().once('close', resolve));
      t.equal(server.clients, 1, 'who waits for nothing is gone');
      reading.on('data', chunk => {
        bytes += chunk.length;
      });
      await once(reading.resume(), 'end');
      await ended;
      t.ok(bytes >= WHOLE * MIB && bytes < (WHOLE + 1) * MIB, `${bytes} bytes: all of the answer, and no other`);
      t.strictSame([server.clients, server.counts.served, server.counts.stuck], [0, 1, 0]);
    });
    await t.test('waits for nobody who does not read', async t => {
      const { server, port, request } = await open();
      t.teardown(() => server.close());
      const stuck = await client(t, port, request);
      stuck.once('readable', () => undefined);
      await until('it is being answered', () => stuck.readableLength > 0);
      await server.end(10);
      t.strictSame([server.clients, server.counts.served, server.counts.stuck], [0, 0, 1]);
    });
  });

t.test('what a client has taken shows within one long write', async t => {
  const server = createServer();
  t.teardown(() => server.close());
  server.listen(LOCAL);
  await once(server, 'listening');
  const coming = once(server, 'connection') as Promise<[Socket]>;
  const reading = await client(t, (server.address() as { port: number }).port);
  const [socket] = await coming;
  t.teardown(() => void socket.destroy());
  let isSent = false;
  socket.write(Buffer.alloc(WHOLE * MIB), () => {
    isSent = true;
  });
  reading.on('data', () => {
    if (reading.bytesRead > MIB) reading.pause();
  });
  reading.resume();
  await until('it has read some', () => reading.bytesRead > MIB);
  await until('that is seen', () => takenFrom(socket) >= reading.bytesRead);
  t.ok(takenFrom(socket) < WHOLE * MIB);
  t.notOk(isSent);
});
