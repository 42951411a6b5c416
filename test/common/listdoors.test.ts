// Lists of others at every door: a million names, a thousand lists of a thousand, a long text of nested brackets. What
// they cost follows what is known and the text, never the names that the text could have: counted are the numbers that
// become parts of names, and the most memory of all doors together.
//
// @seconds 20

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ackPath, readAcks } from '../../src/acks/ackfile.js';
import { acknowledged } from '../../src/acks/acks.js';
import { chosenEvents } from '../../src/events/eventfeed.js';
import { meaningOf } from '../../src/jobs/joblist.js';
import { parseScrape } from '../../src/prometheus/request.js';
import { Differences, jobsByNode } from '../../src/schedulerfile/differences.js';
import { match } from '../../src/schedulerfile/matching.js';
import { LeftOut, type SchedulerJob } from '../../src/schedulerfile/scheduler.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import { bounded, KINDS, readState, SCHEMA, type SchedulerState } from '../../src/schedulerfile/statefile.js';
import { contentsOf } from '../../src/schedulers/file.js';
import { parseJobs, parseTopology } from '../../src/schedulers/slurm/answers.js';
import { atOnce, SlicedLook } from '../../src/service/slices.js';
import { BOARD_MOST, expand, NameRanges, NodesetError } from '../../src/text/hostlists.js';
import { LISTS, numbersMade } from '../kit/longlists.js';
import { memoryFolder } from '../kit/places.js';

/** The nodes that there are. */
const NODES = Array.from({ length: 50 }, (_, i) => `n${i + 1}`);
/** So many names are looked at or made, at most. */
const MOST = 120_000;
/** The process may have so many MiB, with all doors. */
const MOST_MIB = 400;

const job = (nodes: string, i: number): SchedulerJob => ({
  ...{ id: `${i + 1}`, state: 'RUNNING', user: 'anna', partition: 'batch', cpus: 1, name: 'x', nodes },
});
const SMALL = job('n[7-8]', 999_999);
const NONCE = 'a'.repeat(16);
const dir = memoryFolder(t);

function stateWith(jobs: readonly SchedulerJob[]): SchedulerState {
  const now = { mono_ms: 1, time_ms: 1, whole: true } as const;
  const nodes = NODES.map(name => ({ name, state: 'IDLE', cpus: 4 }));
  return {
    ...{ schema: SCHEMA, pid: 1, mono_ms: 1, next_ms: 1, time_ms: 1, scheduler: 'Slurm', daemon: 'slurmd' },
    ...{ cluster: 'c', version: '1', user: 'u', names: {}, differences: [] },
    nodes: { ...now, list: nodes },
    jobs: { ...now, list: jobs },
  };
}

const refused = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    if (!(error instanceof NodesetError)) throw error;
  }
};

