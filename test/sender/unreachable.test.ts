// Masters and name services that are away for a while and come back: what a sender does meanwhile, how soon it
// continues, and what it logs. For both senders. Runs itself again in its own network namespace, with its own name
// service.
//
// @seconds 25
// @waits
// @rest
// @days 3

import { execFileSync, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Heard, Hearer, startIn } from '../kit/hanging.js';
import { Namespace } from '../kit/netns.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { folder } from '../kit/places.js';
import { SENDER } from '../kit/program.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
// These tests mostly wait, so several run at the same time.
t.jobs = 4;

interface Teardown {
  teardown(end: () => void): void;
}

/** A DNS server. It does not answer for names that it has not been told. */
class NameService {
  readonly #socket = createSocket('udp4');
  /** The address of each name, or `fails`: the answer is SERVFAIL. */
  readonly #answers = new Map<string, string>();
  /** How often each name was asked for. */
  readonly #asked = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  static async start(t: Teardown): Promise<NameService> {
    const service = new NameService();
    service.#socket.on('message', (question, { address, port }) => {
      const labels: string[] = [];
      let at = 12;
      for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
        labels.push(question.toString('latin1', at + 1, at + 1 + length));
        at += length + 1;
      }
      const name = labels.join('.');
      const isV4 = question.readUInt16BE(at + 1) === 1;
      service.#asked.set(name, (service.#asked.get(name) ?? 0) + 1);
      const answer = () => {
        const to = service.#answers.get(name);
        if (to === undefined) {
          service.#waiting.set(name, [...(service.#waiting.get(name) ?? []), answer]);
          return;
        }
        const [failed, found] = [to === 'fails', to !== 'fails' && isV4];
        const head = Buffer.alloc(12);
        question.copy(head, 0, 0, 2);
        [0x8180 | (failed ? 2 : 0), 1, found ? 1 : 0, 0, 0].forEach((word, i) => {
          head.writeUInt16BE(word, 2 + 2 * i);
        });
        const record = Buffer.from([
          0xc0,
          12,
          0,
          1,
          0,
          1,
          0,
          0,
          0,
          1,
          0,
          4,
          ...(found ? to.split('.').map(Number) : []),
        ]);
        const parts = [head, question.subarray(12, at + 5), ...(found ? [record] : [])];
        service.#socket.send(Buffer.concat(parts), port, address);
      };
      answer();
    });
    service.#socket.bind(53, '127.0.0.1');
    await once(service.#socket, 'listening');
    t.teardown(() => {
      service.#socket.close();
    });
    return service;
  }

  /** Sets the answer from now on, and answers waiting questions. */
  tell(name: string, address: string): void {
    this.#answers.set(name, address);
    for (const answer of this.#waiting.get(name) ?? []) answer();
    this.#waiting.delete(name);
  }

  asked(name: string): number {
    return this.#asked.get(name) ?? 0;
  }
}

/** Makes our name service the only one, with one attempt of `seconds`. */
function resolving(t: Test, seconds: number): string[] {
  const file = join(folder(t), 'resolv.conf');
  writeFileSync(file, `nameserver 127.0.0.1\noptions timeout:${seconds} attempts:1\n`);
  return ['unshare', '-m', 'sh', '-ec', 'mount --bind "$0" /etc/resolv.conf\nexec "$@"', file];
}

/** A sender with an option file, which `change` replaces. */
function begin(t: Test, options: object, prefix: string[] = []) {
  const config = join(folder(t), 'send.toml');
  const write = (options: object) =>
    writeFileSync(
      config,
      Object.entries({ interval: '100ms', name: 'node1', ...options })
        .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
        .join(''),
    );
  write(options);
  // That in C as its unit starts it.
  const sender = startIn(t, { prefix }, ['send', '--config', config, ...(SENDER === '' ? [] : ['--seccomp'])]);
  const said = () => sender.lines().map(line => line.replace(/^.*? send: |^beoboard-send: /, ''));
  const reads = () => said().filter(line => line.startsWith('read its options again')).length;
  return {
    sender,
    said,
    /** Waits for the next line of this kind. */
    says: (what: RegExp) => until(`it says ${what}`, () => said().find(line => what.test(line))),
    async change(options: object): Promise<void> {
      const before = reads();
      write(options);
      sender.child.kill('SIGHUP');
      await until('it has read its options again', () => reads() > before);
    },
    async end(): Promise<void> {
      sender.child.kill('SIGTERM');
      t.equal(await sender.exit, 0);
    },
  };
}

