// The parts of the page that need no browser: frames from any pieces, cells, the palette, the layout of cells, the
// river, host lists, the URL, numbers for people.

import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { BOARD_MOST, expand, fold, foldInOrder } from '../../src/text/hostlists.js';
import { isJobId, userFinder, withId } from '../../src/text/jobnames.js';
import { Cells, isMeasured, isUnhealthy, MARK, stateOf, valueIn } from '../../src/web/page/cells.js';
import { age, clock, moment, momentRoughly, present, quantity, setZone } from '../../src/web/page/formats.js';
import { FrameReader } from '../../src/web/page/framereader.js';
import {
  type ArrowDirection,
  barOf,
  blockOf,
  cellAt,
  cellsAt,
  cornerOf,
  type Member,
  next,
  plan,
  planSeen,
} from '../../src/web/page/geometry.js';
import { palette, STEPS, stepOf } from '../../src/web/page/palette.js';
import { River, SECONDS } from '../../src/web/page/riverrows.js';
import { isCondition, parseView, streamQuery, writeView } from '../../src/web/page/viewstate.js';
import { CELL, NOT_MEASURED, RIVER, STATES, VALUE_MOST } from '../../src/web/wire.js';

/** A frame as the server sends it. */
function frame(kind: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + payload.length);
  new DataView(bytes.buffer).setUint32(0, 1 + payload.length, true);
  bytes[4] = kind;
  bytes.set(payload, 5);
  return bytes;
}

t.test('frames come out whole, however the stream is split', async t => {
  const draw = random(Number(process.env.SEED ?? 1));
  const frames = Array.from({ length: 200 }, (_, i) =>
    Uint8Array.from({ length: i % 50 === 0 ? 100_000 : Math.floor(draw() * 300) }, () => Math.floor(draw() * 256)),
  );
  const stream = Buffer.concat(frames.map((payload, i) => frame(i % 7, payload)));
  const reader = new FrameReader();
  const found: { kind: number; payload: Uint8Array }[] = [];
  for (let at = 0; at < stream.length; ) {
    const size = Math.ceil(draw() ** 4 * 70_000);
    found.push(...reader.push(stream.subarray(at, at + size)));
    at += size;
  }
  t.equal(found.length, frames.length);
  t.ok(found.every(({ kind, payload }, i) => kind === i % 7 && Buffer.compare(payload, frames[i] as Uint8Array) === 0));
  t.throws(() => new FrameReader().push(Uint8Array.of(0, 0, 0, 0, 1)), { message: 'a frame of 0 bytes' });
  t.throws(() => new FrameReader().push(Uint8Array.of(255, 255, 255, 255, 1)), /a frame of 4294967295 bytes/);
});

const words = (...numbers: number[]) => new Uint8Array(Uint32Array.from(numbers).buffer);
const cell = (state: (typeof STATES)[number], value = NOT_MEASURED, problems = 0) =>
  (value << 4) | (problems << 3) | STATES.indexOf(state);
const picture = (layout: number, seq: number, values: number[]) =>
  new Uint8Array(Buffer.concat([words(layout, seq), new Uint8Array(Uint16Array.from(values).buffer)]));
const changes = (layout: number, seq: number, before: number, indices: number[], values: number[]) =>
  new Uint8Array(
    Buffer.concat([
      words(layout, seq, before, indices.length, ...indices),
      new Uint8Array(Uint16Array.from(values).buffer),
    ]),
  );

