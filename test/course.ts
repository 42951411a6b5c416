// What tests of a sender that takes another interval or another name share: a road that loses reports by a seed, and what a real
// receiver and a reader make of the rest. Over either sender. No test of its own.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { bitNames, decodeReport } from '../src/layout/codec.js';
import { random } from '../src/load/node.js';
import { BoardReader } from '../src/shm/reader.js';
import { type Heard, Hearer, startIn } from './hanging.js';
import { boardPath, folder, startReceiver, until } from './lib.js';

/** A road to a receiver that keeps what comes, and loses some of it. */
class Road {
  readonly reports: Heard[] = [];
  lost = 0;

  private constructor(readonly socket: Socket) {}

  static async open(t: Test, port: number, loses: (report: Heard) => boolean): Promise<Road> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    t.teardown(() => socket.close());
    const road = new Road(socket);
    socket.on('message', message => {
      const report = decodeReport(new DataView(message.buffer, message.byteOffset, message.length), 0);
      const heard = { ...report, sets: bitNames('valid', report.valid), marks: bitNames('flags', report.flags) };
      road.reports.push(heard);
      if (loses(heard)) road.lost++;
      else socket.send(message, port, '127.0.0.1');
    });
    return road;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }
}

/** Limits that an interval of 10 s would pass at once, if it were not known: for it they are ten times as long. */
const LIMITS = ['--uncertain-after', '2s', '--silent-after', '4s'];
const OLD_MS = 500;
const ANNOUNCED = 12;

/** Tests of another interval and another name by SIGHUP; `sender` stands for `beoboard send`. */
export function courseTests(t: Test, sender?: string): void {
  const seed = Number(process.env.SEED ?? 72);

  for (const aligned of [false, true])
    t.test(
      `longer intervals and back, where a fifth is lost: never silent${aligned ? ', aligned' : ''}`,
      {
        buffered: true,
      },
      async t => {
        t.comment(`seed ${seed}, another one by SEED=n`);
        const next = random(seed + Number(aligned));
        const board = boardPath(t);
        const { port } = await startReceiver(t, board, LIMITS);
        // The first report that tells of another interval is always lost.
        let known = OLD_MS;
        const road = await Road.open(t, port, ({ interval_ms }) => {
          const isLost = next() < 0.2 || interval_ms > known;
          known = interval_ms;
          return isLost;
        });
        const config = join(folder(t), 'send.toml');
        const write = (interval: string) => writeFileSync(config, `interval = "${interval}"\naligned = ${aligned}\n`);
        write(`${OLD_MS}ms`);
        const running = startIn(t, { sender }, ['send', '--name', 'node1', '--config', config, '--to', road.address]);
        const reader = new BoardReader(board);
        t.teardown(() => reader.close());
        await until('it is on the board', () => reader.snapshot().count > 0);
        const seen = new Map<string, number>();
        const look = setInterval(() => {
          const { state } = reader.snapshot().node(0);
          seen.set(state, (seen.get(state) ?? 0) + 1);
        }, 20);
        t.teardown(() => clearInterval(look));
        const tells = (ms: number) => road.reports.filter(({ interval_ms }) => interval_ms === ms);
        const change = (interval: string) => {
          write(interval);
          running.child.kill('SIGHUP');
        };
        const back = async () => {
          const from = tells(OLD_MS).length;
          change(`${OLD_MS}ms`);
          await until('a shorter interval holds at once', () => tells(OLD_MS).length >= from + 3);
        };

        change('10s');
        await until('it reports every 10 s', () => tells(10_000).length > ANNOUNCED + 1);
        await back();
        change('600s');
        await until('it has announced ten minutes', () => tells(600_000).length >= ANNOUNCED);
        // Longer than the limit that holds for the interval of before.
        await sleep(6000);
        t.ok(tells(600_000).length <= ANNOUNCED + 1, 'and then it waits');
        await back();
        await until('the receiver knows', () => reader.snapshot().node(0).report?.interval_ms === OLD_MS);
        clearInterval(look);
        running.child.kill('SIGTERM');
        t.equal(await running.exit, 0);

        for (const ms of [10_000, 600_000]) {
          const [first, ...rest] = tells(ms);
          const at = (ms: number) => (first?.t_boot_ns ?? 0n) + BigInt(Math.round(ms * 1e6));
          // By its own clock, and but for those that it had to leave out.
          const missed = (rest.at(-1)?.missed_ticks ?? 0) - (first?.missed_ticks ?? 0);
          const early = rest.filter(({ t_boot_ns }) => t_boot_ns < at((ANNOUNCED + missed) * OLD_MS));
          t.ok(early.length >= ANNOUNCED - 2, `${early.length + 1} reports at the old rate tell of ${ms} ms`);
        }
        t.same(
          road.reports.map(({ seq }) => seq),
          road.reports.map((_, i) => i),
          'each number once',
        );
        t.comment(`${road.reports.length} reports, ${road.lost} lost, ${JSON.stringify([...seen])}`);
        t.notOk(seen.has('silent'), 'never silent');
      },
    );

  t.test('another name: the old one says goodbye, with its own key', { buffered: true }, async t => {
    const hearer = await Hearer.open(t);
    const [board, own] = [boardPath(t), folder(t)];
    const key = (id: number, name: string) => `${id} node ${name} ${String(id).repeat(64)}\n`;
    const { port } = await startReceiver(t, board);
    const write = (id: number, name: string) => {
      writeFileSync(join(own, `key${id}`), key(id, name), { mode: 0o600 });
      writeFileSync(join(own, 'send.toml'), `name = "${name}"\nkey-file = "${own}/key${id}"\n`);
    };
    write(1, 'alpha');
    const to = ['--to', hearer.address, '--to', `127.0.0.1:${port}`];
    const argv = ['send', '--interval', '200ms', '--config', join(own, 'send.toml'), ...to];
    const running = startIn(t, { sender }, argv);
    await hearer.more(3);
    write(2, 'beta');
    running.child.kill('SIGHUP');
    await hearer.next('it has the other name', ({ hostname }) => hostname === 'beta');
    await hearer.more(2);
    const left = hearer.reports.filter(({ marks }) => marks.includes('goodbye'));
    t.match(left, [{ hostname: 'alpha', key_id: 1 }], 'one goodbye, of the old name');
    t.equal(left[0]?.seq, hearer.reports.findLast(({ hostname }) => hostname === 'alpha')?.seq, 'its last report');
    t.same(
      hearer.reports.filter(({ hostname, key_id }) => key_id !== (hostname === 'alpha' ? 1 : 2)),
      [],
      'each name has its key',
    );
    const reader = new BoardReader(board);
    t.teardown(() => reader.close());
    const states = () => {
      const snapshot = reader.snapshot();
      return Array.from({ length: snapshot.count }, (_, i) => snapshot.node(i).state).sort();
    };
    await until('a receiver sees that the one has left and the other lives', () => `${states()}` === 'left,live');
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    t.same(
      hearer.reports.map(({ seq }) => seq),
      hearer.reports.map((_, i) => i),
      'each number once',
    );
  });
}
