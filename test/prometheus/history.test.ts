// The data that are kept for years: our recording rules, window by window, in promtool; and from end to end: a real
// exporter, Prometheus with these rules and our remote_write, and a real victoria-metrics, which gets the recorded data
// and nothing else. Runs in its own network, where both have their ports.
//
// @seconds 14
// @waits
// @rest
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { BulkSender } from '../../src/native/index.js';
import { follow } from '../kit/children.js';
import { missing, ORPHANED } from '../kit/gmetad.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';

const SHIPPED = join(ROOT, 'packaging', 'prometheus');
const RECORDING = join(SHIPPED, 'recording.yml');
const shipped = (name: string) => readFileSync(join(SHIPPED, name), 'utf8');

const skip = missing({
  '/usr/bin/prometheus': 'prometheus',
  '/usr/bin/promtool': 'prometheus',
  '/usr/bin/victoria-metrics': 'victoria-metrics',
});

function promtool(t: Test, what: string, ...argv: string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', argv, { encoding: 'utf8' });
  t.equal(status, 0, `${what}: ${stdout}${stderr}`);
}

// ---- the rules --------------------------------------------------------------------------------------------------------

/** Series of one node by name and labels, with samples every 15 s in promtool's notation. */
type Input = Record<string, string>;
/** The recorded values at the end of the first window; undefined: none. */
type Recorded = Record<string, number | undefined>;

const IN = 'cluster="alpha", node="n1"';
const state = (name: string) => `beoboard_node_state{${IN}, state="${name}"}`;
const of = (name: string, more = '') => `beoboard_node_${name}{${IN}${more}}`;
const cpu = (mode: string) => of('cpu_seconds_total', `, mode="${mode}"`);
const kept = (name: string) => `cluster_node:beoboard_node_${name}{${IN}}`;
const all = (name: string) => `cluster:beoboard_${name}{cluster="alpha"}`;

const LIVE = { [state('live')]: '1x20', [state('silent')]: '0x20', [state('unknown')]: '0x20' };
// It falls silent after ten scrapes of twenty.
const SILENT = { [state('live')]: '1x9 0x9', [state('silent')]: '0x9 1x9' };

