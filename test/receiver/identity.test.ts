// Which machine reports: two that are one until a snapshot with their memory was started twice, and all that looks a
// little like that and is one machine. A real receiver, without keys and with, and datagrams from addresses of loopback.
// Two machines are sent in lockstep; the cases of one machine run at once, ten times as fast as with a report a second.
//
// @seconds 30
// @shared 28
// @waits
// @rest
// @days 3

import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, keyLine, nodeKey } from '../../src/options/keys.js';
import { survey } from '../../src/query/survey.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Node } from '../../src/shm/snapshot.js';
import { anomalies } from '../kit/anomalies.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { now, realNow } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

t.setTimeout(600_000);
const runHere = verbChild(t);

const CLUSTER: Key = { id: 1, node: undefined, secret: randomBytes(32) };
const [A, B] = ['127.0.0.12', '127.0.0.13'];

/** A receiver, and sockets that send to it. */
class Master {
  readonly #sockets = new Map<string, Socket>();

  private constructor(
    readonly t: Test,
    readonly board: string,
    readonly port: number,
    readonly keyed: boolean,
    readonly reader: BoardReader,
  ) {}

  static async start(t: Test, keyed: boolean, more: string[] = []): Promise<Master> {
    const board = boardPath(t);
    const key = join(folder(t), 'key');
    writeFileSync(key, keyLine(CLUSTER), { mode: 0o600 });
    const keys = keyed ? ['--key-file', key, '--require', 'node'] : [];
    const { port } = await startReceiver(t, board, [...keys, ...more]);
    const reader = new BoardReader(board);
    const master = new Master(t, board, port, keyed, reader);
    t.teardown(() => {
      reader.close();
      for (const socket of master.#sockets.values()) socket.close();
    });
    return master;
  }

  async send(from: string, report: Uint8Array): Promise<void> {
    let socket = this.#sockets.get(from);
    if (socket === undefined) {
      socket = createSocket('udp4');
      this.#sockets.set(from, socket);
      socket.bind(0, from);
      await once(socket, 'listening');
    }
    const sender = socket;
    await new Promise<void>(resolve => sender.send(report, this.port, '127.0.0.1', () => resolve()));
  }

  get received(): number {
    return this.reader.snapshot().header.received ?? 0;
  }

  /** Sends it, and waits until it was taken. */
  async put(from: string, report: Uint8Array): Promise<void> {
    const before = this.received;
    await this.send(from, report);
    await until('it is received', () => this.received > before, 1);
  }

  node(name: string): Node | undefined {
    return [...this.reader.snapshot().nodes()].find(node => node.name === name);
  }

  /** What is told of two machines or senders. */
  told(): { kind: string; names: string[]; text: string }[] {
    return anomalies(survey(this.reader.snapshot()))
      .filter(({ kind }) => kind === 'clone' || kind === 'rival')
      .map(({ kind, nodes, text }) => ({ kind, names: nodes.map(({ name }) => name), text }));
  }

  ask(...argv: string[]) {
    return runHere([...argv, '--board', this.board]);
  }
}

/** A machine that reports; its clocks are those of this one, moved. */
class Machine {
  seq = 0;
  /** Its time since boot less our monotonic clock, ns. */
  up: bigint;
  wall = 0n;
  start: bigint;

  constructor(
    readonly name: string,
    readonly keyed: boolean,
    readonly boot = randomBytes(8).readBigUInt64LE(),
    uptime = 5000,
    readonly interval = 1000,
  ) {
    this.start = seconds(uptime);
    this.up = this.start - BigInt(now());
  }

  /** A report that is made `at` seconds from now. */
  report(at = 0, flags = 0): Uint8Array {
    const report = makeReport({
      hostname: this.name,
      boot_id: this.boot,
      start_boot_ns: this.start,
      seq: this.seq++,
      interval_ms: this.interval,
      t_boot_ns: BigInt(now()) + this.up + seconds(at),
      t_real_ns: realNow() + this.wall + seconds(at),
      flags,
      auth_alg: this.keyed ? enums.auth_alg.indexOf('node') : 0,
      key_id: this.keyed ? CLUSTER.id : 0,
    });
    if (this.keyed) sign(report, nodeKey(CLUSTER, this.name));
    return report;
  }

