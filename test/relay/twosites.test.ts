// Two masters and two mirrors on real servers: a cut between one master and half of the nodes, a master that dies and
// comes back, and a site that is cut off. No sending node is called silent, no dead one live, and afterwards everything
// is known again. test/relay/relay.long.test.ts tests each server, and random faults.
//
// @seconds 42
// @waits
// @rest
// @days 3

import t from 'tap';
import { lookOn } from '../../src/schedulers/bridge/boardlook.js';
import { BoardReader } from '../../src/shm/reader.js';
import { noServers } from '../kit/natsservers.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { Sites, type Watched } from './relaysites.js';

const run = verbRun(t);

t.setTimeout(600_000);

const NODES = Array.from({ length: 20 }, (_, i) => `n${String(i + 1).padStart(2, '0')}`);

/** Waits for a state of a mirror, and checks the mirror all the time. */
const is = (what: string, watched: Watched, wanted: (found: NonNullable<ReturnType<Watched['look']>>) => boolean) =>
  until(
    `${watched.name}: ${what}`,
    () => {
      const found = watched.look();
      return found !== undefined && wanted(found);
    },
    20,
  );
const count = (found: { states: Map<string, string> }, state: string) =>
  [...found.states.values()].filter(other => other === state).length;
const areLive = (sites: Sites, live: number, master = /^m/) =>
  Promise.all(
    sites.watched.map(mirror =>
      is('all live', mirror, of => master.test(of.master ?? '') && count(of, 'live') === live),
    ),
  );

if (!INSIDE) inOwnNetwork(t, 'ip link set lo up', import.meta.url);
else {
  t.test('two masters', { skip: noServers() }, async t => {
    const sites = await Sites.make(t, { uncertainMs: 1500, silentMs: 3000 });
    const [home, away] = sites.watched as [Watched, Watched];
    sites.fleet.add(NODES, [0, 1]);
    sites.fleet.add(['x1', 'x2', 'x3'], [0]);
    // Who answers first is followed: reports that come by lo make no master better.
    sites.relays[1]?.kill();
    await areLive(sites, 23, /m1/);
    sites.relays[1]?.mend();
    await is('m2 is heard', home, of => of.heard.includes('m2'));
    // On a busy machine a node may be uncertain for a moment.
    await until('all of them are live', async () =>
      /^alpha: 23 nodes: 23 live; mirror of alpha by m1 \(m2 heard\), \d+ ms behind/.test(
        (await run(['status', '--board', home.board])).stdout,
      ),
    );

    // m2 vouches for a node in its first index after it has listened for longer than the silent limit. An index comes
    // every 5 s; on a busy machine the first one may be late, so there is time for three.
    const other = new BoardReader(sites.boards[1] as string);
    t.teardown(() => other.close());
    await until('m2 vouches', () => other.snapshot().listenedMs > 3000 + 3 * 5500, 100);
    // Half of the nodes do not reach m1 any more.
    for (const sender of sites.fleet.senders.slice(0, 10)) sender.to = [1];
    const source = new BoardReader(sites.boards[0] as string);
    t.teardown(() => source.close());
    const seen = new Set<string>();
    await until('m1 calls them silent', () => {
      const states = [...source.snapshot().nodes()].map(({ state }) => state);
      for (const mirror of sites.watched)
        for (const [name, state] of mirror.look()?.states ?? []) if (Number(name.slice(1)) <= 10) seen.add(state);
      return states.filter(state => state === 'silent').length === 10;
    });
    for (const mirror of sites.watched) {
      const found = await until(`${mirror.name} tells of the veto`, () => {
        const now = mirror.look();
        return now?.vetoed === 10 && now;
      });
      t.equal(found?.vetoed, 10, `${mirror.name}: m2 hears them`);
      t.same(mirror.counts(), { live: 13, uncertain: 10 });
    }
    t.notOk(seen.has('silent'), 'a cut between one master and a rack condemns nobody');
    for (const sender of sites.fleet.senders.slice(0, 10)) sender.to = [0, 1];
    await areLive(sites, 23, /m1/);

    for (const mirror of sites.watched) mirror.longestMs = 0;
    // The machine of m1 dies, and with it the reports of the three nodes that only m1 hears.
    sites.receivers[0]?.kill();
    sites.relays[0]?.kill();
    await areLive(sites, 20, /m2/);
    t.comment(
      `a master is killed: without a heartbeat for ${sites.watched.map(({ longestMs }) => Math.round(longestMs)).join(' and ')} ms`,
    );
    t.match(
      (await run(['events', '--board', home.board, '-n', '20', '--for', '300ms'])).stdout,
      /m2/,
      'events tell of it',
    );
    t.match(sites.said('mirror home'), /follows m2: m1 is unheard or stalled/, 'and the log');
    // m1 is back, and m2's relay dies.
    sites.receivers[0]?.mend();
    sites.relays[0]?.mend();
    await is('m1 is heard', home, of => of.heard.includes('m1'));
    sites.relays[1]?.kill();
    await areLive(sites, 23, /m1/);
    sites.relays[1]?.mend();

    // A relay, and then a receiver, ends cleanly: each mirror goes over to the other master at once.
    for (const sender of sites.fleet.senders) sender.to = [0, 1];
    await areLive(sites, 23, /m1/);
    for (const [what, part, from, to] of [
      ['relay', sites.relays[0], /m1/, /m2/],
      ['receiver', sites.receivers[1], /m2/, /m1/],
    ] as const) {
      await areLive(sites, 23, from);
      await is('both masters are heard', home, of => of.heard.length === 1);
      await is('both masters are heard', away, of => of.heard.length === 1);
      for (const mirror of sites.watched) mirror.longestMs = 0;
      const sinceMs = performance.now();
      part?.end();
      const tookMs: number[] = [];
      await Promise.all(
        sites.watched.map(async mirror => {
          await is('all live by the other one', mirror, of => to.test(of.master ?? '') && count(of, 'live') === 23);
          tookMs.push(performance.now() - sinceMs);
        }),
      );
      t.comment(
        `a ${what} ends: followed elsewhere after ${tookMs.map(Math.round).join(' and ')} ms; without a heartbeat for ${sites.watched.map(({ longestMs }) => Math.round(longestMs)).join(' and ')} ms`,
      );
      t.match(sites.said('mirror home'), / has ended\n/, 'the log says why');
      part?.mend();
    }

    // The other site is cut off.
    sites.cut('away');
    const known = home.looks.unknown;
    await until(
      'nothing is known at the other site',
      () => {
        home.look();
        return away.look() === undefined;
      },
      20,
    );
    t.equal(home.looks.unknown, known, 'the site itself has not noticed');
    sites.join('away');
    await areLive(sites, 23);
    t.same(
      sites.watched.flatMap(({ wrong }) => wrong),
      [],
    );
    for (const { name, running } of sites.written) t.notMatch(running.output().stderr, /not believed/i, name);
    t.match(lookOn(home.reader), { trouble: /mirror of another master's/ }, 'the bridge takes none for evidence');
  });
}
