// The dashboards for Grafana: the files are fresh and complete, use only series of the exporter, and every query is
// sent to a real Prometheus that scrapes a real exporter for a board with live, silent, unhealthy and GPU nodes. Ten
// results are compared with status --json. Their look is not tested: there is no Grafana here.
//
// @seconds 12
// @rest
// @days 3

import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { dashboards } from '../../proto/dashboards/index.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { COLLECTORS } from '../../src/prometheus/families.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { lacks } from '../kit/lacking.js';
import { EVERYTHING, validOf } from '../kit/madeboard.js';
import { boardPath, ROOT } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { type Answered, Prometheus, Refusal } from './promserver.js';

const run = verbRun(t);

t.setTimeout(600_000);

const FOLDER = join('packaging', 'grafana');

interface Target {
  refId: string;
  expr: string;
  legendFormat: string;
  range: boolean;
  datasource?: unknown;
}
interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: unknown;
  targets?: Target[];
  transformations?: { id: string; options: { include?: { names: string[] } } }[];
  panels?: Panel[];
  fieldConfig?: { defaults: { unit?: string } };
  gridPos: { x: number; y: number; w: number; h: number };
}
interface Dashboard {
  uid: string;
  title: string;
  tags: string[];
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query?: string | { query: string }; description?: string }[] };
}

const files = readdirSync(join(ROOT, FOLDER)).map(name => {
  const text = readFileSync(join(ROOT, FOLDER, name), 'utf8');
  return { name, text, board: JSON.parse(text) as Dashboard };
});

/** All panels of a dashboard, those in closed rows too. */
const panelsOf = ({ panels }: Dashboard) => panels.flatMap(panel => [panel, ...(panel.panels ?? [])]);

