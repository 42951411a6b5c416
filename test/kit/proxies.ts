// Debian's nginx and Apache before a wall, configured as in docs/web.md. No test of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { follow } from './children.js';
import { freePorts } from './network.js';
import { folder, ROOT, type Teardown } from './places.js';
import { until } from './until.js';

const DOCUMENT = readFileSync(join(ROOT, 'docs/web.md'), 'utf8');
/** Whom the password file lets in. */
export const LOGIN = { Authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` };
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
  ...['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'proxy', 'proxy_http'],
  ...['filter', 'env', 'deflate'],
];

export const PROXIES: readonly Proxy[] = [
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
        `daemon off; pid ${at}/pid; error_log ${at}/errors; events { worker_connections 1024; }
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

/** Starts a proxy before the wall at a port, and waits until it accepts connections. */
export async function startProxy(t: Teardown, { program, configure }: Proxy, webPort: number): Promise<string> {
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
