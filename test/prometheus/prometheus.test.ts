// A real Prometheus scrapes exporters and receivers that are restarted, and promtool reads what is printed: no scrape
// fails while the exporter runs, and no counter decreases, whatever is ended in whatever way. Needs Debian's package
// prometheus.
//
// @seconds 14
// @waits
// @rest
// @days 3

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { COLLECTORS } from '../../src/prometheus/families.js';
import { type Followed, follow } from '../kit/children.js';
import { beating, HOSTILE, node, writeBoard, writeLiveBoard } from '../kit/ganglia.js';
import { keepAlive } from '../kit/heart.js';
import { boardPath, folder } from '../kit/places.js';
import { type Running, run, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { shipped } from './alerting.js';

/** Why a program cannot be used here; in CI it must be there. */
function missing(program: string): string | false {
  const isThere = spawnSync(program, ['--version']).error === undefined;
  return isThere || process.env.CI === 'true' ? false : `${program} missing: apt-get install prometheus`;
}

type Labels = Record<string, string>;
interface Found {
  metric: Labels;
  value: [at: number, value: string];
  values: [at: number, value: string][];
}

/** A Prometheus with this configuration, which is queried over its API. */
class Prometheus {
  readonly #child: ChildProcess;
  readonly #said: Followed;
  #url = '';

  constructor(t: Test, config: string) {
    const path = folder(t);
    writeFileSync(join(path, 'prometheus.yml'), config);
    const options = ['--config.file', join(path, 'prometheus.yml'), '--storage.tsdb.path', join(path, 'data')];
    this.#child = spawn('prometheus', [...options, '--web.listen-address=127.0.0.1:0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#said = follow(this.#child, t);
  }

  async ready(): Promise<void> {
    const [, address] = await until('Prometheus listens', () => {
      if (this.#child.exitCode !== null) throw new Error(this.#said.stderr);
      return /msg="Listening on" address=(\S+)/.exec(this.#said.stderr) ?? undefined;
    });
    this.#url = `http://${address}/api/v1`;
    await until('it is ready', async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok);
  }

  async #ask(path: string): Promise<unknown> {
    const answer = (await (await fetch(this.#url + path)).json()) as { status: string; data: unknown; error?: string };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }

  async query(text: string): Promise<Found[]> {
    return ((await this.#ask(`/query?query=${encodeURIComponent(text)}`)) as { result: Found[] }).result;
  }

  /** The value of a query with one result. */
  async number(text: string): Promise<number | undefined> {
    const [found] = await this.query(text);
    return found && Number(found.value[1]);
  }

  async names(): Promise<string[]> {
    return (await this.#ask('/label/__name__/values')) as string[];
  }

  /** The warnings and errors about scrapes that did not fail as a whole. */
  get complaints(): string[] {
    return this.#said.stderr
      .split('\n')
      .filter(line => /level=(warn|error)/.test(line) && /scrape|Append|duplicate|out-of-order/i.test(line));
  }
}

/**
 * The /proc of this machine, except for the CPU times: each grows by 1 s every 50 ms, and the time of waiting for I/O
 * sometimes goes back a little.
 */
function madeProc(t: Test): string {
  const path = join(folder(t), 'proc');
  mkdirSync(path);
  for (const name of readdirSync('/proc'))
    if (name !== 'stat' && !/^\d/.test(name)) symlinkSync(join('/proc', name), join(path, name));
  const [, ...rest] = readFileSync('/proc/stat', 'utf8').split('\n');
  let ticks = 100_000;
  const write = () => {
    ticks += 100;
    const waiting = ticks - (ticks % 1000 === 0 ? 150 : 0);
    writeFileSync(
      join(path, 'stat.new'),
      [`cpu  ${ticks} ${ticks} ${ticks} ${ticks} ${waiting} ${ticks} ${ticks} ${ticks} 0 0`, ...rest].join('\n'),
    );
    renameSync(join(path, 'stat.new'), join(path, 'stat'));
  };
  write();
  const timer = setInterval(write, 50);
  t.teardown(() => clearInterval(timer));
  return path;
}

/** A board with hostile names of kernels and of the cluster, and a heartbeat for as long as the test runs. */
function hostileBoard(t: Test, path: string): void {
  const hour = 3_600_000_000_000n;
  const { now, header } = beating();
  const limits = { uncertain_after_ns: hour, silent_after_ns: 2n * hour };
  const nodes = HOSTILE.map(([, release], i) => ({ ...node(`h${i}`), release }));
  writeBoard(path, nodes, {
    now: now as bigint,
    header: { ...header, ...limits },
    cluster: Buffer.from('"\\\n\xff', 'latin1'),
  });
  keepAlive(t, path);
}

t.test('promtool finds no fault', { skip: missing('promtool') }, async t => {
  const path = boardPath(t);
  writeBoard(
    path,
    [node('n1'), node('n2', 60), { name: 'n3' }, ...HOSTILE.map(([, release], i) => ({ ...node(`h${i}`), release }))],
    beating(),
  );
  const all = await run(['metrics', '--board', path, '--collect', COLLECTORS.join()]);
  t.equal(all.code, 0);
  t.match(all.stdout, /beoboard_node_info[^\n]*os_release="/);
  const check = (input: string) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  t.strictSame(check(all.stdout), { status: 0, stdout: '', stderr: '' });
  t.match(check(`${all.stdout}x`), { stderr: /error while linting/ }, 'it does read it');
  const node_ = await run(['metrics', '--board', path, '--node-metrics']);
  t.notMatch(
    check(node_.stdout).stderr,
    /error while linting/,
    "what is wrong with node_exporter's names is not ours to mend",
  );
});

t.test('a limit of Prometheus is not an exporter that does not answer', { skip: missing('prometheus') }, async t => {
  const board = boardPath(t);
  writeLiveBoard(t, board, [node('n1'), node('n2')]);
  const { listening } = await start(t, ['prometheus', '--board', board, '--listen', '127.0.0.1:0']).ready;
  // The rule itself, of the job that it names, for one target with each cause.
  const job = (name: string, target: string, limit: string) => `
  - job_name: ${name}
    honor_labels: true
    relabel_configs: [{target_label: job, replacement: beoboard}]
    static_configs: [{targets: ['${target}'], labels: {cluster: '${name}'}}]
    ${limit}`;
  const prometheus = new Prometheus(
    t,
    `global: {scrape_interval: 2s, scrape_timeout: 2s}
scrape_configs:${job('well', `${listening}`, '')}${job('samples', `${listening}`, 'sample_limit: 10')}${job(
      'labels',
      `${listening}`,
      'label_limit: 1',
    )}${job('gone', '127.0.0.1:9', '')}`,
  );
  await prometheus.ready();
  const [, rule = ''] = /alert: BeoboardMonitorDown\n +expr: \|\n([\s\S]*?) +for: /.exec(shipped('rules.yml')) ?? [];
  // On a busy machine a scrape may also be late. alpha is the cluster of the line with absent().
  await until('each has its cause', async () => {
    const found = await prometheus.query(rule);
    const causes = found.map(({ metric, value }) => `${metric.cluster} ${value[1]}`);
    return causes.sort().join() === 'alpha 4,gone 1,labels 5,samples 5';
  });
  const samples = 'scrape_samples_post_metric_relabeling{cluster="well"}';
  await until('the samples are counted', async () => ((await prometheus.number(samples)) ?? 0) > 100);
});

t.test('several boards have their own names, unless others are given', async t => {
  const boards = [boardPath(t), boardPath(t), boardPath(t), boardPath(t)] as const;
  const [alpha, beta, twin, none] = boards;
  await startReceiver(t, alpha, ['--cluster', 'alpha']);
  await startReceiver(t, beta, ['--cluster', 'beta']);
  await startReceiver(t, twin, ['--cluster', 'alpha']);
  await startReceiver(t, none);
  const clusters = async (...of: string[]) => {
    const { code, stdout, stderr } = await run([
      'metrics',
      '--collect',
      'receiver',
      ...of.flatMap(b => ['--board', b]),
    ]);
    return code === 2 ? stderr : stdout.match(/^beoboard_board_up\{.*$/gm);
  };
  const up = (...names: string[]) => names.map(name => `beoboard_board_up{cluster="${name}"} 1`);
  t.same(await clusters(alpha, beta), up('alpha', 'beta'));
  t.same(await clusters(alpha, `west=${twin}`), up('alpha', 'west'));
  t.same(await clusters(`b=${alpha}`, beta), up('b', 'beta'), 'a name that is given wins');
  t.match(await clusters(alpha, twin), /two clusters are called alpha, .* by NAME=PATH\n$/);
  t.match(await clusters(alpha, `alpha=${beta}`), /two clusters are called alpha, .* by NAME=PATH\n$/);
  t.match(await clusters(alpha, none), new RegExp(`needs a cluster name; write NAME=${none}\\n$`));
  t.match(await clusters(`${alpha}-gone`, beta), new RegExp(`write NAME=${alpha}-gone\\n$`), 'not there');
});

t.test('no counter goes back, whichever program is ended', { skip: missing('prometheus') }, async t => {
  const board = boardPath(t);
  const hostile = boardPath(t);
  const receiver = await startReceiver(t, board, ['--cluster', 'test']);
  const to = `127.0.0.1:${receiver.port}`;
  const proc = madeProc(t);
  const startSender = async (name: string): Promise<Running> => {
    const sender = start(t, [
      'send',
      '--to',
      to,
      '--cluster',
      'test',
      '--name',
      name,
      '--interval',
      '100ms',
      '--proc',
      proc,
    ]);
    await sender.ready;
    return sender;
  };
  const senders = [await startSender('n1'), await startSender('n2'), await startSender('n3')];
  hostileBoard(t, hostile);
  const exporterOn = async (listen: string, path: string): Promise<Running & { address: string }> => {
    const exporter = start(t, ['prometheus', '--board', path, '--listen', listen, '--node-metrics']);
    const { listening = [] } = await exporter.ready;
    return { ...exporter, address: listening[0] as string };
  };
  let exporter = await exporterOn('127.0.0.1:0', board);
  const other = await exporterOn('127.0.0.1:0', hostile);
  const { address } = exporter;
  const prometheus = new Prometheus(
    t,
    `global: {scrape_interval: 500ms, scrape_timeout: 500ms}
scrape_configs:
- {job_name: beoboard, honor_labels: true, params: {'collect[]': [${COLLECTORS.join()}]}, static_configs: [{targets: ['${address}'], labels: {cluster: test}}]}
- {job_name: nodes, honor_labels: true, metrics_path: /node-metrics, static_configs: [{targets: ['${address}']}]}
- {job_name: shards, honor_labels: true, http_sd_configs: [{url: 'http://${address}/sd?of=4'}]}
- {job_name: hostile, honor_labels: true, params: {'collect[]': [${COLLECTORS.join()}]}, static_configs: [{targets: ['${other.address}']}]}
`,
  );
  await prometheus.ready();
  /** Waits for this value, because on a busy machine a scrape may be late or fail. */
  const told = (query: string, value: number) =>
    until(`${query} is ${value}`, async () => (await prometheus.number(query)) === value, 50);
  /** Waits until everything has been scraped some more times. */
  const scraped = async (more = 2) => {
    const count = () => prometheus.number('min(sum_over_time(up{job!="hostile"}[1h]))');
    const first = (await count()) ?? 0;
    await until('it has been scraped', async () => ((await count()) ?? 0) >= first + more, 50);
  };
  await told('sum(beoboard_node_state{job="beoboard",state="live"})', 3);
  // Each shard has its own `up`, each node is in one of them, and the receiver's series are in the first.
  await told('count(up{job="shards"} == 1)', 4);
  await told('count(beoboard_node_state{job="shards",state="live"})', 3);
  await told('count(beoboard_board_up{job="shards"})', 1);
  await told('count(node_load1{job="nodes"})', 3);
  // Also with hostile names of kernels and of the cluster.
  await told('count(beoboard_node_info{job="hostile"})', HOSTILE.length);
  await scraped();

  senders[0]?.child.kill('SIGTERM');
  senders[1]?.child.kill('SIGKILL');
  await told('sum(beoboard_node_state{job="beoboard",state="left"})', 1);
  await startSender('n1');
  await startSender('n2');
  await told('sum(beoboard_node_sender_restarts_total{job="beoboard"})', 2);
  await scraped();

  receiver.child.kill('SIGKILL');
  await receiver.exit;
  const next = start(t, ['receive', '--board', board, '--listen', to, '--capacity', '2048', '--cluster', 'test']);
  await next.ready;
  await told('beoboard_receiver_starts_total{job="beoboard"}', 2);
  await scraped();

  const ended = Date.now() / 1000;
  exporter.child.kill('SIGTERM');
  t.equal(await exporter.exit, 0);
  await told('up{job="beoboard"}', 0);
  exporter = await exporterOn(address, board);
  const back = Date.now() / 1000;
  await told('min(up{job!="hostile"})', 1);
  await scraped();

  const ups = await prometheus.query('up[1h]');
  const took = await prometheus.query('scrape_duration_seconds[1h]');
  for (const { metric, values } of ups) {
    const durations = new Map(
      took.find(({ metric: { job, instance } }) => job === metric.job && instance === metric.instance)?.values,
    );
    for (const [at, value] of values) {
      // A scrape that used up its time limit only shows a busy machine. A failed scrape may be stamped up to 2 s before
      // the end of the exporter, because it began before.
      if (value === '1' || Number(durations.get(at)) > 0.49) continue;
      t.ok(
        metric.job !== 'hostile' && at > ended - 2 && at < back + 2,
        `${metric.instance} was not scraped at ${at}, ${at - ended} s after the end`,
      );
    }
  }
  t.ok(ups.length === 7);
  const names = (await prometheus.names()).filter(
    name => /^(beoboard|node)_/.test(name) && (name.endsWith('_total') || /^node_(vmstat|netstat)/.test(name)),
  );
  t.ok(
    names.includes('beoboard_node_cpu_seconds_total') && names.includes('node_cpu_seconds_total') && names.length > 50,
  );
  let moved = 0;
  await Promise.all(
    names.map(async name => {
      // The exporter's own counters start again with it.
      if (name.startsWith('beoboard_exporter_')) return;
      const resets = await prometheus.number(`max(resets(${name}{job!="hostile"}[1h]))`);
      // The kernel of this machine may lack this counter.
      if (resets !== undefined) t.equal(resets, 0, name);
      if (((await prometheus.number(`max(increase(${name}{job!="hostile"}[1h]))`)) ?? 0) > 0) moved++;
    }),
  );
  t.ok(moved > 10, `${moved} counters moved`);
  t.equal(await prometheus.number('count(count by (mode) (beoboard_node_cpu_seconds_total{job="beoboard"}))'), 8);
  t.strictSame(prometheus.complaints, []);
});