/** Each takes the lists; what it has to hold of them besides its bounds, it says itself. */
const DOORS: Readonly<Record<string, (lists: readonly string[]) => unknown>> = {
  'a request': lists => {
    for (const list of lists.slice(0, 50)) refused(() => expand(list, 2000));
  },
  'a scrape': lists => {
    for (const list of lists.slice(0, 50))
      refused(() => {
        parseScrape(new URLSearchParams([['nodes', list]])).selection.names?.has('n7');
      });
  },
  'events of nodes': async lists => {
    const events = lists.map(nodes => ({ seq: 2, time: '2026-01-01T00:00:00Z', event: 'x', text: '', nodes }));
    const asked = { since: { seq: 1 }, nodes: new Set(['n7', 'm1']), kinds: undefined };
    await chosenEvents(events, asked, new SlicedLook());
  },
  squeue: lists => {
    const text = [...lists, 'n[7-8]'].map((nodes, i) => `${NONCE}|${i + 1}|${i + 1}|RUNNING|a|p|1|1|${nodes}|x`);
    const list = parseJobs(text.join('\n'), NONCE, new LeftOut());
    const { jobs } = bounded({ list }, NODES.length);
    t.equal(jobs.list.at(-1)?.nodes, 'n[7-8]', 'a short list stays');
    jobsByNode(jobs.list);
  },
  'a file': lists => {
    const rows = [...lists, 'n[7-8]'].map((nodes, i) => JSON.stringify({ job: i, nodes }));
    const text = ['{"schema":1,"scheduler":"X"}', ...rows, '{"end":true}\n'].join('\n');
    const { jobs } = bounded(atOnce(contentsOf(text, 'f', 0)).jobs, NODES.length);
    t.equal(jobs.list.at(-1)?.nodes, 'n[7-8]', 'a short list stays');
    jobsByNode(jobs.list);
  },
  'a state file': lists => {
    const valid = lists.filter(list => NameRanges.ofNodeNames(list) !== undefined);
    writeFileSync(join(dir, 'state'), JSON.stringify(stateWith([...valid.map(job), SMALL])));
    const view = new SchedulerView(new Pairing(readState(dir), NODES));
    t.equal(view.jobs.length + ((view.head as { jobs_left_out?: number }).jobs_left_out ?? 0), valid.length + 1);
    t.match(view.jobsOn('n7').at(-1), SMALL);
  },
  topology: lists => {
    const rows = [...lists.map((list, i) => `SwitchName=s${i} Level=0 Nodes=${list}`), 'SwitchName=t Level=0 Nodes=m1'];
    const found = parseTopology(rows.join('\n'), new Set([...NODES, 'm1']));
    t.equal(found?.get('m1') ?? 't', 't');
  },
  acknowledgements: lists => {
    const board = join(dir, 'board');
    const [at, until] = ['2026-01-01T00:00:00Z', '2036-01-01T00:00:00Z'];
    const acks = lists.map((nodes, i) => ({ key: `silent:${i}`, nodes, by: 'root', at, until }));
    writeFileSync(ackPath(board), JSON.stringify({ schema: 1, acks }));
    const episodes = NODES.map(name => ({ name, beganMs: undefined, isFlapping: false }));
    return acknowledged('silent', episodes, readAcks(board).acks, { realMs: 0, monoMs: 0, boot: '' });
  },
};

for (const [door, take] of Object.entries(DOORS))
  t.test(door, async t => {
    for (const [what, lists] of Object.entries(LISTS)) {
      const looked = await numbersMade(() => take(lists));
      const characters = lists.reduce((sum, list) => sum + list.length, 0);
      t.ok(looked <= MOST + 4 * characters, `${what}: ${looked} numbers for ${characters} characters`);
    }
  });

t.test('what a person writes costs its names, whatever users there are', async t => {
  const users = Array.from({ length: 2000 }, (_, i) => `u${i}@example.org`);
  const jobs = users.map((user, i) => ({ ...job('n1', i), user }));
  const slurm = new SchedulerView(new Pairing({ state: stateWith(jobs) }, NODES));
  let [looked, replaced] = [0, 0];
  const { replace } = String.prototype;
  String.prototype.replace = function (...args: unknown[]) {
    replaced++;
    return replace.apply(this, args as never);
  };
  try {
    const isNode = () => ++looked === 0;
    const { nodes, users: meant } = meaningOf(['n[1-200000]', 'u7'], slurm, isNode);
    t.same([nodes.length, meant], [200_000, ['u7@example.org']]);
  } finally {
    String.prototype.replace = replace;
  }
  t.ok(looked <= 3 * 200_000, `${looked} looks`);
  t.ok(replaced <= 4 * users.length, `${replaced} names of users`);
});

