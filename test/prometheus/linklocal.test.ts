// Targets with link-local addresses: what /sd tells, a Prometheus can connect to. Runs in its own network, which has
// such addresses. Needs Debian's package prometheus for its last part.
//
// @seconds 6
// @waits
// @rest

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { targetOf } from '../../src/prometheus/request.js';
import { node, writeBoard } from '../kit/ganglia.js';
import { keepAlive } from '../kit/heart.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { noPrometheus } from './alerting.js';
import { Prometheus } from './promserver.js';

const SETUP = [
  'ip link set lo up',
  'ip link add v0 type veth peer name v1',
  'ip link set v0 up && ip link set v1 up',
  // Without a second of detecting whether somebody else has it.
  'ip addr add fe80::1/64 dev v0 nodad',
].join(' && ');

type Groups = { targets: string[]; labels: { instance?: string } }[];

/** What /sd tells a client that, as curl and Prometheus do, leaves the zone out of the Host header. */
async function groupsOf(host: string, port: number, path: string): Promise<Groups> {
  const headers = { Host: `[${host.replace(/%.*/, '')}]:${port}` };
  const [response] = (await once(get({ host, port, path, headers }), 'response')) as [IncomingMessage];
  return (await json(response)) as Groups;
}

/** An exporter that listens on all addresses; returns its port. */
async function exporter(t: Test): Promise<number> {
  const board = boardPath(t);
  writeBoard(board, [node('n1')], { now: process.hrtime.bigint() });
  keepAlive(t, board);
  const { listening } = await start(t, ['prometheus', '--board', board, '--listen', '[::]:0']).ready;
  return Number(listening?.[0]?.split(':').at(-1));
}

function inside(): void {
  t.test('link-local targets have their zone', async t => {
    const port = await exporter(t);
    const at = `[fe80::1%v0]:${port}`;
    t.strictSame(await groupsOf('fe80::1%v0', port, '/sd'), [{ targets: [at], labels: {} }]);
    t.match(await groupsOf('fe80::1%v0', port, '/sd?of=2'), [
      { targets: [at], labels: { instance: `${at}/1of2` } },
      { targets: [at], labels: { instance: `${at}/2of2` } },
    ]);
    t.match(await groupsOf('fe80::1%v0', port, '/sd?zone=ib0'), [{ targets: [`[fe80::1%ib0]:${port}`] }]);
    t.match(await groupsOf('::1', port, '/sd'), [{ targets: [`[::1]:${port}`] }], 'no other address has one');
  });

  t.test('and Prometheus reads them', { skip: noPrometheus }, async t => {
    const http_sd_configs = [{ url: `http://[fe80::1%25v0]:${await exporter(t)}/sd?of=2` }];
    const prometheus = await Prometheus.start(t, [{ job_name: 'beoboard', honor_labels: true, http_sd_configs }]);
    await until('both shards are read', async () => {
      const found = await prometheus.now('up{job="beoboard"}');
      return found.length === 2 && found.every(({ values }) => values[0] === 1);
    });
  });
}

t.test('the target of a Host header', async t => {
  for (const [host, zone, target] of [
    ['[fe80::1]:9678', 'eth0', '[fe80::1%eth0]:9678'],
    ['[FE80::1]', 'eth0', '[FE80::1%eth0]'],
    ['[fe80::1%ib0]:9678', 'eth0', '[fe80::1%ib0]:9678'],
    ['[fe80::1%25ib0]:9678', '', '[fe80::1%ib0]:9678'],
    ['[fe80::1]:9678', '', '[fe80::1]:9678'],
    ['[fd00::1]:9678', 'eth0', '[fd00::1]:9678'],
    ['10.0.0.1:9678', 'eth0', '10.0.0.1:9678'],
    ['fe80:9678', 'eth0', 'fe80:9678'],
  ] as const)
    t.equal(targetOf(host, zone), target, `${host} by ${zone}`);
});

if (INSIDE) inside();
else inOwnNetwork(t, SETUP, import.meta.url);
