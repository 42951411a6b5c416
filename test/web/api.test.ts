// The API of the wall: every answer agrees with the OpenAPI document, nodes are as in `status --json`, and an invalid
// request is refused in a sentence.
//
// @seconds 15
// @whole
// @days 3

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chosenEvents } from '../../src/events/eventfeed.js';
import type { KeptEvent } from '../../src/presentation/shapes.js';
import { monotonicMs } from '../../src/schedulerfile/statefile.js';
import { SlicedLook } from '../../src/service/slices.js';
import { Snapshot } from '../../src/shm/snapshot.js';
import { ERROR_CODES, type ErrorCode } from '../../src/text/errorcodes.js';
import { shellWord } from '../../src/text/text.js';
import { Chosen, Grouped } from '../../src/web/layouts.js';
import { RIVER } from '../../src/web/wire.js';
import { board as boardOf } from '../kit/ganglia.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { objections } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';
import { ask, startWeb, WallClient } from './webclient.js';

const run = verbRun(t);

interface Node {
  name: string;
  state: string;
  [key: string]: unknown;
}

t.test('a board that stands still', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, [
    '--uncertain-after',
    '1h',
    '--silent-after',
    '2h',
    '--cluster',
    'c1',
  ]);
  const load = start(t, [
    'load',
    '--to',
    `127.0.0.1:${port}`,
    '--cluster',
    'c1',
    '--size',
    '12',
    '--interval',
    '100ms',
  ]);
  const slurm = folder(t);
  const web = await startWeb(t, board, ['--show-jobs', '--slurm-dir', slurm]);
  const plain = await startWeb(t, board);
  const client = WallClient.open(t, web.url);
  await until('all nodes are there', () => client.names.length === 12 && client.count('live') === 12);
  t.equal(client.hello?.named, ` --board ${shellWord(board)}`);
  load.child.kill('SIGKILL');
  await load.exit;
  const { seq } = client;
  await until('three looks more', () => client.seq >= seq + 3);

  const api = `${web.url}api/v1/`;
  const document = (await ask(`${api}openapi.json`)).json() as {
    paths: Record<string, { get: { responses: Record<string, { content: Record<string, { schema: object }> }> } }>;
  };
  /** How the answer differs from the OpenAPI document. */
  const wrongWith = async (url: string, path: string) => {
    const { status, text, headers } = await ask(`${api}${url}`);
    const { content } = document.paths[path]?.get.responses[status] ?? {};
    const type = String(headers['content-type']).replace(/;.*/, '');
    const schema = content?.[type]?.schema as Record<string, unknown> | undefined;
    if (schema === undefined) return [`${url}: ${status} ${type} is not in the document: ${text}`];
    return objections(document, schema, type === 'application/json' ? JSON.parse(text) : text);
  };

  t.test('answers agree with the document', async t => {
    for (const [url, path] of [
      ['nodes', '/nodes'],
      ['nodes?fields=load,mem_avail_mib,os_release,boot_id', '/nodes'],
      ['nodes?where=load%3E1', '/nodes'],
      ['nodes/node01', '/nodes/{name}'],
      ['nodes/nobody', '/nodes/{name}'],
      ['events', '/events'],
      ['events?since=1', '/events'],
      ['jobs', '/jobs'],
      ['odd', '/odd'],
      ['readings', '/readings'],
      ['openapi.json', '/openapi.json'],
      ['nodes?fields=nothing', '/nodes'],
      ['nodes?seq=4000000', '/nodes'],
    ] as const)
      t.strictSame(await wrongWith(url, path), [], url);
    t.strictSame(await wrongWith(`nodes?seq=${client.seq}`, '/nodes'), [], 'a look');
    const { schemas } = (document as unknown as { components: { schemas: Record<string, object> } }).components;
    const broken = { $ref: '#/components/schemas/Nodes' };
    t.not(objections({ components: { schemas } }, broken, { schema: 1 }).length, 0, 'what is otherwise is found');
  });

  t.test('nodes are as in status', async t => {
    const { nodes } = (await ask(`${api}nodes`)).json() as { nodes: Node[] };
    const told = JSON.parse((await run(['status', '--json', '--board', board])).stdout).nodes as Node[];
    // Ages change meanwhile, so they are not compared.
    const still = (all: Node[]) =>
      all.map(({ age_ms: _, memory: __, ...node }) => node).sort((a, b) => (a.name < b.name ? -1 : 1));
    t.strictSame(still(nodes), still(told));
    const one = (await ask(`${api}nodes/node03`)).json() as { node: Node; sections: { title: string }[]; line: string };
    t.strictSame(still([one.node]), still(told.filter(({ name }) => name === 'node03')));
    t.match(one.line, /^node03: live, last heard .* ago from 127\.0\.0\.1$/);
    t.match(
      one.sections.map(({ title }) => title),
      ['Identity', 'Reports', 'Health', 'CPUs', 'Memory'],
    );
  });

  t.test('fields and conditions choose', async t => {
    const { nodes } = (
      await ask(`${api}nodes?fields=load,cpus&where=${encodeURIComponent('name == node02')}`)
    ).json() as { nodes: Node[] };
    t.equal(nodes.length, 1);
    t.strictSame(Object.keys(nodes[0] as Node), ['name', 'state', 'load', 'cpus']);
    const none = (await ask(`${api}nodes?where=state==silent`)).json() as { nodes: Node[] };
    t.strictSame(none.nodes, []);
  });

  t.test('a page of the nodes is sorted as status sorts them', { skip: NOT_WHOLE }, async t => {
    const fields = 'load,mem,problems,os_release';
    for (const sort of ['state', '-state', 'name', '-name', 'load', '-load', 'mem', 'problems', 'gpu', 'os_release']) {
      const url = `nodes?sort=${sort}&fields=${fields}`;
      const told = (await ask(`${api}${url}`)).json() as { nodes: Node[]; total: number; page: number };
      const status = await run(['status', '--json', '--sort', sort, '-o', fields, '--board', board]);
      t.strictSame(told.nodes, JSON.parse(status.stdout).nodes, sort);
      t.match(told, { total: 12, page: 1 });
      t.strictSame(await wrongWith(url, '/nodes'), [], sort);
    }
    const of = async (query: string) =>
      (await ask(`${api}nodes?${query}`)).json() as { nodes: Node[]; total: number; unmeasured: string[] };
    const names = ({ nodes }: { nodes: Node[] }) => nodes.map(({ name }) => name);
    const worst = JSON.parse((await run(['status', '--json', '--board', board])).stdout) as { nodes: Node[] };
    t.strictSame(names(await of('page=1')), names(worst), 'without a field the worst first');
    t.strictSame(await of('page=2&fields=load').then(({ nodes, total }) => [nodes, total]), [[], 12]);
    t.strictSame(names(await of('nodes=node[03,07-08]&sort=-name&fields=load')), ['node08', 'node07', 'node03']);
    t.strictSame(names(await of('nodes=node[03,07-08]&fields=load')), ['node03', 'node07', 'node08']);
    const where = encodeURIComponent('name ~ "[13579]$"');
    t.match(await of(`nodes=node[01-04]&where=${where}&sort=name`), { total: 2, nodes: [{ report: Object }, {}] });
    t.strictSame((await of('page=1&fields=load,mem,fabric')).unmeasured, ['fabric']);
  });

  t.test('invalid requests are rejected in a sentence', async t => {
    const refused = async (url: string, status: number, why: RegExp) => {
      const answer = await ask(`${api}${url}`);
      t.equal(answer.status, status, url);
      t.match(answer.text, why, url);
      t.match(answer.headers['content-type'], /^text\/plain/, url);
      const coded = await ask(`${api}${url}`, { Accept: 'application/json, text/plain;q=0.5' });
      const { code, message } = coded.json() as { code: ErrorCode; message: string };
      t.same([coded.status, ERROR_CODES[code], coded.headers['content-type']], [status, status, 'application/json']);
      t.match(message, why, `${url}, for those who want JSON`);
    };
    for (const accept of [
      ...['*/*', 'text/plain, application/json;q=0.9', 'application/json;q=0', 'application/json ; q = 0'],
      ...['application/json;q=0.1, */*', 'application/json;q=0.1, text/*', 'application/json;q=2'],
    ])
      t.match(await ask(`${api}nothing`, { Accept: accept }), { status: 404, text: /^there is no such page/ }, accept);
    for (const accept of ['application/*', 'application/json, text/plain, */*', 'text/*;q=0.5, APPLICATION/JSON'])
      t.match((await ask(`${api}nothing`, { Accept: accept })).json(), { code: 'not_found' }, accept);
    await refused('nodes?where=lod%3E1', 400, /^column 1: there is no field 'lod'; did you mean load\?|load/);
    await refused(`nodes?where=${'x'.repeat(257)}`, 400, /longer than 256 bytes/);
    for (const word of ['constructor', '__proto__', 'toString'])
      await refused(`nodes?where=${word}`, 400, /there is no field '.*'/);
    await refused('nodes?wher=1', 400, /'wher' is not a parameter of this; .*where/);
    await refused('nodes?fields=a&fields=b', 400, /fields is given twice/);
    await refused(`nodes?fields=${Array(65).fill('load').join()}`, 400, /there are 65; write at most 64/);
    await refused('nodes?seq=x', 400, /seq is 'x'; write a whole number/);
    for (const other of ['where', 'nodes', 'sort', 'page'])
      await refused(`nodes?seq=1&${other}=load`, 400, new RegExp(`^${other} and seq do not go together`));
    await refused('nodes?sort=lod', 400, /there is no field 'lod'/);
    await refused('nodes?page=0', 400, /page is 0; the first one is 1/);
    await refused('nodes?page=x', 400, /page is 'x'; write a whole number/);
    for (const asked of ['sort=nobody', 'page=1&fields=load,nothing', 'sort=toString'])
      await refused(`nodes?${asked}`, 400, /there is no (field|column) '/);
    for (const asked of ['nodes?nodes=nobody', 'nodes?nodes=node01,nobody&page=1'])
      await refused(asked, 400, /not on the board: 'nobody'/);
    for (const asked of ['sort=user', 'sort=-jobs', 'page=1&fields=load,slurm'])
      t.match(await ask(`${plain.url}api/v1/nodes?${asked}`), { status: 400, text: /--show-jobs/ }, asked);
    await refused(`nodes?seq=${client.seq}&fields=load`, 400, /'load' is not one; .*load_per_cpu/);
    await refused('nodes?seq=4000000', 404, /is not kept; there are \d+ to \d+/);
    await refused('nodes/nobody', 404, /'nobody' is not on the board/);
    await refused('river?nodes=nobody', 400, /not on the board: 'nobody'/);
    await refused('events?nodes=n[1-1000000]', 400, /too many names; at most 2000 are allowed/);
    await refused('river?nodes=node[1-2001]', 400, /too many names; at most 2000 are allowed/);
    await refused('river?by=load%3E', 400, /neither a field nor a pattern/);
    await refused('stream?reading=cpus', 400, /'cpus' is none; did you mean cpu\?|cpu/);
    await refused('stream?by=/(/', 400, /is not a regular expression/);
    // Within 256 bytes a pattern could have 220,000 instructions.
    const large = `(${'.?'.repeat(100)}){1000}[A-B]`;
    for (const what of ['nodes?where=', 'stream?where='])
      await refused(`${what}${encodeURIComponent(`name ~ "${large}"`)}`, 400, /too large a regular expression/);
    for (const what of ['river?by=', 'stream?by='])
      await refused(`${what}${encodeURIComponent(`/${large}/`)}`, 400, /too large a regular expression/);
    await refused('nothing', 404, /there is no such page/);
    await refused('nodes/a/b', 404, /there is no such page/);
    t.match(await ask(`${plain.url}api/v1/jobs`), { status: 404, text: /--show-jobs/ }, 'jobs are not shown unasked');
    t.equal(client.hello?.jobs, true);
  });

  t.test(
    'a condition that takes too long is rejected; a pattern that would make other matchers hang is not',
    async t => {
      const evil = encodeURIComponent('name ~ "^(a+)+$" || name ~ "(n|no|nod|node)*x"');
      t.equal((await ask(`${api}nodes?where=${evil}`)).status, 200);
      const slow = new Chosen('load > 1', 0);
      const piece = boardOf([{ name: 'a1' }]);
      for (let look = 0; look < 4 && !slow.isTooSlow; look++) {
        slow.begin(1, look === 0);
        slow.ask(piece, 0, 0);
      }
      t.ok(slow.isTooSlow, 'what it may take is bounded');
      // Others have the CPU for longer than a rule may take of it.
      const starved = Object.assign(boardOf([{ name: 'a1' }]), {
        names() {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
          return ['a1'];
        },
      });
      const rule = new Grouped({ pattern: '^a' });
      rule.begin(1, true);
      rule.ask(starved, 0, 0);
      t.notOk(rule.isTooSlow, 'its own time counts, and not that of others');
      // Each of these nodes takes 2 ms of the CPU.
      let asked = 0;
      const patient = Object.assign(boardOf(Array.from({ length: 100 }, (_, i) => ({ name: `a${i}` }))), {
        node(this: Snapshot, index: number) {
          const from = process.cpuUsage();
          for (let us = 0; us < 2000; ) {
            const { user, system } = process.cpuUsage(from);
            us = user + system;
          }
          asked++;
          return Snapshot.prototype.node.call(this, index);
        },
        names: () => ['a'],
      });
      for (const consumer of [new Chosen('load > 1'), new Grouped({ field: 'load' })]) {
        asked = 0;
        consumer.begin(100, true);
        const next = consumer.ask(patient, 0, 40);
        t.ok(asked >= 1 && asked <= 3 && next === 40 + asked, `others get their turn after ${asked} nodes`);
        t.equal(consumer.ask(patient, 0, 99), 100, 'the rest');
        for (let from = 0; from < 100; ) from = consumer.ask(patient, 0, from);
        t.ok(asked < 100 || consumer instanceof Grouped, 'and one that takes ten times its limit ends there');
      }
    },
  );

  t.test('the river is packed as it says', async t => {
    const { body } = await ask(`${api}river?nodes=node[01-03]`);
    const length = body.readUInt32LE(0);
    const head = JSON.parse(body.subarray(4, 4 + length).toString());
    t.match(head, { schema: 1, reading: 'cpu', rows: [{ name: 'node01' }, { name: 'node02' }, { name: 'node03' }] });
    const each = Math.ceil(head.columns / 2) + Math.ceil(head.columns / RIVER.valueEvery);
    t.equal(body.length, 4 + length + 3 * each);
    const groups = await ask(`${api}river?by=/node[0-9]/&reading=mem`);
    const told = JSON.parse(groups.body.subarray(4, 4 + groups.body.readUInt32LE(0)).toString());
    t.match(told, { by: '/node[0-9]/', reading: 'mem', rows: [{ name: 'node0' }, { name: 'node1' }] });
    t.equal(groups.body.length, 4 + groups.body.readUInt32LE(0) + 2 * told.columns * (7 * told.count_bytes + 3));
  });

  t.test('jobs as the reader of Slurm has left them', async t => {
    mkdirSync(slurm, { recursive: true });
    const now = monotonicMs();
    const answered = { time_ms: Date.now(), mono_ms: now, took_ms: 1 };
    const list = Array.from({ length: 12 }, (_, i) => ({
      name: `node${String(i + 1).padStart(2, '0')}`,
      state: 'ALLOCATED',
      cpus: 64,
      switch: i < 3 ? `leaf${i === 2 ? 2 : 1}` : undefined,
    }));
    const job = {
      id: '17',
      state: 'RUNNING',
      user: '<img src=x onerror=alert(1)>',
      partition: 'main',
      cpus: 128,
      start_s: 1_700_000_000,
      nodes: 'node[01-02]',
      name: 'hostile',
    };
    const parts = ['18_1', '18_2'].map((id, i) => ({ ...job, id, user: 'bert', nodes: `node${11 + i}` }));
    const mark = { job: '19', node: 'node07', reading: 'mhz', value: 1200, peers: 7, median: 2900, lowest: 2890 };
    const state = {
      ...{ schema: 2, pid: 1, mono_ms: now, next_ms: now + 3_600_000, time_ms: Date.now(), cluster: 'c1' },
      ...{ version: '23.11', scheduler: 'Slurm', daemon: 'slurmd', user: 'root', names: {}, differences: [] },
      nodes: { ...answered, list },
      jobs: {
        ...answered,
        list: [
          ...[job, ...parts, { ...job, id: '19', user: 'bert', nodes: 'node[04-10,99]' }],
          { ...job, id: '20', user: 'cora', nodes: 'x[0001-2100]' },
        ],
      },
      odd: { marks: [{ ...mark, highest: 2910, since_ms: now - 60_000 }], unjudged: { 17: 'few' } },
    };
    writeFileSync(join(slurm, 'state'), JSON.stringify(state));
    const told = await until('it is read', async () => {
      const answer = (await ask(`${api}jobs`)).json() as {
        jobs: { id: string; user: string; nodes: string }[];
        switches: object[];
      };
      return answer.jobs.length === 5 && answer;
    });
    t.match(
      told.jobs.find(({ id }) => id === '17'),
      { user: job.user, nodes: 'node[01-02]', alone: true, states: { live: 2 } },
    );
    t.strictSame(told.switches, [
      { name: 'leaf1', nodes: 'node[01-02]' },
      { name: 'leaf2', nodes: 'node03' },
    ]);
    t.strictSame(await wrongWith('jobs', '/jobs'), []);

    // One job is as beoboard jobs tells it. That simulated nodes do not tell their hardware is said.
    const NOT_COMPARED = /^nothing is compared: /;
    t.strictSame(await wrongWith('jobs/19', '/jobs/{id}'), []);
    type Runs = { points: [string | null, number][]; values: (number | null)[] };
    const shown = (await ask(`${api}jobs/19`)).json() as {
      job: { members: Node[]; trouble: { nodes: string; what: string; jobs?: object[] }[] };
      page: { lines: string[]; notes: string[]; columns: { title: string }[]; rows: string[][] };
      history: { states: object; readings: { name: string }; nodes: Runs[] };
    };
    const ofJobs = (...argv: string[]) => run(['jobs', ...argv, '--board', board, '--slurm-dir', slurm]);
    t.strictSame(shown.job, JSON.parse((await ofJobs('19', '--json')).stdout).jobs[0]);
    t.match(shown.job, { marks: [mark], unjudged: undefined, states: { live: 7, absent: 1 } });
    const { lines, notes, columns, rows: texts } = shown.page;
    t.match(lines[0], /^job 19 \(hostile\) of bert in partition main: RUNNING for \d+d/);
    t.equal(lines[1], '8 nodes, 1 absent, 7 live: node[04-10,99]');
    t.match(notes, [NOT_COMPARED]);
    t.match([columns[0]?.title, columns.at(-1)?.title], ['NODE', 'DIFFERS']);
    t.same(
      texts.map(([name]) => name),
      shown.job.members.map(({ name }) => name),
    );
    t.ok(texts.every(({ length }) => length === columns.length));
    t.match(
      shown.job.trouble.find(({ nodes }) => nodes === 'node07'),
      { what: /^differs from the other 7 nodes of job 19: clock 1\.2 GHz, others 2\.89 to 2\.91 GHz/ },
    );
    t.ok(
      shown.job.trouble.every(({ jobs }) => jobs === undefined),
      'that it runs there is not said',
    );
    const { nodes } = shown.history;
    t.match([nodes.length, nodes[0]?.points.at(-1)?.[0], nodes.at(-1)?.points.at(-1)?.[0]], [8, 'live', null]);
    t.match((await ask(`${api}jobs/17`)).json(), {
      job: { user: job.user, unjudged: /^fewer than four/ },
      page: { notes: { length: 1, 0: NOT_COMPARED } },
      history: { readings: { name: 'cpu' } },
    });
    t.match((await ask(`${api}jobs/20`)).json(), {
      job: { node_count: 2100, members: { length: 200 } },
      page: { more: 1900, notes: [/^nothing is compared: /, 'only the first 2000 nodes are compared here'] },
    });
    t.match(await ask(`${api}jobs/4711`), { status: 404, text: /^no job 4711 has nodes$/m });
    t.match(await ask(`${api}jobs/18`), { status: 404, text: /^2 jobs have this number; name one of them: 18_1$/m });
    t.match(await ask(`${api}jobs/19?nodes=a`), { status: 400 });
    for (const path of ['jobs/19', 'users'])
      t.match(await ask(`${plain.url}api/v1/${path}`), { status: 404, text: /--show-jobs/ }, 'not shown unasked');

    t.strictSame(await wrongWith('users', '/users'), []);
    const { users } = (await ask(`${api}users`)).json() as { users: object[] };
    const byCommand = await run(['users', '--json', '--board', board, '--slurm-dir', slurm]);
    t.strictSame(users, JSON.parse(byCommand.stdout).users);
    t.match(users, [
      { user: 'cora', trouble_count: 2100 },
      { user: 'bert', node_count: 10, trouble: 'node99' },
      { user: job.user, job_count: 1 },
    ]);

    const rows = async (sort: string) => {
      const url = `nodes?fields=slurm,jobs,user,cpus&nodes=node[01-03]&sort=${sort}`;
      t.strictSame(await wrongWith(url, '/nodes'), []);
      return ((await ask(`${api}${url}`)).json() as { nodes: Node[] }).nodes;
    };
    const [first, second, third] = await rows('user');
    t.match(first, { name: 'node01', slurm: 'ALLOCATED', jobs: '17', user: job.user, cpus: Number });
    t.match([second?.name, third?.name, third?.jobs], ['node02', 'node03', undefined]);
    t.match(await rows('-jobs'), [{ name: 'node01' }, { name: 'node02' }, { name: 'node03' }], 'none is the last');
    const { sections } = (await ask(`${api}nodes/node01`)).json() as {
      sections: { title: string; facts: string[][] }[];
    };
    t.match(sections.at(-1), { title: 'Slurm', facts: [['ALLOCATED'], [/^job 17 of /]] });
    const { sections: unasked } = (await ask(`${plain.url}api/v1/nodes/node01`)).json() as typeof told & {
      sections: { title: string }[];
    };
    t.not(unasked.at(-1)?.title, 'Slurm', 'without --show-jobs nothing of it is told');
  });
});

