// What the kernel reports about interfaces, addresses and drops (c/receive/interfaces.h, c/receive/kerneldrops.h), by a small C program
// under the sanitizers. It watches interfaces that come and go in its own network namespace, in which this file runs
// itself again; and it reads counters from folders made for it, and the kernel's own.
//
// @seconds 13
// @waits
// @rest

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { follow } from '../kit/children.js';
import { CHECKED, makeIn } from '../kit/compiling.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { folder } from '../kit/places.js';
import { until } from '../kit/until.js';

/** The variable with the program's path; the process that starts this file in a namespace has built it. */
const VARIABLE = 'BEOBOARD_TEST_INTERFACES';

/** Two pairs of interfaces. Duplicate address detection is off, so that nothing changes after the start. */
const SETUP = [
  'ip link set lo up',
  'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad',
  'ip link add v0 type veth peer name v1',
  'ip link add w0 type veth peer name w1',
  'for i in v0 v1 w0 w1; do ip link set $i up || exit 1; done',
].join(' && ');

// ---- the program ----

interface Program {
  /** The lines of its answer without the last one, and the last one. */
  ask(command: string): Promise<{ lines: string[]; result: string }>;
  /** Only the last one. */
  get(command: string): Promise<string>;
  end(): Promise<number | string>;
}

function program(t: Test, words = [process.env[VARIABLE] ?? '', '/proc/thread-self', '/sys']): Program {
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
  const said = follow(child, t, ['stderr']);
  child.stdin.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (command: string) => {
    child.stdin.write(`${command}\n`);
    const before: string[] = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`it ended at ${command}: ${said.stderr}`);
      if (value.startsWith('= ')) return { lines: before, result: value.slice(2) };
      before.push(value);
    }
  };
  return {
    ask,
    get: async command => (await ask(command)).result,
    end: async () => {
      child.stdin.end();
      const code = await said.exit;
      return code === 0 ? said.stderr : code;
    },
  };
}

interface News {
  name: string;
  index: string;
  state: string;
  wasDown: boolean;
}

/** The changes that are reported until `enough` says so; each drain has to return 0. */
async function newsUntil(t: Test, watcher: Program, what: string, enough: (news: News[]) => boolean): Promise<News[]> {
  const news: News[] = [];
  await until(what, async () => {
    const { lines, result } = await watcher.ask('drain');
    if (result !== '0') t.fail(`a drain gave ${result}`);
    news.push(...parse(t, lines));
    return enough(news);
  });
  return news;
}

function parse(t: Test, lines: string[]): News[] {
  return lines.map(line => {
    const [, name = '', index = '', state = '', was] = /^(\S+) (\d+) (up|down|gone)( was-down)?$/.exec(line) ?? [];
    if (name === '') t.fail(line);
    return { name, index, state, wasDown: was !== undefined };
  });
}

const about = (news: News[], name: string) => news.filter(one => one.name === name);
const last = (news: News[], name: string) => about(news, name).at(-1)?.state;

const ip = (words: string) => execFileSync('ip', words.split(' '), { encoding: 'utf8' });
const batch = (lines: string[]) => execFileSync('ip', ['-batch', '-'], { input: lines.join('\n') });

/** Waits until an interface is up according to `ip`, so that all messages about it have been sent. */
const isUp = (name: string) =>
  until(`${name} is up`, () => /,UP,LOWER_UP> .* state UP /.test(ip(`-o link show ${name}`)));

/** A watcher that was started while nothing changes. */
async function watch(t: Test): Promise<Program> {
  for (const name of ['v0', 'v1', 'w0', 'w1']) await isUp(name);
  const watcher = program(t);
  await watcher.ask('index 1');
  return watcher;
}

/** Ends it; it has left nothing open, and the sanitizers have found nothing. */
async function end(t: Test, ended: Program): Promise<void> {
  t.equal(await ended.end(), '', 'it ends cleanly');
}

// ---- in a namespace ----

