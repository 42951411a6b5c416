// Outages of links in the list of trouble: the nodes that were behind them then, their times, and how often.
//
// @seconds 1

import t from 'tap';
import { DigestBuilder } from '../../src/changes/digest.js';
import { survey } from '../../src/query/survey.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { troubleOf } from '../../src/trouble/trouble.js';
import { busy, type MadeBoard, type MadeNode, madeBoard, REAL } from '../kit/madeboard.js';

const many = (list: string, more: Partial<MadeNode> = {}): MadeNode[] =>
  expand(list, BOARD_MOST).map(name => ({ name, age: 0.5, ...busy(1), heard: 4000, ...more }));

/** The lines, which are those of a digest, too. */
function lines(nodes: MadeNode[], made: MadeBoard) {
  const board = madeBoard(nodes, { links: { 1: {}, 2: {} }, ...made });
  const names = board.names();
  const builder = new DigestBuilder({ events: board.tables?.events } as unknown as BoardReader, () => names);
  builder.begin(board.count);
  builder.ask(board, 0);
  const found = troubleOf(survey(board));
  t.same(troubleOf(survey(builder.digest as Snapshot, {}, names)), found, 'of a digest');
  return found;
}
const told = (...args: Parameters<typeof lines>) =>
  lines(...args).map(({ key, dim, nodes }) => `${key.replace(/:at-.*/, ':at')} ${nodes}${dim ? ` ${dim}` : ''}`);

/** So many seconds before the look, as the list writes it. */
const at = (ago: number) =>
  new Date(Math.floor(Number(REAL / 1_000_000n) / 1000 - ago) * 1000).toISOString().replace('.000', '');

type Event = NonNullable<MadeBoard['events']>[number];
const link = (kind: Event['kind'], age: number): Event => ({ kind, subject: 1, age });
const down = (from: number, to: number) => [link('link_down', from), link('link_up', to)];
/** Nodes fall within the first limit and a second before a link is found to be dark. */
const dark = (fell: number, to: number) => [link('dark', fell - 5), link('lit', to)];
const fell = (began: number, ended: number, count = 1): Partial<MadeNode> => ({
  ...{ silence: { began, ended, count }, heard: ended },
});

t.test('an outage that is over is told of the nodes that were behind the link then', async t => {
  const other = many('m[1-3]', { link: 2 });
  const nodes = [
    ...many('n1', { heard: 439 }),
    ...many('n2', { heard: 300, remembers: 300 }),
    ...many('n3', { heard: 439, goodbye: true, age: 100 }),
    ...many('n4', { goodbye: true, age: 600 }),
    ...many('n5'),
    ...many('n6', { age: 600, silence: { began: 600 } }),
    ...many('n7', { heard: 439, age: 200, silence: { began: 200 } }),
    ...many('n8', fell(900, 450)),
    ...many('n9', { link: 2, heard: 439 }),
  ];
  t.match(lines([...nodes, ...other], { events: down(500, 440) }), [
    { key: 'silent', nodes: 'n6', since: at(600) },
    { key: 'silent:at-499800000', nodes: 'n7', since: at(200), ended: undefined },
    { key: 'link:eth0', nodes: 'n[1,3,7]', since: at(500), ended: at(439), dim: 'ended' },
    { key: 'silent:at-499100000-499550000', nodes: 'n8', since: at(900), ended: at(450), dim: 'ended' },
  ]);
  t.match(
    lines([...many('n[1-3]'), ...other], { events: down(500, 498) }),
    [{ key: 'link:eth0', nodes: 'n[1-3]', since: at(500), ended: at(498) }],
    'nobody was uncertain',
  );
  t.match(
    lines(many('n[1-3]', { heard: 99 }), { events: down(9000, 100) }),
    [{ key: 'link:eth0', since: at(9000), ended: at(99), times: undefined }],
    'it began more than an hour ago',
  );
});

t.test('nodes behind a dark link that say that they stood still', async t => {
  const still = (began: number, ended: number): Partial<MadeNode> => ({
    ...{ silence: { began, ended, count: 1, stoodStillUs: 13_600_000 }, heard: ended },
  });
  const fault = 'fell silent at once behind eth0: a switch or this master was more likely at fault than its nodes';
  const rows: [what: string, nodes: MadeNode[]][] = [
    [
      'fell silent at once behind eth0; the nodes or their senders stood still for 13.6s',
      many('n[1-4]', still(500, 440)),
    ],
    [`${fault}; 1 of them stood still for 13.6s`, [...many('n1', still(500, 440)), ...many('n[2-4]', fell(500, 440))]],
    [fault, many('n[1-4]', fell(500, 440))],
  ];
  for (const [what, nodes] of rows) t.match(lines(nodes, { events: dark(500, 440) }), [{ key: 'link:eth0', what }]);
  const twice = lines(many('n[1-4]', { ...still(100, 60), remembers: 3000 }), {
    events: [...dark(500, 440), ...dark(100, 60)],
  });
  t.strictSame(
    twice.map(({ what }) => /stood still/.test(what ?? '')),
    [false, true],
    'of the outage before it is not known',
  );
});