t.test('more nodes than a page has are told page by page, each once', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--uncertain-after', '1h', '--silent-after', '2h']);
  const load = start(t, ['load', '--to', `127.0.0.1:${port}`, '--size', '450', '--interval', '500ms']);
  const web = await startWeb(t, board);
  const client = WallClient.open(t, web.url);
  await until('all nodes are there', () => client.count('live') === 450);
  load.child.kill('SIGKILL');
  await load.exit;
  const { seq } = client;
  await until('two looks more', () => client.seq >= seq + 2);
  for (const sort of ['state', 'load', '-cpus', '-name']) {
    const pages = await Promise.all(
      [1, 2, 3, 4].map(async page => {
        const url = `${web.url}api/v1/nodes?sort=${sort}&page=${page}&fields=load`;
        return ((await ask(url)).json() as { nodes: Node[] }).nodes;
      }),
    );
    const status = await run(['status', '--json', '--sort', sort, '-o', 'load', '--board', board]);
    t.strictSame(pages.flat(), JSON.parse(status.stdout).nodes, sort);
    t.strictSame(
      pages.map(({ length }) => length),
      [200, 200, 50, 0],
    );
  }
});

t.test(
  'a node has the lines of the trouble list that are about it, as status has them',
  { skip: NOT_WHOLE },
  async t => {
    const board = boardPath(t);
    const { port } = await startReceiver(t, board, [
      '--uncertain-after',
      '1s',
      '--silent-after',
      '2s',
      '--cluster',
      'c1',
    ]);
    const to = ['load', '--to', `127.0.0.1:${port}`, '--cluster', 'c1', '--interval', '100ms', '--size'];
    const web = await startWeb(t, board);
    const client = WallClient.open(t, web.url);
    const both = start(t, [...to, '2']);
    await until('two nodes report', () => client.count('live') === 2);
    both.child.kill('SIGKILL');
    await both.exit;
    // node1 comes back, node2 does not.
    start(t, [...to, '1']);
    type Told = { trouble: { key: string; nodes?: string }[] };
    const of = async (name: string) => ((await ask(`${web.url}api/v1/nodes/${name}`)).json() as Told).trouble;
    const [line] = await until('it is told', async () => {
      const bright = (await of('node2')).filter(({ nodes }) => nodes === 'node2');
      return bright.length > 0 && bright;
    });
    const { trouble } = JSON.parse((await run(['status', '--json', '--board', board])).stdout) as Told;
    t.match(
      trouble.find(({ key }) => key === line?.key),
      line as Told['trouble'][number],
    );
    t.notOk(
      (await of('node1')).some(({ key }) => key === line?.key),
      'it is not about the other',
    );
    const document = (await ask(`${web.url}api/v1/openapi.json`)).json() as Parameters<typeof objections>[0] & {
      components: { schemas: { NodePage: Record<string, unknown> } };
    };
    const answer = (await ask(`${web.url}api/v1/nodes/node2`)).json();
    t.strictSame(objections(document, document.components.schemas.NodePage, answer), []);
  },
);