const WINDOWS: [what: string, Input, Recorded][] = [
  [
    'levels are means and maxima',
    {
      ...LIVE,
      [of('power_watts')]: '400x9 600x9',
      [of('load1')]: '1.5x20',
      [of('cpu_temperature_celsius')]: '60x9 91.5 60x9',
      [of('memory_total_bytes')]: '8e9x20',
      [of('memory_available_bytes')]: '6e9x9 2e9x9',
    },
    {
      [kept('live:ratio5m')]: 1,
      [kept('power_watts:avg5m')]: 500,
      [kept('power_watts:max5m')]: 600,
      [kept('load1:avg5m')]: 1.5,
      [kept('cpu_temperature_celsius:max5m')]: 91.5,
      [kept('memory_used_bytes:avg5m')]: 4e9,
      [kept('memory_used_bytes:max5m')]: 6e9,
      [all('node_power_watts:avg5m')]: 500,
      [all('node_power_watts:max5m')]: 600,
      [all('node_power_watts:count5m')]: 1,
      [all('node_energy_joules:sum5m')]: 150_000,
    },
  ],
  [
    'a node that falls silent: its mean is of what was seen, its share of the sum and of the energy is of that time',
    { ...SILENT, [of('power_watts')]: '400x9 stale', [of('gpus')]: '4x9 stale', [of('gpus_busy')]: '2x9 stale' },
    {
      [kept('live:ratio5m')]: 0.5,
      [kept('power_watts:avg5m')]: 400,
      [all('node_power_watts:avg5m')]: 200,
      [all('node_energy_joules:sum5m')]: 60_000,
      [all('node_gpus:avg5m')]: 2,
      [all('node_gpus_busy:avg5m')]: 1,
    },
  ],
  [
    'a node of which nothing is known for a while, uncertain or the receiver stalled: that is no evidence',
    {
      [state('live')]: '1x9 0x9',
      [state('silent')]: '0x20',
      [state('uncertain')]: '0x9 1x4 0x4',
      [state('unknown')]: '0x14 1x4',
      [of('power_watts')]: '400x9 stale',
    },
    { [kept('live:ratio5m')]: 1, [all('node_power_watts:avg5m')]: 400 },
  ],
  [
    'nothing is known all the time: nothing is recorded',
    { [state('live')]: '0x20', [state('silent')]: '0x20', [state('unknown')]: '1x20' },
    { [kept('live:ratio5m')]: undefined },
  ],
  [
    'CPUs: idle and waiting is not busy',
    { [cpu('user')]: '1e6+30x20', [cpu('idle')]: '1e6+8x20', [cpu('iowait')]: '1e6+2x20' },
    {
      [kept('cpu_busy:ratio_rate5m')]: 0.75,
      [all('node_cpu_busy_seconds:rate5m')]: 2,
      [all('node_cpu_seconds:rate5m')]: 2.7,
    },
  ],
  [
    'a counter that begins anew with a boot, and one whose number of devices changes',
    {
      [of('network_receive_bytes_total', ', devices="1"')]: '9e9+15e6x9 0+15e6x9',
      [of('disk_read_bytes_total', ', devices="1"')]: '9e9+15e6x10 stale',
      [of('disk_read_bytes_total', ', devices="2"')]: '_x11 11e9+15e6x8',
    },
    {
      [kept('network_receive_bytes:rate5m')]: 947_000,
      [kept('disk_read_bytes:rate5m')]: 1_000_000,
      [all('node_disk_read_bytes:rate5m')]: 1_000_000,
    },
  ],
  [
    'another address of the exporter is no other series',
    { [of('load1', ', instance="old:9678"')]: '1x9 stale', [of('load1', ', instance="new:9678"')]: '_x9 3x9' },
    { [kept('load1:avg5m')]: 2 },
  ],
  [
    'the board: how many scrapes, how many nodes',
    {
      'beoboard_board_up{cluster="alpha"}': '1x4 _x9 1x4',
      'beoboard_nodes{cluster="alpha", state="live"}': '10x9 9x9',
    },
    { [all('board_up:count5m')]: 10, 'cluster_state:beoboard_nodes:avg5m{cluster="alpha", state="live"}': 9.5 },
  ],
];

