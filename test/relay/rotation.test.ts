// A password and a server that are changed while relay and mirror run, by a real NATS server: nothing is restarted, and
// the mirror knows its nodes again. SIGHUP reads options again, and ends neither.
//
// @seconds 4
// @waits
// @rest

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { isServing, noServers, serve } from '../kit/natsservers.js';
import { freePorts } from '../kit/network.js';
import { folder } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);

t.test('a rotation', { skip: noServers() }, async t => {
  const at = folder(t);
  const path = (name: string) => join(at, name);
  const ports = await freePorts(2);
  const config = (port: number | undefined, password: string) =>
    `listen: "127.0.0.1:${port}"\nping_interval: "1s"\nping_max: 2\nauthorization { user: "u", password: "${password}" }\n`;
  const [server, other] = ports.map((port, i) => serve(t, at, `nats${i}`, port, config(port, 'p1')));
  await Promise.all([server, other].map(one => one && isServing(one)));
  const login = (password: string) => writeFileSync(path('login'), `u:${password}\n`, { mode: 0o600 });
  login('p1');
  const options = (port: number | undefined, more = '') => {
    const common = `nats = ["nats://127.0.0.1:${port}"]\nsite = "home"\nnats-login = "${path('login')}"\n`;
    writeFileSync(path('relay.toml'), `${common}key-file = "${path('key')}"\nmaster = "m1"\n${more}`);
    writeFileSync(
      path('mirror.toml'),
      `${common}cluster = "alpha"\ntrust = ["m1=${path('key')}.pub"]\nname = "l.1"\n${more}`,
    );
  };
  options(ports[0]);
  t.match(await run(['keygen', '--relay', path('key')]), { code: 0 });
  const receiver = await startReceiver(t, path('board'), ['--cluster', 'alpha']);
  start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, '--cluster', 'alpha', '--size', '5']);
  const relay = start(t, ['relay', '--board', path('board'), '--config', path('relay.toml')]);
  const mirror = start(t, ['mirror', '--board', path('mirror'), '--config', path('mirror.toml')]);
  await mirror.ready;
  const both = [relay, mirror];
  const reader = new BoardReader(path('mirror'));
  t.teardown(() => reader.close());
  /** Waits until the mirror has heard a batch that was made after this call. */
  const knows = (what: string) => {
    const since = process.hrtime.bigint();
    return until(what, () => {
      const snapshot = reader.snapshot();
      return (
        snapshot.header.heartbeat_ns > since &&
        [...snapshot.nodes()].filter(({ state }) => state === 'live').length === 5
      );
    });
  };
  const said = (line: RegExp) =>
    until(`both say ${line}`, () => both.every(({ output }) => line.test(output().stderr))).catch(error => {
      throw new Error(`${error.message}: ${both.map(({ output }) => output().stderr).join('\n')}`);
    });
  await knows('the nodes are known');

  login('p2');
  writeFileSync(path('nats0.conf'), config(ports[0], 'p2'));
  server?.child.kill('SIGHUP');
  await said(/lost the server/);
  await knows('a password was changed, and they are known again');

  writeFileSync(path('nats1.conf'), config(ports[1], 'p2'));
  other?.child.kill('SIGHUP');
  options(ports[1]);
  for (const { child } of both) child.kill('SIGHUP');
  await said(new RegExp(`connected to 127.0.0.1:${ports[1]}\n`));
  await knows('by another server');

  options(ports[1], 'nats-ca = "/nowhere"\n');
  for (const { child } of both) child.kill('SIGHUP');
  await said(/SIGHUP: .*\/nowhere: cannot be read: .*; nothing has changed\n/);
  options(ports[1], 'board = "/elsewhere"\n');
  for (const { child } of both) child.kill('SIGHUP');
  await until('they go on', () =>
    both.every(({ output }) => output().stderr.match(/read its options again/g)?.length === 2),
  );
  await knows('and nothing has changed');
});
