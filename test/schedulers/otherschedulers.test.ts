// The examples for PBS, Flux, OAR and HTCondor beside stand-ins of these, which speak their published forms: what is bad
// by the board is kept from jobs, in doubt nothing is changed, and only what an example did is taken back. Which nodes
// are bad is what c/sensor says, also on random boards. OAR's own module is called if it is installed.
//
// @seconds 8
// @waits
// @rest
// @days 3

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { ended } from '../kit/children.js';
import { compiled, makeIn } from '../kit/compiling.js';
import { keepAlive } from '../kit/heart.js';
import { beat, makeLinkBoard } from '../kit/linkboard.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { type Made, makeBoard, numbered, stall } from '../kit/stateboard.js';
import { SEED } from '../kit/whole.js';
import { startWeb } from '../web/webclient.js';

t.setTimeout(600_000);
t.comment(`SEED=${SEED}`);
const OUT = folder(t);
const LIBRARY = join(makeIn('', {}, 'lib'), 'libbeoboard.so.1');
const SENSOR = compiled(t, 'sensor', 'beoboard-sensor');
const STANDINS = join(ROOT, 'test', 'schedulers', 'standins');
/** As the examples begin. */
const PYTHON = '/usr/bin/python3';
const HELD = 'unhealthy: put on hold by its administrator';
const example = (...path: string[]) => join(ROOT, 'examples', ...path);

/** An example as an administrator with other names edits it. */
function edited(...path: string[]): string {
  const text = readFileSync(example(...path), 'utf8')
    .replace(/^DOMAIN = ""/m, 'DOMAIN = ".example.org"')
    .replace(/^(NAMES.*) = \{\}/m, '$1 = {"cn7": "s1", "h1": ""}');
  if (!/"\.example\.org".*"cn7"/s.test(text)) throw new Error(`${path}: it has other constants`);
  const copy = join(OUT, path.at(-1) ?? '');
  writeFileSync(copy, text);
  return copy;
}

const env = (board: string, more: Record<string, string> = {}) => ({
  ...{ ...process.env, PATH: `${STANDINS}:${process.env.PATH}`, PYTHONPATH: `${STANDINS}:${join(ROOT, 'python')}` },
  ...{ BEOBOARD_LIBRARY: LIBRARY, PYTHONDONTWRITEBYTECODE: '1' },
  ...{ BEOBOARD_BOARD: board, ...more },
});

function run(command: string, argv: readonly string[], board: string, more: Record<string, string> = {}, input = '') {
  const { status, stdout, stderr } = spawnSync(command, argv, { env: env(board, more), encoding: 'utf8', input });
  return { code: status, stdout, stderr };
}

/** Nodes of each kind, few enough of them silent or uncertain. Its heart beats until `stop` is called. */
const NODES = {
  ...{ live: numbered(40), silent: ['s1'], left: ['l1'], never: ['v1'], uncertain: ['u1'] },
  ...{ held: ['h1'], unhealthy: ['i1'] },
};
const board = makeBoard(t, NODES);
const stop = keepAlive(t, board.path, []);
const braking = makeBoard(t, { live: numbered(10), silent: ['s1', 's2', 's3', 's4'], held: ['h1'] });
keepAlive(t, braking.path, []);
const stalled = makeBoard(t, NODES);
stall(stalled, 60);
const none = { path: join(OUT, 'none') };
/** Boards from which nothing can be concluded, and what is said. */
const DOUBTS: readonly [Pick<Made, 'path'>, RegExp][] = [
  [stalled, /the receiver is stalled|stalled/],
  [none, /no such board/],
  [braking, /4 of 15 nodes are silent or uncertain, more than the brake of 3/],
];

