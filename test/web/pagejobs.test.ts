// Jobs, users and odd nodes on the page, in a browser: a job is opened by its number, from the list, the table and a node; its nodes
// are those of the API, in its order; nothing moves when the server says something else; axe has no objection.
//
// @seconds 52
// @waits
// @rest
// @days 3

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { objections } from './axe.js';
import { holds, look, startLoad, startWall } from './browsing.js';
import { line, MadeWall, SIZES } from './madewall.js';

const skip = NO_BROWSER ?? false;
const NAME = `document.querySelector('#sheetname')?.textContent`;
const ROWS = `[...document.querySelectorAll('.members tbody tr')]`;

const search = async (page: Page, text: string) => {
  await page.keyboard.press('/');
  await page.fill('#asked', text);
  await page.keyboard.press('Enter');
};

interface Told {
  readonly jobs: readonly { readonly id: string; readonly nodes: string; readonly node_count: number }[];
  readonly users: readonly { readonly user: string; readonly nodes: string; readonly node_count: number }[];
}

for (const [size, count] of [
  [12, 2],
  [480, 24],
] as const)
  t.test(`jobs on ${size} nodes`, { skip }, async t => {
    const wall = await startWall(t);
    const slurm = folder(t);
    const path = join(slurm, 'jobs');
    startLoad(t, wall, ['--size', String(size), '--jobs', String(count), '--jobs-file', path]);
    await until('the jobs are told', () => existsSync(path));
    start(t, ['slurm', '--board', wall.board, '--slurm-dir', slurm, '--scheduler', `file:${path}`, '--interval', '1s']);
    const web = start(t, [
      ...['web', '--board', wall.board, '--listen', '127.0.0.1:0', '--show-jobs', '--slurm-dir', slurm],
    ]);
    const { listening } = await web.ready;
    const url = `http://${listening?.[0]}/`;
    const ask = async (path: string) => (await (await fetch(`${url}api/v1/${path}`)).json()) as Told;
    const { page, complaints } = await look(t, `${url}?theme=dark`);
    await holds(page, `document.querySelector('#line').textContent.includes('${size} live')`);
    await holds(page, `document.querySelectorAll('#jobs tbody tr').length > 1`);
    const [job, other] = [...(await ask('jobs')).jobs].sort((a, b) => b.node_count - a.node_count);
    if (job === undefined || other === undefined) throw new Error('there are no two jobs');

    for (const asked of [job.id, `job ${other.id}`]) {
      const { id, nodes, node_count } = asked === job.id ? job : other;
      await search(page, asked);
      await holds(page, `${NAME} === 'Job ${id}' && ${ROWS}.length === ${node_count}`);
      await holds(
        page,
        `document.querySelector('#chosen').textContent.endsWith(${JSON.stringify(`selected: ${nodes}`)})`,
      );
    }
    t.match(new URL(page.url()).searchParams.get('job'), other.id, 'the address has it');
    await holds(page, `${ROWS}.every(row => row.querySelector('svg path')?.getAttribute('d').startsWith('M'))`);
    await page.reload();
    await holds(page, `${NAME} === 'Job ${other.id}' && ${ROWS}.length === ${other.node_count}`);
    t.same(await objections(page), []);

    // Down to a node and back.
    await page.click('.members tbody button');
    const ofNode = `[...document.querySelectorAll('#sheetjobs button')].map(({ textContent }) => textContent)`;
    await holds(page, `${ofNode}.some(text => text.startsWith('Job ${other.id} of '))`);
    await page.keyboard.press('Escape');
    await holds(page, `${NAME} === 'Job ${other.id}'`);
    await page.goForward();
    await page.click('#sheetjobs button');
    await holds(page, `${NAME} === 'Job ${other.id}'`);
    await page.keyboard.press('Escape');
    await holds(page, `${NAME} === undefined && document.querySelector('#chosen').textContent !== ''`);

    // The table has the job's nodes now, with its number.
    const cell = `document.querySelector('#table tbody td button')`;
    await holds(page, `${cell}?.textContent === '${other.id}'`);
    await page.click('#table tbody td button');
    await holds(page, `${NAME} === 'Job ${other.id}'`);
    await page.click('#close');
    await page.locator('#jobs tbody button').getByText(job.id, { exact: true }).click();
    await holds(page, `${NAME} === 'Job ${job.id}'`);
    await page.click('#close');

    await page.click('#listusers');
    const { users } = await ask('users');
    await holds(page, `document.querySelectorAll('#jobs tbody tr').length === ${users.length}`);
    t.equal(await page.getAttribute('#listusers', 'aria-pressed'), 'true');
    t.same(
      await page.evaluate(
        `[...document.querySelectorAll('#jobs tbody tr')].map(row => [0, 2].map(at => row.cells[at].textContent))`,
      ),
      users.map(({ user, node_count }) => [user, String(node_count)]),
    );
    await holds(page, `location.search.includes('list=users')`);
    await page.click('#jobs tbody button');
    const [{ nodes = '' } = {}] = users;
    await holds(
      page,
      `document.querySelector('#chosen').textContent.endsWith(${JSON.stringify(`selected: ${nodes}`)})`,
    );
    t.same(await objections(page), []);
    t.same(complaints, []);
  });

