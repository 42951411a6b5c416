// A real Prometheus for the tests: in its own folder and on its own port, queried as Grafana does. No test of its own.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWith } from '../kit/children.js';
import { folder } from '../kit/places.js';

/** A series in an answer: its labels and its samples; a query for the present has one sample. */
export interface Answered {
  metric: Record<string, string>;
  values: number[];
}

/** Why a query failed: Prometheus's own message. */
export class Refusal extends Error {}

type Teardown = Parameters<typeof folder>[0];

export class Prometheus {
  private constructor(readonly address: string) {}

  /** Starts it with these scrape configurations (in JSON, which is also YAML); it is ended with the test. */
  static async start(t: Teardown, scrapes: readonly object[]): Promise<Prometheus> {
    const dir = folder(t);
    const config = join(dir, 'prometheus.yml');
    writeFileSync(config, JSON.stringify({ global: { scrape_interval: '200ms' }, scrape_configs: scrapes }));
    const argv = [
      '--config.file',
      config,
      '--storage.tsdb.path',
      join(dir, 'data'),
      '--web.listen-address',
      '127.0.0.1:0',
    ];
    const child = spawn('prometheus', argv, { stdio: ['ignore', 'ignore', 'pipe'] });
    const closed = endWith(t, child);
    let told = '';
    const address = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (data: string) => {
        told += data;
        // It prints its port when it starts to listen, before it is ready, and only once.
        const [, at] = /msg="Listening on" address=(\S+)/.exec(told) ?? [];
        if (at !== undefined && told.includes('msg="Server is ready')) resolve(at);
      });
      closed.then(() => reject(new Error(`prometheus ended before it was ready: ${told}`)), reject);
    });
    return new Prometheus(address);
  }

  /** The present value of an expression. */
  now(expr: string): Promise<Answered[]> {
    return this.#ask('query', { query: expr });
  }

  /** Its values in the last ten seconds, one for each second. */
  lately(expr: string): Promise<Answered[]> {
    const end = Date.now() / 1000;
    return this.#ask('query_range', { query: expr, start: String(end - 10), end: String(end), step: '1' });
  }

  /** The values of a label, with the request that a variable of Grafana makes. */
  async values(of: string, label: string): Promise<string[]> {
    return (await this.#get(`label/${label}/values`, { 'match[]': of })) as string[];
  }

  async #ask(what: string, parameters: Record<string, string>): Promise<Answered[]> {
    const { result } = (await this.#get(what, parameters)) as {
      result: { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }[];
    };
    return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
      metric,
      values: values.map(([, text]) => Number(text)),
    }));
  }

  async #get(what: string, parameters: Record<string, string>): Promise<unknown> {
    const answer = await fetch(`http://${this.address}/api/v1/${what}?${new URLSearchParams(parameters)}`);
    const { status, error, data } = (await answer.json()) as { status: string; error?: string; data?: unknown };
    if (status !== 'success') throw new Refusal(error);
    return data;
  }
}