interface Question extends Target {
  file: string;
  title: string;
  /** The labels that the results must have for the legend and the columns. */
  labels: string[];
}
const questions: Question[] = files.flatMap(({ name, board }) =>
  panelsOf(board).flatMap(({ title, targets = [], transformations = [] }) => {
    const columns = transformations.flatMap(({ options }) => options.include?.names ?? []);
    return targets.map(target => {
      const shown = [...target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const labels = [...shown, ...columns.filter(column => !column.startsWith('Value'))];
      return { ...target, file: name, title, labels };
    });
  }),
);

/** The name of a query in messages: file, panel and letter. */
const nameOf = ({ file, title, refId }: Question) => `${file}: ${title} ${refId}`;

t.test('the files are those that the generator makes, and no others', async t => {
  const made = dashboards();
  t.same(made.map(([path]) => path).sort(), files.map(({ name }) => join(FOLDER, name)).sort());
  for (const [path, text] of made)
    t.ok(text === files.find(({ name }) => path.endsWith(`/${name}`))?.text, `${path}; if not: npm run generate`);
});

t.test('they are complete', async t => {
  const uids = files.map(({ board }) => board.uid);
  t.same(uids.sort(), ['beoboard-cluster', 'beoboard-monitor', 'beoboard-node', 'beoboard-power']);
  const titles = files.map(({ board }) => board.title);
  t.equal(new Set(titles).size, files.length, 'each has a title of its own');
  for (const { name, text, board } of files) {
    const panels = panelsOf(board);
    const ids = panels.map(({ id }) => id);
    t.same(ids, [...new Set(ids)], `${name}: ids of panels are unique`);
    const titles = panels.map(({ title }) => title);
    t.same(titles, [...new Set(titles)], `${name}: and their titles`);
    t.ok(panels.length > 10 && board.schemaVersion === 39 && board.tags.includes('beoboard'), name);
    t.notMatch(
      text,
      /https?:|"__inputs"|#[0-9a-fA-F]{6}/,
      'no way out, nothing to fill in, no colour for one look alone',
    );
    t.match(board.templating.list[0], { name: 'datasource', type: 'datasource', query: 'prometheus' });
    for (const { name: variable, description } of board.templating.list) t.ok(description, `${name}: $${variable}`);
    const used = new Set([...text.matchAll(/\$\{?([a-z]\w*)/g)].map(([, variable]) => variable));
    t.same([...used].sort(), board.templating.list.map(({ name }) => name).sort(), `${name}: its variables are used`);
    for (const { type, title, description = '', datasource, targets = [], fieldConfig, gridPos } of panels) {
      t.ok(gridPos.x + gridPos.w <= 24 && gridPos.h > 0, `${name}: ${title} is on the page`);
      if (type === 'row') continue;
      t.match(description, /^[A-Z a-z].{15,}[.]$/s, `${name}: ${title} says what it means`);
      t.ok(fieldConfig?.defaults.unit, `${name}: ${title} has a unit`);
      t.ok(targets.length > 0, `${name}: ${title} asks`);
      for (const asked of [datasource, ...targets.map(({ datasource }) => datasource)])
        t.same(asked, { type: 'prometheus', uid: `\${datasource}` }, `${name}: ${title}`);
    }
    const places = panels.filter(({ type }) => type !== 'row').map(({ gridPos: { x, y } }) => `${x},${y}`);
    t.same(places, [...new Set(places)], `${name}: no panel lies on another`);
  }
});

// ---- a board with everything that the dashboards are for ----

const S = 1_000_000_000n;
const NODE = 'rack01-gpu01';
const ILL = { health: enums.health.indexOf('bad') };
const LIVE = expand('rack01-node[01-06]', BOARD_MOST);
const SILENT = expand('rack02-node[01-03]', BOARD_MOST);

/** The `nth` report of a node in which everything was measured; its counters grow with `nth`. */
function reportOf(hostname: string, nth: number, more: Encodable<'report'> = {}): Uint8Array {
  const grown = (by: number) => by * (10 + nth);
  const big = (by: number) => BigInt(by) * BigInt(10 + nth);
  const traffic = { rx_bytes: big(1_000_000), tx_bytes: big(400_000), rx_packets: big(900), tx_packets: big(500) };
  const port = { ...traffic, errors: grown(1), drops: grown(2), mbps: 25_000, state: 3 | (1 << 16) };
  const at = { t_boot_ns: (1000n + BigInt(nth)) * S, slow_boot_ns: (1000n + BigInt(nth)) * S };
  return makeReport(
    {
      ...{ hostname, boot_id: 7n, start_boot_ns: 5n * S, ...at, t_real_ns: BigInt(Date.now()) * 1_000_000n },
      ...{ seq: nth, interval_ms: 600_000, valid: EVERYTHING & ~validOf('gpu', 'gpu_errors') },
      ...{ cpus_online: 64, cpus_present: 64, load1_c: 3200, load5_c: 1600, load15_c: 800, cpu_busy_pm: 437 },
      ...{ cpu_user_ms: big(30_000), cpu_system_ms: big(2000), cpu_idle_ms: big(32_000) },
      ...{
        mem_total_mib: 256_000,
        mem_avail_mib: 128_000,
        mem_free_mib: 64_000,
        mem_cached_mib: 50_000,
        mem_anon_mib: 99_000,
      },
      ...{ swap_total_mib: 8000, swap_free_mib: 6000, swapin_pages: big(3), swapout_pages: big(4) },
      ...{ psi_cpu_some_us: big(90_000), psi_mem_some_us: big(2000), psi_io_some_us: big(4000) },
      ...{
        disks: 2,
        disk_read_bytes: big(7_000_000),
        disk_write_bytes: big(5_000_000),
        disk_reads: big(70),
        disk_writes: big(50),
      },
      ...{ net: [{ name: 'eth0', ...port }], fabric: { name: 'fabric', ...port }, disk_busiest_pm: 120 },
      ...{
        power_node_w: 412,
        energy_cpu_mj: big(150_000),
        energy_dram_mj: big(20_000),
        temp_inlet_dc: 235,
        temp_hottest_dc: 670,
      },
      ...{ root_total_mib: 100_000, root_avail_mib: 60_000, scratch_total_mib: 900_000, scratch_avail_mib: 800_000 },
      ...{
        root_inodes_free_pm: 900,
        scratch_inodes_free_pm: 900,
        fs_total_mib: 1_000_000,
        fs_avail_mib: 860_000,
        fs_fullest_pm: 400,
      },
      ...{
        health: enums.health.indexOf('ok'),
        threads: 2000,
        files_open: 4000,
        runnable: 9,
        ctxt: big(5000),
        intr: big(3000),
      },
      os_release: '6.1.0-25-amd64',
      ...more,
    },
    'alpha',
  );
}

const GPU = { util_pct: 90, temp_degc: 71, power_w: 310, mem_used_mib: 30_000, mem_total_mib: 80_000 };
/** The fields of a node with four busy GPUs, with one more error in each report, and a health check that says bad. */
const withGpus = (nth: number): Encodable<'report'> => ({
  ...{
    valid: EVERYTHING,
    gpu_count: 4,
    gpu_busy: 4,
    gpu: [GPU, GPU, { ...GPU, temp_degc: 83 }, { ...GPU, util_pct: 10 }],
  },
  ...{ gpu_errors: nth, gpu_ecc_ue: 1, ...ILL },
});

/** The values that Grafana puts in for its variables. */
const VALUES: [variable: string, value: string][] = [
  ['$cluster', 'alpha|beta'],
  ['$node', NODE],
  ['$job', 'beoboard'],
  ['$__rate_interval', '1m'],
  ['$__range', '1h'],
  [`\${rack:raw}`, '(.*?)[-_.]?[a-z]*[0-9]+'],
];
const filled = (text: string) => VALUES.reduce((all, [variable, value]) => all.replaceAll(variable, value), text);

/** The part of `status --json` that is used here. */
interface Told {
  board: { accepted: number; links: { name: string; nodes: number }[] };
  totals: {
    cpus: { used: number; total: number };
    memory: { used: number; total: number };
    gpus: { used: number; total: number };
    power: { watts: number; nodes: number };
  };
  nodes: {
    name: string;
    state: string;
    problems?: string[];
    lost: number;
    report?: Record<string, number>;
    rates?: Record<string, number>;
  }[];
}

const status = async (board: string) => JSON.parse((await run(['status', '--json', '--board', board])).stdout) as Told;

/** A board as described above, its exporter, and a Prometheus that has scraped several reports. */
async function monitored(t: Test) {
  const board = boardPath(t);
  const names = [NODE, ...LIVE, ...SILENT, 'login1', 'spare1'];
  const limits = ['--uncertain-after', '450ms', '--silent-after', '1050ms'];
  const receiver = await startReceiver(t, board, ['--cluster', 'alpha', '--nodes', names.join(','), ...limits]);
  const socket = createSocket('udp4').unref();
  t.teardown(() => socket.close());
  const send = (report: Uint8Array) =>
    new Promise<void>((resolve, reject) =>
      socket.send(report, receiver.port, '127.0.0.1', error => (error === null ? resolve() : reject(error))),
    );
  let sent = 0;
  /** Sends the `nth` report of each node, and waits until they are on the board. */
  const report = async (nth: number, names: readonly string[], more: Encodable<'report'> = {}) => {
    for (const name of names) await send(reportOf(name, nth, { ...(name === NODE && withGpus(nth)), ...more }));
    sent += names.length;
    await until(`${sent} reports are on the board`, async () => (await status(board)).board.accepted === sent);
  };
  await report(1, [NODE, ...LIVE]);
  await report(2, [NODE, ...LIVE]);
  await report(1, SILENT, { interval_ms: 100 });
  await report(1, ['login1'], { flags: 1 << bits.flags.goodbye });

  const exporter = start(t, ['prometheus', '--board', board, '--listen', '127.0.0.1:0']);
  const { listening: [address = ''] = [] } = await exporter.ready;
  const job = {
    ...{ job_name: 'beoboard', honor_labels: true, params: { 'collect[]': COLLECTORS } },
    static_configs: [{ targets: [address], labels: { cluster: 'alpha' } }],
  };
  const prometheus = await Prometheus.start(t, [job]);
  const seen = async (expr: string) => (await prometheus.now(expr)).length > 0;
  await until('the board was scraped', () => seen('beoboard_node_reports_total == 2'));
  // The first scrape is done, so Prometheus sees all later increases: one report is lost, one is late, one is rejected.
  await report(4, [NODE, ...LIVE]);
  await send(reportOf('rack01-node01', 3));
  await send(reportOf('rack01-node03', 9, { start_boot_ns: 4n * S }));
  const three = SILENT.length;
  await until('all of that was scraped', () =>
    seen(
      `beoboard_node_reports_total{node="${NODE}"} == 3 and on () (sum(beoboard_node_reports_late_total) == 1)
       and on () (sum(beoboard_nodes{state="silent"}) == ${three}) and on () (beoboard_receiver_refused_total{reason="rival"} == 1)
       and on () (changes(beoboard_node_reports_total{node="${NODE}"}[1m]) > 0)`,
    ),
  );
  const text = await (
    await fetch(`http://${address}/metrics?${COLLECTORS.map(name => `collect[]=${name}`).join('&')}`)
  ).text();
  const served = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  return { board, receiver, prometheus, served };
}

/** The query of this panel, with its variables filled in. */
function question(file: string, title: string, refId = 'A'): string {
  const found = questions.filter(asked => asked.file === file && asked.title === title && asked.refId === refId);
  if (found.length !== 1) throw new Error(`${file} has ${found.length} questions ${title} ${refId}`);
  return filled((found[0] as Question).expr);
}

const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, number = 0) => all + number, 0);
const inState = (state: string) => (told: Told) => told.nodes.filter(node => node.state === state).length;
const chosen = ({ nodes }: Told) => nodes.find(({ name }) => name === NODE);
const STATE_NUMBERS = ['live', 'uncertain', 'silent', 'left', 'never', 'unknown'];