t.test('a list that was left out changes nothing about those whom it may name', async t => {
  const kindsOf = (differences: readonly { kind: string; node: string }[]) =>
    differences.map(({ kind, node }) => `${kind} ${node}`).sort();
  const nodes = NODES.map(name => ({ name, state: 'IDLE', base: 'idle', takes_jobs: true, cpus: 4 }) as const);
  const matched = match(nodes, NODES, {});
  const busy = new Set(['n1', 'n2']);
  const seen = (name: string) => ({ state: 'live', cpus: 4, cpusBusy: busy.has(name) ? 4 : 0 }) as const;
  const differences = new Differences();
  const look = (list: readonly SchedulerJob[]) => {
    const { jobs, mayName } = bounded({ list }, NODES.length);
    return kindsOf(differences.look({ nodes, jobs: jobs.list, matched, seen, nowS: 0, isInDoubt: mayName }, 0));
  };
  for (let i = 0; i < 3; i++) look([]);
  t.same(look([]), ['busy_without_job n1', 'busy_without_job n2']);
  busy.add('n3').add('n30');
  const evil = job('n[1-9],x[1-999999]', 1);
  for (let i = 0; i < 3; i++) look([evil]);
  t.same(look([evil]), ['busy_without_job n1', 'busy_without_job n2', 'busy_without_job n30'], 'none begins');
  busy.delete('n1');
  busy.delete('n30');
  t.same(look([evil]), ['busy_without_job n1', 'busy_without_job n2'], 'none ends, but where it does not reach');
  t.same(look([]), ['busy_without_job n2']);
  t.equal(KINDS.length, 5);
});

t.test('by arithmetic and one by one, lists have the same names', async t => {
  for (const list of [
    'n[1-3,07-09]',
    'n[1-2][1-12]x[01-10],n11',
    'a,b-[5-105]',
    'n[1-100][1-100]',
    '[1-20]',
    'n1,n1',
    'n[20-25,3-7,5-9,01-10,6,100-120,8-21]',
    `${Array.from({ length: 20 }, (_, i) => `r${i}n[1-20]`).join()},r[1-3]n[5-30],[1-30]`,
  ]) {
    const [names, ranges] = [new Set(expand(list, BOARD_MOST)), NameRanges.parse(list, BOARD_MOST)];
    t.ok(ranges.size >= names.size);
    t.equal([...ranges.made()].join(), [...names].join());
    const others = [...names].flatMap(name => [`${name}0`, `0${name}`, name.slice(0, -1), name.replace(/\d/, '0$&')]);
    for (const name of [...names, ...others])
      if (ranges.has(name) !== names.has(name)) t.fail(`${list}: ${name} ${ranges.has(name)}`);
    t.equal(
      ranges
        .among(new Set([...others, ...names]))
        .sort()
        .join(),
      [...names].sort().join(),
    );
  }
  for (const _ of [1, 2])
    t.same([...(NameRanges.ofNodeNames('CN[1-2],Ä,a b')?.made() ?? [])], ['CN1', 'CN2', 'Ä', 'a b']);
  // More than are kept parsed.
  const many = Array.from({ length: 20_000 }, (_, i) => `n[${i}-${i + 1}]`);
  for (const _ of [1, 2])
    t.ok(
      many.every((list, i) =>
        NameRanges.ofNodeNames(list)
          ?.made()
          .has(`n${i + 1}`),
      ),
    );
});

t.test('what a look costs follows neither ranges nor entries', async t => {
  const known = new Set(Array.from({ length: 20_000 }, (_, i) => `n${i}`));
  const { startsWith } = String.prototype;
  let looks = 0;
  String.prototype.startsWith = function (...args) {
    looks++;
    return startsWith.apply(this, args);
  };
  try {
    const entries = Array.from({ length: 2000 }, (_, i) => `r${i}n[1-99999]`);
    t.same(NameRanges.ofNodeNames(`n[5-6]x,n[7-8],${entries}`)?.among(known), ['n7', 'n8']);
    t.ok(looks <= 4 * known.size, `${looks} looks`);
    const row = `SwitchName=s Level=0 Nodes=${'n[1-9999]a,'.repeat(99)}n1b`;
    t.equal(parseTopology(`${row}\n`.repeat(3), known), undefined, 'more looks than at a board');
    const { mayName } = bounded({ list: [job('n[1-99999]a,'.repeat(300).slice(0, -1), 1)] }, 100_000);
    t.ok(mayName?.('n1'), 'what takes too many looks is not told');
    t.ok(looks <= 4 * known.size, `${looks} looks`);
  } finally {
    String.prototype.startsWith = startsWith;
  }
});

t.test('memory', async t => {
  // By the kernel's own count, in KiB.
  const mib = process.resourceUsage().maxRSS / 1024;
  t.ok(mib < MOST_MIB, `${mib} MiB`);
});
