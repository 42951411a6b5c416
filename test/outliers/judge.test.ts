// The judge of jobs on looks by hand: when a mark begins, what it tells, when it ends, and what is never marked.
//
// @seconds 3

import t from 'tap';
import { Judge, type Judgement, limitOf, type NodesSeen } from '../../src/outliers/judge.js';
import { COMPARED } from '../../src/outliers/readings.js';

const ROW = COMPARED.length;
const MINUTE = 60_000;

/** Nodes that are alike have the same ones. */
const EXACT = new Set(COMPARED.map(({ reading }) => reading).filter(reading => /_up|_speed|events|edac/.test(reading)));

type Values = Readonly<Record<string, number>>;

/** Nodes that all do the same, each with small differences of its own that do not change. */
const USUAL: Values = {
  ...{ cpu: 97, mhz: 2900, temp: 70, gpu_util: 95, gpu_power: 1500, gpu_temp: 60, gpus_up: 4, gpus_throttled: 0 },
  ...{ net: 2e7, fabric: 2e9, disk: 1e5, pressure_cpu: 1, pressure_mem: 0, pressure_io: 0, swapping: 0 },
  ...{ links_up: 1, link_speed: 25_000, fabric_speed: 200_000, throttle_events: 5, edac_ce: 100, edac_ue: 0 },
};

class Scene {
  readonly judge = new Judge();
  nodes: string[];
  places: Int32Array;
  readonly seen: NodesSeen & { nowMs: number };
  /** What differs of a node. */
  readonly other = new Map<string, Values>();
  all: Values = USUAL;
  begin: number | undefined = 0;
  last: Judgement = { marks: [], unjudged: new Map() };

  constructor(readonly size = 8) {
    this.nodes = Array.from({ length: size }, (_, i) => `n${i + 1}`);
    this.places = Int32Array.from({ length: size }, (_, i) => i);
    this.seen = {
      nowMs: 0,
      ...{ live: new Uint8Array(size).fill(1), alone: new Uint8Array(size).fill(1) },
      ...{ stampMs: new Float64Array(size), hardware: new Float64Array(size).fill(7) },
      ...{ gpus: new Float64Array(size).fill(4), values: new Float64Array(size * ROW) },
    };
  }

  look(seconds = 5): Judgement {
    const { seen } = this;
    seen.nowMs += seconds * 1000;
    for (let i = 0; i < this.size; i++) {
      const other = this.other.get(`n${i + 1}`);
      const values = other === undefined ? this.all : { ...this.all, ...other };
      seen.stampMs[i] = seen.nowMs;
      COMPARED.forEach(({ reading, floor, floorShare }, row) => {
        const value = values[reading] ?? Number.NaN;
        const own = other !== undefined || value < 10 ? 0 : 0.2 * (i % 3) * Math.max(floor, floorShare * value);
        seen.values[i * ROW + row] = value + (EXACT.has(reading) ? 0 : own);
      });
    }
    this.last = this.judge.look(seen, [{ id: '4711', startMs: this.begin, nodes: this.nodes, places: this.places }]);
    return this.last;
  }

  /** Looks every 5 s for so long; returns after how many seconds the first mark was there, undefined: never. */
  for(ms: number, step = 5): number | undefined {
    const from = this.seen.nowMs;
    let first: number | undefined;
    while (this.seen.nowMs < from + ms) if (this.look(step).marks.length > 0) first ??= (this.seen.nowMs - from) / 1000;
    return first;
  }
}

/** What is marked, as text. */
const marked = ({ marks }: Judgement) => marks.map(({ node, reading }) => `${node} ${reading}`).sort();

t.test('nodes that differ by less than the floors are not marked in an hour', async t => {
  const scene = new Scene();
  t.equal(scene.for(60 * MINUTE), undefined);
  t.equal(scene.last.unjudged.size, 0);
});

