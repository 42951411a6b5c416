// Who of a family differs from its others, by values alone: the rule, against a plain one of another form.
//
// @seconds 1

import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { differences, forgetOtherHashes, type Trait } from '../../src/outliers/families.js';
import { atOnce } from '../../src/service/slices.js';

const KERNEL: Trait = { name: 'kernel' };

/** The groups of one family with these values, as `members=value`; of a minority with `!` before them. */
function told(values: readonly number[], trait: Trait = KERNEL): string {
  const members = values.map((_, i) => i);
  const found = atOnce(differences(new Map([['n', members]]), [trait], [Float64Array.from(values)]));
  return found
    .map(({ groups, isMinority }) => {
      const text = groups.map(({ members, value }) => `${members.join('+')}=${value}`).join(' ');
      return `${isMinority ? '!' : ''}${text}`;
    })
    .join('; ');
}

t.test('at most a third are a minority', async t => {
  for (const [values, text] of [
    [[], ''],
    [[1], ''],
    [[1, 1, 1], ''],
    [[1, 2], '0=1 1=2'],
    [[2, 1, 1], '!1+2=1 0=2'],
    [[1, 1, 2, 2], '0+1=1 2+3=2'],
    [[1, 1, 1, 1, 2, 3], '!0+1+2+3=1 4=2 5=3'],
    [[1, 1, 1, 2, 3], '0+1+2=1 3=2 4=3'],
    [[3, 1, 1, 1, 1, 2], '!1+2+3+4=1 0=3 5=2'],
  ] as const)
    t.equal(told(values), text, values.join());
});

t.test('hashes by senders of different versions are compared where they are equal', async t => {
  const kept = (hashes: number[], versions: number[]) => {
    const found = Float64Array.from(hashes);
    forgetOtherHashes([...hashes.keys()], found, Float64Array.from(versions));
    return [...found];
  };
  const none = Number.NaN;
  t.strictSame(kept([1, 2, 1], [7, 7, 7]), [1, 2, 1], 'of one version all are compared');
  t.strictSame(kept([1, 2, 3, 1], [7, 7, 6, 6]), [1, 2, none, 1]);
  t.strictSame(kept([none, 2, 3], [7, 6, 6]), [none, 2, 3], 'the version that most of those have that tell theirs');
});

t.test('what is not known is not compared', async t => {
  t.equal(told([Number.NaN, 1, 1, 2]), '!1+2=1 3=2');
  t.equal(told([Number.NaN, 1, Number.NaN]), '');
});

t.test('sizes that differ little are one, also in steps', async t => {
  const memory: Trait = { name: 'memory', slack: 256, slackShare: 0.01 };
  t.equal(told([515_584, 515_584, 515_000, 510_100], memory), '', 'from one to the next');
  t.equal(told([515_584, 515_584, 515_000, 491_520], memory), '!0+1+2=515584 3=491520', 'one of 21 modules less');
  t.equal(told([8000, 8250, 8000], memory), '', 'of a small node: what a kernel keeps');
  t.equal(told([8000, 8300, 8000], memory), '!0+2=8000 1=8300');
});

t.test('a part that differs explains the whole', async t => {
  const traits: Trait[] = [{ name: 'cpus' }, { name: 'hardware', parts: ['cpus', 'gpus'] }];
  const [cpus, hardware] = [Float64Array.of(64, 64, 64, 64, 32, 64), Float64Array.of(7, 7, 7, 7, 8, 9)];
  const found = atOnce(differences(new Map([['n', [0, 1, 2, 3, 4, 5]]]), traits, [cpus, hardware]));
  t.same(
    found.map(({ trait, groups, isMinority }) => [
      trait.name,
      isMinority,
      groups.slice(1).map(({ members }) => members),
    ]),
    [
      ['cpus', true, [[4]]],
      ['hardware', true, [[5]]],
    ],
  );
});

t.test('families do not mix, and values at random are grouped as by a plain rule', async t => {
  const seed = Number(process.env.SEED ?? 1);
  t.comment(`SEED=${seed}`);
  const next = random(seed);
  for (let round = 0; round < 300; round++) {
    const values = Float64Array.from({ length: 60 }, () => (next() < 0.05 ? Number.NaN : Math.floor(next() ** 4 * 4)));
    const families = new Map([0, 1, 2].map(f => [String(f), [...values.keys()].filter(i => i % 3 === f)]));
    const found = new Map(atOnce(differences(families, [KERNEL], [values])).map(one => [one.family, one]));
    for (const [name, members] of families) {
      const known = members.filter(i => !Number.isNaN(values[i] as number));
      const counts = new Map<number, number>();
      for (const i of known) counts.set(values[i] as number, (counts.get(values[i] as number) ?? 0) + 1);
      const most = Math.max(...counts.values());
      const one = found.get(name);
      if ((one !== undefined) !== counts.size > 1) t.fail(`${name} of ${[...values].join()}`);
      if (one === undefined) continue;
      t.equal(one.groups[0]?.members.length, most);
      t.equal(one.isMinority, 3 * (known.length - most) <= known.length);
      t.same(
        one.groups.flatMap(({ members }) => members).sort((a, b) => a - b),
        known,
      );
    }
  }
});
