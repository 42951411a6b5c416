// Who has to go when a server has no room for all of its clients: the rules, and servers of HTTP with crowds of silent
// and slow ones. Nothing is measured in seconds: what comes late is waited for, and what must not happen is counted.
//
// @rest

import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ClientConnection, networkOf, originOf, victim } from '../../src/net/clients.js';
import { type Handler, type HttpOptions, type HttpResponse, HttpServer, sentence } from '../../src/net/http.js';
import { parseNetwork } from '../../src/text/addresses.js';
import { until } from '../kit/until.js';

const MIB = 1 << 20;

t.test('where clients come from', async t => {
  for (const [address, network] of [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const)
    t.equal(networkOf(address), network, address);
  const from = originOf([parseNetwork('10.1.0.0/16'), parseNetwork('fd00::1')]);
  const of = (remoteAddress: string) => from({ remoteAddress } as Socket);
  for (const proxy of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1']) t.not(of(proxy), of(proxy), proxy);
  for (const client of ['10.2.2.3', 'fd00::2']) t.equal(of(client), of(client), client);
});

t.test('who has to go', async t => {
  // It has just asked, and so far we have done nothing but wait for it, which is over.
  const begun = new ClientConnection({ bytesWritten: 0 } as Socket, 'a', () => 0);
  begun.begin();
  await begun.wait(delay(20));
  const now = performance.now();
  /** A client; `asked`, `moved`: how long ago it asked and has last taken some, ms; `kept`, `taken`: bytes since. */
  const client = (from: string, asked: number | undefined, moved: number, kept = 0, taken = 0, isStream = false) => {
    const socket = { bytesWritten: 0, remoteAddress: from.includes('.') ? from : '10.9.9.9' };
    const made = new ClientConnection(socket as Socket, from, () => (socket.bytesWritten === 0 ? 0 : taken));
    if (asked !== undefined) made.begin();
    socket.bytesWritten = taken + kept;
    made.look();
    if (asked !== undefined) {
      made.busySince = now - asked;
      // It has kept us waiting all the time that it has not taken any.
      if (kept > 0) void made.wait(new Promise(() => undefined));
    }
    const stream = isStream ? { end: () => undefined } : undefined;
    return Object.assign(made, { stream, lastMoved: now - moved });
  };
  const silent = client('a', undefined, 5000);
  const fresh = client('a', undefined, 10);
  const stream = client('a', 60_000, 500, 0, 100, true);
  const stuckStream = client('a', 60_000, 9000, 1000, 100, true);
  const fast = client('a', 2000, 0, 0, 1e9);
  const other = client('b', undefined, 9000);
  // For a part of its time we have waited for it, and do so still.
  const waiting = client('a', 100, 0, 1000, 1e9);
  const left = Object.assign(client('a', undefined, 0), { leftAt: now });
  const asking = client('b', 0, 0);
  const beside = Array.from({ length: 33 }, (_, i) => client('b', undefined, i));
  const [local, ownOther] = [client('127.0.0.1', undefined, 9000), client('127.1.2.3', undefined, 5000)];
  const [remote, again] = [client('10.0.0.7', undefined, 9500), client('10.0.0.7', undefined, 9900)];
  const [proxied, otherProxied] = [client('proxy 1', undefined, 9999), client('proxy 2', undefined, 9998)];
  const rows: [what: string, all: ClientConnection[], goes: ClientConnection | undefined, most?: number][] = [
    ['nobody where there is room', [silent, fresh], undefined, 2],
    ['the one that is silent for longest', [silent, fresh, stream, stuckStream, fast], silent],
    ['a stream that reads nothing', [fresh, stream, stuckStream, fast], stuckStream],
    ['one that has just come, not one that reads', [stream, fresh, fast], fresh],
    ['one that has its answer', [fresh, left], left],
    ['one for which we wait, not one that has just asked', [waiting, fast, begun], waiting],
    ['one of the address with the most', [other, silent, fresh], silent],
    ['one of this machine, whichever of its addresses it takes', [local, ownOther, remote], local],
    ['one of another host, before two of a proxy that come from two', [proxied, otherProxied, remote, again], again],
    ['nobody where all of that address read, for one that has asked nothing', [other, stream, fast], undefined, 2],
    ['one of that address for one that asks', [asking, stream, fast], fast, 2],
    ['also if there are others that have asked nothing', [asking, other, stream, stream, fast], fast, 3],
    ['one of too many that have asked nothing', [...Array(40).fill(stream), ...beside], beside[32], 40],
    ['none of fewer', [...Array(40).fill(stream), ...beside.slice(1)], undefined, 40],
  ];
  for (const [what, all, goes, most = all.length - 1] of rows) {
    t.equal(victim(all, most), goes, what);
    t.equal(victim([...all].reverse(), most), goes, `${what}, in another order`);
  }
});

/** A server in this process. */
async function serving(
  t: Test,
  respond: Handler,
  options: HttpOptions = {},
): Promise<{ server: HttpServer; port: number }> {
  const server = new HttpServer(respond, options);
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, port };
}

/** A client that asks, and whose socket is paused. */
async function client(t: Test, port: number, path?: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).pause();
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (path !== undefined) socket.write(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
  return socket;
}

t.test('silent connections take no place of streams that are read', async t => {
  const feed: HttpResponse = {
    status: 200,
    type: 'text/plain',
    body: sink => {
      const pulse = setInterval(() => sink.write(Buffer.from('x')), 5);
      sink.onGone(() => clearInterval(pulse));
    },
  };
  const { server, port } = await serving(t, () => feed, { most: 10 });
  const streams = await Promise.all(Array.from({ length: 5 }, () => client(t, port, '/')));
  let cut = 0;
  for (const stream of streams) stream.resume().on('close', () => cut++);
  await Promise.all(streams.map(stream => once(stream, 'data')));
  let gone = 0;
  for (let i = 0; i < 100; i++) (await client(t, port)).resume().on('close', () => gone++);
  await until('the others have gone for one another', () => gone === 95);
  t.equal(cut, 0);
  // Where all places are those of streams that are read, one more goes itself.
  for (let i = 0; i < 5; i++) await once((await client(t, port, '/')).resume(), 'data');
  const late = await client(t, port);
  late.resume();
  await once(late, 'close');
  t.equal(cut, 0);
  // Who comes from elsewhere stays beside them, and takes a place when it asks.
  const others = await Promise.all(Array.from({ length: 3 }, () => client(t, port, undefined, '127.0.0.2')));
  await until('it has come', () => server.clients === 13);
  t.equal(server.counts.stuck, 0);
  for (const [i, other] of others.entries()) {
    other.write('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
    await once(other.resume(), 'data');
    t.equal(server.counts.stuck, i + 1, 'one of those that have all places goes');
  }
  t.equal(server.clients, 10);
});

t.test('who has closed its side goes before those that wait for their answers', async t => {
  const waiting: (() => void)[] = [];
  const respond: Handler = async () => {
    await new Promise<void>(resolve => waiting.push(resolve));
    return sentence(200, 'x');
  };
  const { port } = await serving(t, respond, { most: 3 });
  const first = await client(t, port, '/');
  const left = await client(t, port, '/');
  const third = await client(t, port, '/');
  await until('all have asked', () => waiting.length === 3);
  let isCut = false;
  left.resume().on('close', () => {
    isCut = true;
  });
  left.end();
  // Its end arrives before the next one comes, or at least before that has asked: both are looked at when one more asks.
  await until('one more has asked', async () => {
    (await client(t, port, '/')).resume();
    return isCut;
  });
  for (const answer of waiting) answer();
  for (const socket of [first, third]) t.match(await text(socket.resume()), /^HTTP\/1\.1 200 /);
});

t.test('slow readers', async t => {
  const large = function* () {
    for (let i = 0; i < 64; i++) yield Buffer.alloc(MIB, 'x');
  };
  // However busy the machine is, it takes three times as long to make as to read.
  const zipped = function* () {
    for (let i = 0, readMs = 0; i <= 3; i++) {
      for (const end = performance.now() + 50 + 3 * readMs; performance.now() < end; ) yield undefined;
      const began = performance.now();
      if (i < 3) yield Buffer.alloc(MIB, 'x');
      readMs = performance.now() - began;
    }
  };
  let begun = 0;
  const respond: Handler = async ({ path, take }) => {
    const type = 'text/plain';
    if (path === '/memory') return { status: 200, type, body: [Buffer.alloc(MIB, 'm'), Buffer.alloc(MIB, 'm')] };
    if (path === '/small') return { status: 200, type, body: large() };
    if (path === '/zipped') return { status: 200, type, body: zipped() };
    if (path === '/sentence') return sentence(200, 'x');
    begun++;
    await take(64 * MIB);
    return { status: 200, type, body: large() };
  };
  // With so much patience nobody is cut off for that alone.
  const { server, port } = await serving(t, respond, { patience: 3_600_000 });
  // As Prometheus, which keeps its connection, and whose answers are small because they are compressed.
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => kept.destroy());
  const again = async (path: string) => {
    const [answer] = await once(get({ agent: kept, port, host: '127.0.0.1', path }), 'response');
    return (await text(answer)).length;
  };
  t.equal(await again('/zipped'), 3 * MIB);
  const slow: Socket[] = [];
  // They read all the time, but so little that none of them ends before the test does. The server hears of it
  // only in steps of about 90 KiB: each has to take less than a second on a busy machine, too, or they count as stalled.
  const reading = setInterval(() => {
    for (const socket of slow) socket.read(1 << 14);
  }, 20);
  t.teardown(() => clearInterval(reading));
  const more = async (count: number) => {
    slow.push(...(await Promise.all(Array.from({ length: count }, () => client(t, port, '/')))));
    await until('all have asked', () => begun === slow.length);
  };
  await more(4);
  for (const path of ['/memory', '/small', '/sentence'])
    t.match(await text((await client(t, port, path)).resume()), /^HTTP\/1\.1 200 /, `${path} does not wait`);
  t.equal(server.counts.stuck, 0, 'for nobody');
  const fromElsewhere = async (address: string) => {
    const whole = await text((await client(t, port, '/', address)).resume());
    t.ok(whole.length > 64 * MIB, 'who comes from elsewhere has its place');
  };
  await fromElsewhere('127.0.0.2');
  t.equal(server.counts.stuck, 1, 'in place of one of those');
  // Many of the same address wait for one, but not before it.
  begun--;
  await more(36);
  await fromElsewhere('127.0.0.3');
  t.equal(await again('/'), 64 * MIB, 'nor does a connection that has read well wait, from whatever address');
  t.ok(slow.filter(({ bytesRead }) => bytesRead > 0).length < 20, 'for all others');
});