t.test('a clock that falls by a fifth is marked, told, and stands until it is as the others again', async t => {
  const scene = new Scene(64);
  scene.for(11 * MINUTE);
  scene.other.set('n9', { mhz: 2320 });
  const after = scene.for(MINUTE) as number;
  t.ok(after >= 15 && after <= 35, `three readings that are renewed every 10 s: after ${after} s`);
  scene.for(4 * MINUTE);
  t.same(marked(scene.last), ['n9 mhz']);
  const [mark] = scene.last.marks;
  t.match(mark, { job: '4711', node: 'n9', value: 2320, peers: 63, median: 2914.5, lowest: 2900, highest: 2929 });
  t.equal(mark?.sinceMs, 11 * MINUTE + 5000, 'since it fell');
  scene.other.set('n9', { mhz: 2750 });
  scene.for(2 * MINUTE);
  t.equal(scene.last.marks.length, 1, 'below the limit, but not within the floor: it stands');
  scene.other.delete('n9');
  for (let i = 0; i < 4; i++) scene.look();
  t.equal(scene.last.marks.length, 1, 'two readings within the floor do not end it');
  scene.for(MINUTE);
  t.equal(scene.last.marks.length, 0);
});

t.test('a condition marks in the bad direction only', async t => {
  const scene = new Scene();
  scene.other.set('n1', { mhz: 3700, temp: 40, gpu_power: 2500, links_up: 2, link_speed: 100_000 });
  t.equal(scene.for(30 * MINUTE), undefined);
});

t.test('each fault of hardware is marked by its reading', async t => {
  const faults: [reading: string, values: Values][] = [
    ['temp', { temp: 95 }],
    ['gpu_power', { gpu_power: 1125 }],
    ['gpu_temp', { gpu_temp: 85 }],
    ['gpus_up', { gpus_up: 3 }],
    ['gpus_throttled', { gpus_throttled: 1 }],
    ['links_up', { links_up: 0 }],
    ['link_speed', { link_speed: 2500 }],
    ['fabric_speed', { fabric_speed: 20_000 }],
    ['swapping', { swapping: 5000 }],
    ['edac_ue', { edac_ue: 1 }],
    ['edac_ce', { edac_ce: 200 }],
    ['throttle_events', { throttle_events: 60 }],
  ];
  for (const [reading, values] of faults) {
    const scene = new Scene(16);
    scene.for(11 * MINUTE);
    scene.other.set('n3', { ...values });
    const after = scene.for(MINUTE);
    t.ok(after !== undefined && after <= 60, `${reading}: after ${after} s`);
    t.same(marked(scene.last), [`n3 ${reading}`]);
    const old = new Scene(16);
    old.other.set('n3', { ...values });
    old.for(20 * MINUTE);
    const isFault = COMPARED.find(one => one.reading === reading)?.class === 'fault';
    // Of errors and throttling, it is their growth that counts.
    const isSeen = isFault && !/_events|edac/.test(reading);
    t.same(marked(old.last), isSeen ? [`n3 ${reading}`] : [], `${reading} from the first look`);
  }
});

t.test('what differs since the first look is the job’s shape; what begins in it is found there, too', async t => {
  for (const odd of [1, 8]) {
    const scene = new Scene(16);
    const shape = { mhz: 2320, temp: 76, fabric: 8e8, gpu_power: 1100 };
    for (let i = 1; i <= odd; i++) scene.other.set(`n${i}`, shape);
    t.equal(scene.for(60 * MINUTE), undefined, `${odd} of 16 have other work`);
    scene.other.set('n1', { ...shape, mhz: 1856 });
    const after = scene.for(2 * MINUTE) as number;
    t.ok(after <= 35, `a fifth less than its own share, after ${after} s`);
    t.same(marked(scene.last), ['n1 mhz']);
  }
});

