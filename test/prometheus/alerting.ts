// Starts a real Prometheus and a real Alertmanager with the files of packaging/prometheus, sped up as a test wants, and
// receives the messages of Alertmanager. No test of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { follow } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { type Running, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

export const SHIPPED = join(ROOT, 'packaging', 'prometheus');

/** Why a test that needs Prometheus is skipped; false if it is installed, and in CI, where it is required. */
export const noPrometheus = lacks(
  'prometheus prometheus-alertmanager',
  'promtool',
  'prometheus',
  'prometheus-alertmanager',
  'amtool',
);

export const shipped = (name: string): string => readFileSync(join(SHIPPED, name), 'utf8');

/** Options of setpriv: the program ends when its parent has ended, even if the parent was killed. */
const ORPHANED = ['--pdeathsig', 'KILL', '--'];

/**
 * This process's own address, and ports below the range that the kernel assigns: neither program says which port it got
 * for port 0.
 */
const HOST = `127.${64 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
let nextPort = 19_090;

const MINUTE = 60_000;

/**
 * Makes every interval and waiting time of a shipped file shorter by a factor. The ranges in the rules' expressions
 * stay as they are.
 */
function faster(text: string, times: number): string {
  const UNITS: Record<string, number> = { s: 1000, m: MINUTE, h: 60 * MINUTE };
  return text.replace(
    /\b(scrape_interval|scrape_timeout|evaluation_interval|interval|for|keep_firing_for|group_wait|group_interval): (\d+)([smh])\b/g,
    (_, key: string, n: string, unit: string) => `${key}: ${Math.round((Number(n) * UNITS[unit]!) / times)}ms`,
  );
}

/** Replaces a text that must be there. */
export function replaced(text: string, what: string, by: string): string {
  if (!text.includes(what)) throw new Error(`the shipped file has no longer: ${what}`);
  return text.replace(what, () => by);
}

interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One message of Alertmanager, which would be a mail in production. */
interface Message {
  readonly status: 'firing' | 'resolved';
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly alerts: readonly Alert[];
}

/** A message in one line: `rack: firing BeoboardNodeSilent n1 n2`. */
function sentenceOf({ groupLabels, alerts }: Message): string {
  const of = (wanted: string) =>
    alerts
      .filter(({ status }) => status === wanted)
      .map(({ labels }) => labels.node ?? labels.link ?? '')
      .sort();
  const parts = ['firing', 'resolved'].flatMap(status => {
    const names = of(status);
    return names.length === 0 ? [] : [[status, groupLabels.alertname, ...names].join(' ').trim()];
  });
  return `${groupLabels.cluster}: ${parts.join(', ')}`;
}

/** Starts one of the two, waits until it is ready, and ends it with the test. */
async function begin(
  t: Teardown,
  cwd: string,
  address: string,
  program: string,
  argv: string[],
): Promise<ChildProcess> {
  const listen = `--web.listen-address=${address}`;
  const child = spawn('setpriv', [...ORPHANED, program, listen, ...argv], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child, t);
  await until(`${program} is ready at ${address}`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said.stderr}`);
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return child;
}

interface Wanted {
  /** host:port of exporters, by the target's label `cluster`. */
  targets: Record<string, string>;
  /** The factor by which it is faster than shipped. */
  times: number;
}

/** Prometheus, Alertmanager, and the receiver of the messages. */
export class Alerting {
  /** All messages so far, with the time of each by performance.now(). */
  readonly messages: (Message & { at: number })[] = [];

  /** How often Alertmanager has processed a group, whether it sent a message or muted it; by `ALERTNAME CLUSTER`. */
  readonly flushes = new Map<string, number>();

  readonly #arrivals = new EventEmitter().setMaxListeners(0);

  readonly #prometheus = `${HOST}:${nextPort++}`;

