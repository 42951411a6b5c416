// Nodes that sign their reports, and can die, come back or reboot at any moment: their reports come by UDP from one
// process. No test of its own.

import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Encodable } from '../../src/layout/codec.js';
import { sign } from '../../src/layout/tag.js';
import { makeReport } from '../kit/reports.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

const MS = 1_000_000n;
const SECRET = Buffer.alloc(32, 7);

/** Makes a key file in a folder, with which a receiver trusts these nodes. */
export function keyFile(folder: string): string {
  const path = join(folder, 'key');
  writeFileSync(path, `1 cluster ${SECRET.toString('hex')}\n`, { mode: 0o600 });
  return path;
}

export class SigningNodes {
  readonly #socket: Socket = createSocket('udp4');
  readonly #port: number;
  readonly #intervalMs: number;
  readonly #runs = new Map<string, { boot: bigint; seq: number; startMs: number; dueMs: number; reports: boolean }>();
  /** Further values of all their reports. */
  values: Encodable<'report'> = {};

  constructor(t: Teardown, port: number, names: readonly string[], intervalMs: number) {
    this.#port = port;
    this.#intervalMs = intervalMs;
    // Spread over the interval, as with real nodes: no socket can take thousands at once.
    for (const [i, name] of names.entries()) this.boot(name, (i * intervalMs) / names.length);
    const timer = setInterval(() => this.#report(), Math.min(10, intervalMs));
    t.teardown(() => {
      clearInterval(timer);
      this.#socket.close();
    });
  }

  #report(): void {
    const now = performance.now();
    for (const [hostname, run] of this.#runs) {
      if (!run.reports || now < run.dueMs) continue;
      run.dueMs = Math.max(run.dueMs, now - this.#intervalMs) + this.#intervalMs;
      this.send({ hostname, seq: run.seq++, boot_id: run.boot, start_boot_ns: BigInt(run.startMs) * MS });
    }
  }

  /** Sends one report; without `isSigned` one that anybody could have sent. */
  send(values: Encodable<'report'>, isSigned = true): void {
    const report = makeReport({
      interval_ms: this.#intervalMs,
      t_real_ns: BigInt(Date.now()) * MS,
      t_boot_ns: BigInt(Math.round(performance.now() * 1000) + 1_000_000_000) * 1000n,
      ...this.values,
      ...(isSigned && { auth_alg: 1, key_id: 1 }),
      ...values,
    });
    if (isSigned) sign(report, { secret: SECRET });
    this.#socket.send(report, this.#port, '127.0.0.1');
  }

  /** The node dies at once, without a goodbye. */
  kill(name: string): void {
    const run = this.#runs.get(name);
    if (run !== undefined) run.reports = false;
  }

  /** The node reports again, in the same run. */
  revive(name: string): void {
    const run = this.#runs.get(name);
    if (run !== undefined) run.reports = true;
  }

  /** The node starts again, with a new boot. */
  boot(name: string, inMs = 0): void {
    const now = performance.now();
    const boot = randomBytes(8).readBigUInt64LE() | 1n;
    this.#runs.set(name, { boot, seq: 0, startMs: Math.round(now), dueMs: now + inMs, reports: true });
  }
}