t.test('nodes that leave the others together are told once, alike, after five minutes', async t => {
  const scene = new Scene(16);
  scene.for(11 * MINUTE);
  for (const [node, mhz] of [
    ['n2', 2200],
    ['n3', 2240],
    ['n4', 2260],
  ] as const)
    scene.other.set(node, { mhz });
  const after = scene.for(10 * MINUTE) as number;
  t.ok(after >= 300 && after <= 330, `after ${after} s`);
  t.same(marked(scene.last), ['n2 mhz', 'n3 mhz', 'n4 mhz']);
  const told = scene.last.marks.map(({ value, lowest, highest, sinceMs }) => ({ value, lowest, highest, sinceMs }));
  t.match(told[0], { value: 2240, lowest: 2900, highest: 2929, sinceMs: 11 * MINUTE + 5000 });
  t.same(told, [told[0], told[0], told[0]]);
  const loads = new Scene(16);
  loads.for(15 * MINUTE);
  for (const node of ['n2', 'n3']) loads.other.set(node, { cpu: 2, pressure_cpu: 60 });
  loads.all = { ...USUAL, fabric: 0, net: 0 };
  t.equal(loads.for(60 * MINUTE), undefined, 'loads of several are their share of the work');
});

t.test('one GPU of several that has less of its node’s power than before is named, or one that is hotter', async t => {
  const gpus = [400, 430, 380, 370];
  const own: Values = Object.fromEntries(
    gpus.flatMap((power, i) => [
      [`gpu.${i}.power_w`, power],
      [`gpu.${i}.temp_degc`, 55 + 4 * i],
      [`gpu.${i}.util_pct`, 95],
    ]),
  );
  for (const [reading, value, isMarked] of [
    ['gpu.1.power_w', 322, true],
    ['gpu.3.temp_degc', 92, true],
    ['gpu.1.power_w', 390, false],
  ] as const) {
    const scene = new Scene();
    scene.all = { ...USUAL, ...own };
    // Of a node of which all GPUs are weak since the begin, it is the same.
    scene.other.set('n2', { 'gpu.0.power_w': 300, 'gpu.1.power_w': 322, 'gpu.2.power_w': 290, 'gpu.3.power_w': 280 });
    scene.for(15 * MINUTE);
    scene.other.set('n5', { [reading]: value });
    const after = scene.for(10 * MINUTE);
    t.equal(after !== undefined, isMarked, `${reading} after ${after} s`);
    t.same(marked(scene.last), isMarked ? [`n5 ${reading}`] : []);
  }
  const idle = new Scene();
  idle.all = { ...USUAL, ...own };
  idle.for(15 * MINUTE);
  idle.other.set('n5', { 'gpu.1.power_w': 70, 'gpu.1.util_pct': 0 });
  t.equal(idle.for(20 * MINUTE), undefined, 'the job does not use it any more');
});

t.test('who does something else than before is not compared in what depends on it', async t => {
  const scene = new Scene(16);
  scene.for(15 * MINUTE);
  scene.other.set('n5', { mhz: 2320, temp: 99, fabric: 8e8, net: 9e8, disk: 6e8, pressure_io: 35 });
  t.equal(scene.for(60 * MINUTE), undefined);
});

/** A node hangs: it does nothing, and nobody has anything to send. */
const STOPPED = { ...USUAL, fabric: 1e6, net: 1e5 };
const hang = (scene: Scene, node: string, values: Values = { cpu: 2 }) => {
  scene.other.set(node, values);
  scene.all = STOPPED;
};

