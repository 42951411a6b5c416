// What the board remembers of nodes: as conditions, readings, and lines of show. The rules are those of
// c/test/unit/memoryunit.c; here is what users see of them.

import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { nodeSheet } from '../../src/presentation/nodesheet.js';
import { nodeTeller } from '../../src/presentation/statusjson.js';
import { parseCondition } from '../../src/query/conditions.js';
import { readingOf } from '../../src/readings/readings.js';
import { painter } from '../../src/terminal/style.js';
import { type MadeBoard, madeBoard, validOf } from '../kit/madeboard.js';
import { writtenBoard } from '../kit/writtenboard.js';

const SPAN = 100;

t.test('an OOM kill 40 s ago, a silence of a minute, and nothing', async t => {
  const vmstat = { valid: validOf('vmstat') };
  const reader = writtenBoard(t, {
    killed: ago => ({ ...vmstat, oom_kills: ago > 40 ? 7 : 8 }),
    late: ago => (ago > 60 || ago === 0 ? { ...vmstat, oom_kills: 7 } : undefined),
    well: () => ({ ...vmstat, oom_kills: 7 }),
    dead: ago => (ago > 50 ? {} : undefined),
    gone: ago => (ago > 50 ? { flags: Number(ago === 51) << bits.flags.goodbye } : undefined),
    held: ago => ({ flags: Number(ago <= 30) << bits.flags.held }),
    always: () => ({ flags: 1 << bits.flags.held }),
  });
  const snapshot = reader.snapshot();
  const matching = (text: string) => {
    const holds = parseCondition(text);
    return [...snapshot.nodes()].filter(node => holds(node)).map(({ name }) => name);
  };
  const value = (name: string, reading: string) => {
    const [node] = [...snapshot.nodes()].filter(node => node.name === name);
    return readingOf(reading)?.value(node as NonNullable<typeof node>);
  };
  t.same(matching('recent(oom)'), ['killed']);
  t.same(matching('oom'), [], 'which is not a problem that it has now');
  t.same(matching('recent ~ "oom"'), ['killed']);
  t.same(matching('oom_ago < 2h'), ['killed']);
  t.same(matching('oom_ago < 20s'), []);
  t.same(matching('oom_times > 0'), ['killed']);
  t.same(matching('silences > 0'), ['late']);
  t.same(matching('heard_for < 10s'), ['late', 'dead', 'gone'], 'a gap that lasts is one');
  t.same(matching('heard_for > 10s'), ['killed', 'well', 'held', 'always']);
  t.same(
    matching('!recent(oom) && silences == 0'),
    ['well', 'dead', 'gone', 'held', 'always'],
    'no receiver judged the dead one',
  );
  // The board is as old as the machine is slow.
  const isAbout = (value: unknown, wanted: number) => Number(value) > wanted - 1 && Number(value) < wanted + 9;
  t.ok(isAbout(value('killed', 'oom_ago'), 40));
  t.equal(value('well', 'oom_ago'), undefined, 'never is no number');
  t.ok(isAbout(value('well', 'heard_for'), SPAN));
  t.same(matching('since < 10s'), ['late'], 'live again');
  t.same(matching('since > 40s && state != live'), ['dead', 'gone']);
  t.throws(() => parseCondition('recent(omm)'), { message: /'omm' is not a problem; did you mean oom\?/ });
  t.throws(() => parseCondition('recent(oom'), { message: /without its '\)'/ });

  const sheet = (name: string) => {
    const node = [...snapshot.nodes()].find(node => node.name === name);
    return nodeSheet(node as NonNullable<typeof node>, painter('never'), 100).lines.join('\n');
  };
  t.match(sheet('killed'), /recent: programs were killed, memory ran out, once, last 4\d(\.\d)?s ago/);
  t.match(sheet('held'), /problem: put on hold by its administrator, since [0-9: -]+ \(3\d\.\ds\)$/m);
  t.match(sheet('always'), /problem: put on hold by its administrator, since .* or earlier$/m);
  t.match(sheet('late'), /silent once, for 1m01s until .* ago/);
  t.match(sheet('late'), /last report before it fell silent, [-0-9: ]+ \(1m0\ds\): nothing that explains it/);
  t.notMatch(sheet('well'), /recent|earlier|silent/);

  const tell = nodeTeller();
  const told = Object.fromEntries([...snapshot.nodes()].map(node => [node.name, JSON.parse(tell(node)).memory]));
  const areAbout = (ms: number[], wanted: number[]) => ms.every((one, i) => isAbout(one / 1000, wanted[i] as number));
  const { killed, late, well } = told;
  t.same(Object.keys(well), ['since_ms', 'heard_ms'], 'what never was is absent');
  t.ok(areAbout([well.since_ms], [SPAN]));
  t.same([killed.recent, Object.keys(killed.episodes), killed.episodes.oom.count], [['oom'], ['oom'], 1]);
  t.ok(areAbout([killed.episodes.oom.began_ms, killed.episodes.oom.seen_ms], [40, 40]));
  t.ok(areAbout([late.silence.began_ms, late.silence.ended_ms, late.last_words.reported_ms], [61, 0, 61]));
  t.same([late.silence.count, late.last_words.said], [1, []]);
});

t.test('many last words are broken into lines', async t => {
  const stalled = { psi_mem_full10: 9500, psi_io_full10: 9500, flags: 1 << bits.flags.root_readonly };
  const valid = validOf('psi_mem', 'psi_io');
  const reader = writtenBoard(t, { n1: ago => (ago > 60 || ago === 0 ? { ...stalled, valid } : undefined) });
  const [node] = [...reader.snapshot().nodes()];
  const { lines } = nodeSheet(node as NonNullable<typeof node>, painter('never'), 80);
  const said = lines.join('\n').replace(/\n +/g, ' ');
  t.match(
    said,
    /: its root file system was read-only, all its programs waited for memory, all its programs waited for disks/,
  );
  t.same(
    lines.filter(line => line.length > 80),
    [],
  );
});

t.test('only of a node that is judged silent is it said that its silence lasts', async t => {
  const sheet = (made: MadeBoard) => {
    const node = madeBoard([{ name: 'n1', age: 60, report: {}, silence: { began: 60 } }], made).node(0);
    return nodeSheet(node, painter('never'), 100).lines.join('\n');
  };
  t.match(sheet({}), /silent once, now for 1m00s/);
  for (const made of [{ heartbeat: 12 }, { listened: 3 }])
    t.match(sheet(made), /silent once, from 1m00s ago, not heard since/, 'stalled, or listening for a short time');
});