t.test('a link that was dark has one line, and its nodes have none', async t => {
  const nodes = many('n[1-4]', fell(500, 440));
  t.match(lines(nodes, { events: dark(500, 440) }), [
    { key: 'link:eth0', nodes: 'n[1-4]', since: at(500), ended: at(440), times: undefined, dim: 'ended' },
  ]);
  const thrice = [...dark(2500, 2400), ...dark(1500, 1400), ...dark(500, 440)];
  const often = many('n[1-4]', { ...fell(500, 440, 3), remembers: 3000 });
  t.match(lines(often, { events: thrice }), [{ key: 'link:eth0', nodes: 'n[1-4]', flapping: 3 }]);
  const died = many('n5', { silence: { began: 60, count: 4 }, age: 60, heard: 440, remembers: 3000 });
  t.match(
    lines([...often, ...died], { events: thrice }),
    [
      { key: 'silent', nodes: 'n5', flapping: undefined, since: at(60) },
      { key: 'link:eth0', nodes: 'n[1-5]' },
    ],
    'the outages are none of the node',
  );
  const many9 = many('n[1-9]', fell(500, 440));
  const later = many('z[1-9]', { link: 2, age: 30, silence: { began: 30 } });
  t.same(
    told([...many9, ...later, ...many('m[1-90]', { link: 2 })], { events: dark(500, 440) }),
    ['together:at z[1-9]', 'link:eth0 n[1-9] ended'],
    'later deaths change nothing',
  );
  const short = many('n[1-4]', { heard: 492 });
  t.match(
    lines(short, { events: dark(500, 492) }),
    [{ key: 'link:eth0', nodes: 'n[1-4]', ended: at(492) }],
    'uncertain',
  );
});

t.test('that it was down and that it was dark are counted apart', async t => {
  const nodes = many('n[1-4]', fell(500, 440));
  const events = [...down(2500, 2400), ...down(1500, 1400), ...dark(500, 440)];
  t.match(lines(nodes, { events }), [
    { key: /^link:eth0:at/, since: at(2500), times: undefined },
    { key: /^link:eth0:at/, since: at(1500), times: 2, flapping: undefined },
    { key: 'link:eth0', since: at(500), times: undefined, flapping: undefined },
  ]);
});

t.test('a link that is down, and then dark, and the reverse, is one outage', async t => {
  const nodes = many('n[1-4]', fell(500, 440));
  const after = [link('link_down', 500), link('link_up', 470), link('dark', 460), link('lit', 440)];
  t.match(lines(nodes, { events: after }), [
    { key: 'link:eth0', nodes: 'n[1-4]', since: at(500), ended: at(440), what: /^not heard: nothing came/ },
  ]);
  const before = [link('dark', 495), link('link_down', 480), link('link_up', 460), link('lit', 440)];
  t.match(lines(nodes, { events: before }), [
    { key: 'link:eth0', nodes: 'n[1-4]', since: at(500), ended: at(440), what: /^fell silent at once/ },
  ]);
  const two = [link('link_down', 700), link('link_up', 600), ...dark(500, 440)];
  t.equal(lines(nodes, { events: two }).length, 2, 'its nodes were heard between');
  const now = many('n[1-4]', { age: 500, silence: { began: 500 } });
  const links = { 1: { dark: { since: 495.5, nodes: 4 } }, 2: {} };
  t.match(lines(now, { events: after.slice(0, 3), links }), [
    { key: 'link:eth0', since: at(500), what: 'not heard since eth0 of this master failed, although it is up again' },
  ]);
  const port = [...many('n[1-3]', { age: 500.9 }), ...many('n4', { age: 520, silence: { began: 520 } })];
  t.same(
    told(port, { events: after.slice(0, 3), links: { 1: { dark: { since: 496.4, nodes: 3 }, listened: 5 }, 2: {} } }),
    ['link:eth0 n[1-3]', 'silent n4', 'starting:eth0 n4'],
    'whoever had died before is none of them, and the last reports came a moment before',
  );
  const isDown = { 1: { state: [], changed: 480, dark: { since: 495.5, nodes: 4 } }, 2: {} };
  t.match(lines(now, { events: before.slice(0, 2), links: isDown }), [
    { key: 'link:eth0', since: at(500), what: 'fell silent at once behind eth0, which is down now' },
  ]);
});

t.test('a dark link is so since its nodes fell silent', async t => {
  const links = { 1: { dark: { since: 25.5, nodes: 4 } }, 2: {} };
  const nodes = many('n[1-4]', { age: 30, silence: { began: 30 } });
  t.match(lines(nodes, { links, events: [link('dark', 25)] }), [{ key: 'link:eth0', since: at(30), times: undefined }]);
  const apart = [...many('n[1-3]', { age: 36 }), ...many('n4', { age: 30 })];
  t.match(lines(apart, { links, events: [link('dark', 25)] }), [{ since: at(36), since_last: at(30) }]);
});

t.test('nodes come back one after another; whoever does not has a line of its own', async t => {
  const some = [...many('n[1-3]', fell(500, 440)), ...many('n4', fell(500, 420))];
  t.match(lines(some, { events: dark(500, 440) }), [{ nodes: 'n[1-4]', ended_first: at(440), ended: at(420) }]);
  const one = (to: number) => [...many('n[1-3]', fell(500, to)), ...many('n4', { age: 500, silence: { began: 500 } })];
  t.same(told(one(5), { events: dark(500, 5) }), ['link:eth0 n4', 'link:eth0:at n[1-3] ended']);
  t.same(told(one(20), { events: dark(500, 20) }), ['silent n4', 'link:eth0 n[1-3] ended']);
  const noted = { links: { 1: { dark: { since: 495.5, nodes: 4 } }, 2: {} }, events: dark(500, 0).slice(0, 1) };
  t.same(told(one(0.5), noted), ['link:eth0 n4', 'link:eth0:at n[1-3] ended'], 'the end is not noted yet');
});

t.test('what the board does not know is not told', async t => {
  t.same(told(many('n[1-2]'), { events: [link('dark', 500)] }), [], 'when the last node of a dark link was forgotten');
  t.same(told(many('n[1-2]', { link: 2 }), { events: dark(500, 440) }), [], 'nodes that report by another link since');
});
