// What the HTTP server does with requests, byte for byte, by the sections of RFC 9112 (messages) and RFC 9110
// (semantics); and with many requests at once, and at its end.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type Handler, type HttpOptions, HttpServer, type Sink, sentence } from '../../src/net/http.js';
import { until } from '../kit/until.js';

const MIB = 1 << 20;

/** Says what it was asked for; `/pieces` in pieces. */
const echo: Handler = ({ path, query, host }) =>
  path === '/pieces'
    ? { status: 200, type: 'text/plain', body: [Buffer.from('one,'), Buffer.from('two\n')] }
    : sentence(200, `${path} ${query}@${host}`);

async function serving(
  t: Test,
  respond: Handler = echo,
  options: HttpOptions = {},
): Promise<{ server: HttpServer; port: number }> {
  const server = new HttpServer(respond, options);
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, port };
}

interface Received {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection that takes answers apart, in its own way. */
class Connection {
  readonly socket: Socket;
  #text = '';
  #isEnded = false;
  #error: Error | undefined;

  constructor(t: Test, port: number) {
    this.socket = connect(port, '127.0.0.1').setEncoding('latin1');
    t.teardown(() => this.socket.destroy());
    this.socket.on('data', text => {
      this.#text += text;
    });
    this.socket.on('end', () => {
      this.#isEnded = true;
    });
    this.socket.on('error', error => {
      this.#error = error;
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** The next answer; undefined: the connection has ended before it. */
  async answer(method = 'GET'): Promise<Received | undefined> {
    return await until(
      'an answer',
      () => this.#take(method) ?? (this.#isOver ? { none: true as const } : undefined),
    ).then(found => ('none' in found ? undefined : found));
  }

  get #isOver(): boolean {
    return this.#isEnded || this.#error !== undefined;
  }

  /** How it ends, when nothing more comes. */
  async end(): Promise<string> {
    await until('the end', () => this.#isOver);
    return this.#text !== '' ? `more: ${this.#text}` : (this.#error?.message ?? 'closed');
  }

  #take(method: string): Received | undefined {
    const [head] = /^HTTP\/1\.1 \d{3} [ -~]*\r\n(?:[!-~]+: [ -~]*\r\n)*\r\n/.exec(this.#text) ?? [];
    if (head === undefined) return undefined;
    const [first = '', ...lines] = head.trimEnd().split('\r\n');
    const headers = new Map(lines.map(line => line.split(/: (.*)/, 2) as [string, string]));
    const status = Number(first.slice(9, 12));
    const rest = this.#text.slice(head.length);
    const end = method === 'HEAD' || status === 100 ? 0 : this.#lengthOf(headers, rest);
    if (end === undefined) return undefined;
    this.#text = rest.slice(end);
    return { status, headers, body: rest.slice(0, end) };
  }

  #lengthOf(headers: Received['headers'], rest: string): number | undefined {
    const length = headers.get('Content-Length');
    if (length !== undefined) return rest.length < Number(length) ? undefined : Number(length);
    if (headers.get('Transfer-Encoding') === 'chunked') {
      const end = rest.indexOf('0\r\n\r\n');
      return end < 0 ? undefined : end + 5;
    }
    return this.#isOver ? rest.length : undefined;
  }
}

const HOST = 'Host: localhost\r\n';
const get = (target: string, headers = HOST) => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const long = (length: number) => 'x'.repeat(length);

/**
 * The section, the request, and what is answered: the status and how the body begins, of each answer. Then the
 * connection is `open`, and one more request gets the next answer, so no byte of the first was taken for another; or it
 * is `closed`, without a reset.
 */
const TABLE: [section: string, what: string, request: string, answers: string[], then: 'open' | 'closed'][] = [
  ['9112 2.2', 'an empty line before the request', `\r\n${get('/a')}`, ['200 /a'], 'open'],
  ['9112 2.2', 'lines that end with LF alone', 'GET /a HTTP/1.1\nHost: localhost\n\n', ['400 '], 'closed'],
  ['9112 2.2', 'a CR within a line', get('/a', `${HOST}X: a\rb\r\n`), ['400 '], 'closed'],
  ['9112 2.2', 'a CR in place of a line end', 'GET /a HTTP/1.1\rHost: localhost\r\r', ['400 '], 'closed'],
  ['9112 2.2', 'white space before the first header', `GET /a HTTP/1.1\r\n Host: x\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9112 2.3', 'HTTP/1.0', 'GET /a HTTP/1.0\r\n\r\n', ['200 /a'], 'closed'],
  ['9110 2.5', 'HTTP/1.2, which does not exist', `GET /a HTTP/1.2\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9110 2.5', 'HTTP/1.9 behind HTTP/1.1', get('/a') + get('/b').replace('1.1', '1.9'), ['200 /a', '400 '], 'closed'],
  ['9112 2.3', 'no minor version', `GET /a HTTP/1.10\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9112 2.3', 'none either', `GET /a HTTP/1.20\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9112 2.3', 'HTTP/3.1', `GET /a HTTP/3.1\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9112 2.3', 'HTTP/2.0', `GET /a HTTP/2.0\r\n${HOST}\r\n`, ['505 '], 'closed'],
  ['9113 3.4', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ['505 '], 'closed'],
  ['9112 2.3', 'HTTP/0.9', 'GET /a\r\n\r\n', ['505 '], 'closed'],
  ['9112 2.3', 'no version', 'GET /a HTTP/x\r\n\r\n', ['400 '], 'closed'],
  ['9112 3', 'no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ['400 '], 'closed'],
  ['9112 3', 'a target that is as long as all must take', get(`/${long(7990)}`), ['200 /xxx'], 'open'],
  ['9112 3', 'a target that is too long', get(`/${long(8000)}`), ['414 '], 'closed'],
  ['9112 3', 'a target that is much too long', get(`/${long(40_000)}`), ['414 '], 'closed'],
  ['9112 3', 'white space in the target', get('/a b'), ['400 '], 'closed'],
  ['9112 3.2', 'no Host', 'GET /a HTTP/1.1\r\n\r\n', ['400 '], 'open'],
  ['9112 3.2', 'two Hosts', get('/a', HOST + HOST), ['400 '], 'open'],
  ['9112 3.2', 'an empty Host', get('/a', 'Host:\r\n'), ['200 /a @\n'], 'open'],
  ['9112 3.2', 'no valid Host', get('/a', 'Host: a b\r\n'), ['400 '], 'open'],
  ['9112 3.2', 'a Host with a user', get('/a', 'Host: me@localhost\r\n'), ['400 '], 'open'],
  ['9112 3.2', 'a Host with a path', get('/a', 'Host: localhost/b\r\n'), ['400 '], 'open'],
  ['9112 3.2', 'a Host with no valid port', get('/a', 'Host: localhost:x\r\n'), ['400 '], 'open'],
  ['9110 7.4', "a Host that is another server's", get('/a', 'Host: other.example\r\n'), ['421 '], 'open'],
  ['9112 3.2.1', 'a query', get('/a?b=c'), ['200 /a b=c@localhost'], 'open'],
  [
    '9112 3.2.1',
    'two slashes are no authority',
    get('//other.example/a'),
    ['200 //other.example/a @localhost'],
    'open',
  ],
  ['9112 3.2.2', 'absolute-form', get('http://127.0.0.1:80/a?b'), ['200 /a b=@127.0.0.1:80'], 'open'],
  ['9112 3.2.2', 'without a path', get('HTTP://LOCALHOST?b'), ['200 / b=@LOCALHOST'], 'open'],
  [
    '9112 3.2.2',
    'it replaces Host',
    get('http://localhost/a', 'Host: other.example\r\n'),
    ['200 /a @localhost'],
    'open',
  ],
  ['9112 3.2.2', 'it is checked as Host is', get('http://other.example/a'), ['421 '], 'open'],
  ['9112 3.2.2', 'Host is required nevertheless', get('http://localhost/a', ''), ['400 '], 'open'],
  ['9110 4.2.1', 'no authority', get('http:///a'), ['400 '], 'open'],
  ['9110 4.2.4', 'a user', get('http://me@localhost/a'), ['400 '], 'open'],
  ['9112 3.2.2', 'another scheme', get('ftp://localhost/a'), ['400 '], 'open'],
  ['9112 3.2.3', 'authority-form', get('localhost:80'), ['400 '], 'closed'],
  ['9112 3.2.3', 'CONNECT', `CONNECT localhost:80 HTTP/1.1\r\n${HOST}\r\n`, ['405 '], 'closed'],
  ['9112 3.2.4', 'asterisk-form', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, ['405 '], 'open'],
  ['9112 3.2.4', 'asterisk-form with GET', get('*'), ['400 '], 'open'],
  ['9112 5.1', 'white space before a colon', get('/a', `${HOST}X : a\r\n`), ['400 '], 'closed'],
  ['9112 5.1', 'white space around a value', get('/a', 'Host: \t localhost \t \r\n'), ['200 /a @localhost\n'], 'open'],
  ['9112 5.2', 'a folded header', get('/a', `${HOST}X: a\r\n b\r\n`), ['400 '], 'closed'],
  ['9112 5.2', 'a folded Host', get('/a', 'Host: other\r\n localhost\r\n'), ['400 '], 'closed'],
  ['9110 5.1', 'no header name', get('/a', `${HOST}: a\r\n`), ['400 '], 'closed'],
  ['9110 5.5', 'a NUL in a value', get('/a', `${HOST}X: a\0b\r\n`), ['400 '], 'closed'],
  ['9110 5.4', 'a header that is too long', get('/a', `${HOST}X: ${long(9000)}\r\n`), ['431 '], 'closed'],
  ['9110 5.4', 'one that is much too long', get('/a', `${HOST}X: ${long(40_000)}\r\n`), ['431 '], 'closed'],
  ['9110 5.4', 'too many headers', get('/a', HOST + 'a:b\r\n'.repeat(1000)), ['431 '], 'closed'],
  ['9112 6', 'a body with a length', `${get('/a', `${HOST}Content-Length: 5\r\n`)}hello`, ['200 /a'], 'open'],
  [
    '9112 6',
    'a request in a body',
    `${get('/a', `${HOST}Content-Length: ${get('/b').length}\r\n`)}${get('/b')}`,
    ['200 /a'],
    'open',
  ],
  [
    '9112 7.1',
    'a request in a chunked body',
    `${get('/a', `${HOST}Transfer-Encoding: chunked\r\n`)}${get('/b').length.toString(16)}\r\n${get('/b')}\r\n0\r\n\r\n`,
    ['200 /a'],
    'open',
  ],
  [
    '9112 6.1',
    'chunks and a length',
    `${get('/a', `${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`)}0\r\n\r\n`,
    ['400 '],
    'closed',
  ],
  ['9112 6.1', 'chunks not at the end', get('/a', `${HOST}Transfer-Encoding: chunked, gzip\r\n`), ['400 '], 'closed'],
  ['9112 6.1', 'another coding', get('/a', `${HOST}Transfer-Encoding: gzip\r\n`), ['400 '], 'closed'],
  [
    '9112 6.1',
    'chunks with HTTP/1.0',
    `GET /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ['400 '],
    'closed',
  ],
  [
    '9112 6.3',
    'two lengths',
    `${get('/a', `${HOST}Content-Length: 5\r\nContent-Length: 6\r\n`)}hello`,
    ['400 '],
    'closed',
  ],
  ['9112 6.3', 'no valid length', `${get('/a', `${HOST}Content-Length: +5\r\n`)}hello`, ['400 '], 'closed'],
  [
    '9112 7.1',
    'no valid size of a chunk',
    `${get('/a', `${HOST}Transfer-Encoding: chunked\r\n`)}0x5\r\nhello\r\n0\r\n\r\n`,
    ['200 /a', '400 '],
    'closed',
  ],
  ['9112 9.3', 'Connection: close', get('/a', `${HOST}Connection: Close\r\n`), ['200 /a'], 'closed'],
  [
    '9112 9.3',
    'HTTP/1.0 with keep-alive',
    `GET /a HTTP/1.0\r\n${HOST}Connection: keep-alive\r\n\r\n`,
    ['200 /a'],
    'open',
  ],
  ['9112 9.3.2', 'two at once', get('/a') + get('/b'), ['200 /a', '200 /b'], 'open'],
  [
    '9112 9.3.2',
    'all kinds at once',
    get('/pieces') + get('/a', 'Host: other.example\r\n') + get('/c', '') + get('/d'),
    ['200 4\r\none,', '421 ', '400 ', '200 /d'],
    'open',
  ],
  ['9112 9.3.2', 'nothing after the last', get('/a', `${HOST}Connection: close\r\n`) + get('/b'), ['200 /a'], 'closed'],
  [
    '9112 9.3.2',
    'one that is invalid after one that is not',
    `${get('/a')}no HTTP\r\n\r\n`,
    ['200 /a', '400 '],
    'closed',
  ],
  ['9110 9.1', 'a method that nobody knows', `BREW /a HTTP/1.1\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ['9110 9.1', 'methods are case-sensitive', `get /a HTTP/1.1\r\n${HOST}\r\n`, ['400 '], 'closed'],
  ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'].map(
    method =>
      [
        '9110 15.5.6',
        method,
        `${method} /a HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhi`,
        ['405 '],
        'open',
      ] as (typeof TABLE)[number],
  ),
  [
    '9110 7.8',
    'an upgrade',
    get('/a', `${HOST}Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n`),
    ['200 /a'],
    'open',
  ],
  [
    '9110 10.1.1',
    'it expects a 100',
    get('/a', `${HOST}Content-Length: 2\r\nExpect: 100-Continue\r\n`),
    ['200 /a'],
    'closed',
  ],
  ['9110 10.1.1', 'it expects something else', get('/a', `${HOST}Expect: wonders\r\n`), ['417 '], 'closed'],
  ['9110 4.2.3', 'what need not be encoded', get('/%61%2D%7e'), ['200 /a-~ @'], 'open'],
  ['9110 4.2.3', 'what is encoded stays so', get('/a%2Fb%3f%00'), ['200 /a%2Fb%3f%00 @'], 'open'],
  ['3986 2.1', 'no valid encoding', get('/a%2'), ['400 '], 'open'],
  ['3986 5.2.4', 'dots stay', get('/a/../b/%2e%2E/./c'), ['200 /a/../b/.././c @'], 'open'],
  ['3986 3.5', 'a fragment', get('/a#b'), ['400 '], 'open'],
  ['9110 13.1.2', 'If-None-Match', get('/a', `${HOST}If-None-Match: *\r\n`), ['200 /a'], 'open'],
  ['9110 14.2', 'Range', get('/a', `${HOST}Range: bytes=0-0\r\n`), ['200 /a'], 'open'],
];

t.test('requests, byte for byte', async t => {
  const { server, port } = await serving(t);
  // However it comes: long ones in 200 packets.
  const ways = TABLE.flatMap(row => [[...row, Infinity] as const, [...row, Math.ceil(row[2].length / 200)] as const]);
  for (const [section, what, request, answers, then, size] of ways)
    await t.test(`RFC ${section}: ${what}, ${size === Infinity ? 'at once' : `${size} by ${size}`}`, async t => {
      const connection = new Connection(t, port);
      connection.socket.setNoDelay(true);
      for (let at = 0; at < request.length; at += size) {
        connection.send(request.slice(at, at + size));
        await new Promise(setImmediate);
      }
      for (const expected of answers) {
        const answer = await connection.answer();
        t.equal(`${answer?.status} ${answer?.body}`.slice(0, expected.length), expected);
        t.match(answer?.headers.get('Date'), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, '9110 6.6.1: a date');
        if (expected === '405 ') t.equal(answer?.headers.get('Allow'), 'GET, HEAD', '9110 10.2.1');
        if (!expected.startsWith('200')) t.match(answer?.body, /^[^\n]+\n$/, '9110 15.5: a sentence that says why');
        if (then === 'closed' && expected === answers.at(-1))
          t.equal(answer?.headers.get('Connection'), 'close', '9112 9.6: it says that it closes');
      }
      if (then === 'open') {
        connection.send(get('/next'));
        t.equal((await connection.answer())?.body, '/next @localhost\n', 'the next is answered');
        connection.socket.end();
      }
      t.equal(await connection.end(), 'closed');
    });
  await until('all are gone', () => server.clients === 0);
});

t.test('RFC 9112 9.6: what still comes after the last answer', async t => {
  const head = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Length: 1000000000\r\n\r\n`;
  const body = Buffer.alloc(MIB, 'x');
  const asking = async (server: HttpServer, port: number) => {
    const socket = connect(port, '127.0.0.1').pause();
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined).write(head);
    await until('it is answered', () => server.counts.served === 1);
    return socket;
  };
  await t.test('does not destroy it', async t => {
    const { server, port } = await serving(t, () => ({ status: 200, type: 'text/plain', body }));
    const socket = await asking(server, port);
    // The kernel still has the most of the answer.
    for (let i = 0; i < 4; i++) await new Promise(resolve => socket.write(body, resolve));
    let bytes = 0;
    socket.on('data', chunk => {
      bytes += chunk.length;
    });
    socket.resume();
    await until('it ends', () => socket.readableEnded || socket.destroyed);
    t.ok(bytes > MIB, `${bytes} bytes: all of it`);
    socket.destroy();
    await until('it is gone', () => server.clients === 0);
  });
  await t.test('is not read for ever', async t => {
    const { server, port } = await serving(t, () => ({ status: 200, type: 'text/plain', body }));
    const socket = await asking(server, port);
    let sent = 0;
    const more = () =>
      socket.write(body, error => {
        if (error) return;
        sent += MIB;
        more();
      });
    more();
    await until('it is cut off', () => server.clients === 0);
    t.ok(sent < 64 * MIB, `${sent} bytes`);
    t.equal(server.counts.stuck, 0, 'it has its answer');
  });
  await t.test('nor waited for for ever', async t => {
    const { server, port } = await serving(t, () => ({ status: 200, type: 'text/plain', body }), { patience: 1000 });
    await asking(server, port);
    await until('it is cut off', () => server.clients === 0);
    t.equal(server.counts.stuck, 0, 'it has its answer');
  });
});

t.test('HEAD is GET without its body', async t => {
  const { port } = await serving(t);
  for (const target of ['/a', '/pieces', '*'])
    for (const headers of [HOST, `${HOST}Accept-Encoding: gzip\r\n`, 'Host: other.example\r\n']) {
      const connection = new Connection(t, port);
      connection.send(get(target, headers));
      const whole = await connection.answer();
      connection.send(get(target, headers).replace('GET', 'HEAD') + get('/next'));
      const head = await connection.answer('HEAD');
      const of = (answer: typeof head) =>
        [...(answer?.headers ?? [])].filter(([name]) => name !== 'Date' && name !== 'Transfer-Encoding');
      t.strictSame([head?.status, of(head)], [whole?.status, of(whole)], target);
      t.equal((await connection.answer())?.body, '/next @localhost\n');
      connection.socket.destroy();
    }
});

t.test('many requests at once', async t => {
  t.test('have one answer at a time, in order', async t => {
    let underWay = 0;
    let most = 0;
    const { port } = await serving(t, async request => {
      most = Math.max(most, ++underWay);
      await new Promise(resolve => setTimeout(resolve, request.path === '/0' ? 50 : 0));
      underWay--;
      return echo(request);
    });
    const connection = new Connection(t, port);
    const numbers = Array.from({ length: 17 }, (_, i) => i);
    for (let round = 0; round < 3; round++) {
      connection.send(numbers.map(i => get(`/${i}`)).join(''));
      for (const i of numbers) t.equal((await connection.answer())?.body, `/${i} @localhost\n`);
    }
    t.equal(most, 1);
    // nc -N closes its side before it reads.
    connection.socket.end(get('/a') + get('/b'));
    for (const path of ['/a', '/b']) t.equal((await connection.answer())?.body, `${path} @localhost\n`);
    t.equal(await connection.end(), 'closed');
  });
  t.test('are cut off if they are too many', async t => {
    let asked = 0;
    const { server, port } = await serving(t, () => {
      asked++;
      return new Promise(() => undefined);
    });
    const connection = new Connection(t, port);
    connection.send(get('/').repeat(17));
    await until('it has asked', () => asked === 1);
    t.equal(server.clients, 1);
    connection.send(get('/'));
    t.match(await connection.end(), 'ECONNRESET');
    t.strictSame([asked, server.counts.stuck], [1, 1], 'and no more of them was begun');
  });
});

t.test('the end of the server', async t => {
  t.test('waits for answers under way', async t => {
    let release: (() => void) | undefined;
    const released = new Promise<void>(resolve => {
      release = resolve;
    });
    let begun = 0;
    const wait = function* () {
      begun++;
      yield Buffer.from('begun ');
      while (!isReleased) yield undefined;
      yield Buffer.from('ended\n');
    };
    let isReleased = false;
    const sinks: Sink[] = [];
    const { server, port } = await serving(t, async ({ path }) => {
      if (path === '/stream') return { status: 200, type: 'text/plain', body: sink => void sinks.push(sink) };
      if (path === '/pieces') return { status: 200, type: 'text/plain', body: wait() };
      begun++;
      await released;
      return sentence(200, 'late');
    });
    const [late, half, stream, idle] = Array.from({ length: 4 }, () => new Connection(t, port)) as [
      Connection,
      Connection,
      Connection,
      Connection,
    ];
    late.send(get('/') + get('/'));
    half.send(get('/pieces'));
    stream.send(get('/stream'));
    await until('all have asked', () => begun === 2 && sinks.length === 1 && server.clients === 4);
    sinks[0]?.write(Buffer.from('some'));
    const ended = server.end(3_600_000);
    t.equal(await idle.end(), 'closed', 'one that waits for nothing is gone');
    t.match((await stream.answer())?.body, /some/, 'a stream is ended');
    t.equal(await stream.end(), 'closed');
    sinks[0]?.write(Buffer.from('more'));
    const refused = connect(port, '127.0.0.1');
    await t.rejects(once(refused, 'connect'), { code: 'ECONNREFUSED' }, 'nobody else may come');
    release?.();
    isReleased = true;
    const answer = await late.answer();
    t.equal(answer?.body, 'late\n');
    t.equal(answer?.headers.get('Connection'), 'close');
    t.equal(await late.end(), 'closed', 'what it asked besides is not begun');
    t.match((await half.answer())?.body, /begun [\s\S]*ended\n/);
    t.equal(await half.end(), 'closed');
    await ended;
    t.strictSame([server.clients, server.counts.stuck], [0, 0]);
  });
  t.test('but not for long', async t => {
    let asked = 0;
    const { server, port } = await serving(t, () => {
      asked++;
      return new Promise(() => undefined);
    });
    const connection = new Connection(t, port);
    connection.send(get('/'));
    await until('it has asked', () => asked === 1);
    await server.end(10);
    server.close();
    t.match(await connection.end(), 'ECONNRESET', 'half of an answer must not look like a whole one');
  });
});
