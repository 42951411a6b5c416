// Real NATS servers for tests, with the examples in packaging/nats or a test's own configuration, on free ports. No
// test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { endWith } from './children.js';
import { freePorts } from './network.js';
import { ROOT, type Teardown } from './places.js';
import { until } from './until.js';

/** Why no test with servers can run here; in CI they are required. */
export function noServers(): string | false {
  return spawnSync('nats-server', ['--version']).status === 0 || process.env.CI ? false : 'there is no nats-server';
}

/**
 * One of our examples with its values filled in, in the order of the file; passwords are derived from their
 * placeholders.
 */
export function filled(name: string, values: readonly (readonly [RegExp, string])[]): string {
  let text = readFileSync(join(ROOT, 'packaging/nats', name), 'utf8').replace(/^#.*\n/gm, '');
  for (const [what, value] of values) text = text.replace(what, value);
  return text.replaceAll(/<([\w ]+ PASSWORD)>/g, (_, what: string) => what.toLowerCase().replaceAll(' ', '-'));
}

export interface Server {
  readonly name: string;
  readonly port: number;
  child: ChildProcess;
  restart(): void;
}

/** Runs a server with this configuration, and ends it with the test. `prefix`: goes before the command. */
export function serve(
  t: Teardown,
  at: string,
  name: string,
  port: number,
  config: string,
  prefix: readonly string[] = [],
): Server {
  const path = join(at, `${name}.conf`);
  writeFileSync(path, config, { mode: 0o600 });
  const spawned = () => {
    const [command = '', ...args] = [...prefix, 'nats-server', '--config', path];
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore'] });
    endWith(t, child);
    return child;
  };
  const server: Server = {
    name,
    port,
    child: spawned(),
    restart: () => {
      server.child = spawned();
    },
  };
  return server;
}

/** Waits until it accepts connections. */
export async function isServing({ port, name }: Server, host = '127.0.0.1'): Promise<void> {
  const tried = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, host, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
  await until(`${name} takes connections`, tried, 20);
}

/** Three servers m1, m2, m3 of server.conf, and a leaf `away` of leaf.conf that connects to the first two. */
export async function startServers(t: Teardown, at: string): Promise<{ hubs: Server[]; leaf: Server }> {
  const ports = await freePorts(10);
  const hubs = [0, 1, 2].map(i => ({
    name: `m${i + 1}`,
    client: ports[3 * i],
    route: ports[3 * i + 1],
    leaf: ports[3 * i + 2],
  }));
  const started = hubs.map(({ name, client, route, leaf }) => {
    const [other, another] = hubs.filter(hub => hub.name !== name);
    const config = filled('server.conf', [
      [/<m1>/, name],
      [/<0\.0\.0\.0:4222>/, `127.0.0.1:${client}`],
      [/<0\.0\.0\.0:6222>/, `127.0.0.1:${route}`],
      [/<nats-route:[^>]*>/, `nats-route://127.0.0.1:${other?.route}`],
      [/<nats-route:[^>]*>/, `nats-route://127.0.0.1:${another?.route}`],
      [/<0\.0\.0\.0:7422>/, `127.0.0.1:${leaf}`],
    ]);
    return serve(t, at, name, client as number, config);
  });
  const config = filled('leaf.conf', [
    [/<away>/, 'away'],
    [/<127\.0\.0\.1:4222>/, `127.0.0.1:${ports[9]}`],
    [/<"nats-leaf:[^>]*>/, `"nats-leaf://leaf-away:leaf-password@127.0.0.1:${hubs[0]?.leaf}"`],
    [/<"nats-leaf:[^>]*>/, `"nats-leaf://leaf-away:leaf-password@127.0.0.1:${hubs[1]?.leaf}"`],
  ]);
  return { hubs: started, leaf: serve(t, at, 'away', ports[9] as number, config) };
}