  static async start(t: Teardown, { targets, times }: Wanted): Promise<Alerting> {
    const dir = folder(t);
    const alerting = new Alerting();
    const alertmanagerAddress = `${HOST}:${nextPort++}`;
    const webhook = createServer(async (question, answer) => {
      const pieces: Buffer[] = [];
      for await (const piece of question) pieces.push(piece as Buffer);
      alerting.messages.push({ at: performance.now(), ...(JSON.parse(Buffer.concat(pieces).toString()) as Message) });
      answer.end();
      alerting.#arrivals.emit('message');
    }).listen(0, '127.0.0.1');
    await once(webhook, 'listening');
    t.teardown(() => {
      webhook.close();
      webhook.closeAllConnections();
    });

    const { port } = webhook.address() as AddressInfo;
    const conf = (name: string, text: string) => writeFileSync(join(dir, name), text);
    const hook = `  - name: hook\n    webhook_configs:\n      - url: http://127.0.0.1:${port}/\n        send_resolved: true\n`;
    conf(
      'alertmanager.yml',
      faster(replaced(shipped('alertmanager.yml'), 'receiver: mail', 'receiver: hook'), times) + hook,
    );
    const groups = Object.entries(targets).map(
      ([cluster, target]) => `      - targets: ['${target}']\n        labels:\n          cluster: ${cluster}\n`,
    );
    const entry = "      - targets: ['127.0.0.1:9678']\n        labels:\n          cluster: alpha\n";
    let text = replaced(shipped('prometheus.yml'), entry, groups.join(''));
    text = replaced(text, '127.0.0.1:9093', alertmanagerAddress);
    conf('prometheus.yml', faster(text, times));
    const [first = ''] = Object.keys(targets);
    conf('rules.yml', faster(replaced(shipped('rules.yml'), 'cluster="alpha"})', `cluster="${first}"})`), times));
    for (const name of ['data', 'alertmanager']) mkdirSync(join(dir, name));

    // First Alertmanager: Prometheus repeats an alert that it could not deliver only much later.
    const alertmanager = await begin(t, dir, alertmanagerAddress, 'prometheus-alertmanager', [
      '--config.file=alertmanager.yml',
      '--storage.path=alertmanager',
      '--cluster.listen-address=',
      '--log.level=debug',
    ]);
    createInterface(alertmanager.stderr!).on('line', line => {
      const [, name, cluster] = /alertname=\\"(\w+)\\", cluster=\\"(\w+)\\".* msg=flushing/.exec(line) ?? [];
      if (name === undefined) return;
      const group = `${name} ${cluster}`;
      alerting.flushes.set(group, (alerting.flushes.get(group) ?? 0) + 1);
    });
    await begin(t, dir, alerting.#prometheus, 'prometheus', [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--rules.alert.resend-delay=${MINUTE / times}ms`,
    ]);
    return alerting;
  }

  /** The values of a Prometheus expression, by their labels in one string, without the metric's name. */
  async query(expression: string): Promise<Map<string, number>> {
    const url = `http://${this.#prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return new Map(
      data.result.map(({ metric: { __name__, ...labels }, value: [, value] }) => [
        Object.entries(labels)
          .map(([name, value]) => `${name}=${value}`)
          .sort()
          .join(' '),
        Number(value),
      ]),
    );
  }

  /**
   * Waits until no alert is firing or pending except for these clusters, and forgets the messages of all others: on a
   * busy machine the first scrape may take so long that the alert for a monitor that is down fires, because its waiting
   * time is so short here.
   */
  async settles(...but: string[]): Promise<void> {
    await this.holds(`ALERTS{cluster!~"${but.join('|')}"}`, 0);
    const others = this.messages.filter(({ groupLabels }) => but.includes(groupLabels.cluster ?? ''));
    this.messages.splice(0, Number.POSITIVE_INFINITY, ...others);
  }

  /** Waits until an expression has this many results. */
  async holds(expression: string, count = 1): Promise<void> {
    await until(`${expression} has ${count} results`, async () => (await this.query(expression)).size === count, 100);
  }

  /** Waits for this message, for ten minutes at most. */
  async says(sentence: string, description = /^/): Promise<Message & { at: number }> {
    const signal = AbortSignal.timeout(600_000);
    for (;;) {
      const found = this.messages.find(
        message =>
          sentenceOf(message) === sentence &&
          message.alerts.some(({ annotations }) => description.test(annotations.description ?? '')),
      );
      if (found !== undefined) return found;
      await once(this.#arrivals, 'message', { signal }).catch(() => {
        throw new Error(`it never said "${sentence}", but ${this.messages.map(sentenceOf).join('; ')}`);
      });
    }
  }

  /** The messages about a cluster so far. */
  told(cluster: string): string[] {
    return this.messages.filter(({ groupLabels }) => groupLabels.cluster === cluster).map(sentenceOf);
  }

  /** Waits until Alertmanager has processed a group, even without sending a message. */
  async looked(alertname: string, cluster: string): Promise<void> {
    await until(`it has looked at ${alertname} of ${cluster}`, () => this.flushes.has(`${alertname} ${cluster}`), 50);
  }
}

/** A cluster with its own receiver. */
export class Cluster {
  readonly board: string;
  receiver!: Running & { port: number };

  private constructor(
    readonly t: Teardown,
    readonly name: string,
    readonly limits: readonly string[],
  ) {
    this.board = boardPath(t);
  }

  static async start(t: Teardown, name: string, limits: readonly string[] = []): Promise<Cluster> {
    const cluster = new Cluster(t, name, limits);
    cluster.receiver = await startReceiver(t, cluster.board, ['--cluster', name, ...limits]);
    return cluster;
  }

  /** Starts a receiver at the address of the one that has ended. */
  async again(): Promise<void> {
    const listen = ['--listen', `127.0.0.1:${this.receiver.port}`];
    const running = start(this.t, [
      'receive',
      '--board',
      this.board,
      ...listen,
      '--cluster',
      this.name,
      ...this.limits,
    ]);
    await running.ready;
    this.receiver = { ...running, port: this.receiver.port };
  }

  #to(): string[] {
    return ['--to', `127.0.0.1:${this.receiver.port}`, '--cluster', this.name];
  }

  /** Nodes that report until the process is killed; then all of them stop at once. */
  nodes(list: string, ...more: string[]): Running {
    return start(this.t, ['load', ...this.#to(), '--nodes', list, ...more]);
  }

  /** A node that says goodbye when its sender is ended. */
  node(name: string, ...more: string[]): Running {
    return start(this.t, ['send', ...this.#to(), '--name', name, ...more]);
  }
}

/** One exporter for all boards; returns its address. */
export async function exporterOf(
  t: Teardown,
  clusters: readonly Cluster[],
  listen = '127.0.0.1:0',
): Promise<Running & { address: string }> {
  const boards = clusters.flatMap(({ name, board }) => ['--board', `${name}=${board}`]);
  const running = start(t, ['prometheus', ...boards, '--listen', listen]);
  const { listening } = await running.ready;
  return { ...running, address: listening?.[0] ?? '' };
}
