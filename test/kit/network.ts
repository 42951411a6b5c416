// A test's own network namespace, and free ports. No test of its own.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

/** The part of tap that a file needs to run itself again. */
interface Spawning {
  pass(what: string, extra: { skip: string }): unknown;
  spawn(command: string, args: string[], options: { env: NodeJS.ProcessEnv }, name: string): unknown;
}

/** Ports of 127.0.0.1 that are free now, for foreign programs that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

/** Whether this process was started by `inOwnNetwork`. */
export const INSIDE = process.env.BEOBOARD_TEST_NAMESPACE === 'yes';

/**
 * Runs a test file again, as one test, in its own network namespace, where all ports are free and nothing leaves this
 * machine, and with mounts of its own; INSIDE is true there. `setup` is a shell command that prepares the namespaces; in
 * a new one no interface is up. Without namespaces this is a skip with the reason, and in CI a failure.
 */
export function inOwnNetwork(t: Spawning, setup: string, file: string, name = 'in a network of its own'): void {
  const tried = spawnSync('unshare', ['-n', '-m', 'sh', '-c', setup], { encoding: 'utf8' });
  if (tried.status !== 0 && process.env.CI !== 'true')
    return void t.pass('skipped', { skip: `no network namespace here: ${tried.stderr || tried.error}` });
  const command = ['-n', '-m', 'sh', '-c', `${setup} && exec "$0" "$1"`, process.execPath, fileURLToPath(file)];
  t.spawn('unshare', command, { env: { ...process.env, BEOBOARD_TEST_NAMESPACE: 'yes' } }, name);
}
