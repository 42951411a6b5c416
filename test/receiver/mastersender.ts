// Scenes for a master that is a node, too: what befalls it or its network, where its own sender reports to, and who else
// listens. Whatever the sender does, all else is told as without it. No test of its own.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookAt } from '../../src/schedulers/bridge/boardlook.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { compiled } from '../kit/compiling.js';
import { interfaceOf, linkWords, masterAt, Namespace, PORT, World } from '../kit/netns.js';
import { boardPath, folder } from '../kit/places.js';
import { run } from '../kit/program.js';
import { goOn, now, startIn, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { SHIPPED, shipped } from '../prometheus/alerting.js';
import { flood, LITTLE_ROOM } from './fragments.js';

export const FAULTS = ['switch dies', 'carrier lost', 'one cable', 'receiver stopped', 'fragments flood'] as const;
export type Fault = (typeof FAULTS)[number];

/** `bridged`: no sender, and the master's address on a bridge, as with a guest. */
export const SENDERS = ['none', 'by name', 'localhost', 'multicast', 'container', 'bridged', 'guest'] as const;
export type Sender = (typeof SENDERS)[number];

export const OTHERS = ['one master', 'two masters', 'mirror'] as const;
export type Others = (typeof OTHERS)[number];

type Test = Parameters<typeof World.make>[0] & { match(text: string, pattern: RegExp): boolean };

const NAMES = ['n1', 'n2', 'n3'];
/** The master's own node. */
const OWN = 'me';
const GROUP = '239.255.86.77';
const SECOND_PORT = PORT + 1;
const FIRST = interfaceOf(1);

/** What is told of the cluster, but nothing of the master's own node. */
export interface Tale {
  states: string[];
  links: string[];
  gate: string;
  /** By which link's fault the bridge is held back, for each node. */
  bridge: string[];
  trouble: string[];
  /** The alerts that fire where all stays so. */
  alerts: string[];
}

/** Where the reports of the master's own node have to be counted. */
const LINK_OF_OWN: Partial<Record<Sender, string>> = { container: 'c0' };

const isBridged = (sender: Sender) => sender === 'bridged' || sender === 'guest';

/** Puts the master's interface behind a bridge, with the port of a guest in another namespace. */
async function bridge(t: Test, world: World): Promise<Namespace> {
  const guest = await Namespace.make(t);
  const { master } = world;
  master.ip(
    'link add br0 address 02:86:00:00:01:01 type bridge',
    `link add g0 type veth peer name g0 netns ${guest.pid}`,
    `addr flush dev ${FIRST}`,
    `link set ${FIRST} master br0`,
    'link set g0 master br0',
    'link set g0 up',
    'link set br0 up',
    `addr add ${masterAt(1)}/24 dev br0`,
  );
  guest.ip('addr add 10.86.1.50/24 dev g0', 'link set g0 up');
  return guest;
}

/** A container behind a bridge of its own. */
async function contain(t: Test, { master }: World): Promise<Namespace> {
  const box = await Namespace.make(t);
  master.ip(
    'link add c0 type bridge',
    `link add c1 type veth peer name c1 netns ${box.pid}`,
    'link set c1 master c0',
    'link set c1 up',
    'addr add 10.87.0.1/24 dev c0',
    'link set c0 up',
  );
  box.ip('addr add 10.87.0.2/24 dev c1', 'link set c1 up', 'route add default via 10.87.0.1');
  return box;
}

/** Begins the master's own node. */
async function beginOwn(world: World, sender: Sender, nets: Partial<Record<Sender, Namespace>>, second: boolean) {
  const net = nets[sender];
  if (net !== undefined) await world.nodes.order(`net ${sender} ${net.pid}`);
  const from = net === undefined ? 'master' : sender;
  const to = { localhost: '127.0.0.1', multicast: GROUP, container: '10.87.0.1' }[sender as string] ?? masterAt(1);
  await world.nodes.order(`road ${OWN} ${from} ${to} ${PORT}`);
  if (second && net === undefined) await world.nodes.order(`road ${OWN} master ${masterAt(2)} ${SECOND_PORT}`);
}

/** A relay of the master's board, and a mirror that follows it, in this process. */
async function mirror(t: Test, board: string): Promise<BoardReader> {
  const { RelayFollower, STEP_MS } = await import('../../src/relay/follower.js');
  const { Relay, SWEEP_MS } = await import('../../src/relay/publisher.js');
  const { subjectOf } = await import('../../src/relay/relaywire.js');
  const { keyPair, quiet } = await import('../relay/relaying.js');
  const acts = new Map<symbol, { subject: string; act: (message: never) => void }>();
  const bus = {
    connected: true,
    publish: (subject: string, data: Uint8Array, reply = '') =>
      setImmediate(() => {
        for (const { subject: of, act } of [...acts.values()])
          if (of === subject || of === subject.replace(/[^.]*$/, '*')) act({ subject, data, reply } as never);
      }),
    subscribe: (subject: string, act: (message: never) => void) => {
      const key = Symbol(subject);
      acts.set(key, { subject, act });
      return () => acts.delete(key);
    },
  };
  const keys = keyPair();
  const about = { site: 'home', cluster: '', log: quiet };
  const subject = subjectOf(about.site, about.cluster, 'm1');
  const relay = new Relay({ ...about, path: board, owner: undefined, subject, key: keys.secret }, bus);
  const path = boardPath(t);
  const masters = [{ name: 'm1', key: keys.shown }];
  const follower = new RelayFollower({ ...about, path, masters, capacity: 64, trust: undefined }, bus, 'm');
  const steps = [setInterval(() => relay.step(), SWEEP_MS), setInterval(() => follower.step(), STEP_MS)];
  t.teardown(() => {
    for (const step of steps) clearInterval(step);
    follower.end();
    relay.end();
  });
  return until('the mirror has a board', () => {
    const reader = new BoardReader(path);
    return reader.snapshot().count > 0 && reader;
  });
}

const statesOf = (snapshot: Snapshot) =>
  NAMES.map(name => `${name} ${[...snapshot.nodes()].find(node => node.name === name)?.state}`);

/** The links by which the cluster reports. */
const linksOf = (snapshot: Snapshot) =>
  snapshot.links
    .filter(({ name, nodes }) => nodes > 0 && !['lo', 'c0'].includes(name))
    .map(link => {
      const words = linkWords(link).join(' ');
      // Of a link that is down, it depends on the machine whether its nodes were missed before the carrier was.
      const dark = words === '' || link.darkSinceNs === 0n ? '' : `, ${link.darkNodes} dark`;
      return `${link.name}: ${words}${dark}`;
    });

/** Times, and what counts the master's own node, are another thing in each run. */
const plain = (text: string) =>
  text.replace(/\d\d:\d\d:\d\d|\b\d+(\.\d+)? ?m?s\b|\b\d+m\d+s\b/g, 'T').replace(/\s+/g, ' ');

/** Which of the shipped alerts fire where a board stays as it is, without those of the master's own node. */
async function alertsOf(t: Test, board: string): Promise<string[]> {
  const { stdout } = await run(['metrics', '--board', board]);
  const always = (series: string, value: string) => ({ series, values: `${value}x60` });
  const input_series = Array.from(
    stdout.matchAll(/^(beoboard_\w+)(?:\{(.*)\})? (\S+)$/gm),
    ([, name, labels = '', value = '']) => always(`${name}{${['cluster="alpha"', labels].join()}}`, value),
  );
  const names = Array.from(shipped('rules.yml').matchAll(/- alert: (\w+)/g), ([, name]) => name);
  const path = join(folder(t), 'alerts.yml');
  const test = {
    interval: '5s',
    input_series: [...input_series, always('up{job="beoboard", cluster="alpha"}', '1')],
    // What fires is in what promtool says is wrong.
    alert_rule_test: names.map(alertname => ({ alertname, eval_time: '4m', exp_alerts: [] })),
  };
  writeFileSync(path, JSON.stringify({ rule_files: [join(SHIPPED, 'rules.yml')], tests: [test] }));
  const { status, stdout: said, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
  const fires = [...`${said}${stderr}`.matchAll(/Labels:\{alertname="(\w+)", (.*?)\}/g)];
  if (status !== 0 && fires.length === 0) throw new Error(`promtool: ${said}${stderr}`);
  return fires
    .map(([, name, labels = '']) => [name, ...(/(?:node|link)="\w+"/.exec(labels) ?? [])].join(' '))
    .filter(text => !text.endsWith(`node="${OWN}"`) && !/link="(lo|c0)"$/.test(text))
    .sort();
}

const GATE = (t: Test) => compiled(t as never, 'gate', 'beoboard-gate');

async function tell(t: Test, { board, reader }: World, asked: string): Promise<Tale> {
  const { status, stdout, stderr } = spawnSync(GATE(t), ['--board', board, '--wait', '0s', '--nodes', asked], {
    encoding: 'utf8',
  });
  const snapshot = reader.snapshot();
  const look = lookAt([snapshot], () => 1);
  const { stdout: json } = await run(['status', '--json', '--board', board]);
  const { trouble = [] } = JSON.parse(json) as { trouble?: { what: string; nodes?: string }[] };
  return {
    states: statesOf(snapshot),
    links: linksOf(snapshot),
    gate: `${status} ${plain(`${stdout}${stderr}`).trim()}`,
    bridge: NAMES.map(name => {
      const node = look.nodes.get(name);
      const link = node && look.links.get(node.link);
      return `${node?.state} ${link?.trouble === undefined ? 'at fault itself' : `${link.name} ${link.trouble.what}`}`;
    }),
    trouble: trouble.map(({ what, nodes = '' }) => plain(`${nodes} ${what}`)).sort(),
    alerts: await alertsOf(t, board),
  };
}

/** What happens, until it is known to all; returns a node to ask for. */
const BEFALLS: Record<Fault, (world: World, t: Test, link: string) => Promise<string>> = {
  'switch dies': async (world, _t, link) => {
    // Frames go to nobody, and the master keeps its carrier.
    const [, gone] = world.far.ip(`neigh replace ${masterAt(1)} lladdr 02:00:00:00:00:99 dev ${FIRST}`);
    for (const name of NAMES) world.nodes.mute(name, gone);
    await world.are('silent', ...NAMES);
    await world.linkIs(link, 'dark', ({ darkSince }) => darkSince > 0);
    return 'n3';
  },
  'carrier lost': async (world, _t, link) => {
    const [, gone] = world.unwire(1);
    for (const name of NAMES) world.nodes.mute(name, gone);
    if (link === FIRST) await world.isDown(link);
    else await world.linkIs(link, 'dark', ({ darkSince }) => darkSince > 0);
    await world.limits(2.2, gone);
    await world.are(link === FIRST ? 'uncertain' : 'silent', ...NAMES);
    return 'n3';
  },
  'one cable': async world => {
    await world.nodes.stop('n1');
    await world.is('n1', 'silent');
    return 'n1';
  },
  'receiver stopped': async world => {
    const stopped = await stop(world.receiver.child);
    await world.nodes.stop('n1');
    await until('for longer than the limit', () => now() > stopped.from + 1.5 * world.silentAfter);
    goOn(stopped);
    await world.is('n1', 'silent');
    await world.are('live', 'n2', 'n3');
    return 'n1';
  },
  'fragments flood': async (world, t, link) => {
    world.master.sh(LITTLE_ROOM);
    world.far.ip(`link set ${FIRST} mtu 600`);
    const inPieces = () => linksOf(world.reader.snapshot()).join();
    await until('all come in pieces', () => inPieces() === `${link}, in pieces: up in_pieces`);
    // By the other interface, which takes longer packets.
    flood(t, world.far, '10.86.2.2', masterAt(2));
    await world.nodes.stop('n3');
    await world.are('uncertain', ...NAMES);
    await world.limits(3, now());
    return 'n3';
  },
};

/** Plays one scene; returns what is told of the cluster. */
async function play(t: Test, fault: Fault, sender: Sender, others: Others): Promise<Tale> {
  const link = isBridged(sender) ? 'br0' : FIRST;
  const more = [
    ...(sender === 'multicast' ? ['--group', `${GROUP}:${PORT}`, '--interface', FIRST] : []),
    ...(isBridged(sender) ? ['--local', '10.86.1.48/28,fd00::/8'] : []),
  ];
  const world = await World.make(t, { more, silentMs: 2000 }, false);
  const { nodes, master } = world;
  const nets: Partial<Record<Sender, Namespace>> = {};
  if (isBridged(sender)) nets.guest = await bridge(t, world);
  if (sender === 'container') nets.container = await contain(t, world);
  if (sender === 'multicast') master.ip(`route replace ${GROUP} dev ${FIRST}`);
  await world.receive();
  await world.watch();
  const second = others === 'two masters' ? boardPath(t) : undefined;
  if (second !== undefined) {
    const argv = world.argv.slice(0, world.argv.length - more.length);
    argv[argv.indexOf(world.board)] = second;
    argv.push('--listen', `${masterAt(2)}:${SECOND_PORT}`);
    await startIn(t as never, { prefix: master.prefix }, argv).ready;
    for (const name of NAMES) await nodes.order(`road ${name} far ${masterAt(2)} ${SECOND_PORT}`);
  }
  await world.begin(1, ...NAMES);
  const has = sender !== 'none' && sender !== 'bridged';
  if (has) await beginOwn(world, sender, nets, second !== undefined);
  await world.are('live', ...NAMES, ...(has ? [OWN] : []));
  const own = LINK_OF_OWN[sender] ?? 'lo';
  if (has) await world.reportsBy(OWN, own);
  const far = others === 'mirror' ? await mirror(t, world.board) : undefined;

  const asked = await BEFALLS[fault](world, t, link);
  // On a busy machine the receiver may stand still, and then it listens anew.
  const states = wanted(fault, sender).states.join();
  const tale = await until('all is told at one moment', async () => {
    const told = await tell(t, world, asked);
    return told.states.join() === states && statesOf(world.reader.snapshot()).join() === states && told;
  });
  if (has) {
    t.same(world.watcher.node(OWN)?.to, 'live', 'the master itself is heard');
    await world.reportsBy(OWN, own);
    t.same(linkWords(world.watcher.link(own) ?? { state: 0 }), ['up'], 'by a link that is up');
  }
  if (second !== undefined) {
    const reader = new BoardReader(second);
    const lost =
      fault === 'one cable' || fault === 'receiver stopped' ? ['n1'] : fault === 'fragments flood' ? ['n3'] : [];
    const wanted = NAMES.map(name => `${name} ${lost.includes(name) ? 'silent' : 'live'}`).join();
    await until('the other master has its own evidence', () => statesOf(reader.snapshot()).join() === wanted);
    t.same(linksOf(reader.snapshot()), [`${interfaceOf(2)}: up`], 'and its link');
    reader.close();
  }
  if (far !== undefined) {
    const of = (snapshot: Snapshot) => [...statesOf(snapshot), ...linksOf(snapshot)].join();
    await until('the mirror says the same', () => of(far.snapshot()) === of(world.reader.snapshot()));
    far.close();
  }
  await world.judge();
  return tale;
}

/** What has to be told of a fault, whoever sends: by link. */
function wanted(fault: Fault, sender: Sender): Omit<Tale, 'gate' | 'trouble'> & { gate: RegExp; trouble: RegExp[] } {
  const link = isBridged(sender) ? 'br0' : FIRST;
  const all = (state: string) => NAMES.map(name => `${name} ${state}`);
  const bridge = (states: string[], why: string) => states.map(text => `${text.split(' ')[1]} ${why}`);
  // A bridge keeps its carrier while another port is up.
  const isDown = fault === 'carrier lost' && link === FIRST;
  if (isDown)
    return {
      states: all('uncertain'),
      links: [`${link}: `],
      gate: /^0 .*its link v1 is down/,
      bridge: bridge(all('uncertain'), `${link} down`),
      alerts: [`BeoboardLinkDown link="${link}"`],
      trouble: [new RegExp(`not heard, because ${link} of this master is down`)],
    };
  if (fault === 'switch dies' || fault === 'carrier lost')
    return {
      states: all('silent'),
      links: [`${link}: up, 3 dark`],
      gate: new RegExp(`^0 .*its link ${link} is dark`),
      bridge: bridge(all('silent'), `${link} dark`),
      alerts: [`BeoboardLinkDark link="${link}"`],
      trouble: [new RegExp(`fell silent at once behind ${link}: a switch or this master`)],
    };
  if (fault === 'fragments flood')
    return {
      states: all('uncertain'),
      links: [`${link}, in pieces: up in_pieces`],
      gate: /^0 .*n3 is uncertain/,
      bridge: bridge(all('uncertain'), 'at fault itself'),
      alerts: [],
      trouble: [new RegExp(`arrive as IP fragments by ${link}, in pieces, and this master fails to join them`)],
    };
  const states = ['n1 silent', 'n2 live', 'n3 live'];
  return {
    ...{ states, links: [`${link}: up`], gate: /^1 / },
    ...{ bridge: bridge(states, 'at fault itself'), trouble: [/n1/], alerts: ['BeoboardNodeSilent node="n1"'] },
  };
}

/** Plays a scene, and compares what is told with what has to be. */
export async function check(t: Test, fault: Fault, sender: Sender, others: Others): Promise<Tale> {
  const tale = await play(t, fault, sender, others);
  const { gate, trouble, ...same } = wanted(fault, sender);
  const { gate: _gate, trouble: _trouble, ...told } = tale;
  t.same(told, same, 'states, links, bridge and alerts');
  t.match(tale.gate, gate);
  for (const one of trouble) t.match(tale.trouble.join('\n'), one);
  return tale;
}