t.test('a node that does nothing while the others work is told if they wait for it', async t => {
  const waited = new Scene();
  waited.for(11 * MINUTE);
  hang(waited, 'n1');
  const after = waited.for(5 * MINUTE) as number;
  t.ok(after <= 30, `after ${after} s`);
  t.same(marked(waited.last), ['n1 cpu']);
  for (const [why, minutes, values, all] of [
    ['the others exchange what they did', 20, { cpu: 2 }, USUAL],
    ['not for ten minutes', 8, { cpu: 2 }, STOPPED],
    ['it writes for all', 20, { cpu: 2, disk: 6e8 }, STOPPED],
    ['it works half', 20, { cpu: 48 }, STOPPED],
    ['it reads and writes, and works as much', 20, { net: 5e8, fabric: 1e9, disk: 1e9, pressure_io: 60 }, USUAL],
    ['the job never exchanged much', 20, { cpu: 2 }, { ...USUAL, fabric: 0, net: 1e6 }],
  ] as const) {
    const scene = new Scene();
    if (why.includes('never')) scene.all = all;
    scene.for(minutes * MINUTE);
    scene.other.set('n1', values);
    scene.all = all;
    t.equal(scene.for(60 * MINUTE), undefined, why);
  }
  // What a node without work sends is not what the others wait for: of four, two others pause by chance.
  const farm = new Scene(4);
  farm.all = { ...USUAL, fabric: 0, net: 5e6 };
  farm.for(20 * MINUTE);
  farm.other.set('n1', { cpu: 2, gpu_util: 0, net: 0 });
  farm.other.set('n2', { net: 0 });
  farm.other.set('n3', { net: 1.5e6 });
  t.equal(farm.for(60 * MINUTE), undefined, 'what those that work exchange is less, and no stop');
  // Tasks of several nodes each: the node in the middle has one of its own now, and n4 goes on.
  const tasks = new Scene(4);
  tasks.for(20 * MINUTE);
  tasks.other.set('n1', { cpu: 2, gpu_util: 0, fabric: 0, net: 0 });
  for (const node of ['n2', 'n3']) tasks.other.set(node, { fabric: 0, net: 4e6 });
  t.equal(tasks.for(60 * MINUTE), undefined, 'one of those that work exchanges what it did');
  const habit = new Scene();
  for (let i = 0; i < 6; i++) {
    habit.all = USUAL;
    habit.other.delete('n1');
    habit.for(15 * MINUTE);
    if (i < 5) habit.all = STOPPED;
    habit.for(MINUTE);
  }
  hang(habit, 'n1');
  t.equal(habit.for(60 * MINUTE), undefined, 'the job stops again and again');
});

t.test('tasks that wait are marked on a node where they did not for ten minutes', async t => {
  for (const [minutes, isMarked] of [
    [0, false],
    [8, false],
    [11, true],
  ] as const) {
    const scene = new Scene();
    scene.for(minutes * MINUTE);
    scene.other.set('n1', { pressure_cpu: 60, cpu: 100 });
    const after = scene.for(5 * MINUTE) as number;
    t.same(marked(scene.last), isMarked ? ['n1 pressure_cpu'] : [], `after ${minutes} minutes`);
    if (isMarked) t.ok(after <= 35, `after ${after} s`);
  }
});

t.test('a load marks only among nodes that were alike for ten minutes, most of them', async t => {
  for (const [others, isMarked] of [
    [2, true],
    [3, false],
  ] as const) {
    const scene = new Scene(8);
    for (let i = 0; i < others; i++) scene.other.set(`n${8 - i}`, { cpu: 30 + 20 * i });
    scene.for(15 * MINUTE);
    hang(scene, 'n1');
    scene.for(5 * MINUTE);
    t.same(marked(scene.last), isMarked ? ['n1 cpu'] : [], `${others} of 8 did something else all the time`);
  }
});

t.test('what a load was away for a while takes five times itself from the time that it was alike', async t => {
  for (const [seconds, isMarked] of [
    [30, true],
    [150, false],
  ] as const) {
    const scene = new Scene();
    scene.for(15 * MINUTE);
    scene.other.set('n1', { cpu: 80 });
    scene.for(seconds * 1000);
    scene.other.delete('n1');
    scene.for(3 * MINUTE);
    hang(scene, 'n1');
    scene.for(MINUTE);
    t.same(marked(scene.last), isMarked ? ['n1 cpu'] : [], `away for ${seconds} s`);
  }
});

t.test('a temperature is compared after two minutes at equal work, when what is warm has followed it', async t => {
  const scene = new Scene();
  scene.for(15 * MINUTE);
  scene.all = { ...USUAL, cpu: 2 };
  scene.for(MINUTE);
  scene.other.set('n2', { temp: 100 });
  for (const [cpu, isMarked] of [
    [2, false],
    [97, true],
  ] as const) {
    scene.all = { ...USUAL, cpu };
    const after = scene.for(10 * MINUTE);
    t.equal(after !== undefined, isMarked, `at ${cpu} %`);
    if (after !== undefined) t.ok(after >= 120 && after <= 150, `after ${after} s`);
  }
});