/** Queries of a dashboard, and the same values from status. */
const COMPARED: [
  what: string,
  asked: string,
  told: (told: Told) => number | undefined,
  among?: Record<string, string>,
][] = [
  ['live nodes', question('cluster.json', 'Nodes now', 'A'), inState('live')],
  ['silent nodes', question('cluster.json', 'Nodes now', 'C'), inState('silent')],
  ['nodes that left', question('cluster.json', 'Nodes now', 'D'), inState('left')],
  ['nodes never heard', question('cluster.json', 'Nodes now', 'E'), inState('never')],
  ['CPUs', question('cluster.json', 'CPUs online'), ({ totals }) => totals.cpus.total],
  ['CPUs busy', question('cluster.json', 'CPUs busy'), ({ totals }) => totals.cpus.used],
  ['memory used', question('cluster.json', 'Memory used'), ({ totals }) => totals.memory.used],
  ['power', question('cluster.json', 'Power'), ({ totals }) => totals.power.watts],
  ['nodes that measure it', question('cluster.json', 'Nodes that measure power'), ({ totals }) => totals.power.nodes],
  [
    'not heard in a rack',
    question('cluster.json', 'Racks', 'B'),
    ({ nodes }) => nodes.filter(({ name, state }) => name.startsWith('rack02') && state === 'silent').length,
    { rack: 'rack02' },
  ],
  [
    'nodes with problems',
    `count(count by (node) (${question('cluster.json', 'Nodes with problems')}))`,
    ({ nodes }) => nodes.filter(({ problems }) => problems !== undefined).length,
  ],
  ['GPUs', question('gpu-power.json', 'GPUs'), ({ totals }) => totals.gpus.total],
  ['GPUs in use', question('gpu-power.json', 'GPUs in use'), ({ totals }) => totals.gpus.used],
  ['the state of a node', question('node.json', 'State'), told => 1 + STATE_NUMBERS.indexOf(chosen(told)?.state ?? '')],
  ['its load', question('node.json', 'Load'), told => (chosen(told)?.report?.load1_c ?? Number.NaN) / 100],
  ['its power', question('node.json', 'Power'), told => chosen(told)?.report?.power_node_w],
  [
    'its swap',
    question('node.json', 'Memory in use', 'B'),
    told => {
      const { swap_free_mib = Number.NaN, swap_total_mib = Number.NaN } = chosen(told)?.report ?? {};
      return 1 - swap_free_mib / swap_total_mib;
    },
  ],
  [
    'nodes of a link',
    question('monitor.json', 'Links now', 'C'),
    ({ board }) => board.links.find(({ name }) => name === 'lo')?.nodes,
    { link: 'lo' },
  ],
];