const ip = (command: string) => execFileSync('ip', command.split(' '));

/** A master at an address that can be removed and added again, and another one, which counts reports meanwhile. */
async function awayMaster(t: Test, address: string) {
  const [master, other] = [await Hearer.open(t, '0.0.0.0'), await Hearer.open(t)];
  const there = (is: boolean) => ip(`addr ${is ? 'add' : 'del'} ${address}/32 dev lo`);
  there(true);
  /** Adds the address again, and returns how many reports were sent until the master received one. */
  const back = async () => {
    const from = other.last.seq ?? 0;
    there(true);
    const { seq } = await master.next('the master hears again', () => true);
    return (seq ?? 0) - from;
  };
  return { master, other, away: () => there(false), back, port: master.socket.address().port };
}

async function inside(): Promise<void> {
  const names = await NameService.start(t);

  t.test('names that are not answered, changed and changed again: an address has its reports', async t => {
    const hearer = await Hearer.open(t);
    // The TypeScript sender resolves as many names at a time as Node has threads, four, and cannot cancel that.
    const most = SENDER === '' ? 4 : 32;
    const many = (kind: string) => Array.from({ length: most }, (_, i) => `${kind}${i}.example`);
    const { sender, change, end } = begin(t, { to: many('a') }, resolving(t, 1));
    await until('it asks', () => names.asked('a0.example') > 0);
    await change({ to: many('b') });
    await change({ to: many('c') });
    await change({ to: ['127.0.0.1:9', hearer.address] });
    await hearer.more(3);
    await change({ to: ['again.example', hearer.address] });
    await until('a name that is new is asked for', () => names.asked('again.example') > 0);
    if (SENDER !== '') t.equal(names.asked('c31.example'), 0, 'and none any more that is not needed');
    t.equal(sender.child.exitCode, null);
    await end();
  });

  t.test('another name while the address of the master is not known yet: the old one is never sent', async t => {
    const hearer = await Hearer.open(t);
    const to = [`slow.example:${hearer.socket.address().port}`];
    const { change, end } = begin(t, { to, name: 'alpha' }, resolving(t, 5));
    await until('it asks', () => names.asked('slow.example') > 0);
    await change({ to, name: 'beta' });
    names.tell('slow.example', '127.0.0.1');
    await hearer.more(3);
    t.same([...new Set(hearer.reports.map(({ hostname }) => hostname))], ['beta']);
    await end();
  });

  t.test('no route for a while, and an address: the next report finds the one that is back', async t => {
    const { master, other, away, back, port } = await awayMaster(t, '10.86.77.1');
    const { says, said, end } = begin(t, { to: [`10.86.77.1:${port}`, other.address] });
    await master.more(3);
    away();
    await says(/^10\.86\.77\.1:\d+ cannot be reached: .*; reports to it are lost until it answers$/);
    // After gaps of several lengths.
    for (const [i, more] of [2, 20, 40, 60].entries()) {
      if (i > 0) away();
      await other.more(more);
      t.ok((await back()) <= 20, 'soon');
    }
    await until('each time is told', () => said().filter(line => line.includes('accepts reports again')).length >= 4);
    t.equal(said().filter(line => line.includes('accepts reports again')).length, 4);
    await end();
  });

  t.test(
    'no route for a while, and a name that nobody knows any more: it goes on at the address that it had',
    async t => {
      const { master, other, away, back, port } = await awayMaster(t, '10.86.77.2');
      names.tell('master.example', '10.86.77.2');
      const { says, said, end } = begin(t, { to: [`master.example:${port}`, other.address] }, resolving(t, 1));
      await master.more(3);
      names.tell('master.example', 'fails');
      away();
      await says(/^master\.example:\d+ cannot be reached: .*; reports to it are lost until it answers$/);
      await says(/ cannot be looked up now; /);
      // Some C libraries send six questions for one look-up.
      const asked = names.asked('master.example');
      await until('it asks for it again', () => names.asked('master.example') > asked);
      await until('it has asked for it once more, in vain', () => names.asked('master.example') >= asked + 7);
      t.ok((await back()) <= 20, 'soon');
      await says(/^master\.example:\d+ accepts reports again, \d+ were missed$/);
      t.match(
        said().slice(1),
        [
          / cannot be reached: /,
          / cannot be looked up now; keeps sending to 10\.86\.77\.2$/,
          / accepts reports again, /,
        ],
        'each is told once',
      );

      // The master listens on all addresses of this machine, also on the new address of its name.
      away();
      ip('addr add 10.86.77.3/32 dev lo');
      names.tell('master.example', '10.86.77.3');
      await master.next('it hears again, where it is now', () => true);
      await end();
    },
  );

  t.test('what the kernel refused announces nothing: a longer interval waits for each destination', async t => {
    const { master, other, away, back, port } = await awayMaster(t, '10.86.77.4');
    const to = [`10.86.77.4:${port}`, other.address];
    const { says, change, end } = begin(t, { to });
    await master.more(3);
    away();
    await says(/^10\.86\.77\.4:\d+ cannot be reached: /);
    await change({ to, interval: '200ms' });
    /** The time between points of the grid, ms: a busy machine misses some of them, and the next report counts those. */
    const gap = (reports: readonly Heard[]) => {
      const points = reports.map(({ seq, missed_ticks = 0 }) => seq + missed_ticks);
      const times = reports.map(({ t_boot_ns }) => Number(t_boot_ns) / 1e6);
      const span = (of: number[]) => (of.at(-1) ?? 0) - (of[0] ?? 0);
      return Math.round(span(times) / span(points) / 50) * 50;
    };
    t.equal(gap(await other.more(200)), 100, 'for longer than an announcement takes');
    await back();
    const { t_boot_ns: since } = master.last;
    await until('the longer one holds', () => gap(other.reports.slice(-6)) === 200);
    t.ok(other.last.t_boot_ns - since >= 12_000_000_000n, 'when twelve seconds have announced it to both');
    await end();
  });

  t.test('nobody listens, and the kernel there seldom says so: one line, and each report is counted', async t => {
    const far = await Namespace.make(t);
    ip(`link add v0 type veth peer name v1 netns ${far.pid}`);
    ip('addr add 10.86.78.1/24 dev v0');
    ip('link set v0 up');
    far.ip('addr add 10.86.78.2/24 dev v1', 'link set v1 up');
    const other = await Hearer.open(t);
    const { says, said, end } = begin(t, { to: ['10.86.78.2:9', other.address] });
    await says(/^10\.86\.78\.2:9 cannot be reached: nothing listens there; reports to it are lost until it answers$/);
    const unknowing = other.reports.length;
    await other.more(50);
    await end();
    await says(/^said goodbye /);
    t.equal(said().length, 3, `ready, that, and goodbye: ${said().join(' | ')}`);
    const [, sent, failed] =
      /^said goodbye to 1 of 2 after (\d+) reports, (\d+) could not be delivered$/.exec(said()[2] ?? '') ?? [];
    t.ok(
      Number(failed) >= Number(sent) - unknowing - 3,
      `${failed} of ${sent}, of which ${unknowing} went before it was told`,
    );
  });

  t.test('who refuses reports, and why, is told once; and it costs no more than reports that are taken', async t => {
    const far = await Namespace.make(t);
    ip(`link add v7 type veth peer name v8 netns ${far.pid}`);
    ip('addr add 10.86.79.1/24 dev v7');
    ip('-6 addr add fd86:79::1/64 dev v7 nodad');
    ip('link set v7 up');
    far.ip('addr add 10.86.79.2/24 dev v8', 'addr add fd86:79::2/64 dev v8 nodad', 'link set v8 up');
    far.sh('echo 1 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv4/icmp_ratelimit');
    far.ip('route add prohibit 10.87.1.1/32', 'route add unreachable 10.87.2.2/32');
    far.ip('link add n0 type veth peer name n1', 'link set n0 mtu 1000 up', 'link set n1 up');
    far.ip('route add 10.87.3.3 dev n0', 'neigh add 10.87.3.3 lladdr 02:00:00:00:00:05 dev n0');
    ip('route add 10.87.0.0/16 via 10.86.79.2');
    ip('route add blackhole 10.87.4.4/32');
    const why = {
      '10.87.1.1:9': 'cannot be reached: a firewall at 10.86.79.2 forbids it',
      '10.87.2.2:9': 'cannot be reached: router 10.86.79.2 has no way there',
      '10.87.4.4:9': 'cannot be reached: this machine has no way there',
      '10.86.79.88:9': 'cannot be reached: no such host on this network',
      '[fd86:79::2]:9': 'cannot be reached: nothing listens there',
      '[fd86:79::88]:9': 'cannot be reached: no such host on this network',
      '10.87.3.3:9': 'gets its reports in pieces: a link on the way takes 1000 bytes at most; raise its MTU to 1244',
    };
    const [other, calm] = [await Hearer.open(t), await Hearer.open(t, '0.0.0.0')];
    const { said, end } = begin(t, { to: [...Object.keys(why), other.address] });
    const taken = begin(t, {
      to: Array.from({ length: 7 }, (_, i) => `127.0.0.${i + 1}:${calm.socket.address().port}`),
    });
    await calm.more(3);
    await until('all are told', () => said().filter(line => / (in pieces|reached): /.test(line)).length >= 7);
    const cpu = () => [other, calm].map(({ last }) => last.agent_cpu_ms ?? 0);
    const [before = 0, calmBefore = 0] = cpu();
    await other.more(50);
    const [after = 0, calmAfter = 0] = cpu();
    const [busy, idle] = [after - before, calmAfter - calmBefore];
    t.ok(busy <= 4 * Math.max(idle, 50), `${busy} ms of CPU time, and ${idle} ms where reports are taken`);
    const lines = said().filter(line => / (in pieces|reached): /.test(line));
    t.same(
      lines.map(line => line.replace(/; reports to it are lost until it answers$/, '')).sort(),
      Object.entries(why)
        .map(([to, line]) => `${to} ${line}`)
        .sort(),
      'each once',
    );
    await Promise.all([end(), taken.end()]);

    // A router tells one machine of one such datagram a second, so only one of these two is sure to be told.
    const { '10.87.3.3:9': _, '10.87.2.2:9': __, ...refusing } = why;
    const check = async (...to: string[]) => {
      const checking = startIn(t, {}, ['send', '--check', '--name', 'node1', ...to.flatMap(to => ['--to', to])]);
      const [code] = await once(checking.child, 'close');
      return { code, said: checking.lines().map(line => line.replace(/^.*? send: |^beoboard-send: /, '')) };
    };
    const good = `127.0.0.1:${calm.socket.address().port}`;
    const goodLine = `${good} may be reached: nobody objected for 6 s; ask on the master whether reports arrive: beoboard show node1`;
    const [all, alone] = await Promise.all([check(...Object.keys(refusing), good), check(good)]);
    t.equal(all.code, 1);
    t.same(
      all.said.map(line => line.replace(/; reports to it are lost until it answers$/, '')).sort(),
      [...Object.entries(refusing).map(([to, line]) => `${to} ${line}`), goodLine].sort(),
      '--check says who objects, and who does not',
    );
    t.same(alone, { code: 0, said: [goodLine] });
  });

  t.test('somebody listens again: as many were missed as it says', async t => {
    const [first, other] = [await Hearer.open(t), await Hearer.open(t)];
    const port = first.socket.address().port;
    await first.close();
    const { says, end } = begin(t, { to: [`127.0.0.1:${port}`, other.address] });
    await says(/ nothing listens there; /);
    await other.more(5);
    const master = await Hearer.open(t, '127.0.0.1', port);
    const told = await says(/ accepts reports again, /);
    t.match(told, `127.0.0.1:${port} accepts reports again, ${master.reports[0]?.seq} were missed`);
    await end();
  });
}

const obstacle = (() => {
  const tried = spawnSync('unshare', ['-m', 'true'], { encoding: 'utf8' });
  return tried.status === 0 || process.env.CI === 'true' ? undefined : `no mount namespace here: ${tried.stderr}`;
})();

if (INSIDE) void inside();
else if (obstacle !== undefined) t.pass('skipped', { skip: obstacle });
else inOwnNetwork(t, 'ip link set lo up', import.meta.url);