t.test('nodes at equal work are compared if they are at least half', async t => {
  for (const [others, isMarked] of [
    [8, true],
    [9, false],
  ] as const) {
    const scene = new Scene(16);
    scene.for(15 * MINUTE);
    for (let i = 0; i < others; i++) scene.other.set(`n${16 - i}`, { cpu: i % 2 === 0 ? 60 : 75 });
    scene.other.set('n1', { mhz: 2000 });
    scene.for(10 * MINUTE);
    t.same(marked(scene.last), isMarked ? ['n1 mhz'] : [], `${others} of 16 work less`);
  }
});

t.test('a short burst is none, however often it is looked at; the same report is no new reading', async t => {
  const scene = new Scene();
  scene.for(15 * MINUTE);
  scene.other.set('n1', { swapping: 9000 });
  t.equal(scene.for(8000, 1), undefined, 'nine looks in eight seconds');
  const stuck = new Scene();
  stuck.for(15 * MINUTE);
  stuck.other.set('n1', { swapping: 9000 });
  stuck.look();
  for (let i = 0; i < 60; i++) {
    stuck.seen.nowMs += 5000;
    t.equal(stuck.judge.look(stuck.seen, [{ id: '4711', nodes: stuck.nodes, places: stuck.places }]).marks.length, 0);
  }
});

t.test('nothing in the first two minutes, and nothing just after most nodes changed', async t => {
  const scene = new Scene();
  scene.other.set('n2', { links_up: 0 });
  const first = scene.for(4 * MINUTE) as number;
  t.ok(first >= 120 && first <= 160, `after ${first} s`);
  const young = new Scene();
  young.look();
  t.same([...young.last.unjudged], [['4711', 'young']]);
  const known = new Scene();
  known.begin = -3_600_000;
  known.other.set('n2', { links_up: 0 });
  t.ok((known.for(MINUTE) as number) <= 35, 'a job that runs for an hour is not young to a judge that starts');
  const changing = new Scene();
  changing.for(15 * MINUTE);
  changing.other.set('n2', { mhz: 2000 });
  changing.all = { ...USUAL, cpu: 60 };
  changing.look();
  t.same([...changing.last.unjudged], [['4711', 'changed']]);
  const after = changing.for(2 * MINUTE) as number;
  t.ok(after > 30, `after ${after} s`);
});

t.test('only nodes that are live, the job’s alone, and of the same hardware; at least four', async t => {
  const odd = (scene: Scene) => {
    scene.other.set('n2', { links_up: 0 });
    return scene;
  };
  const three = odd(new Scene(3));
  t.equal(three.for(10 * MINUTE), undefined);
  t.same([...three.last.unjudged], [['4711', 'few']]);
  const shared = odd(new Scene());
  shared.seen.alone.fill(0, 2);
  t.equal(shared.for(10 * MINUTE), undefined);
  t.same([...shared.last.unjudged], [['4711', 'shared']]);
  const itself = odd(new Scene());
  itself.seen.alone[1] = 0;
  t.equal(itself.for(10 * MINUTE), undefined, 'the odd one is shared');
  const dead = odd(new Scene());
  dead.seen.live[1] = 0;
  t.equal(dead.for(10 * MINUTE), undefined, 'the odd one is silent');
  const older = odd(new Scene());
  older.seen.hardware[1] = 8;
  t.equal(older.for(10 * MINUTE), undefined, 'the odd one is of other hardware');
  const two = odd(new Scene(12));
  for (let i = 6; i < 12; i++) two.seen.hardware[i] = 8;
  two.other.set('n9', { gpus_up: 3 });
  two.for(10 * MINUTE);
  t.same(marked(two.last), ['n2 links_up', 'n9 gpus_up'], 'each among its own');
  t.same(
    two.last.marks.map(({ peers }) => peers),
    [5, 5],
  );
});

t.test('a node that loses a GPU stays among its peers', async t => {
  const scene = new Scene();
  scene.for(5 * MINUTE);
  scene.seen.gpus[3] = 3;
  scene.seen.hardware[3] = 99;
  scene.other.set('n4', { gpus_up: 3 });
  scene.for(MINUTE);
  t.same(marked(scene.last), ['n4 gpus_up']);
});