const why = lacks('prometheus', 'prometheus');
t.test('every query works in a real Prometheus', { skip: why }, async t => {
  const { board, receiver, prometheus, served } = await monitored(t);

  await t.test('they use only series that are served', async t => {
    const OF_PROMETHEUS = ['up', 'scrape_duration_seconds', 'scrape_samples_scraped'];
    const WORDS = /\b(?:beoboard_\w+|up|scrape_\w+)\b(?=[{[ )])/g;
    for (const asked of questions) {
      const names = [...asked.expr.matchAll(WORDS)].map(([name]) => name);
      t.ok(names.length > 0, nameOf(asked));
      t.same(
        names.filter(name => !served.has(name) && !OF_PROMETHEUS.includes(name)),
        [],
        nameOf(asked),
      );
    }
    for (const { name: file, board } of files)
      for (const { name, type, query } of board.templating.list) {
        if (type !== 'query' || typeof query !== 'object') continue;
        const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query.query) ?? [];
        const values = await prometheus.values(filled(series), label);
        t.ok(values.length > 0, `${file}: $${name}`);
      }
  });

  await t.test('each query succeeds, and those that should have data have it', async t => {
    for (const asked of questions) {
      const expr = filled(asked.expr);
      try {
        // A scrape that took too long on a busy machine leaves nothing to be seen until the next one.
        const answers = await until(`${nameOf(asked)} has data`, async () => {
          const found = asked.range ? await prometheus.lately(expr) : await prometheus.now(expr);
          return found.length > 0 && found;
        });
        for (const label of asked.labels)
          t.ok(
            answers.some(({ metric }) => metric[label] !== undefined),
            `${nameOf(asked)}: ${label}`,
          );
        const twice = new Set(answers.map(({ metric }) => JSON.stringify(metric))).size;
        t.equal(twice, answers.length, nameOf(asked));
        t.notOk(
          answers.some(({ values }) => values.some(Number.isNaN)),
          `${nameOf(asked)}: numbers`,
        );
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        t.fail(`${nameOf(asked)}: ${error.message}`);
      }
    }
  });

  await t.test('the results are those of status', async t => {
    const told = await status(board);
    for (const [what, asked, say, among = {}] of COMPARED) {
      const answers = (await prometheus.now(asked)).filter(({ metric }: Answered) =>
        Object.entries(among).every(([label, value]) => metric[label] === value),
      );
      const expected = say(told) ?? Number.NaN;
      const answer = sum(answers.flatMap(({ values }) => values));
      t.ok(Math.abs(answer - expected) <= 1e-6 * Math.abs(expected), `${what}: ${answer}, and status says ${expected}`);
    }
  });

  await t.test('a receiver that has gone is shown as such, and no node as dead', async t => {
    const shown = question('cluster.json', 'Receiver');
    const shows = async (value: number) => (await prometheus.now(shown)).some(({ values }) => values[0] === value);
    await until('it runs', () => shows(2));
    receiver.child.kill('SIGKILL');
    await until('it counts as stalled', () => shows(1));
    t.same(await prometheus.now(question('cluster.json', 'Nodes that are not heard')), []);
    const [unknown] = await prometheus.now(question('cluster.json', 'Nodes now', 'F'));
    t.same(unknown?.values, [1 + LIVE.length + SILENT.length + 2]);
    rmSync(board);
    await until('there is no board', () => shows(0));
  });
});