t.test('nodes that differ from their family are as beoboard odd tells them', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--silent-after', '2h', '--uncertain-after', '1h']);
  const to = ['--to', `127.0.0.1:${port}`];
  start(t, ['load', ...to, '--nodes', 'a[1-5]']);
  // A machine that is not simulated has another kernel.
  start(t, ['send', ...to, '--name', 'a6']);
  const web = await startWeb(t, board);
  const client = WallClient.open(t, web.url);
  await until('all nodes are there', () => client.count('live') === 6);
  const api = `${web.url}api/v1/`;
  type Told = { odd: { trait: string; text: string; groups: { nodes: string }[] }[] };
  const told = (await ask(`${api}odd`)).json() as Told;
  const own = JSON.parse((await run(['odd', '--json', '--board', board])).stdout) as Told;
  t.strictSame(
    told.odd.map(({ text, ...one }) => one),
    own.odd,
  );
  const kernel = told.odd.find(({ trait }) => trait === 'kernel');
  t.match(kernel?.text, /^a6: .+, 5 others /);
  t.equal(kernel?.groups[1]?.nodes, 'a6');
  t.match(await ask(`${api}odd?x=1`), { status: 400 });
});

t.test('events of later looks than one, or from a moment on', async t => {
  const kept = [1, 2, 3].map(seq => ({ seq, time: `2026-11-30T00:00:0${seq}Z`, event: 'boot' })) as KeptEvent[];
  const seqs = async (since: { seq: number } | { ms: number }) => {
    const found = await chosenEvents(kept, { since, nodes: undefined, kinds: undefined }, new SlicedLook());
    return found.map(({ seq }) => seq);
  };
  t.same(await seqs({ seq: 2 }), [3]);
  t.same(await seqs({ ms: Date.parse('2026-11-30T00:00:02Z') }), [2, 3]);
});