  /** The same machine once more, with all its memory; ahead by so many seconds and numbers. */
  copy(ahead: number): Machine {
    const copy = new Machine(this.name, this.keyed, this.boot, 0, this.interval);
    Object.assign(copy, {
      seq: this.seq + Math.trunc(ahead),
      up: this.up + seconds(ahead),
      start: this.start,
      wall: this.wall,
    });
    return copy;
  }
}

const seconds = (s: number) => BigInt(Math.round(s * 1e9));
const GOODBYE = 2 ** bits.flags.goodbye;

for (const keyed of [false, true])
  t.test(keyed ? 'with keys' : 'without keys', async t => {
    // In seconds and numbers the second machine is ahead of the first.
    for (const offset of [0, 2.2, 30, 100, -0.6, -2.2, -30, -100])
      t.test(`two machines, ${offset} s apart, are told of within ten reports`, async t => {
        const master = await Master.start(t, keyed);
        // It is live for as long as this takes.
        const a = new Machine('n7', keyed, undefined, undefined, 60_000);
        // Its wall clock stays within the window while the seconds of this test pass at once.
        a.wall = seconds(-50);
        // They ran as one before the one was copied.
        let second = 0;
        for (; second < 70; second++) await master.put(A, a.report(second));
        t.same(master.told(), []);
        const b = a.copy(offset);
        for (let reports = 0; master.told().length === 0 && reports < 10; reports += 2, second++) {
          await master.put(A, a.report(second));
          await master.put(B, b.report(second + 0.4));
        }
        const [one, ...more] = master.told();
        t.same(more, []);
        t.equal(one?.kind, 'clone');
        t.same(one?.names, ['n7']);
        const forged = keyed ? '' : ', or somebody forges reports';
        const sentence =
          `n7: two machines report as one since \\S+ \\(\\S+\\), ${A} and ${B}: one is a copy of the other with its memory${forged}; ` +
          'either can fail unnoticed: stop one, or give it its own name';
        t.match(one?.text, new RegExp(`^${sentence}$`));
        t.match((await master.ask('status', '--long')).stdout.replace(/\n\s+/g, ' '), new RegExp(sentence));
        const check = await master.ask('check');
        t.equal(check.code, 1);
        t.match(check.stdout, new RegExp(`^BEOBOARD WARNING: 1 node, 1 live; ${sentence} \\| `));
        t.match(
          (await master.ask('check', '--where', 'state == silent')).stdout,
          new RegExp(`^BEOBOARD WARNING: .*${sentence}`),
        );
        t.match(
          (await master.ask('events', '--last', '9', '--for', '100ms')).stdout,
          new RegExp(`  n7 two machines report as one, from ${A} and ${B}\n`),
        );
        t.match(
          (await master.ask('metrics')).stdout,
          new RegExp(`\nbeoboard_node_cloned\\{address="${A}",other="${B}",node="n7"\\} 1\n`),
        );
        // It goes on, and is one event.
        for (let i = 0; i < 5; i++, second++) {
          await master.put(A, a.report(second));
          await master.put(B, b.report(second + 0.4));
        }
        const { events } = master.reader.events(1, 1000);
        t.equal(events.filter(({ kind }) => enums.event_kind[kind] === 'clone').length, 1);
        t.same(master.node('n7')?.clone?.addresses, [A, B]);
      });

    t.test('and only after three turns', async t => {
      const master = await Master.start(t, keyed);
      const a = new Machine('n7', keyed);
      let second = 0;
      for (; second < 5; second++) await master.put(A, a.report(second));
      const b = a.copy(-2);
      for (let turn = 0; turn < 2; turn++) {
        await master.put(B, b.report(second));
        await master.put(A, a.report(second++));
      }
      for (let i = 0; i < 8; i++) await master.put(A, a.report(second++));
      await master.put(B, b.report(second));
      await master.put(A, a.report(second++));
      t.same(master.told(), [], 'none of them longer ago than eight reports');
    });

    t.test('two roads, and repetitions of any age, are one machine', async t => {
      const master = await Master.start(t, keyed);
      const a = new Machine('n7', keyed);
      const sent: Uint8Array[] = [];
      for (let second = 0; second < 150; second++) {
        // Its wall clock is set back: what was made before is later by it than what follows.
        if (second === 75) a.wall = seconds(-40);
        const report = a.report(second);
        sent.push(report);
        // One of eight gets lost on each road.
        if (second % 8 !== 3) await master.put(A, report);
        if (second % 8 !== 5) await master.put(B, report);
        // The other road is slower by two reports, or somebody repeats what is 30 and 100 old.
        for (const late of [2, 30, 100]) {
          const old = sent[second - late];
          if (old !== undefined) await master.put(B, old);
        }
      }
      t.same(master.told(), []);
      t.equal(
        master.node('n7')?.record.refused,
        (master.node('n7')?.record.late ?? 0) + 50,
        'replays are from beyond 64',
      );
    });

    t.test('a plain reset is a boot, and nothing else', async t => {
      const master = await Master.start(t, keyed);
      const before = new Machine('vm1', keyed, 1n, 9000, 10_000);
      for (let i = 0; i < 2; i++) await master.put(A, before.report(10 * i));
      const after = new Machine('vm1', keyed, 2n, 12, 10_000);
      for (let i = 0; i < 6; i++) await master.put(A, after.report(10 * i));
      t.same(master.told(), []);
      const { accepted, reboots, refused } = master.node('vm1')?.record ?? {};
      t.same({ accepted, reboots, refused }, { accepted: 8, reboots: 1, refused: 0 });
      t.same((await master.ask('check')).code, 0);
      // The boot before is known, and so is one that was up when it reported.
      await master.put(A, before.report(30));
      if (!keyed) await master.put(A, new Machine('vm1', keyed, 3n, 1000, 10_000).report());
      t.equal(master.node('vm1')?.record.reboots, 1);
      t.same(
        master.told().map(({ kind }) => kind),
        ['rival'],
      );
    });

    if (!keyed)
      t.test('from another address it is another machine', async t => {
        const master = await Master.start(t, keyed);
        await master.put(A, new Machine('vm1', keyed, 1n, 9000).report());
        await master.put(B, new Machine('vm1', keyed, 2n, 12).report());
        t.equal(master.node('vm1')?.record.reboots, 0);
        t.match(master.told(), [{ kind: 'rival', text: new RegExp(`${A} is trusted, ${B} is rejected`) }]);
      });

    t.test('what is one machine is never told of as two', async t => {
      const limits = ['--uncertain-after', '450ms', '--silent-after', '1050ms'];
      const master = await Master.start(t, keyed, [...limits, '--longest-interval', '1m']);
      const pause = (s: number) => new Promise(resolve => setTimeout(resolve, s * 100));
      /** Reports for so long; all times are ten times as long as they are here. */
      const report = async (machine: Machine, time: number, interval = 1) => {
        for (let at = 0; at < time; at += interval) {
          await master.send(A, machine.report());
          await pause(interval);
        }
      };
      const make = (name: string, uptime?: number, boot?: bigint) => new Machine(name, keyed, boot, uptime, 100);
      const restored = async (name: string, interval: number, back: number, { numbers = 0, wall = 0, again = 0 }) => {
        const machine = new Machine(name, keyed, undefined, undefined, Math.max(100, interval * 100));
        await report(machine, Math.max(6, 4 * interval), interval);
        for (let i = 0; i <= again; i++) {
          machine.up -= seconds(back / 10);
          machine.seq = Math.max(0, machine.seq - numbers);
          machine.wall = seconds(wall / 10);
          await report(machine, again > 0 ? 9 : Math.max(20, 13 * interval), interval);
        }
      };
      const one: Record<string, (name: string) => Promise<void>> = {
        goodbyeThenOlder: async name => {
          const machine = make(name);
          await report(machine, 5);
          const [older, goodbye] = [machine.report(), machine.report(0, GOODBYE)];
          for (const [what, wait] of [
            [goodbye, 0.5],
            [older, 1],
            [goodbye, 16],
            [older, 3],
            [goodbye, 3],
          ] as const) {
            await master.send(A, what);
            await pause(wait);
          }
        },
        goodbyeThenRestart: async name => {
          let machine = make(name, 5000, 7n);
          await report(machine, 4);
          for (const wait of [0.1, 1, 3]) {
            await master.send(A, machine.report(0, GOODBYE));
            await pause(wait);
            const { up } = machine;
            machine = make(name, Number(BigInt(now()) + up) / 1e9, 7n);
            await report(machine, 4);
          }
        },
        goodbyeRepeated: async name => {
          let machine = make(name, 5000, 8n);
          await report(machine, 3);
          const goodbye = machine.report(0, GOODBYE);
          await master.send(A, goodbye);
          await pause(2);
          machine = make(name, Number(BigInt(now()) + machine.up) / 1e9, 8n);
          await report(machine, 3);
          for (let i = 0; i < 10; i++) await master.send(A, goodbye);
          await report(machine, 2);
        },
        goodbyeThenOldRun: async name => {
          const machine = make(name, 5000, 9n);
          await report(machine, 3);
          const old = [machine.report(), machine.report(), machine.report()];
          await master.send(A, machine.report(0, GOODBYE));
          for (const wait of [14, 3]) {
            for (const one of old) {
              await master.send(A, one);
              await pause(0.3);
            }
            await pause(wait);
          }
        },
        reboots: async name => {
          await report(make(name), 6);
          for (const wait of [0.05, 1, 2, 3.5, 4.4, 5, 6, 7.4, 8, 9.9]) {
            await pause(wait);
            await report(make(name, (5 + wait) / 10), 8);
          }
        },
        crashLoop: async name => {
          for (let i = 0; i < 12; i++) {
            await report(make(name, 0.5), 2);
            await pause(1);
          }
        },
        container: async name => {
          const first = make(name, 50_000, 11n);
          await report(first, 5);
          for (const wait of [0.1, 2, 6, 12]) {
            await pause(wait);
            await report(make(name, Number(BigInt(now()) + first.up) / 1e9, 11n), 6);
          }
        },
        containerOfOwnTime: async name => {
          await report(make(name, 50_000, 12n), 5);
          for (const wait of [0.1, 3, 8, 12]) {
            await pause(wait);
            await report(make(name, 0.1, 12n), 14);
          }
        },
        bootUnknown: async name => {
          await report(make(name, 5000, 0n), 5);
          await pause(2);
          await report(make(name, 0.5, 0n), 16);
        },
        wallClockBack: async name => {
          await report(make(name), 5);
          await pause(2);
          const machine = make(name, 1);
          machine.wall = seconds(-3600);
          await report(machine, 8);
          machine.wall = 0n;
          await report(machine, 8);
        },
        restoredFar: name => restored(name, 1, 100, { numbers: 50 }),
        restoredNear: name => restored(name, 1, 5, { numbers: 4 }),
        restoredOfYesterday: name => restored(name, 1, 86_400, { numbers: 10 }),
        restoredOfFourASecond: name => restored(name, 1 / 4, 100, { numbers: 100 }),
        restoredOfTenASecond: name => restored(name, 1 / 10, 30, { numbers: 100 }),
        restoredOfTwoSeconds: name => restored(name, 2, 100, { numbers: 5 }),
        restoredOfThreeSeconds: name => restored(name, 3, 100, { numbers: 5 }),
        restoredWithItsClock: name => restored(name, 1, 100, { numbers: 50, wall: -100 }),
        restoredAgainAndAgain: name => restored(name, 1, 8, { numbers: 8, again: 5 }),
        restoredVeryNear: name => restored(name, 1, 3, { numbers: 2 }),
        restoredVeryNearAndAgain: name => restored(name, 1, 3, { numbers: 3, again: 5 }),
      };
      const turns = async (a: Machine, b: Machine, time: number, from = B) => {
        for (let at = 0; at < time; at++) {
          await master.send(A, a.report());
          await pause(0.5);
          await master.send(from, b.report());
          await pause(0.5);
        }
      };
      /** These are two, with boots or runs of their own: they are told of as rivals, and not as a copy. */
      const two: Record<string, (name: string) => Promise<void>> = {
        sixEach: async name => {
          const [a, b] = [make(name), make(name, 6000)];
          for (let i = 0; i < 4; i++) {
            await report(a, 6);
            await report(b, 6);
          }
        },
        both: async name => {
          const [a, b] = [make(name), make(name, 6000)];
          await report(a, 3);
          await turns(a, b, 20);
          await report(b, 14);
        },
        inTurns: name => turns(make(name), make(name, 6000), 15),
        twoContainers: async name => {
          const a = make(name, 5000, 13n);
          await pause(1);
          await turns(a, make(name, Number(BigInt(now()) + a.up) / 1e9, 13n), 20);
          await report(a, 14);
        },
      };
      const nameOf = (name: string) => name.toLowerCase();
      const [ones, twos] = [one, two].map(some => Object.keys(some).map(nameOf));
      await Promise.all(Object.entries({ ...one, ...two }).map(([name, run]) => run(nameOf(name))));
      const told = master.told();
      t.same(
        told.filter(({ kind, names }) => kind === 'clone' || names.some(name => ones?.includes(name))),
        [],
      );
      const { senders } = master.reader.snapshot();
      const rivals = senders.filter(({ reason }) => enums.reason[reason] === 'rival').map(({ name }) => name);
      t.same([...new Set(rivals)].toSorted(), twos?.toSorted(), 'and all that are two');
      for (const name of ones ?? []) t.ok((master.node(name)?.record.accepted ?? 0) > 2, name);
    });
  });