t.test('cells follow pictures and changes, and ignore those of another layout', async t => {
  const cells = new Cells();
  cells.arrange({
    layout: 3,
    count: 4,
    groups: [
      { name: 'a', nodes: 'a[2-3],a1', first: 0, count: 3 },
      { name: null, nodes: 'z', first: 3, count: 1 },
    ],
  });
  t.same(cells.names, ['a2', 'a3', 'a1', 'z'], 'in the order in which they are written');
  t.equal(cells.indexOf('a1'), 2);
  t.equal(cells.indexOf('a4'), undefined);
  t.equal(cells.changes(changes(3, 8, 7, [0], [0])), 'none', 'changes without a picture');
  t.equal(cells.picture(picture(2, 7, [0, 0, 0, 0])), 'none', 'a picture of another layout');
  t.throws(() => cells.picture(picture(3, 7, [0])), /another size/);
  t.equal(
    cells.picture(picture(3, 7, [cell('live', 1000), cell('live', 3000), cell('silent', 5), cell('live')])),
    'all',
  );
  t.same([...(cells.changes(changes(3, 8, 7, [2, 3], [cell('live', 2000, 1), cell('left')])) as Uint32Array)], [2, 3]);
  t.equal(cells.seq, 8);
  t.same([...cells.values].map(stateOf), ['live', 'live', 'live', 'left']);
  t.same([...cells.values].map(isUnhealthy), [false, false, true, false]);
  t.same([...cells.values].map(isMeasured), [true, true, true, false]);
  t.equal(valueIn(cells.values[2] as number), 2000);
  const same = (a: number, b: number) => cells.formOf(a) === cells.formOf(b);
  cells.values.set([cell('live', 1), cell('live'), cell('live', 4000)]);
  t.notOk(same(0, 1), 'what was not measured looks otherwise');
  t.ok(same(0, 2), 'and a value does not');
  t.ok(cells.mark({ held: 'a[1-2],b', odd: 'a1' }));
  t.notOk(cells.mark({ held: 'a[1-2],b', odd: 'a1' }), 'no others');
  t.same([...cells.marks], [MARK.held, 0, MARK.held | MARK.odd, 0]);
  t.notOk(same(0, 2), 'a mark does');
  cells.mark({});
  t.ok(same(0, 2));
  cells.changes(changes(3, 8, 8, [0, 1, 2], [cell('live', 1000), cell('live', 3000), cell('live', 2000, 1)]));
  const { states, unhealthy, measured, sum, most } = cells.tally();
  t.same([states[1], states[4], unhealthy, measured, sum, most], [3, 1, 1, 3, 6000, 3000]);
  t.same([...(cells.changes(changes(3, 9, 8, [], [])) as Uint32Array)], [], 'a pulse');
  t.throws(() => cells.changes(changes(3, 11, 10, [], [])), /tick 11 follows 10/);
  cells.arrange({ layout: 4, count: 2, groups: [{ name: null, nodes: 'a[1-3]', first: 0, count: 2 }] });
  t.same(cells.names, ['?', '?'], 'never the name of another node');
});

