// The wall behind Debian's nginx and Apache, configured as in docs/web.md: with the password one sees the page under
// the proxy's path, and its stream arrives look by look and unchanged; without it one is kept out.
//
// @seconds 8
// @rest

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { NO_BROWSER, newContext } from '../kit/browser.js';
import { follow } from '../kit/children.js';
import { freePorts } from '../kit/network.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { holds } from './browsing.js';
import { ask, startWeb, WallClient } from './webclient.js';

const DOCUMENT = readFileSync(join(ROOT, 'docs/web.md'), 'utf8');
const LOGIN = { Authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` };
const isRoot = process.getuid?.() === 0;

/** The first block of this language in the document, with our port and our password file. */
function example(language: string, port: number, passwords: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(DOCUMENT) ?? [];
  if (block === undefined) throw new Error(`docs/web.md has no ${language}`);
  return block.replaceAll('127.0.0.1:8678', `127.0.0.1:${port}`).replace(/\/etc\/\S+?\.passwords/, passwords);
}

interface Proxy {
  readonly name: string;
  readonly program: string;
  readonly package: string;
  /** Writes its configuration to a folder, and returns its arguments. */
  configure(at: string, port: number, example: (language: string) => string): string[];
}

const MODULES = [
  'mpm_event',
  'authn_core',
  'authn_file',
  'authz_core',
  'authz_user',
  'auth_basic',
  'proxy',
  'proxy_http',
  'filter',
  'env',
  'deflate',
];

const PROXIES: Proxy[] = [
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    package: 'nginx',
    configure(at, port, example) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        what => `${what}_temp_path ${at}/${what};`,
      );
      // gzip is on, and must not touch the stream.
      writeFileSync(
        join(at, 'nginx.conf'),
        `daemon off; pid ${at}/pid; error_log ${at}/errors; events {}
${isRoot ? 'user www-data;' : ''}
http { access_log off; gzip on; gzip_proxied any; ${temporary.join(' ')}
server { listen 127.0.0.1:${port}; ${example('nginx')} } }`,
      );
      return ['-p', at, '-e', `${at}/errors`, '-c', `${at}/nginx.conf`];
    },
  },
  {
    name: 'Apache',
    program: '/usr/sbin/apache2',
    package: 'apache2-bin',
    configure(at, port, example) {
      writeFileSync(
        join(at, 'apache.conf'),
        `ServerRoot ${at}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${at}/pid
ErrorLog ${at}/errors
Mutex file:${at}
${MODULES.map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
${isRoot ? 'User www-data\nGroup www-data' : ''}
SetOutputFilter DEFLATE
${example('apache')}`,
      );
      return ['-X', '-f', `${at}/apache.conf`];
    },
  },
];

/** Starts a proxy, and waits until it accepts connections. */
async function startProxy(t: Teardown, { program, configure }: Proxy, webPort: number): Promise<string> {
  const at = folder(t);
  // The proxy runs as another user, who must be able to read the password file.
  chmodSync(at, 0o755);
  const passwords = join(at, 'passwords');
  writeFileSync(passwords, `ann:{SHA}${createHash('sha1').update('secret').digest('base64')}\n`, { mode: 0o644 });
  const [port] = (await freePorts(1)) as [number];
  const args = configure(at, port, language => example(language, webPort, passwords));
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child);
  t.teardown(async () => {
    child.kill('SIGTERM');
    await said.exit;
  });
  await until('it listens', async () => {
    if (child.exitCode !== null)
      throw new Error(`${program}: ${said.stderr}${readFileSync(join(at, 'errors'), 'utf8')}`);
    const socket = createConnection(port, '127.0.0.1');
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return isThere;
  });
  return `http://127.0.0.1:${port}/cluster/`;
}

for (const proxy of PROXIES) {
  const isThere = process.env.CI === 'true' || !spawnSync(proxy.program, ['-v']).error;
  t.test(
    `behind ${proxy.name}`,
    { skip: !isThere && `there is no ${proxy.program} (apt-get install ${proxy.package})` },
    async t => {
      const board = boardPath(t);
      const receiver = await startReceiver(t, board);
      start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, '--nodes', 'rack[1-2]n[01-12]', '--interval', '200ms']);
      const web = await startWeb(t, board, ['--base', '/cluster']);
      const direct = `http://127.0.0.1:${web.port}/cluster/`;
      await until('all report', async () => {
        const { status, text } = await ask(`${direct}api/v1/nodes?fields=state`);
        return status === 200 && text.match(/"live"/g)?.length === 24;
      });
      const url = await startProxy(t, proxy, web.port);
      t.equal((await ask(url)).status, 401, 'not without the password');
      t.equal((await ask(`${url}api/v1/nodes`)).status, 401);
      const page = await ask(url, { ...LOGIN, 'Accept-Encoding': 'gzip' });
      t.equal(page.status, 200);
      t.match(page.headers['content-security-policy'], /default-src 'none'/);
      t.match(page.headers['cache-control'], 'no-store, no-transform');
      const short = await ask(url.slice(0, -1), LOGIN);
      t.ok(short.status > 300 && short.status < 309, 'without the slash it leads to the page');
      t.equal(new URL(String(short.headers.location), url).pathname, '/cluster/');
      const { nodes } = (await ask(`${url}api/v1/nodes?fields=load`, LOGIN)).json() as { nodes: unknown[] };
      t.equal(nodes.length, 24);

      // Looks arrive one by one: a delay of more than two would mean that the proxy buffers them.
      const client = WallClient.open(t, url, '', { ...LOGIN, 'Accept-Encoding': 'gzip, br' });
      for (let i = 0, seq = 0; i < 3; i++) {
        await until('another look', () => client.seq > seq);
        seq = client.seq;
        const last = (await ask(`${direct}api/v1/events`)).json() as { seq: number };
        t.ok(last.seq - seq <= 2, `look ${seq} of ${last.seq}`);
      }
      t.equal(client.headers['content-encoding'], undefined, 'nobody packs it');
      t.equal(client.headers['content-type'], 'application/octet-stream');
      t.strictSame(client.wrong, []);

      if (NO_BROWSER !== undefined) return;
      const context = await newContext(t, { httpCredentials: { username: 'ann', password: 'secret' } });
      const seen = await context.newPage();
      const strays: string[] = [];
      seen.on('request', request => {
        if (!request.url().startsWith(url)) strays.push(request.url());
      });
      await seen.goto(url);
      await holds(seen, `document.querySelector('#line').textContent.includes('24 live')`);
      await holds(seen, `Number(document.querySelector('#cells').dataset.seq) > ${client.seq}`);
      t.strictSame(strays, [], 'it asks for nothing outside of the path');
    },
  );
}