function inside(): void {
  t.test('interfaces that exist at the start are known, and not reported as changes', async t => {
    const watcher = await watch(t);
    t.equal(await watcher.get('name lo'), 'lo 1 up');
    t.equal(await watcher.get('index 1'), 'lo 1 up');
    t.match(await watcher.get('name v0'), /^v0 \d+ up$/);
    t.equal(await watcher.get('name none'), 'none');
    t.equal(await watcher.get('index 0'), 'none');
    t.equal(await watcher.get('index 4294967295'), 'none');
    t.equal(await watcher.get('changed'), '1');
    t.equal(await watcher.get('changed'), '0');
    t.same(about(parse(t, (await watcher.ask('drain')).lines), 'lo'), []);
    await end(t, watcher);
  });

  t.test('lo goes down and comes back', async t => {
    const watcher = await watch(t);
    ip('link set lo down');
    ip('link set lo up');
    const news = await newsUntil(t, watcher, 'lo is up', news => last(news, 'lo') === 'up');
    t.same(
      about(news, 'lo').map(({ state, wasDown }) => [state, wasDown]),
      [
        ['down', true],
        ['up', true],
      ],
    );
    await end(t, watcher);
  });

  for (const [what, changed] of [
    ['it is set down', 'v0'],
    ['its peer is', 'v1'],
  ] as const)
    t.test(`an interface goes down, and comes back: ${what}`, async t => {
      const watcher = await watch(t);
      ip(`link set ${changed} down`);
      const down = await newsUntil(t, watcher, 'it is down', news => last(news, 'v0') === 'down');
      t.ok(about(down, 'v0').every(one => one.wasDown));
      t.match(await watcher.get('name v0'), / down$/);
      ip(`link set ${changed} up`);
      const up = await newsUntil(t, watcher, 'it is up', news => last(news, 'v0') === 'up');
      t.equal(about(up, 'v0').at(-1)?.wasDown, true);
      t.same(
        ['lo', 'w0', 'w1'].flatMap(name => about([...down, ...up], name)),
        [],
        'nothing is told of others',
      );
      await end(t, watcher);
    });

  for (const [what, changed] of [
    ['it was set down', 'v0'],
    ['its peer was', 'v1'],
  ] as const)
    t.test(`a down that is over before it is read: ${what}`, async t => {
      const watcher = await watch(t);
      ip(`link set ${changed} down`);
      ip(`link set ${changed} up`);
      await isUp('v0');
      const news = await newsUntil(t, watcher, 'it is up', news => last(news, 'v0') === 'up');
      t.ok(
        about(news, 'v0').every(one => one.wasDown),
        JSON.stringify(news),
      );
      await end(t, watcher);
    });

  t.test('a carrier that was lost for so short a time that the kernel reports only its return', async t => {
    const watcher = await watch(t);
    const owner = program(t);
    t.equal(await owner.get('tap t0'), '0');
    ip('link set t0 up');
    await newsUntil(t, watcher, 'it is up', news => last(news, 't0') === 'up');
    // The kernel decides which messages it sends: only a report for each flap is promised.
    let flaps = 0;
    await until('one was told so', async () => {
      flaps++;
      await owner.ask('flap');
      const news = about(await newsUntil(t, watcher, 'it is up again', news => last(news, 't0') === 'up'), 't0');
      t.ok(news.at(-1)?.wasDown, `flap ${flaps}: ${JSON.stringify(news)}`);
      return news.length === 1;
    });
    await end(t, owner);
    await newsUntil(t, watcher, 'the tap is gone', news => last(news, 't0') === 'gone');
    await end(t, watcher);
  });

  t.test(
    'a carrier that is lost is told with the next message, before the kernel says that it does not run',
    async t => {
      const watcher = await watch(t);
      const owner = program(t);
      t.equal(await owner.get('tap t0'), '0');
      ip('link set t0 up');
      // The kernel tells that at most once a second, so that of several in a row it is late.
      for (let i = 0; i < 3; i++) {
        await newsUntil(t, watcher, 'it is up', news => last(news, 't0') === 'up');
        t.equal(await owner.get(`carrier t0 0 ${1400 + i}`), '0');
        const { lines } = await watcher.ask('drain');
        t.match(await watcher.get('name t0'), / down$/);
        t.same([last(parse(t, lines), 't0'), about(parse(t, lines), 't0').length], ['down', 1], 'once');
        await owner.get(`carrier t0 1 ${1500 + i}`);
      }
      await end(t, owner);
      await newsUntil(t, watcher, 'the tap is gone', news => last(news, 't0') === 'gone');
      await end(t, watcher);
    },
  );

  t.test('deleted and made again under the same name', async t => {
    ip('link add d0 type veth peer name d1');
    const watcher = await watch(t);
    const [, before] = (await watcher.get('name d0')).split(' ');
    await watcher.get('changed');
    ip('link delete d0');
    ip('link add d0 type veth peer name d1');
    const news = about(await newsUntil(t, watcher, 'it is there again', news => last(news, 'd0') === 'down'), 'd0');
    t.equal(news[0]?.state, 'gone');
    t.equal(news[0]?.index, before);
    const [, after] = (await watcher.get('name d0')).split(' ');
    t.not(after, before);
    t.same([news.at(-1)?.index, news.at(-1)?.wasDown], [after, true]);
    t.equal(await watcher.get(`index ${before}`), 'none');
    t.equal(await watcher.get('changed'), '1');
    ip('link delete d0');
    await end(t, watcher);
  });

  t.test('an interface that goes to another namespace is gone', async t => {
    ip('link add d0 type veth peer name d1');
    const watcher = await watch(t);
    const other = spawn('unshare', ['-n', 'sh', '-c', 'echo there; read end'], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => other.stdin.end());
    await once(other.stdout, 'data');
    ip(`link set d0 netns ${other.pid}`);
    await newsUntil(t, watcher, 'it is gone', news => last(news, 'd0') === 'gone');
    t.equal(await watcher.get('name d0'), 'none');
    other.stdin.end();
    await newsUntil(t, watcher, 'its peer went with that namespace', news => last(news, 'd1') === 'gone');
    await end(t, watcher);
  });

  t.test('renamed: the old name is gone, the new one is there', async t => {
    ip('link add d0 type veth peer name d1');
    const watcher = await watch(t);
    const [, index] = (await watcher.get('name d0')).split(' ');
    ip('link set d0 name e0');
    ip('link set d1 name d0');
    const news = await newsUntil(t, watcher, 'both are told', news => last(news, 'd0') === 'down');
    t.same(
      news.filter(one => one.name === 'e0' || one.index === index),
      [
        { name: 'd0', index, state: 'gone', wasDown: true },
        { name: 'e0', index, state: 'down', wasDown: true },
      ],
    );
    t.equal(await watcher.get('name e0'), `e0 ${index} down`);
    t.not((await watcher.get('name d0')).split(' ')[1], index);
    t.equal(await watcher.get('name d1'), 'none');
    ip('link delete e0');
    await end(t, watcher);
  });

  t.test('a port that leaves a bridge stays', async t => {
    const watcher = await watch(t);
    ip('link add br0 type bridge');
    ip('link set w0 master br0');
    ip('link set w0 nomaster');
    ip('link delete br0');
    const news = await newsUntil(t, watcher, 'the bridge is gone', news => last(news, 'br0') === 'gone');
    t.same(about(news, 'w0'), []);
    t.match(await watcher.get('name w0'), / up$/);
    await end(t, watcher);
  });

  t.test('messages from another program are ignored', async t => {
    const watcher = await watch(t);
    t.ok(Number(await watcher.get('forge v0')) >= 1);
    t.same(about(parse(t, (await watcher.ask('drain')).lines), 'v0'), []);
    t.match(await watcher.get('name v0'), / up$/);
    t.equal(await watcher.get('has 127.0.0.1'), '1', 'nor taken for an answer');
    await end(t, watcher);
  });

  t.test('lost messages: everything is dumped and reported', async t => {
    const names = Array.from({ length: 200 }, (_, i) => `l${i}`);
    const watcher = await watch(t);
    batch(names.slice(0, 10).map(name => `link add ${name} type veth peer name p${name}`));
    await newsUntil(t, watcher, 'ten are there', news => last(news, 'l9') === 'down');
    t.equal(await watcher.get('buffer 1'), '1');
    await watcher.get('changed');
    batch([
      ...names.slice(10).map(name => `link add ${name} type veth peer name p${name}`),
      'link delete l0',
      'link set l1 name m1',
      'link set v0 down',
      'link set v0 up',
    ]);
    await isUp('v0');
    const { lines, result } = await watcher.ask('drain');
    t.equal(result, '1');
    const news = parse(t, lines);
    const there = ip('-o link show')
      .split('\n')
      .map(line => /^\d+: ([^@:]+)/.exec(line)?.[1])
      .filter(name => name !== undefined);
    t.ok(there.length > 400);
    for (const name of there) {
      t.not(last(news, name), 'gone', name);
      t.ok(about(news, name).length > 0, name);
      t.match(await watcher.get(`name ${name}`), new RegExp(`^${name} \\d+ (up|down)$`));
    }
    t.match(await watcher.get('name v0'), / up$/);
    t.same(
      ['v0', 'l150', 'w0', 'lo'].map(name => about(news, name).at(-1)?.wasDown),
      [true, true, false, false],
      'which of them were down',
    );
    t.same(
      ['l0', 'pl0', 'l1'].map(name => last(news, name)),
      ['gone', 'gone', 'gone'],
    );
    t.equal(await watcher.get('name l0'), 'none');
    t.equal(await watcher.get('changed'), '1');
    await watcher.get('buffer 1000000');
    await until('no more is lost', async () => (await watcher.get('drain')) === '0');
    ip('link set w0 down');
    await newsUntil(t, watcher, 'it goes on', news => last(news, 'w0') === 'down');
    ip('link set w0 up');
    batch(['m1', ...names.slice(2)].map(name => `link delete ${name}`));
    const gone: News[] = [];
    await until('all are gone', async () => {
      gone.push(...parse(t, (await watcher.ask('drain')).lines));
      return last(gone, 'l199') === 'gone' && last(gone, 'm1') === 'gone';
    });
    await end(t, watcher);
  });

  t.test('a start while interfaces come and go finds all that stay', async t => {
    const watcher = await watch(t);
    const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
    batch(names.map(name => `link add ${name} type veth peer name s${name}`));
    const churn = spawn('sh', ['-c', 'while :; do ip link delete x0; ip link add x0 type veth peer name x1; done'], {
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(churn, 'close');
    const stop = async () => {
      if (churn.exitCode === null && churn.signalCode === null) process.kill(-(churn.pid ?? NaN), 'SIGKILL');
      await ended;
    };
    t.teardown(stop);
    let missing = 0;
    for (let i = 0; i < 50; i++) {
      t.equal(await watcher.get('anew'), '0');
      for (const name of ['lo', 'v0', 'c0', 'sc99']) if ((await watcher.get(`name ${name}`)) === 'none') missing++;
    }
    await stop();
    t.equal(missing, 0);
    await end(t, watcher);
    batch(names.map(name => `link delete ${name}`));
  });

  t.test('addresses of IPv4', async t => {
    const watcher = await watch(t);
    const has = (address: string) => watcher.get(`has ${address}`);
    const changes = async (what: string) =>
      until(what, async () => {
        await watcher.ask('drain');
        return (await watcher.get('changed')) === '1';
      });
    await watcher.ask('drain');
    await watcher.get('changed');
    t.equal(await has('10.86.1.2'), '0');
    ip('addr add 10.86.1.2/24 broadcast + dev v0');
    await changes('one has come');
    const rows: [string, string][] = [
      ['10.86.1.2', '1'],
      ['10.86.1.3', '0'],
      ['10.86.1.255', '0'],
      ['255.255.255.255', '0'],
      ['224.0.0.1', '0'],
      ['239.255.86.77', '0'],
      ['127.0.0.1', '1'],
      ['127.86.77.1', '1'],
      ['0.0.0.0', '0'],
      ['192.0.2.1', '0'],
    ];
    for (const [address, expected] of rows) t.equal(await has(address), expected, address);
    for (const kind of ['blackhole', 'prohibit', 'unreachable', 'throw']) {
      ip(`route add ${kind} 192.0.2.0/24`);
      t.equal(await has('192.0.2.1'), '0', kind);
      ip(`route delete ${kind} 192.0.2.0/24`);
    }
    ip('route add local 192.0.2.0/24 dev lo');
    t.equal(await has('192.0.2.1'), '1', 'AnyIP');
    ip('route delete local 192.0.2.0/24 dev lo');
    writeFileSync('/proc/sys/net/ipv4/ip_nonlocal_bind', '1');
    t.same([await has('10.86.1.2'), await has('10.86.1.3'), await has('192.0.2.1')], ['1', '0', '0'], 'nonlocal_bind');
    writeFileSync('/proc/sys/net/ipv4/ip_nonlocal_bind', '0');
    ip('link set v0 down');
    await newsUntil(t, watcher, 'it is down', news => last(news, 'v0') === 'down');
    t.equal(await has('10.86.1.2'), '1', 'though its interface is down');
    ip('link set v0 up');
    await isUp('v0');
    await watcher.ask('drain');
    await watcher.get('changed');
    ip('addr delete 10.86.1.2/24 dev v0');
    await changes('it has gone');
    t.equal(await has('10.86.1.2'), '0');
    await end(t, watcher);
  });

  t.test('which datagrams the kernel would accept', async t => {
    const watcher = await watch(t);
    const accepts = (from: string, to: string, by = 'v0') => watcher.get(`accepts ${from} ${to} ${by}`);
    const filter = (value: number) => {
      for (const by of ['all', 'v0']) writeFileSync(`/proc/sys/net/ipv4/conf/${by}/rp_filter`, String(value));
    };
    const sent = ['10.86.1.2', '10.86.1.255', '255.255.255.255', '224.0.0.1'];
    const all = async () => Promise.all(sent.map(to => accepts('10.86.1.9', to)));
    ip('addr add 10.86.1.2/24 broadcast + dev v0');
    for (const value of [0, 1, 2]) {
      filter(value);
      t.same(await all(), ['1', '1', '1', '1'], `rp_filter ${value}`);
      const others = [
        accepts('10.86.1.9', '10.86.1.3'),
        accepts('10.86.1.9', '239.255.86.77'),
        accepts('10.86.1.2', '10.86.1.2'),
      ];
      t.same(await Promise.all(others), ['0', '0', '0'], 'of another, of a group that nobody joined, of its own');
    }
    ip('route delete 10.86.1.0/24 dev v0');
    t.same(await all(), ['0', '0', '0', '0'], 'without a way back');
    filter(0);
    t.same(await all(), ['1', '1', '1', '1'], 'if none is asked for');
    ip('addr delete 10.86.1.2/24 dev v0');
    t.same(await all(), ['0', '0', '1', '1'], 'without an address');
    filter(2);
    t.same(await all(), ['0', '0', '0', '0']);
    filter(0);
    await end(t, watcher);
  });

  t.test('addresses of IPv6', async t => {
    const watcher = await watch(t);
    const has = (address: string) => watcher.get(`has ${address}`);
    const changes = async (what: string) =>
      until(what, async () => {
        await watcher.ask('drain');
        return (await watcher.get('changed')) === '1';
      });
    await watcher.ask('drain');
    await watcher.get('changed');
    ip('addr add fd00:86::2/64 dev v0 nodad');
    await changes('one has come');
    writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
    const rows: [string, string][] = [
      ['fd00:86::2', '1'],
      ['fd00:86::3', '0'],
      ['fd00:86::', '0'],
      ['fd00:87::2', '0'],
      ['::1', '1'],
      ['::', '0'],
      ['ff02::1', '0'],
      ['ff12::8677', '0'],
    ];
    for (const [address, expected] of rows) t.equal(await has(address), expected, address);
    writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '0');
    writeFileSync('/proc/sys/net/ipv6/ip_nonlocal_bind', '1');
    t.same([await has('fd00:86::2'), await has('fd00:86::3')], ['1', '0'], 'nonlocal_bind');
    writeFileSync('/proc/sys/net/ipv6/ip_nonlocal_bind', '0');

    ip('addr add fe80::86/64 dev v0 nodad');
    // The kernel answers before the address is usable.
    await until('one of the link has come', async () => (await has('fe80::86 v0')) === '1');
    t.equal(await has('fe80::86 w0'), '0', 'on another interface');
    t.equal(await has('fe80::87 v0'), '0');
    t.equal(await has('fd00:86::2 w0'), '1', 'the interface counts for link-local ones alone');

    ip('link set v0 down');
    await changes('its interface is down');
    t.equal(await has('fd00:86::2'), '0', 'it went with that');
    ip('link set v0 up');
    await isUp('v0');
    writeFileSync('/proc/sys/net/ipv6/conf/v0/keep_addr_on_down', '1');
    for (const name of ['v0', 'v1']) {
      ip(`link set ${name} addrgenmode none`);
      ip(`-6 addr flush dev ${name}`);
    }
    ip('addr add fd00:86::4/64 dev v0 nodad');
    await until('it has come, and is usable', async () => (await has('fd00:86::4')) === '1');
    await watcher.ask('drain');
    await watcher.get('changed');
    ip('link set v0 down');
    await newsUntil(t, watcher, 'it is down', news => last(news, 'v0') === 'down');
    t.match(ip('-6 addr show dev v0'), /fd00:86::4/, 'it was kept, and no message says that it has no route');
    t.equal(await watcher.get('changed'), '1');
    t.equal(await has('fd00:86::4'), '0');
    ip('link set v0 up');
    await until('it is had again', async () => (await has('fd00:86::4')) === '1');
    await isUp('v0');

    // Without a carrier there is no duplicate address detection, so the address stays tentative until there is one.
    writeFileSync('/proc/sys/net/ipv6/conf/v0/accept_dad', '1');
    ip('link set v1 down');
    await newsUntil(t, watcher, 'it is down', news => last(news, 'v0') === 'down');
    ip('addr add fd00:86::5/64 dev v0');
    t.match(ip('-6 addr show dev v0 tentative'), /fd00:86::5\/64/);
    t.equal(await has('fd00:86::5'), '0', 'a tentative one');
    await watcher.ask('drain');
    await watcher.get('changed');
    ip('link set v1 up');
    await until('it is had', async () => (await has('fd00:86::5')) === '1');
    await changes('and that is told');
    await end(t, watcher);
  });

  t.test("the kernel's own counts", async t => {
    const sys = folder(t);
    const reader = program(t, [
      ...['unshare', '-m', 'sh', '-c', 'mount -t sysfs none "$0" && exec "$@"', sys],
      ...[process.env[VARIABLE] ?? '', '/proc/thread-self', sys],
    ]);
    const before = Number(await reader.get('buffers'));
    t.ok(before >= 0);
    let expected = before;
    for (const kind of ['4', '6', 'both']) {
      const dropped = Number(await reader.get(`overflow ${kind}`));
      t.ok(dropped > 0);
      expected += dropped;
      t.equal(Number(await reader.get('buffers')), expected, kind);
    }
    t.equal(await reader.get('spoil'), '1', 'the socket dropped a datagram with a wrong checksum');
    t.equal(Number(await reader.get('buffers')), expected, 'which has nothing to do with room');

    const softnet = async () => (await reader.get('softnet')).split(' ').map(Number);
    const [, processed = NaN] = await softnet();
    await reader.ask('overflow 4');
    t.ok(((await softnet())[1] ?? 0) > processed);

    t.match(await reader.get('interface lo'), /^0 [1-9]\d*$/);
    const index = readFileSync('/proc/net/igmp', 'utf8').match(/^(\d+)\tv0 /m)?.[1];
    t.match(await reader.get('interface v0'), /^0 \d+$/);
    t.match(await reader.get(`interface v0 ${index}`), /^0 \d+$/);
    t.equal(await reader.get(`interface v0 ${Number(index) + 1}`), 'false', 'another index');
    t.equal(await reader.get('interface none 7'), 'false');
    ip('link add d0 type veth peer name d1');
    t.match(await reader.get('interface d0'), /^0 0$/);
    ip('link delete d0');
    t.equal(await reader.get('interface d0 7'), 'false', 'one that has gone');
    await end(t, reader);
  });

  t.test("another namespace's /sys knows nothing of us", async t => {
    const reader = program(t);
    t.equal(await reader.get('interface v0'), 'false');
    await end(t, reader);
  });
}

// ---- with files made up ----

const SNMP =
  'Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors';
const SNMP6 = (buffers: number, memory: number) =>
  `Ip6InReceives \t1\nUdp6RcvbufErrors                \t${buffers}\nUdp6MemErrors                   \t${memory}\nUdpLite6MemErrors \t9\n`;
const LITE = 'UdpLite: RcvbufErrors MemErrors\nUdpLite: 1000 1000\n';

/** Folders like /proc/thread-self and /sys, with these files. */
function made(t: Test, files: Record<string, string>): string[] {
  const at = folder(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(at, name, '..'), { recursive: true });
    writeFileSync(join(at, name), text);
  }
  return [process.env[VARIABLE] ?? '', join(at, 'proc'), join(at, 'sys')];
}