t.test('the palette has even steps, and avoids the hues of states', async t => {
  const linear = (part: number) => (part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const oklab = (rgb: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = rgb.map(linear);
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  };
  for (const theme of ['dark', 'light'] as const) {
    const labs = palette(theme).map(oklab);
    t.equal(labs.length, STEPS);
    const light = labs.map(([lightness]) => lightness as number);
    const rising = theme === 'dark' ? light : light.toReversed();
    t.ok(
      rising.every((value, i) => i < 8 || value > (rising[i - 8] as number)),
      `${theme}: what is higher stands out more`,
    );
    // Distances of eight steps, because rounding to bytes disturbs shorter ones too much.
    const far = labs
      .slice(8)
      .map((lab, i) => Math.hypot(...lab.map((part, axis) => part - (labs[i]?.[axis] as number))));
    t.ok(
      Math.max(...far) < 2.2 * Math.min(...far),
      `${theme}: equal steps look equal (${Math.min(...far)} to ${Math.max(...far)})`,
    );
    const hues = labs.map(([, a = 0, b = 0]) => ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360);
    t.ok(Math.min(...hues) > 105 && Math.max(...hues) < 305, `${theme}: no red, orange or pink`);
  }
  t.same(
    [0, VALUE_MOST / 2, VALUE_MOST].map(value => stepOf(value, VALUE_MOST)),
    [0, 127, 255],
  );
});

const clusters: [name: string, counts: number[]][] = [
  ['12 nodes', [12]],
  ['a node', [1]],
  ['ten racks', Array.from({ length: 10 }, () => 48)],
  ['unlike groups', [1, 500, 3, 3, 48, 48, 1, 2000]],
  ['208 racks', Array.from({ length: 208 }, () => 48)],
  ['100,000 in 512 groups', Array.from({ length: 512 }, (_, i) => (i < 160 ? 196 : 195))],
  ['100,000 nodes', [100_000]],
];

t.test('one silent node of 100,000 has a bar of its least size, however many groups there are', async t => {
  const phone = [358, 456];
  for (const [groups, [width = 0, height = 0], unit] of [
    [1, phone, 1],
    [4, phone, 2],
    [208, phone, 1],
    [512, phone, 0.9],
    [2084, phone, 1],
    [2084, [820, 320], 1],
    [2084, [1848, 560], 1.5],
    [10_000, [690, 240], 1],
  ] as const) {
    const px = (length: number) => Math.round(length * unit);
    const each = Math.ceil(100_000 / groups);
    const members = Array.from({ length: groups }, (_, group) => ({ group, first: group * each, count: each }));
    const room = { width: px(width), height: px(height), least: 1, most: px(176), label: 0, gap: px(6), tile: px(72) };
    const made = planSeen(members, room, Math.ceil(6 * unit), px(20));
    const block = made.blocks[groups >> 1] as (typeof made.blocks)[number];
    const gap = Math.max(1, Math.round(made.side * 0.06));
    const [wide, high] = [made.wide - gap, made.side - gap];
    const area = wide * barOf(wide, high, 1 / cellsAt(block, 0).count, unit);
    const what = `${groups} groups in ${width} x ${height}, ${unit}: ${made.side}`;
    t.ok(made.isGrained && area >= 36 * unit * unit, `${what}, ${area / unit ** 2} px2`);
    t.ok(Math.max(...made.blocks.map(({ x, columns }) => x + columns * made.wide)) <= px(width), what);
    if (groups < 5000) t.ok(made.height <= px(height), `${what}, all are in sight`);
  }
});

t.test('cells do not overlap, all fit, and arrow keys lead to each', async t => {
  for (const [name, counts] of clusters)
    for (const [width, height] of [
      [1400, 500],
      [1170, 1260],
      [3840, 1500],
    ] as const) {
      const members: Member[] = [];
      for (const [group, count] of counts.entries())
        members.push({ group, first: members.reduce((sum, each) => sum + each.count, 0), count });
      const map = plan(members, {
        width,
        height,
        least: 1,
        most: 176,
        label: counts.length > 1 ? 14 : 0,
        gap: 6,
        tile: 72,
      });
      // For the largest cluster one width is enough.
      if (counts.reduce((sum, count) => sum + count) > 50_000 && width !== 1170) continue;
      const what = `${name} in ${width} x ${height}`;
      const right = Math.max(...map.blocks.map(({ x, columns }) => x + columns * map.wide));
      t.ok(right <= width && map.height <= height, `${what}: cells of ${map.wide} x ${map.side} fit`);
      const total = counts.reduce((sum, count) => sum + count, 0);
      const taken = new Set<number>();
      let isInverse = true;
      for (let cell = 0; cell < total; cell++) {
        const block = blockOf(map, cell);
        if (block === undefined) break;
        const { x, y } = cornerOf(map, block, cell);
        taken.add(y * 65_536 + x);
        isInverse &&= cellAt(map, x + map.wide / 2, y + map.side / 2) === cell;
      }
      t.ok(isInverse && taken.size === total, `${what}: each has its own place`);
      let [cell, steps] = [0, 1];
      while (cell < total - 1 && next(map, cell, 'right') === cell + 1) [cell, steps] = [cell + 1, steps + 1];
      t.equal(steps, total, `${what}: to the right all come in their order`);
      const ways: ArrowDirection[] = ['left', 'right', 'up', 'down'];
      const reached = ways.flatMap(way => [0, total >> 1, total - 1].map(from => next(map, from, way)));
      t.ok(reached.every(to => to >= 0 && to < total));
    }
  const one = plan([{ group: 0, first: 0, count: 100_000 }], {
    width: 300,
    height: 300,
    least: 4,
    most: 100,
    label: 0,
    gap: 0,
    tile: 72,
  });
  t.ok(one.side === 4 && one.height > 300, 'what does not fit at the least size goes on below');
});

t.test('the river keeps 15 minutes, with gaps where nobody listened', async t => {
  const river = new River(['a', 'b']);
  const tally = (silent: number, sum: number, measured: number) => {
    const states = new Uint32Array(STATES.length);
    states[STATES.indexOf('silent')] = silent;
    return { states, unhealthy: 0, sum, measured };
  };
  t.ok(river.advance(10_000));
  river.fill(10_000, 0, tally(0, 4000, 2), 2);
  river.fill(10_000, 1, tally(1, 0, 0), 4);
  t.equal(river.at(10_000, 0)?.mean, 2000);
  t.equal(river.at(10_000, 1)?.mean, undefined, 'no mean where nothing was measured');
  t.ok(Math.abs((river.at(10_000, 1)?.parts.silent ?? 0) - 0.25) < 0.01);
  river.advance(10_003);
  river.fill(10_003, 0, tally(0, 100, 1), 1);
  t.equal(river.at(10_002, 0), undefined);
  t.equal(river.kindAt(10_002), 'unasked', 'a time that the page missed says nothing of the receiver');
  t.ok(river.isUnasked);
  river.note(10_002, 'stalled');
  t.equal(river.kindAt(10_002), 'stalled');
  t.equal(river.since(), 10_000);
  river.advance(10_000 + SECONDS);
  t.equal(river.at(10_000, 0), undefined, 'what is older is gone');
  t.equal(river.at(10_003, 0)?.mean, 100);
  t.notOk(river.advance(10_000), 'and does not come back');
  river.advance(99_999);
  t.equal(river.since(), undefined, 'a long gap leaves nothing');

  // The server's history, of groups and of nodes: two columns with a gap between them.
  const packed = (head: object, bytes: number[]) => {
    const text = Buffer.from(JSON.stringify(head));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return new Uint8Array(Buffer.concat([length, text, Uint8Array.from(bytes)]));
  };
  const counts = Array.from({ length: STATES.length + 1 }, (_, kind) =>
    [0, 1, 2].flatMap(column => [kind === 1 && column !== 1 ? 3 : kind === 3 && column === 2 ? 1 : 0, 0]),
  ).flat();
  const values = [9, RIVER.none, 9, RIVER.most, RIVER.none, 125, 9, RIVER.none, 9];
  const groups = new River(['a']);
  groups.advance(1501);
  groups.fill(1501, 0, tally(0, 4000, 1), 1);
  const head = { seq: 7, columns: 3, gaps: [[1, 1, 'missed']] };
  groups.remember(
    packed({ ...head, count_bytes: 2, rows: [{ name: 'b' }, { name: 'a' }] }, [
      ...counts,
      ...values,
      ...counts,
      ...values,
    ]),
    seq => 1493 + seq,
  );
  t.same(
    [1498, 1499, 1500, 1501].map(second => groups.at(second, 0)?.mean),
    [VALUE_MOST, undefined, VALUE_MOST / 2, VALUE_MOST],
    'later seconds stay',
  );
  t.same(
    [1497, 1498, 1499, 1500].map(second => groups.kindAt(second)),
    ['unrecorded', 'ok', 'missed', 'ok'],
  );
  t.notOk(groups.isUnasked, 'the server has said all that it knows');
  t.ok(Math.abs((groups.at(1500, 0)?.parts.silent ?? 0) - 0.25) < 0.01);
  const ill = STATES.indexOf('live') | CELL.unhealthy;
  const nodes = new River(['n1']);
  nodes.remember(
    packed({ ...head, columns: 4, value_every: 10, rows: [{ name: 'n1' }] }, [0xf0 | ill, 0xf3, 125]),
    seq => 1493 + seq,
  );
  t.same(nodes.at(1497, 0)?.parts, { silent: 0, uncertain: 0, unknown: 0, never: 0, left: 0, unhealthy: 1 });
  t.same([nodes.at(1498, 0), nodes.kindAt(1498)], [undefined, 'missed']);
  t.equal(nodes.at(1499, 0)?.parts.silent, 1);
  t.same([nodes.at(1500, 0), nodes.kindAt(1500)], [undefined, 'ok'], 'a node that was not there');
  // One of 2,000 is one again.
  const large = new River([null]);
  large.advance(9);
  large.fill(9, 0, tally(1, 0, 0), 2000);
  t.equal(Math.round(2000 * (large.at(9, 0)?.parts.silent ?? 0)), 1);
});

t.test('a list keeps the order of the rows', async t => {
  for (const names of [
    ['n1', 'n2', 'n3', 'n5'],
    ['r1n09', 'r1n10', 'r2n01', 'x'],
    ['n9', 'n10', 'n11'],
    ['b', 'a'],
    ['n3', 'n2', 'n1', 'n2x'],
    ['n099', 'n100', 'n98', 'n0100'],
  ])
    t.same(expand(foldInOrder(names), BOARD_MOST), names, foldInOrder(names));
  t.equal(foldInOrder([]), '');
  t.equal(foldInOrder(expand('rack17n[01-48]', BOARD_MOST)), fold(expand('rack17n[01-48]', BOARD_MOST)));
  t.ok(isCondition('cpu > 90%') && isCondition('!up') && !isCondition('node[1-3],login-1.site'));
});

t.test('the URL holds the view', async t => {
  const whole =
    '?wall&reading=temp&by=%2F%5Erack%5B0-9%5D%2B%2F&where=cpu+%3E+90%25&group=rack1&select=a%5B1-3%5D&trouble=link%3Aeth0&node=a1&at=a1&page=3&zoom=16&theme=light';
  t.equal(writeView(parseView(whole).view), whole);
  t.equal(writeView(parseView('').view), '?');
  t.same(
    parseView('?page=0&zoom=7&theme=pink&reading=&x=1&wall=no').view,
    { wall: true },
    'what is unknown or wrong is left out',
  );
  t.equal(streamQuery(parseView(whole).view), 'reading=temp&by=%2F%5Erack%5B0-9%5D%2B%2F&where=cpu+%3E+90%25');
});

t.test('numbers and ages for people', async t => {
  const table: [text: string, value: number, unit: string][] = [
    ['43 %', 43.4, '%'],
    ['4.3 %', 4.34, '%'],
    ['0 %', 0, '%'],
    ['0.61', 0.608, ''],
    ['1.6 MB/s', 1.63e6, 'B/s'],
    ['139 MB/s', 1.39e8, 'B/s'],
    ['0 B/s', 0, 'B/s'],
    ['-4 °C', -4, '°C'],
    ['2 min 05 s', 125, 's'],
  ];
  for (const [text, value, unit] of table) t.equal(quantity(value, unit), text);
  const twice = Date.parse('2026-10-25T02:30:00+02:00');
  const inZones = ['Europe/Berlin', 'America/St_Johns', 'UTC', 'Mars/Olympus'].map(zone => {
    setZone(zone);
    // The browser's clock is years off, the server's is not.
    present.now = () => twice + 60_000;
    t.equal(moment(twice), clock(twice));
    present.now = () => Date.now();
    return [clock(twice), momentRoughly(twice, twice), clock(twice + 3_600_000)];
  });
  setZone(undefined);
  t.strictSame(inZones, [
    ['02:30:00 +02:00', '02:30 +02:00', '02:30:00 +01:00'],
    ['22:00:00', '22:00', '23:00:00'],
    ['00:30:00', '00:30', '01:30:00'],
    ['00:30:00', '00:30', '01:30:00'],
  ]);
  const ages: [text: string, ms: number][] = [
    ['0 s', 0],
    ['4.2 s', 4200],
    ['59 s', 59_000],
    ['1 min 00 s', 59_999],
    ['11 h 06 min', 39_960_000],
    ['3 d 4 h', 273_600_000],
  ];
  for (const [text, ms] of ages) t.equal(age(ms), text);
});

t.test('ids of jobs, as schedulers, logs and people write them', async t => {
  const ids = '4711 4711_3 4711+1 4711.3 77[3].pbs01 77[] 77.pbs01 4711_[1-3,7] 6.batch 3_2.0 1+1.batch+0 6.0+1'.split(
    ' ',
  );
  for (const id of ids) t.ok(isJobId(id), id);
  for (const other of [
    ...['', 'n4711', '4711.', '_3', '3_2+1', '1+0+1', '4711_n', '47 11', '4711-3', '4711+', '77[a]', '77]'],
  ])
    t.notOk(isJobId(other), other);
  const jobs = [
    ...[['3_2', '6'], ['3_3', '3'], ['1+0'], ['1+1', '2'], ['77[3].pbs01'], ['77[30].pbs01'], ['9.2'], ['q1']],
    ...[['8.pbs01.example.org'], ['8.pbs02'], ['15'], ['150'], ['60[].pbs01']],
  ].map(([id = '', raw_id]) => ({ id, raw_id }));
  const rows: (readonly [asked: string, found: string])[] = [
    ...([
      ['6', '3_2'],
      ['3', '3_2 3_3'],
      ['2', '1+1'],
      ['1', '1+0 1+1'],
      ['1+0', '1+0'],
      ['1+2', ''],
    ] as const),
    ...([
      ['3_2', '3_2'],
      ['3_[1-2]', '3_2'],
      ['3_1', ''],
      ['3[2]', '3_2'],
      ['6.batch', '3_2'],
      ['3_[1-9%4]', '3_2 3_3'],
      ['77[1-9:2]', '77[3].pbs01'],
      ['q1', 'q1'],
    ] as const),
    ...([
      ['6.0', '3_2'],
      ['6.0+1', '3_2'],
      ['3_2.0', '3_2'],
      ['3_1.0', ''],
      ['1+1.0', '1+1'],
      ['3.0', '3_2 3_3'],
      ['15.0', '15'],
      ['9.5', ''],
    ] as const),
    ...([
      ['77[3].pbs01', '77[3].pbs01'],
      ['77[3]', '77[3].pbs01'],
      ['77_3.PBS01', '77[3].pbs01'],
    ] as const),
    ...([
      ['77', '77[3].pbs01 77[30].pbs01'],
      ['77[].pbs01', '77[3].pbs01 77[30].pbs01'],
    ] as const),
    ...([
      ['77[3].pbs02', ''],
      ['77[3].pbs', ''],
      ['9', '9.2'],
      ['9_2', '9.2'],
      ['15', '15'],
      ['15.srv', '15'],
    ] as const),
    ...([
      ['60[3]', '60[].pbs01'],
      ['60_3.pbs02', ''],
      ['8', '8.pbs01.example.org 8.pbs02'],
      ['8.pbs01', '8.pbs01.example.org'],
      ['8.pbs02.a.b', '8.pbs02'],
    ] as const),
  ];
  for (const [asked, found] of rows)
    t.equal(
      withId(jobs, asked)
        .map(({ id }) => id)
        .join(' '),
      found,
      asked,
    );
  const find = userFinder(['anna', 'anna@a.org', 'bob@a.org', 'bob@b.org', 'AD\\carl', ''].map(user => ({ user })));
  t.same(
    [find('anna'), find('bob'), find('carl'), find('AD\\carl'), find('dora'), find('')],
    [...[['anna'], ['bob@a.org', 'bob@b.org'], ['AD\\carl'], ['AD\\carl'], [], []]],
  );
});