t.test(
  'a clock says nothing of nodes that do not exchange alike, or not at all, or that only lost what they had more',
  async t => {
    for (const [fabric, isMarked] of [
      [() => 2e9, true],
      [() => 5e5, false],
      [(i: number, look: number) => 2e9 * ((i * 7 + look * 3) % 8), false],
    ] as const) {
      const scene = new Scene();
      const look = (n: number, mhz: number) => {
        for (let i = 0; i < 8; i++)
          scene.other.set(`n${i + 1}`, { net: 0, fabric: fabric(i, n), mhz: i === 0 ? mhz : 2900 });
        scene.look();
      };
      for (let n = 0; n < 140; n++) look(n, 2900);
      for (let n = 0; n < 12; n++) look(n, 2300);
      t.same(marked(scene.last), isMarked ? ['n1 mhz'] : []);
    }
    const first = new Scene();
    first.all = { ...USUAL, fabric: 0, net: 0 };
    first.other.set('n1', { fabric: 0, net: 1e9 });
    first.look();
    first.other.clear();
    first.all = USUAL;
    first.for(15 * MINUTE);
    first.other.set('n1', { mhz: 2300 });
    t.ok(first.for(MINUTE), 'one alone had any traffic, for a moment');
    const better = new Scene();
    better.other.set('n1', { mhz: 3500 });
    better.for(11 * MINUTE);
    better.other.set('n1', { mhz: 2900 });
    t.equal(better.for(10 * MINUTE), undefined, 'it is as its peers');
    better.other.set('n1', { mhz: 2300 });
    t.ok((better.for(MINUTE) as number) <= 60, 'that is its own now');
  },
);

t.test('half of the nodes are no minority; a clock is compared only at equal work', async t => {
  const half = new Scene();
  half.for(15 * MINUTE);
  for (const node of ['n1', 'n2', 'n3', 'n4']) half.other.set(node, { mhz: 2000 });
  t.equal(half.for(10 * MINUTE), undefined);
  const idle = new Scene();
  idle.for(15 * MINUTE);
  idle.other.set('n1', { cpu: 30, mhz: 1200 });
  t.equal(idle.for(10 * MINUTE), undefined, 'an idle node may clock down');
  const served = new Scene();
  served.for(15 * MINUTE);
  served.other.set('n1', { gpu_util: 82, gpu_power: 1180 });
  t.equal(served.for(10 * MINUTE), undefined, 'power falls with use');
  served.other.set('n1', { gpu_util: 82, gpu_power: 980 });
  t.ok(served.for(MINUTE), 'and by a quarter more');
});

t.test('marks of nodes that stay in the job stay, of nodes and jobs that go they go', async t => {
  const scene = new Scene();
  scene.for(15 * MINUTE);
  scene.other.set('n2', { mhz: 2000 });
  scene.other.set('n3', { temp: 99 });
  scene.for(2 * MINUTE);
  t.same(marked(scene.last), ['n2 mhz', 'n3 temp']);
  scene.nodes = scene.nodes.filter(name => name !== 'n3');
  scene.places = scene.places.filter(place => place !== 2);
  scene.look();
  t.same(marked(scene.last), ['n2 mhz']);
  t.equal(scene.judge.look(scene.seen, []).marks.length, 0);
});

t.test('a mark outlives a while without a comparable reading, and not more', async t => {
  const scene = new Scene();
  scene.for(15 * MINUTE);
  scene.other.set('n2', { mhz: 2000 });
  scene.for(2 * MINUTE);
  scene.other.set('n2', { mhz: Number.NaN });
  scene.for(4 * MINUTE);
  t.equal(scene.last.marks.length, 1);
  scene.for(2 * MINUTE);
  t.equal(scene.last.marks.length, 0);
});

t.test('the limit grows with nodes and readings', async t => {
  t.ok(limitOf(4 * ROW) > 5.5 && limitOf(4 * ROW) < limitOf(256 * ROW));
  t.ok(limitOf(10_000 * ROW) < 7.5);
});
