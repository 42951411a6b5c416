// Reports that come in IP fragments, because the way to the master has a small MTU: a flood of incomplete fragments keeps
// them from being joined, and nobody may be called silent for it. With a real receiver in namespaces of its own.
//
// @seconds 14
// @waits
// @rest

import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { interfaceOf, linkWords, masterAt, noNamespaces, World } from '../kit/netns.js';
import { run } from '../kit/program.js';
import { now } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { flood, LITTLE_ROOM } from './fragments.js';

t.setTimeout(600_000);

t.test('nodes behind a small MTU', { skip: noNamespaces() || lacks('python3', 'python3') }, async t => {
  const world = await World.make(t, { silentMs: 2500 });
  const { master, far, nodes, watcher } = world;
  master.sh(LITTLE_ROOM);
  const names = ['n1', 'n2', 'n3'];
  await world.begin(1, 'whole1', 'whole2');
  await world.begin(2, ...names);
  await world.are('live', 'whole1', 'whole2', ...names);
  /** The link by which a node reports, as on the board. */
  const linkOf = (name: string) => {
    const snapshot = world.reader.snapshot();
    const node = [...snapshot.nodes()].find(node => node.name === name);
    const link = snapshot.links.find(({ number }) => number === node?.link);
    return {
      number: link?.number,
      name: node?.linkName,
      unjoined: link?.unjoinedSinceNs !== 0n,
      dark: link?.darkSinceNs,
    };
  };
  t.match(linkOf('n1'), { name: interfaceOf(2) });
  far.ip(`link set ${interfaceOf(2)} mtu 600`);
  await until('all three come in pieces', () =>
    names.every(name => linkOf(name).name === `${interfaceOf(2)}, in pieces`),
  );
  t.match(linkOf('whole1'), { name: interfaceOf(1), unjoined: false });
  t.match(linkOf('n1'), { unjoined: false, dark: 0n });
  await until('they are counted', () =>
    world.reader.snapshot().links.some(({ name, nodes }) => nodes === 3 && name.endsWith('pieces')),
  );
  const status = async () => (await run(['status', '--long', '--board', world.board])).stdout.replace(/\s+/g, ' ');
  const advice = 'reports of n1,n2,n3 arrive as IP fragments';
  t.match((await status()).replaceAll('n[1-3]', 'n1,n2,n3'), advice);

  t.comment('a flood of incomplete fragments, from elsewhere');
  const end = flood(t, far, '10.86.1.2', masterAt(1));
  await nodes.stop('n3');
  await until('none of them is heard', () => names.every(name => watcher.node(name)?.to === 'uncertain'));
  // From then on, several times as long as it takes to call them silent.
  await world.limits(4, now());
  t.same(
    names.map(name => watcher.node(name)?.to),
    ['uncertain', 'uncertain', 'uncertain'],
    'nobody can know',
  );
  t.match(linkOf('n1'), { unjoined: true, dark: 0n }, 'and it is not dark');
  t.match(await status(), `the kernel of this master has failed to join IP fragments since`);
  t.match(watcher.node('whole1')?.to, 'live');
  t.same(await end(), [0, null]);
  master.sh('echo 8388608 >/proc/sys/net/ipv4/ipfrag_high_thresh');
  await world.are('live', 'n1', 'n2');
  await world.is('n3', 'silent');
  t.same(watcher.statesOf('n1').at(-1), 'live');

  t.comment('both links are of one interface');
  far.ip(`link set ${interfaceOf(2)} mtu 1500`);
  await until('n1 comes whole', () => linkOf('n1').name === interfaceOf(2));
  far.ip(`link set ${interfaceOf(2)} mtu 600`);
  await until('n1 comes in pieces', () => linkOf('n1').name !== interfaceOf(2));
  world.down(2);
  await until('both are down', () =>
    world.reader.snapshot().links.every(link => !link.name.startsWith(interfaceOf(2)) || (link.state & 1) === 0),
  );
  await world.are('uncertain', 'n1', 'n2');
  world.up(2);
  await world.are('live', 'n1', 'n2');
  t.ok(watcher.links.some(link => linkWords(link).includes('in_pieces')));
  await world.judge();
});