function outside(): void {
  const tables: [what: string, command: string, files: Record<string, string>, result: string][] = [
    [
      'both families',
      'buffers',
      { snmp: `${LITE}${SNMP}\nUdp: 1 2 3 4 50 6 7 8 900\n${LITE}`, snmp6: SNMP6(7000, 80000) },
      '87950',
    ],
    ['no IPv6', 'buffers', { snmp: `${SNMP}\nUdp: 1 2 3 4 50 6 7 8 900\n` }, '950'],
    ['other columns', 'buffers', { snmp: 'Udp: MemErrors New RcvbufErrors\nUdp: 5 1 6\n' }, '11'],
    ['no last line end', 'buffers', { snmp: 'Udp: MemErrors RcvbufErrors\nUdp: 5 6' }, '11'],
    ['before Linux 5.11', 'buffers', { snmp: 'Udp: InDatagrams RcvbufErrors\nUdp: 5 6\n' }, 'false'],
    [
      'for IPv6 before it',
      'buffers',
      { snmp: 'Udp: MemErrors RcvbufErrors\nUdp: 5 6\n', snmp6: 'Udp6RcvbufErrors \t5\n' },
      'false',
    ],
    ['IPv6 without', 'buffers', { snmp: 'Udp: MemErrors RcvbufErrors\nUdp: 5 6\n', snmp6: '' }, 'false'],
    ['no Udp', 'buffers', { snmp: LITE }, 'false'],
    ['no numbers', 'buffers', { snmp: `${SNMP}\n` }, 'false'],
    ['numbers of another', 'buffers', { snmp: `${SNMP}\n${LITE}` }, 'false'],
    ['too few numbers', 'buffers', { snmp: `${SNMP}\nUdp: 1 2 3 4 50\n` }, 'false'],
    ['a word for a number', 'buffers', { snmp: 'Udp: MemErrors RcvbufErrors\nUdp: 5 six\n' }, 'false'],
    [
      'a number that is too large',
      'buffers',
      { snmp: `Udp: MemErrors RcvbufErrors\nUdp: 5 1${'0'.repeat(20)}\n` },
      'false',
    ],
    ['less than nothing', 'buffers', { snmp: 'Udp: MemErrors RcvbufErrors\nUdp: -5 6\n' }, 'false'],
    ['a longer name', 'buffers', { snmp: 'Udp: MemErrorsToo RcvbufErrors\nUdp: 5 6\n' }, 'false'],
    ['nothing', 'buffers', { snmp: '' }, 'false'],
    ['no file', 'buffers', {}, 'false'],
    ['bytes', 'buffers', { snmp: `${SNMP}\nUdp: 1 2 3 4 50 6 7 8 900\n\0` }, 'false'],
    ['far too much', 'buffers', { snmp: `${'x\n'.repeat(3 << 20)}Udp: MemErrors RcvbufErrors\nUdp: 5 6\n` }, 'false'],
    ['much before it', 'buffers', { snmp: `${'x\n'.repeat(1 << 20)}Udp: MemErrors RcvbufErrors\nUdp: 5 6\n` }, '11'],
    ['one CPU', 'softnet', { softnet_stat: '0000000a 00000010 00000000 00000000\n' }, '16 10'],
    [
      '512 CPUs',
      'softnet',
      { softnet_stat: `ffffffff 00000003${' 00000000'.repeat(13)}\n`.repeat(512) },
      `1536 ${512 * 0xffffffff}`,
    ],
    ['no CPU', 'softnet', { softnet_stat: '' }, 'false'],
    ['no file', 'softnet', {}, 'false'],
    ['a line with one number', 'softnet', { softnet_stat: '0000000a 00000010 0\n0000000a\n' }, 'false'],
    ['an empty line', 'softnet', { softnet_stat: '0000000a 00000010 0\n\n' }, 'false'],
    ['no hexadecimal number', 'softnet', { softnet_stat: '0000000a 0000001g 0\n' }, 'false'],
    [
      'more than any machine has',
      'softnet',
      { softnet_stat: '0000000a 00000010 00000000 00000000\n'.repeat(150_000) },
      'false',
    ],
  ];
  t.test('the counters of UDP and of the backlog', async t => {
    for (const [what, command, files, result] of tables) {
      const named = Object.fromEntries(Object.entries(files).map(([name, text]) => [`proc/net/${name}`, text]));
      const reader = program(t, made(t, named));
      t.equal(await reader.get(command), result, `${command}: ${what}`);
      t.equal(await reader.get(command), result, 'and again');
      await end(t, reader);
    }
  });

  t.test('the counters of an interface', async t => {
    const counters = (name: string, index: string, missed: string, fifo = '3\n', packets = '400\n') => ({
      [`sys/class/net/${name}/ifindex`]: index,
      [`sys/class/net/${name}/statistics/rx_missed_errors`]: missed,
      [`sys/class/net/${name}/statistics/rx_fifo_errors`]: fifo,
      [`sys/class/net/${name}/statistics/rx_packets`]: packets,
    });
    const reader = program(
      t,
      made(t, {
        ...counters('good', '7\n', '20\n'),
        ...counters('bare', '7', '20', '3', '400'),
        ...counters('word', '7\n', 'many\n'),
        ...counters('more', '7\n', '20\n20\n'),
        ...counters('less', '7\n', ''),
        ...counters('huge', '7\n', '18446744073709551616\n'),
        ...counters('most', '7\n', '18446744073709551612\n'),
        ...counters('nowhere', '\n', '20\n'),
        'sys/class/net/none/ifindex': '7\n',
        'sys/class/net/file': '7\n',
        ...counters('../outer', '7\n', '20\n'),
      }),
    );
    const rows: [string, string][] = [
      ['good 7', '23 400'],
      ['good 8', 'false'],
      ['bare 7', '23 400'],
      ['word 7', 'false'],
      ['more 7', 'false'],
      ['less 7', 'false'],
      ['huge 7', 'false'],
      ['most 7', '18446744073709551615 400'],
      ['nowhere 7', 'false'],
      ['nowhere 0', 'false'],
      ['none 7', 'false'],
      ['file 7', 'false'],
      ['absent 7', 'false'],
      ['../outer 7', 'false'],
      ['.. 7', 'false'],
      ['. 7', 'false'],
    ];
    for (const [words, result] of rows) t.equal(await reader.get(`interface ${words}`), result, words);
    await end(t, reader);
    const nowhere = program(t, made(t, {}));
    t.equal(await nowhere.get('interface good 7'), 'false', 'no /sys');
    await end(t, nowhere);
  });
}

if (INSIDE) inside();
else {
  process.env[VARIABLE] = join(makeIn('', CHECKED, 'interfaceprobe'), 'interfaceprobe');
  outside();
  inOwnNetwork(t, SETUP, import.meta.url);
}