/** The page of a job of these nodes as a server says it, all alike but the first. */
function answer(names: readonly string[], differs: string, trouble: readonly object[], notes: readonly string[] = []) {
  const columns = [
    ['NODE', 'STATE', 'CPU', 'DIFFERS'],
    [true, true, false, true],
  ] as const;
  const steps = [
    ['live', 500],
    ['silent', 100],
    ['live', 300],
  ];
  return {
    job: { trouble, members: names.map(name => ({ name, state: 'live', problems: [] })) },
    page: {
      lines: [`job 4711 (<b>x</b>) of <img src=x>: RUNNING for 1h`, `${names.length} nodes, all live: ${names.join()}`],
      notes,
      columns: columns[0].map((title, i) => ({ title, left: columns[1][i] })),
      rows: names.map((name, i) => [name, 'live', i === 0 ? '8%' : '97%', i === 0 ? differs : '-']),
      more: 0,
    },
    history: {
      since_ms: 0,
      states: { step_ms: 1000 },
      readings: { since_ms: 0, step_ms: 10_000, name: 'cpu' },
      nodes: names.map(() => ({
        points: steps,
        unhealthy: [[false, 900]],
        values: Array.from({ length: 90 }, () => 43),
      })),
    },
  };
}

for (const [what, viewport] of [
  ['a desk', { width: 1440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
] as const)
  t.test(`nothing moves on ${what}, whatever is said of a job`, { skip }, async t => {
    const names = ['rack10n01', 'rack10n02', 'rack10n03', 'rack10n04'];
    const wall = new MadeWall([{ name: 'rack10', names }], true);
    wall.jobs = [{ id: '4711', state: 'RUNNING', user: 'anna', name: '<i>', nodes: 'rack10n[01-04]', node_count: 4 }];
    await wall.listen(t);
    const { page, complaints } = await look(t, wall.url, { viewport });
    const told: { now: object | undefined } = { now: answer(names, '-', []) };
    await page.route('**/api/v1/jobs/*', route =>
      told.now === undefined
        ? route.fulfill({ status: 404, body: 'no job 4711 has nodes\n' })
        : route.fulfill({ json: told.now }),
    );
    await page.goto(`${wall.url}?job=4711`);
    await holds(page, `${ROWS}.length === 4 && document.querySelector('#sheettrouble').textContent === 'No trouble'`);
    t.equal(await page.locator('img, b:has-text("x")').count(), 0, 'names are text');
    const places = () =>
      page.evaluate(`[...document.querySelectorAll('.members th, .members td, .members svg')].map(one => {
        const { x, y, width } = one.getBoundingClientRect();
        return [x, y, width].map(Math.round).join(' ');
      })`);
    const before = await places();
    const bars = `[...${ROWS}[1].querySelectorAll('rect')].map(bar => [bar.getAttribute('class'), bar.getAttribute('x')].join(' '))`;
    t.same(await page.evaluate(bars), ['live 0', 'silent 500', 'live 600']);

    const marked = line('odd', 'rack10n03', 1, { what: 'differs from the other 3 nodes of job 4711: clock 1.2 GHz' });
    const worst = ['rack10n03', 'rack10n01', 'rack10n02', 'rack10n04'];
    told.now = answer(worst, 'clock 1.2 GHz, others 2.9 GHz', [marked, marked, marked], ['a note', 'and another']);
    await holds(
      page,
      `${ROWS}[0].textContent.startsWith('rack10n03') && ${ROWS}[0].textContent.includes('others 2.9 GHz')`,
    );
    t.match(
      await page.evaluate(`document.querySelector('#sheettrouble').textContent`),
      /^warning: rack10n03 differs from the other 3 nodes/,
    );
    t.same(await places(), before);
    t.same(await objections(page), []);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the window');

    told.now = undefined;
    await holds(page, `document.querySelector('#sheetstate').textContent === 'no job 4711 has nodes'`);
    t.same(await places(), before, 'what was known stays');
    t.same(
      complaints.filter(text => !text.includes('status of 404')),
      [],
    );
  });

t.test('a name never lies over what is beside it, on a job’s page and in the table', { skip }, async t => {
  for (const count of [4, 64, 500]) {
    const tails = ['n1', '-rack07node0001', '.compute.hall1.cluster.example.org', 'x'.repeat(55)];
    const names = Array.from({ length: count }, (_, i) => `${i + 1000}${tails[i % tails.length]}`.replace(/^/, 'r'));
    const wall = new MadeWall([{ name: 'all', names }], true);
    const nodes = names.join();
    wall.jobs = [{ id: '4711', state: 'RUNNING', user: 'anna', name: 'x', nodes, node_count: count }];
    await wall.listen(t);
    const { page, context, complaints } = await look(t, wall.url);
    const columns = [
      'NODE',
      'STATE',
      'CPU',
      'GHZ',
      'MEM',
      'GPU',
      'GPU°C',
      'GPUW',
      'NET/s',
      'FABRIC/s',
      'DISK/s',
      'WAIT',
    ];
    const told = answer(names.slice(0, 200), 'clock 1.2 GHz, others 2.89 to 2.91 GHz', []);
    const page_ = {
      ...told.page,
      columns: [...columns, 'DIFFERS'].map((title, i) => ({ title, left: i < 2 || title === 'DIFFERS' })),
      rows: told.page.rows.map(([name = '', , , differs = '']) => [
        ...[name, 'uncertain!', '100%', '2.89', '93%', '87%', '78', '1234', '12.3G', '23.4G', '3.45G', '12%', differs],
      ]),
      more: count - Math.min(200, count),
    };
    await page.route('**/api/v1/jobs/*', route => route.fulfill({ json: { ...told, page: page_ } }));
    await page.goto(`${wall.url}?job=4711`);
    const shown = Math.min(200, count);
    await holds(
      page,
      `${ROWS}.length === ${shown} && document.querySelectorAll('#table.nodes tbody tr').length === ${shown}`,
    );
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await holds(page, `innerWidth === ${width}`);
      const over = `[...document.querySelectorAll('.members tbody tr, #table tbody tr')].flatMap(row => [...row.cells].flatMap((cell, i) => {
        const range = new Range();
        range.selectNodeContents(cell);
        const [text, box, next] = [range, cell, row.cells[i + 1] ?? row].map(each => each.getBoundingClientRect());
        const isOver = i === 0 ? text.right > next.left + 1 || text.bottom > box.bottom + 1 : cell.scrollWidth > cell.clientWidth + 1;
        return isOver && cell.clientWidth > 0 ? [cell.textContent + ' over ' + row.cells[i + 1]?.textContent] : [];
      }))`;
      t.same((await page.evaluate<string[]>(over)).slice(0, 4), [], `${count} nodes, ${width} px`);
    }
    t.same(complaints, []);
    await context.close();
  }
});

t.test(
  'of a user with shared nodes the use is the nodes’, and a job of several is opened with the node',
  { skip },
  async t => {
    const names = ['n1', 'n2', 'n3'];
    const wall = new MadeWall([{ name: 'all', names }], true);
    const job = (id: string, nodes: string) => ({
      id,
      state: 'RUNNING',
      user: 'anna',
      name: 'x',
      nodes,
      node_count: 2,
    });
    wall.jobs = [job('1', 'n[1-2]'), job('2', 'n[2-3]')];
    await wall.listen(t);
    const { page } = await look(t, wall.url);
    const user = { job_count: 2, nodes: 'n[1-3]', node_count: 3, cpus: 64, cpu_use: 0.5, gpus: 0, trouble_count: 0 };
    await page.route('**/api/v1/users', route =>
      route.fulfill({
        json: {
          users: [
            { ...user, user: '<b>anna</b>', shared_count: 1 },
            { ...user, user: '', shared_count: 0 },
          ],
        },
      }),
    );
    await page.goto(`${wall.url}?list=users&select=n2`);
    const rows = `[...document.querySelectorAll('#jobs tbody tr')].map(row => [...row.cells].map(({ textContent }) => textContent))`;
    await holds(page, `${rows}.length === 2`);
    t.same(await page.evaluate(rows), [
      ['<b>anna</b>', '2', '3', '64', '~50 %', '–', '–', '–'],
      ['–', '2', '3', '64', '50 %', '–', '–', '–'],
    ]);
    t.match(await page.textContent('#jobsage'), /^~ with the use of others/);
    t.same(await objections(page), []);
    await page.click('#listjobs');
    await holds(page, `${rows}.length === 2 && ${rows}[0][0] === '1'`);
    await holds(page, `!location.search.includes('list=')`);
    t.equal(await page.textContent('#jobsage'), '');
    await page.locator('#table td button').getByText('1, 2').click();
    await holds(page, `${NAME} === 'n2'`);
    await page.keyboard.press('Escape');

    // Parts of an array are selected together, and the server says what to ask for.
    wall.jobs = [job('7_1', 'n1'), job('7_2', 'n3'), job('70', 'n2')];
    await holds(page, `${rows}.length === 3`);
    await page.route('**/api/v1/jobs/7', route => route.fulfill({ status: 404, body: 'name one of them: 7_1' }));
    await search(page, '7');
    await holds(page, `document.querySelector('#sheetstate')?.textContent === 'name one of them: 7_1'`);
    await holds(page, `document.querySelector('#chosen').textContent === '2 nodes selected: n1,n3'`);
  },
);

t.test(
  'one search: what is meant is named, what else it could be is offered, and Escape clears it',
  { skip },
  async t => {
    const groups = ['r1', 'r2'].map(name => ({ name, names: [`${name}n01`, `${name}n02`] }));
    const wall = new MadeWall(groups, true);
    const job = { id: '47', state: 'RUNNING', name: 'x', node_count: 1 };
    wall.jobs = [
      { ...job, user: 'r1', nodes: 'r2n01' },
      { ...job, id: '48', user: 'r2n02', nodes: 'r1n01,r1n02' },
    ];
    // Healthy ones, too.
    wall.switches = [
      { name: 'leaf17', nodes: 'r1n[01-02]' },
      { name: 'r2', nodes: 'r2n01' },
    ];
    wall.head = { ...wall.head, trouble: [line('together', 'r1n02', 1)], marks: { held: 'r1n02,r2n01' } };
    await wall.listen(t);
    const { page, complaints } = await look(t, wall.url);
    await holds(page, `document.querySelectorAll('#jobs tbody tr').length === 2`);
    for (const [asked, query, said] of [
      ['leaf17', 'select=r1n[01-02]', /2 nodes selected/],
      ['switch leaf17', 'select=r1n[01-02]', /2 nodes selected/],
      ['switch leaf18', '', /There is no switch leaf18/],
      ['together', 'select=r1n02', /1 node selected/],
      ['r2', 'group=r2', /r2 is a group; write switch r2 for that/i],
      ['switch r2', 'select=r2n01', /1 node selected: r2n01/],
      ['n01', 'select=r1n01,r2n01', /2 nodes whose names have “n01” in them/],
      ['r1', 'group=r1', /r1 is a group; write user r1 for that/i],
      ['user r1', 'select=r2n01', /1 node selected: r2n01/],
      ['r2n02', 'select=r1n01,r1n02', /r2n02 is a user; write node r2n02 for that/i],
      ['node r2n02', 'at=r2n02', /^$/],
      ['r2n[01-02]', 'select=r2n[01-02]', /2 nodes selected/],
      ['silent', 'state=silent', /0 nodes silent/],
      ['held', 'select=r1n02,r2n01', /2 nodes selected/],
      ['Drained', 'select=r1n02,r2n01', /2 nodes selected/],
      ['n9', '', /There is no node n9/],
      ['node n9', '', /There is no node n9/],
      ['99', '', /There is no job of number 99/],
    ] as const) {
      await search(page, asked);
      const isThere = `decodeURIComponent(location.search).includes('${query}')`;
      await holds(page, `${isThere} && ${said}.test(document.querySelector('#chosen').textContent)`);
      await page.focus('#asked');
      await page.keyboard.press('Escape');
      t.equal(await page.inputValue('#asked'), '', asked);
      await page.keyboard.press('Escape');
      await holds(page, `!/(select|group|state)=/.test(location.search)`);
    }
    // The other meaning is a button away.
    await search(page, 'r1');
    await page.click('#offered button:text("user r1")');
    await holds(
      page,
      `location.search.includes('select=r2n01') && document.querySelector('#offered').textContent === ''`,
    );
    await page.focus('#field');
    await page.keyboard.press('Escape');
    await search(page, 'cpu > 90%');
    await holds(page, `location.search.includes('where=')`);
    await page.keyboard.press('Escape');
    await holds(page, `!location.search.includes('where=')`);
    t.same(complaints, []);
  },
);

t.test('where jobs are not shown, what might be one is said not to be known', { skip }, async t => {
  const wall = new MadeWall([{ name: 'r1', names: ['r1n01', 'r1n02'] }], false);
  await wall.listen(t);
  const { page } = await look(t, wall.url);
  for (const [asked, said] of [
    ['leaf17', /There is no node leaf17; jobs are not shown here; .* with --show-jobs/],
    ['switch leaf17', /There is no switch leaf17; jobs are not shown here/],
    ['user anna', /There is no user anna; jobs are not shown here/],
    ['4711', /4711”: jobs are not shown here/],
    ['node n9', /There is no node n9$/],
  ] as const) {
    await search(page, asked);
    await holds(page, `${said}.test(document.querySelector('#chosen').textContent)`);
  }
});

t.test('nodes that differ from their family, where there are no jobs', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'a[1-5]']);
  // A machine that is not simulated has another kernel.
  start(t, ['send', '--to', `127.0.0.1:${wall.receiver.port}`, '--name', 'a6']);
  const { page, complaints } = await look(t, wall.url);
  const buttons = `[...document.querySelectorAll('#lists button')].filter(one => !one.hidden).map(one => one.id).join()`;
  await holds(page, `${buttons} === 'listodd'`);
  await page.click('#listodd');
  await holds(page, `location.search.includes('list=odd')`);
  const row = `[...document.querySelectorAll('#jobs tbody tr')].find(row => row.textContent.startsWith('kernel'))`;
  await holds(page, `/^kernel1a6: .+, 5 others /.test(${row}?.textContent)`);
  await page.evaluate(`${row}.querySelector('button').click()`);
  await holds(page, `document.querySelector('#chosen').textContent.endsWith('selected: a6')`);
  t.same(await objections(page), []);
  t.same(complaints, []);
});