if (!INSIDE) {
  t.test('both windows are recorded alike', async t => {
    const [, five = '', hour = ''] = shipped('recording.yml').split(/^ {2}- name: .*$/m);
    const told = (text: string) =>
      text
        .replace(/^ *#.*\n/gm, '')
        .trim()
        .replace(/\n\n+/g, '\n');
    const asHour = five.replaceAll('5m', '1h').replaceAll('* 300', '* 3600');
    t.equal(told(asHour), told(hour));
  });

  t.test('promtool finds no fault', { skip }, async t => {
    promtool(t, 'the rules', 'check', 'rules', '--lint=all', '--lint-fatal', RECORDING);
    const config = join(folder(t), 'prometheus.yml');
    writeFileSync(config, `rule_files: ['${RECORDING}']\n${shipped('remote-write.yml')}`);
    promtool(t, 'the configuration', 'check', 'config', config);
  });

  for (const [what, input, recorded] of WINDOWS)
    t.test(what, { skip }, async t => {
      const file = join(folder(t), 'window.yml');
      const test = {
        interval: '15s',
        // The window begins after the first sample.
        input_series: Object.entries(input).map(([series, values]) => ({ series, values: `_ ${values}` })),
        promql_expr_test: Object.entries(recorded).map(([series, value]) => ({
          expr: series,
          eval_time: '5m',
          exp_samples: value === undefined ? [] : [{ labels: series, value }],
        })),
      };
      const suite = { rule_files: [RECORDING], evaluation_interval: '5m', tests: [test] };
      writeFileSync(file, JSON.stringify(suite)); // JSON is valid YAML
      promtool(t, what, 'test', 'rules', file);
    });
}

// ---- from end to end --------------------------------------------------------------------------------------------------

const PROMETHEUS = 9090;
const STORE = 8428;

const S = 1_000_000_000n;
const NODES: Record<string, Encodable<'report'>> = {
  n1: { power_node_w: 400, load1_c: 1234, mem_total_mib: 8000, mem_avail_mib: 2000, temp_hottest_dc: 653 },
  n2: { power_node_w: 600, load1_c: 50, mem_total_mib: 8000, mem_avail_mib: 8000, temp_hottest_dc: 402 },
};
/** The sets that these nodes measure. */
const VALID = (['load', 'stat', 'memory', 'power', 'temp_hottest'] as const).reduce(
  (valid, set) => valid | (1n << BigInt(bits.valid[set])),
  0n,
);

/** Nodes that are three quarters busy. */
function reporting(t: Test, port: number): void {
  const sender = new BulkSender('127.0.0.1', port);
  let seq = 0;
  const timer = setInterval(() => {
    seq++;
    for (const [hostname, values] of Object.entries(NODES)) {
      const moving = { seq, cpu_user_ms: 1e9 + 3000 * seq, cpu_idle_ms: 1e9 + 1000 * seq };
      const times = { t_boot_ns: BigInt(1000 + seq) * S, t_real_ns: BigInt(1_700_000_000 + seq) * S };
      const report = makeReport({ valid: VALID, hostname, ...times, ...moving, ...values }, 'alpha');
      sender.send(report, report.length, 0, 1);
    }
  }, 200);
  t.teardown(() => {
    clearInterval(timer);
    sender.close();
  });
}

/** Runs a program until the test ends. */
function running(t: Test, program: string, argv: string[]): () => string {
  const child = spawn('setpriv', [...ORPHANED, program, ...argv], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child, t);
  return () => said.stderr;
}

const ask = async (port: number, path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
  return answer?.ok ? answer.text() : undefined;
};

interface Stored {
  metric: Record<string, string>;
  values: number[];
  timestamps: number[];
}

/** Everything in the second store. */
async function stored(): Promise<Stored[]> {
  const text = await ask(STORE, `/api/v1/export?match[]=${encodeURIComponent('{__name__!=""}')}`);
  return (text ?? '')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
}

const nameOf = ({ __name__, ...labels }: Record<string, string>) =>
  `${__name__}{${Object.entries(labels)
    .sort()
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')}}`;

if (INSIDE)
  t.test('recorded series go to the second store, scraped series do not', { skip }, async t => {
    const own = folder(t);
    const board = boardPath(t);
    const receiver = await startReceiver(t, board, ['--cluster', 'alpha']);
    reporting(t, receiver.port);
    const exporter = start(t, ['prometheus', '--board', board, '--listen', '127.0.0.1:0']);
    const { listening: [target] = [] } = await exporter.ready;
    await until('both nodes are live', async () => {
      const text = await ask(Number(target?.split(':').at(-1)), '/metrics');
      return text !== undefined && /^beoboard_nodes\{state="live",.*\} 2$/m.test(text);
    });

    const [, flags = ''] = /^ARGS="(.*)"$/m.exec(shipped('victoria-metrics.default')) ?? [];
    t.match(flags, `-httpListenAddr=127.0.0.1:${STORE} `, 'this machine alone is answered');
    running(t, 'victoria-metrics', flags.replace('/var/lib/victoria-metrics', join(own, 'store')).split(' '));
    await until('the second store answers', () => ask(STORE, '/health'), 50);

    // The shipped rules, evaluated every second; their windows are unchanged.
    mkdirSync(join(own, 'prometheus'));
    const [rules, config] = [join(own, 'recording.yml'), join(own, 'prometheus.yml')];
    writeFileSync(rules, shipped('recording.yml').replace(/interval: (5m|1h)$/gm, 'interval: 1s'));
    const scraped = {
      global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
      rule_files: [rules],
      scrape_configs: [
        {
          job_name: 'beoboard',
          honor_labels: true,
          static_configs: [{ targets: [target], labels: { cluster: 'alpha' } }],
        },
      ],
    };
    const block = Object.entries(scraped).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    const writing = shipped('remote-write.yml').replace(/(queue_config:\n)( +)/, '$1$2batch_send_deadline: 500ms\n$2');
    writeFileSync(config, block.join('') + writing);
    const [, args = ''] = /^ARGS="(.*)"$/m.exec(shipped('prometheus.default')) ?? [];
    const told = running(t, 'prometheus', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(own, 'prometheus')}`,
      ...args.split(' '),
    ]);
    await until('Prometheus answers', () => ask(PROMETHEUS, '/-/ready'), 50);

    const found = new Map<string, Stored>();
    const look = async () => {
      for (const series of await stored()) found.set(nameOf(series.metric), series);
    };
    const last = (name: string) => found.get(name)?.values.at(-1);
    for (const window of ['5m', '1h']) {
      const node = (host: string, name: string) =>
        `cluster_node:beoboard_node_${name}${window}{cluster="alpha", node="${host}"}`;
      const cluster = (name: string) => `cluster:beoboard_node_${name}${window}{cluster="alpha"}`;
      const wanted: Record<string, number> = {
        [node('n1', 'live:ratio')]: 1,
        [node('n1', 'cpu_busy:ratio_rate')]: 0.75,
        [node('n1', 'load1:avg')]: 12.34,
        [node('n1', 'power_watts:avg')]: 400,
        [node('n2', 'power_watts:max')]: 600,
        [node('n1', 'cpu_temperature_celsius:max')]: 65.3,
        [node('n1', 'memory_used_bytes:avg')]: 6_291_000_000,
        [node('n2', 'memory_used_bytes:max')]: 0,
        [cluster('power_watts:avg')]: 1000,
        [cluster('power_watts:count')]: 2,
        [cluster('energy_joules:sum')]: 1000 * (window === '5m' ? 300 : 3600),
        [`cluster_state:beoboard_nodes:avg${window}{cluster="alpha", state="live"}`]: 2,
      };
      for (const [name, value] of Object.entries(wanted)) {
        await until(
          `${name} is ${value} in the second store`,
          async () => {
            await look();
            return last(name) === value;
          },
          200,
        ).catch(error => t.fail(`${error.message}: it is ${last(name)}; ${told().slice(-1000)}`));
        t.equal(last(name), value, name);
      }
    }

    await look();
    const names = [...new Set([...found.values()].map(({ metric }) => metric.__name__))];
    t.strictSame(
      names.filter(name => !/^cluster(_node|_state)?:beoboard_/.test(name ?? '')),
      [],
      'nothing is there that was scraped',
    );
    t.ok(names.length > 30, `${names.length} names are there`);
    // Each sample has the value that it has in Prometheus.
    for (const [name, { values, timestamps }] of found) {
      const path = `/api/v1/query?query=${encodeURIComponent(`${name}[1h]`)}`;
      const { data } = JSON.parse((await ask(PROMETHEUS, path)) ?? '{}');
      const own = new Map<number, number>(
        data.result[0].values.map(([at, value]: [number, string]) => [Math.round(at * 1000), Number(value)]),
      );
      const others = timestamps.filter((at, i) => own.get(at) !== values[i]);
      t.strictSame(others, [], `${name} has the same samples in both`);
      const [first = 0] = own.keys();
      t.ok(
        [...own.keys()].every(at => (at - first) % 1000 === 0),
        'and its windows lie side by side',
      );
    }
  });
else inOwnNetwork(t, 'ip link set lo up', import.meta.url);