t.test('the bad ones are those of the load sensor', async t => {
  const next = random(SEED);
  const pick = (n: number) => Math.floor(next() * n);
  const cases = Array.from({ length: 30 }, () => {
    const path = boardPath(t);
    return { path, names: makeLinkBoard(path, pick).map(({ name }) => name) };
  });
  const two = { live: numbered(9), silent: ['a@eth1', 'b@eth1', 'c@eth2'], left: ['l'], held: ['h'], unhealthy: ['i'] };
  for (const how of [{ dark: true }, { down: ['eth2'] }]) {
    const path = makeBoard(t, two, how).path;
    cases.push({ path, names: [...numbered(9), 'a', 'b', 'c', 'l', 'h', 'i'] });
  }
  const program =
    'import sys, json, beoboard\nfor path in sys.argv[1:]:\n with beoboard.open(path) as b: print(json.dumps(b.fitness(1000)))';
  for (const { path } of cases) beat(path);
  const told = run(PYTHON, ['-c', program, ...cases.map(({ path }) => path)], '');
  t.equal(told.stderr, '');
  const lines = told.stdout.trim().split('\n');
  let bad = 0;
  for (const [i, { path, names }] of cases.entries()) {
    const hosts = join(OUT, 'hosts');
    writeFileSync(hosts, `${names.join('\n')}\n`, { mode: 0o644 });
    beat(path);
    const argv = ['--hosts', hosts, '--board', path, '--brake', '1000'];
    const said = execFileSync(SENSOR, argv, { input: '\n', encoding: 'utf8' });
    const wanted = new Set([...said.matchAll(/^(.*):bb_(?:state|problems):[1-9]/gm)].map(([, name]) => name));
    const fitness = JSON.parse(lines[i] ?? '') as Record<string, string>;
    const got = Object.keys(fitness).filter(name => fitness[name] !== '');
    t.strictSame(got.sort(), [...wanted].sort(), path);
    bad += got.length;
  }
  t.ok(bad > 50, `${bad} bad nodes`);
});

t.test('PBS', async t => {
  const hook = example('pbs', 'beoboard_hook.py');
  type Done = { said: string; changed: Record<string, object>; log: string[] };
  const events = (given: readonly object[], { path } = board as Pick<Made, 'path'>): Done[] => {
    const { code, stdout, stderr } = run(PYTHON, [join(STANDINS, 'pbs.py'), hook], path, {}, JSON.stringify(given));
    t.strictSame([code, stderr], [0, '']);
    return JSON.parse(stdout);
  };
  const job = (exec_vnode: string) => ({ exec_vnode });
  const [free, offline, down] = [0, 1, 2];
  const vnodes = {
    ...{ n001: [free, null], S1: [free, null], 'h1[0]': [free, null], 'h1[1]': [16, null] },
    ...{ l1: [free, 'PSU on order'], i1: [down, 'node down: communication closed'] },
    ...{ n002: [offline, 'beoboard: silent'], n003: [offline, 'fan 3'], n004: [offline, null] },
    n006: [offline + down + 16, 'beoboard: silent'],
    ...{ u1: [offline, 'beoboard: silent'], v1: [offline, 'beoboard: silent'], nobody: [offline, 'beoboard: left'] },
    ...{ n005: [free, 'beoboard: a word of an administrator'], "x'; rm -rf /\n": [free, null], '': [free, null] },
  };
  const accepted = { said: 'accept', changed: {}, log: [] };
  const rejected = (why: string) => ({ ...accepted, said: `reject: beoboard: ${why}` });
  const many = ['s1', 'l1', 'h1', 'i1', 'S1'].map(name => `(${name}:ncpus=1)`).join('+');
  t.strictSame(
    events([
      job('(n001:ncpus=1)+(N002:ncpus=2:mem=1gb+n003:ncpus=1)+(u1:ncpus=1)+(v1:ncpus=1)+(nobody:ncpus=1)'),
      job('(n001:ncpus=1)+(n002:ncpus=2:mem=1gb+S1:ncpus=1)+(h1[1]:ncpus=1)+(S1:ncpus=1)'),
      job(many),
      job('()((+::[]'),
      job(''),
      { vnodes },
    ]),
    [
      accepted,
      rejected(`S1 is silent; h1[1] is ${HELD}`),
      rejected(`s1 is silent; l1 is left; h1 is ${HELD}; i1 is unhealthy: its health check failed; and 1 more`),
      ...[accepted, accepted],
      {
        ...accepted,
        changed: {
          S1: { state: offline, comment: 'beoboard: silent' },
          'h1[0]': { state: offline, comment: `beoboard: ${HELD}` },
          'h1[1]': { state: offline, comment: `beoboard: ${HELD}` },
          n002: { state: free, comment: null },
          n006: { state: down, comment: null },
        },
      },
    ],
  );
  const rack = makeBoard(t, { live: ['n1'], held: numbered(25, 1, 'h') });
  beat(rack.path);
  const [many25] = events(
    [{ vnodes: Object.fromEntries(numbered(25, 1, 'h').map(name => [name, [free, null]])) }],
    rack,
  );
  t.equal(Object.keys(many25?.changed ?? {}).length, 20, 'not more at one time');
  for (const [doubt, why] of DOUBTS)
    for (const done of events([job('(s1:ncpus=1)'), { vnodes }], doubt)) {
      t.strictSame([done.said, done.changed], ['accept', {}]);
      t.match(done.log, [why]);
    }
  const argv = [
    '-S',
    '-c',
    'import runpy, sys; sys.path[0] = sys.argv[1]; sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name="__main__")',
  ];
  const bare = run(
    PYTHON,
    [...argv, STANDINS, join(STANDINS, 'pbs.py'), hook],
    '',
    { PYTHONPATH: '' },
    JSON.stringify([job('(s1:ncpus=1)')]),
  );
  t.match(bare, { code: 0, stdout: /"accept".*No module named 'beoboard'/ }, 'without the module jobs start');
});

t.test('Flux', async t => {
  const hosts = ['n001', 'n002', 'n003', 'S1', 'h1', 'l1', 'u1', 'v1', 'nobody', 'i1'];
  const flux = (drained: Record<number, string>, excluded: readonly number[] = [], list = hosts.join()) => {
    const place = folder(t);
    for (const name of ['drained', 'excluded']) mkdirSync(join(place, name));
    writeFileSync(join(place, 'hostlist'), `${list}\n`);
    writeFileSync(join(place, 'size'), '10\n');
    for (const rank of excluded) writeFileSync(join(place, 'excluded', `${rank}`), '');
    for (const [rank, reason] of Object.entries(drained)) writeFileSync(join(place, 'drained', rank), reason);
    return place;
  };
  const round = (place: string, { path } = board as Pick<Made, 'path'>) => {
    const { code, stderr } = run(example('flux', 'beoboard-flux'), [], path, { FLUX: place });
    const left = readdirSync(join(place, 'drained')).map(rank => [
      rank,
      readFileSync(join(place, 'drained', rank), 'utf8'),
    ]);
    return { code, stderr, drained: Object.fromEntries(left) };
  };
  const drained = {
    0: 'beoboard: silent',
    1: 'beoboard: silent',
    2: 'fan 3',
    6: 'beoboard: silent',
    8: 'beoboard: left',
  };
  const place = flux({ ...drained, 5: 'beoboard is down for a new disk' }, [9]);
  const after = {
    ...{ 2: 'fan 3', 3: 'beoboard: silent', 4: `beoboard: ${HELD}`, 5: 'beoboard is down for a new disk' },
    ...{ 6: 'beoboard: silent', 8: 'beoboard: left' },
  };
  const refused = /^beoboard-flux: \('drain', '9', .*rank 9 is drained or excluded\n\n?$/;
  t.match(round(place), { code: 1, stderr: refused, drained: after });
  t.strictSame(Object.keys(round(place).drained), Object.keys(after));
  const orders = readFileSync(join(place, 'orders'), 'utf8').split('\n');
  t.strictSame(orders.filter(line => !line.startsWith('drain 9')).length, 5, 'four orders, each once');
  for (const [doubt, why] of DOUBTS)
    t.match(round(flux(drained), doubt), { code: 4, stderr: why, drained }, 'nothing is changed');
  for (const list of ['n001,$(touch x)', 'n[1-9999999]', 'n001,n001'])
    t.match(round(flux(drained, [], list)), { code: 4, stderr: /nothing is changed\n$/, drained }, list);
  const hostile = { 2: 'fan 3', 7: 'odd\n2\tbeoboard: silent\n0-99999999999\tbeoboard: silent\nlast' };
  t.strictSame(round(flux(hostile)).drained, hostile, 'a reason with lines of its own');
  const bytes = flux({ 0: 'beoboard: silent' });
  writeFileSync(join(bytes, 'drained', '2'), Buffer.of(0xff, 9, 0xc3));
  t.match(round(bytes).drained, { 0: undefined, 2: /^\ufffd/, 3: 'beoboard: silent' }, 'a reason of any bytes');
});

/** What OAR's PingChecker does with a generic command: names behind it, in a shell; each line of stderr is a bad node. */
function pinged(hosts: readonly string[], { path }: Pick<Made, 'path'>, unreachable = '') {
  const record = join(folder(t), 'pinged');
  const more = { PINGED: record, UNREACHABLE: unreachable };
  const command = [example('oar', 'beoboard-pinger'), ...hosts].join(' ');
  const { stderr } = run('sh', ['-c', command], path, more);
  const bad = stderr
    .split('\n')
    .flatMap(line => /^\s*([\w.-]+)\s*$/.exec(line)?.slice(1) ?? (line && [`odd: ${line}`]));
  const asked = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
  return { bad: bad.filter(Boolean), asked };
}

t.test('OAR', async t => {
  const hosts = ['n001', 'S1', 'l1', 'h1', 'i1', 'u1', 'v1', 'nobody'];
  const [bad, doubtful] = [
    ['S1', 'l1', 'h1', 'i1'],
    ['u1', 'v1', 'nobody'],
  ];
  t.strictSame(pinged(hosts, board), { bad, asked: doubtful });
  t.strictSame(pinged(hosts, board, 'u1 n001'), { bad: [...bad, 'u1'], asked: doubtful });
  for (const [doubt] of DOUBTS)
    t.strictSame(pinged(hosts, doubt, 's1 v1'), { bad: ['v1'], asked: hosts }, 'nothing is known: all are pinged');
  t.strictSame(pinged(['n001', 'n002'], board), { bad: [], asked: [] });
  // Where it is: oar.long.test.ts brings it.
  if (spawnSync('perl', ['-e', 'use OAR::PingChecker']).status !== 0) return;
  t.test('by its own module', async t => {
    const conf = join(OUT, 'oar.conf');
    writeFileSync(
      conf,
      `PINGCHECKER_GENERIC_COMMAND="${example('oar', 'beoboard-pinger')}"\nLOG_LEVEL="0"\nLOG_FILE="/dev/null"\n`,
    );
    const script = 'use OAR::PingChecker qw(test_hosts); print "$_\\n" for test_hosts(@ARGV);';
    const more = { OARCONFFILE: conf, PINGED: join(OUT, 'pinged'), UNREACHABLE: 'v1' };
    const { code, stdout, stderr } = run('perl', ['-e', script, ...hosts], board.path, more);
    t.strictSame([code, stdout.trim().split('\n').sort()], [0, [...bad, 'v1'].sort()], stderr);
  });
});

t.test('HTCondor: silent machines leave the collector', async t => {
  const forget = ({ path } = board as Pick<Made, 'path'>, machines = ['n001', 's1', 'S1', 'S1', 'h1', 'u1', 'l1']) => {
    const place = folder(t);
    const [list, ads] = [join(place, 'machines'), join(place, 'ads')];
    writeFileSync(list, `${machines.join('\n')}\n`);
    writeFileSync(ads, '');
    const { code, stdout, stderr } = run(example('htcondor', 'beoboard-forget'), [], path, {
      MACHINES: list,
      ADS: ads,
    });
    return { code, stdout, stderr, ads: readFileSync(ads, 'utf8') };
  };
  const ad = (name: string) => `MyType = "Query"\nTargetType = "Machine"\nRequirements = Machine == "${name}"\n`;
  t.match(forget(), { code: 0, stderr: '', ads: ad('S1') + ad('s1') });
  t.match(forget(board, ['s1"||true||"', 'undefined', '$(touch x)', 'n002']), { code: 0, stdout: '', ads: '' });
  for (const [doubt, why] of DOUBTS) t.match(forget(doubt), { code: 4, stderr: why, ads: '' });
});

t.test("names that are not the board's", async t => {
  const names = ['CN7.example.org', 's1.EXAMPLE.org', 's1.other.org', 'h1', 'i1.example.org', 'n001'];
  const bad = ['CN7.example.org', 's1.EXAMPLE.org', 'i1.example.org'];
  const given = JSON.stringify([{ vnodes: Object.fromEntries(names.map(name => [name, [0, null]])) }]);
  const pbs = run(PYTHON, [join(STANDINS, 'pbs.py'), edited('pbs', 'beoboard_hook.py')], board.path, {}, given);
  t.strictSame(Object.keys(JSON.parse(pbs.stdout)[0].changed), bad, 'PBS');
  const FLUX = folder(t);
  mkdirSync(join(FLUX, 'drained'));
  writeFileSync(join(FLUX, 'hostlist'), names.join());
  writeFileSync(join(FLUX, 'size'), `${names.length}`);
  t.equal(run(PYTHON, [edited('flux', 'beoboard-flux')], board.path, { FLUX }).code, 0);
  const drained = readdirSync(join(FLUX, 'drained')).map(rank => names[Number(rank)]);
  t.strictSame(drained.sort(), [...bad].sort(), 'Flux');
  const files = { MACHINES: join(OUT, 'machines'), ADS: join(OUT, 'ads'), PINGED: join(OUT, 'asked'), UNREACHABLE: '' };
  t.strictSame(run(PYTHON, [edited('oar', 'beoboard-pinger'), ...names], board.path, files), {
    ...{ code: 0, stdout: '' },
    stderr: `${bad.join('\n')}\n`,
  });
  t.equal(readFileSync(files.PINGED, 'utf8'), 's1.other.org\nh1\n', 'OAR');
  writeFileSync(files.MACHINES, names.join('\n'));
  t.equal(run(PYTHON, [edited('htcondor', 'beoboard-forget')], board.path, files).code, 0);
  const ads = readFileSync(files.ADS, 'utf8').matchAll(/Machine == "(.*)"/g);
  t.strictSame(
    [...ads].map(([, name]) => name),
    ['CN7.example.org', 's1.EXAMPLE.org'],
    'HTCondor',
  );
  // Without DOMAIN and NAMES none of these is on the board.
  const far = names.filter(name => name.includes('.'));
  const vnodes = JSON.stringify([{ vnodes: Object.fromEntries(far.map(name => [name, [0, null]])) }]);
  const hook = run(PYTHON, [join(STANDINS, 'pbs.py'), example('pbs', 'beoboard_hook.py')], board.path, {}, vnodes);
  t.match(JSON.parse(hook.stdout), [{ said: 'accept', changed: {}, log: [/no vnode is on the board, .* DOMAIN and/] }]);
  writeFileSync(join(FLUX, 'hostlist'), far.join());
  writeFileSync(join(FLUX, 'size'), `${far.length}`);
  const flux = run(example('flux', 'beoboard-flux'), [], board.path, { FLUX });
  t.match(flux, { code: 0, stderr: /^beoboard-flux: no node is on the board, .* DOMAIN and NAMES\n$/ });
  writeFileSync(files.MACHINES, far.join('\n'));
  const forget = run(example('htcondor', 'beoboard-forget'), [], board.path, files);
  t.match(forget, { code: 0, stderr: 'beoboard-forget: no machine is on the board: see DOMAIN and NAMES\n' });
});

t.test('HTCondor: the ad of a machine', async t => {
  const web = await startWeb(t, board.path);
  /** The attributes, as condor_startd reads them: lines `name = value`, and one that begins with - ends the ad. */
  const adOf = async (name: string, url = web.url) => {
    const begun = Math.floor(Date.now() / 1000);
    const { code, stdout } = await ended(spawn(example('htcondor', 'beoboard-ad'), [url, name], { env: env('') }));
    t.equal(code, 0);
    const lines = stdout.trim().split('\n');
    t.match(lines.pop(), /^-( update:true)?$/, 'ends');
    const rows = lines.map(line => /^(\w+) = (undefined|true|false|"[a-z_,]*"|\d+)$/.exec(line) ?? [line]);
    const { BeoboardUntil, ...rest } = Object.fromEntries(rows.map(([, key, value]) => [key, value]));
    const holds = Number(BeoboardUntil) - 120;
    t.ok(holds >= begun && holds <= Date.now() / 1000, 'holds for two minutes');
    return rest;
  };
  const ad = (fit: string, problems = '') => ({ BeoboardFit: fit, BeoboardProblems: `"${problems}"` });
  t.strictSame(await adOf('n001'), ad('true'));
  t.strictSame(await adOf('h1'), ad('false', 'held'));
  t.strictSame(await adOf('i1'), ad('false', 'bad_health'));
  for (const name of ['u1', 's1', 'nobody', 'n[001-002]', "../n001'\nBeoboardFit = false"])
    t.strictSame(await adOf(name), ad('undefined'), name);
  t.strictSame(await adOf('n001', 'file:///etc'), ad('undefined'));
  const answers = [
    '{"nodes":[{"state":"live","problems":["held\\"\\n","gpu_lost"]}]}',
    '[]',
    '{',
    'x'.repeat(2e6),
    '{"nodes":[{}]}',
  ];
  const server = createServer((_, answer) => answer.end(answers.shift())).listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await once(server, 'listening');
  const other = () => adOf('n001', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.strictSame(await other(), ad('false', 'gpu_lost'), 'only words that are known');
  while (answers.length > 0) t.strictSame(await other(), ad('undefined'), 'no answer of ours');
  const config = readFileSync(example('htcondor', 'beoboard.conf'), 'utf8');
  t.match(config, /^START = \(\$\(START\)\) && \(BeoboardFit =!= False \|\| time\(\) > BeoboardUntil\)$/m);
  await stop();
  stall(board, 60);
  t.strictSame(await adOf('h1'), ad('undefined'), 'stalled');
});
