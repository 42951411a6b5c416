// The gate for jobs, c/gate: every rule for yes and no, on boards made for it; it waits for what may come back, and
// answers only with 0 or 1 whatever happens to it; and its lists beside those of TypeScript.
//
// @seconds 19
// @whole
// @days 3

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { BoardReader } from '../../src/shm/reader.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { ended } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { builds, CHECKED, compiled, DYNAMIC, INSTALLED, type Make, makeIn } from '../kit/compiling.js';
import { compileTargets, tellAll } from '../kit/fuzzing.js';
import { lacks } from '../kit/lacking.js';
import { beat } from '../kit/linkboard.js';
import { validOf } from '../kit/madeboard.js';
import { Manager } from '../kit/manager.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { type Made, makeBoard, numbered, stall, unborn } from '../kit/stateboard.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE } from '../kit/whole.js';
import { keptBoard, writtenBoard } from '../kit/writtenboard.js';

const S = 1_000_000_000n;
const SOURCE = join(ROOT, 'c', 'gate');

const compile = (t: Teardown, how?: Make) => compiled(t, 'gate', 'beoboard-gate', how);
const GATE = compile(t, CHECKED);
/** Without the sanitizers, because these handle signals themselves. */
const PLAIN = compile(t, DYNAMIC);

// ---- running ----

interface Answer {
  code: number | string | null;
  stdout: string;
  stderr: string;
}

interface Running {
  child: ChildProcess;
  answer: Promise<Answer>;
}

/**
 * Starts the gate with only the given environment variables; while it runs, the board's heartbeat continues, unless it
 * is stalled.
 */
function startGate(
  board: string | undefined,
  args: readonly string[],
  env = {},
  stalled = false,
  gate = GATE,
): Running {
  const [program = '', ...before] = gate.split(' ');
  if (board !== undefined && !stalled) beat(board);
  const child = spawn(program, [...before, ...(board === undefined ? [] : ['--board', board]), ...args], { env });
  const beating =
    board === undefined || stalled
      ? undefined
      : setInterval(() => {
          if (existsSync(board)) beat(board);
        }, 200);
  return { child, answer: ended(child).finally(() => clearInterval(beating)) };
}

/** The exit code, and the line without the program's name. */
async function ask(board: string | undefined, args: readonly string[], env = {}, stalled = false) {
  const { code, stdout, stderr } = await startGate(board, args, env, stalled).answer;
  return [code, `${stdout}${stderr}`.replace(/^beoboard-gate: /, '').trimEnd()] as const;
}

/** Waits until it has mapped the board and sleeps: it has looked at it then, and waits for a change. */
const hasLooked = ({ child }: Running, board: string) =>
  until('it has looked at the board', () => {
    const [maps, stat] = ['maps', 'stat'].map(name => `/proc/${child.pid}/${name}`) as [string, string];
    if (!existsSync(maps) || !readFileSync(maps, 'utf8').includes(board)) return false;
    return /\) S /.test(readFileSync(stat, 'utf8'));
  });

/** Ages are replaced, because the clock moves on. */
const aged = (said: string) => said.replace(/\b\d+[smhd]\b/g, 'AGE').replace(/\b3[56]\d\d s\b/g, 'AGO');

const OPEN = 'yes, fails open: ';
const RARE = "it reports every AGE, and is judged by the receiver's --longest-interval";
const CLOSED = 'no, fails closed: ';

// ---- the rules ----

t.test('an OOM kill and GPU errors that are over let a job start', async t => {
  const common = { interval_ms: 600_000, valid: validOf('vmstat', 'gpu_errors', 'gpu') };
  const { path } = writtenBoard(
    t,
    { n1: ago => ({ ...common, oom_kills: ago > 9 ? 1 : 2, gpu_errors: ago > 5 ? 0 : 1 }) },
    20,
  );
  t.equal(new BoardReader(path).snapshot().memoryOf(0)?.recent.join(), 'gpu_errors,oom');
  t.same(await ask(path, ['--health', '--nodes', 'n1']), [0, '']);
});

t.test('a fatal problem that is not measured any more', async t => {
  const past = (ago: number) => ({
    ...{ interval_ms: 600_000, health: ago > 9 ? 3 : 0, boot_id: 5n },
    valid: ago > 9 ? validOf('health') : 0n,
  });
  const { reader, writer } = keptBoard(
    t,
    {
      n1: past,
      n2: ago => ({ ...past(ago), health: ago > 12 ? 3 : ago > 9 ? 1 : 0 }),
      n3: ago => ({
        ...past(ago),
        ...(ago === 5 && { flags: 1 << bits.flags.goodbye }),
        ...(ago < 5 && { boot_id: 6n, start_boot_ns: 7n }),
      }),
    },
    20,
  );
  const { path } = reader;
  const asked = async (name: string, more: string[] = []) => {
    const [code, said] = await ask(path, ['--nodes', name, ...more]);
    return [code, aged(said)];
  };
  const end = 'until that is measured as absent, it boots, or somebody runs beoboard clear -w n1';
  const why = `n1 was unhealthy when that was last measured, AGE ago: its health check failed; ${end}`;
  t.same(await asked('n1', ['--health']), [1, `no: ${why}`]);
  t.same(await asked('n1'), [0, '']);
  t.same(await asked('n1', ['--health', '--ignore', 'bad_health']), [0, '']);
  t.same(await asked('n2', ['--health']), [0, ''], 'it was measured as absent');
  t.same(await asked('n3', ['--health']), [0, ''], 'it was booted');
  t.same(writer.clear(['n1']), [2]);
  t.same(await asked('n1', ['--health']), [0, ''], 'it was cleared');
});

t.test('every rule', async t => {
  const live = numbered(60);
  const board = makeBoard(t, {
    live: [...live, 'second@eth1', 'third@eth2'],
    silent: ['s1', 's2@eth1', 's3@eth2'],
    left: ['l1'],
    never: ['v1'],
    held: ['h1'],
    unhealthy: ['i1'],
  });
  const unsure = makeBoard(t, { live, uncertain: ['u1', 'u2'], silent: ['s1'] });
  const claimed = makeBoard(t, { live, silent: ['s1'] });
  claimed.lay('s1', 0, { interval_ms: 0 });
  // By a minute nodes are uncertain after 6 s and silent after 60 s, by their ten minutes after 60 s and 600 s.
  const rare = makeBoard(t, {}, { uncertainAfter: 100, silentAfter: 1000, longestInterval: 60_000 });
  for (const [name, ago] of [
    ['r1', 10],
    ['r2', 70],
  ] as const)
    rare.lay(name, ago, { interval_ms: 600_000 });
  rare.lay('r3', 70, { interval_ms: 60_000 });
  rare.writer.listeningSince(monotonicNs() - 100n * S);
  rare.writer.heartbeat(monotonicNs());
  const far = folder(t);
  const file = (name: string, text: string, mode = 0o644, ageS = 0) => {
    const path = join(far, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    const then = Date.now() / 1000 - ageS;
    utimesSync(path, then, then);
    return path;
  };
  const names = file('names', '\ufeff# exceptions\r\nCN-7 n001 # moved\nn002\ts1\n\nGone nobody\n');
  const fresh = `@${file('fresh', '# saving\nS1\nl1,v[1-2]\n')}`;
  const stale = `@${file('stale', 's1\n', 0o644, 3600)}`;
  const off = `@${file('off', '# power saving: off\n', 0o644, 3600)}`;
  const on = `@${file('on', '# power saving: on\n# has been in it: l1,s[2-3]\n# has been in it: CN-7\ns3\n', 0o644, 3600)}`;
  const unclear = `@${file('unclear', '# power saving: on\n# has been in it: s[2-1]\n', 0o644, 3600)}`;
  const followed = file('followed', '# beoboard slurm writes this file again and again\n_N+2 s2\n', 0o644, 3600);
  const ahead = `@${file('ahead', 's1\n', 0o644, -3600)}`;
  // biome-ignore format: a table
  const rows: [what: string, on: Made, args: string, code: number, says: string][] = [
    ['all live', board, '--nodes n[001-060]', 0, ''],
    ['one silent', board, '--nodes n001,s1', 1, 'no: s1 has been silent for AGE'],
    ['one in whose name a report was rejected', claimed, '--nodes s1', 1, 'no: s1 has been silent for AGE (reports in its name are rejected: interval; they may be recordings)'],
    ['several', board, '--nodes s1,s2,s3', 1, 'no: s1 has been silent for AGE, s2 has been silent for AGE, s3 has been silent for AGE'],
    ['left', board, '--nodes l1 --wait 0s', 1, 'no: l1 left AGE ago'],
    ['left, closed', board, '--nodes l1 --wait 0ms --fail closed', 1, 'no: l1 left AGE ago'],
    ['never', board, '--nodes v1', 0, 'yes, though v1 has never reported: fails open'],
    ['never, closed', board, '--nodes v1 --fail closed', 1, `${CLOSED}v1 has never reported`],
    ['not on the board', board, '--nodes n001,x1', 0, 'yes, though x1 is not on the board: fails open'],
    ['up to a domain', board, '--nodes n001.a.org', 0, 'yes, though n001.a.org is not on the board (for --names: n001.a.org n001): fails open'],
    ['likewise, closed', board, '--nodes n001,x1 --fail closed', 1, `${CLOSED}x1 is not on the board`],
    ['evidence goes before none', board, '--nodes x1,v1,s1', 1, 'no: s1 has been silent for AGE'],
    ['uncertain', unsure, '--nodes u1 --wait 0s', 0, 'yes, though u1 is uncertain: fails open'],
    ['uncertain, closed', unsure, '--nodes u1 --wait 0s --fail=closed', 1, `${CLOSED}u1 is uncertain`],
    ['uncertain between its reports', rare, '--nodes r1 --wait 0s', 0, `yes, though r1 is uncertain (${RARE}): fails open`],
    ['silent for less than ten of its reports', rare, '--nodes r2,r3', 1, `no: r2 has been silent for AGE (${RARE}), r3 has been silent for AGE`],
    ['upper case', board, '--nodes N001,S1', 1, 'no: S1 has been silent for AGE'],
    ['an exception', board, `--nodes CN-7 --names ${names}`, 0, ''],
    ['exceptions go before names', board, `--nodes n002 --names ${names}`, 1, 'no: n002 has been silent for AGE'],
    ['and are in the case of Slurm', board, `--nodes cn-7 --names ${names}`, 0, 'yes, though cn-7 is not on the board: fails open'],
    ['one that leads nowhere', board, `--nodes Gone --names ${names}`, 0, 'yes, though Gone is not on the board as nobody: fails open'],
    ['no such file', board, `--nodes n001 --names ${far}/x`, 0, `${OPEN}cannot read '${far}/x': No such file or directory`],
    ['held, unasked', board, '--nodes h1,i1', 0, ''],
    ['held', board, '--nodes n001,h1 --health', 1, 'no: h1 is unhealthy: put on hold by its administrator'],
    ['unhealthy', board, '--health --nodes i1', 1, 'no: i1 is unhealthy: its health check failed'],
    ['unhealthy, ignored', board, '--health --nodes i1,h1 --ignore ecc,bad_health,held', 0, ''],
    ['power saving, a list', board, '--nodes s1 --skip s[1-2]', 0, 'yes, though s1 has been silent for AGE: left out by --skip'],
    ['not in it', board, '--nodes s1,s3 --skip s1', 1, 'no: s3 has been silent for AGE'],
    ['power saving, a file', board, `--nodes s1,l1 --wait 0s --skip ${fresh}`, 0, 'yes, though s1 has been silent for AGE, l1 left AGE ago: left out by --skip'],
    ['closed, and never', board, `--nodes v1 --fail closed --skip ${fresh}`, 0, 'yes, though v1 has never reported: left out by --skip'],
    ['a list by other names', board, `--nodes s1 --skip n002 --names ${names}`, 0, 'yes, though s1 has been silent for AGE: left out by --skip'],
    ['a stale file, of no matter', board, `--nodes n001 --skip ${stale} --fail closed`, 0, ''],
    ['a stale file', board, `--nodes s1 --skip ${stale}`, 0, `yes, though s1 has been silent for AGE and may be in power saving: '${stale.slice(1)}' was written AGO ago: at most 60 s are trusted: fails open`],
    ['likewise, closed', board, `--nodes s1 --skip ${stale} --fail closed`, 1, `${CLOSED}s1 has been silent for AGE and may be in power saving: '${stale.slice(1)}' was written AGO ago: at most 60 s are trusted`],
    ['a file of the time to come', board, `--nodes s1 --skip ${ahead} --fail closed`, 1, `${CLOSED}s1 has been silent for AGE and may be in power saving: '${ahead.slice(1)}' was written AGO in the future: at most 60 s are trusted`],
    ['no file', board, `--nodes s1 --skip @${far}/x`, 0, `yes, though s1 has been silent for AGE and may be in power saving: cannot read '${far}/x': No such file or directory: fails open`],
    ['an empty file', board, `--nodes s1 --skip @${file('empty', '')}`, 1, 'no: s1 has been silent for AGE'],
    ['one that others can write', board, `--nodes s1 --skip @${file('free', 's1\n', 0o666)} --fail closed`, 1, `${CLOSED}s1 has been silent for AGE and may be in power saving: cannot read '${far}/free': others than its owner can write it`],
    ['a malformed one', board, `--nodes s1 --skip @${file('bad', 'a\n  s[2-1]\n')} --fail closed`, 1, `${CLOSED}s1 has been silent for AGE and may be in power saving: ${far}/bad:2, column 5: '2-1' runs backwards; write 1-2`],
    ['an old file without power saving', board, `--nodes s1 --skip ${off}`, 1, 'no: s1 has been silent for AGE'],
    ['an old file, and a node that has never been in it', board, `--nodes s1 --skip ${on}`, 1, 'no: s1 has been silent for AGE'],
    ['and one that has', board, `--nodes s2 --skip ${on}`, 0, `yes, though s2 has been silent for AGE and may be in power saving: '${on.slice(1)}' was written AGO ago: at most 60 s are trusted: fails open`],
    ['both', board, `--nodes s1,s2 --skip ${on}`, 1, 'no: s1 has been silent for AGE'],
    ['nodes that may be in it do not count for the brake', board, `--nodes s1 --skip ${on} --brake 1`, 1, 'no: s1 has been silent for AGE'],
    ['an old file whose list is malformed', board, `--nodes s1 --skip ${unclear}`, 0, `yes, though s1 has been silent for AGE and may be in power saving: '${unclear.slice(1)}' was written AGO ago: at most 60 s are trusted: fails open`],
    ['what Slurm takes for a name, and no board has', board, '--nodes n001,a@b', 0, "yes, though a name is not one that the board can have (--nodes, column 7: '@' is not allowed here; groups are not supported; write their names, or only @FILE with a list on each line): fails open"],
    ['likewise, beside a silent node', board, `--nodes a@b,${'l'.repeat(64)}[1-2],s1`, 1, 'no: s1 has been silent for AGE'],
    ['likewise, closed', board, `--nodes n001,${'l'.repeat(64)}[1,2] --fail closed`, 1, `${CLOSED}a name is not one that the board can have (--nodes, column 6: a name that is too long; names have at most 63 characters)`],
    ['names that only Slurm has', board, '--nodes n001,_n1,n+[1-2]', 0, 'yes, though _n1 is not on the board, n+1 is not on the board, n+2 is not on the board: fails open'],
    ['an exception for one of them, in a file that is old', board, `--nodes _N+2,n001 --names ${followed}`, 1, `no: _N+2 has been silent for AGE (${followed} was written AGO ago: is beoboard scheduler running?)`],
    ['an old file of no matter', board, `--nodes n001 --names ${followed}`, 0, ''],
    ['a folder', board, `--nodes s1 --skip @${far}`, 0, `yes, though s1 has been silent for AGE and may be in power saving: cannot read '${far}': it is not a file: fails open`],
  ];
  for (const [what, on, args, code, says] of rows) {
    const [is, said] = await ask(on.path, args.split(' '));
    t.strictSame([is, aged(said)], [code, says], what);
  }
});

t.test('links', async t => {
  const nodes = {
    live: [...numbered(60), 'c1@eth3'],
    silent: ['a1@eth1', 'a2@eth1', 'c2@eth3'],
    uncertain: ['b1@eth2', 'b2@eth2'],
    left: ['a3@eth1'],
  };
  const dark = makeBoard(t, nodes, { dark: true, down: ['eth2'] });
  const rows: [args: string, code: number, says: string][] = [
    ['--nodes a1', 0, 'yes, though a1 has been silent for AGE: its link eth1 is dark'],
    ['--nodes n001,a1,a2 --fail closed', 0, 'yes, though a1 has been silent for AGE: its link eth1 is dark, a2 has been silent for AGE: its link eth1 is dark'],
    ['--nodes b1 --fail closed --wait 0s', 0, 'yes, though b1 is uncertain: its link eth2 is down'],
    ['--nodes c2', 1, 'no: c2 has been silent for AGE'],
    ['--nodes a1,c2', 1, 'no: c2 has been silent for AGE'],
    ['--nodes a3 --wait 0s', 1, 'no: a3 left AGE ago'],
  ]; // biome-ignore format: a table
  for (const [args, code, says] of rows) {
    const [is, said] = await ask(dark.path, args.split(' '));
    t.strictSame([is, aged(said)], [code, says], args);
  }
});

t.test('a request to the bridge', async t => {
  const board = makeBoard(t, { live: numbered(60), silent: ['s1', 's2', 's3'], left: ['l1'], held: ['h1'] });
  const requests = folder(t);
  chmodSync(requests, 0o700);
  /** The names of the files that are new: all others are made old. */
  const leaves = async (args: string) => {
    for (const name of readdirSync(requests)) utimesSync(join(requests, name), 1, 1);
    await ask(board.path, [...args.split(' '), '--wait', '0s', '--requests', requests]);
    const found = readdirSync(requests).map(name => ({ name, ...statSync(join(requests, name)) }));
    for (const { mode, size } of found) t.strictSame([mode & 0o777, size], [0o600, 0]);
    return found
      .flatMap(({ name, mtimeMs }) => (mtimeMs > 1000 ? [name] : []))
      .sort()
      .join();
  };
  t.equal(await leaves('--nodes n001'), '', 'a yes');
  t.equal(await leaves('--nodes s1 --brake 1'), '', 'a yes by the brake');
  t.equal(await leaves('--nodes l1,h1 --health'), '', 'what has left is not silent, and a problem is no silence');
  t.equal(await leaves('--nodes x --fail closed'), '', 'no evidence');
  t.equal(await leaves('--nodes s1,n001,l1'), 's1', 'a no because of a silent node');
  t.equal(await leaves('--nodes S1,s[2-3]'), 'S1,s2,s3', 'by their NodeNames');
  t.equal(await leaves('--nodes s1,s2'), 's1,s2', 'also those that are there already');
  const theirs = join(folder(t), 'theirs');
  writeFileSync(theirs, '');
  const before = statSync(theirs).mtimeMs;
  symlinkSync(theirs, join(requests, 's2.link'));
  const names = join(folder(t), 'names');
  writeFileSync(names, 's2.link s2\n../s3 s3\n');
  await ask(board.path, ['--nodes', 's2.link,../s3', '--names', names, '--requests', requests]);
  t.equal(statSync(theirs).mtimeMs, before, 'no link is followed');
  t.notOk(existsSync(join(requests, '..', 's3')), 'and nothing is left elsewhere');
  for (const name of readdirSync(requests)) unlinkSync(join(requests, name));
  for (const mode of [0o777, 0o720, 0o702]) {
    chmodSync(requests, mode);
    t.equal(await leaves('--nodes s1'), '', 'a folder that others can write');
  }
  rmdirSync(requests);
  const [code, said] = await ask(board.path, ['--nodes', 's1', '--requests', requests]);
  t.strictSame([code, aged(said)], [1, 'no: s1 has been silent for AGE'], 'without a bridge: the same answer');
  t.notOk(existsSync(requests));
});

t.test('the brake', async t => {
  const rest = { left: numbered(10, 1, 'l'), never: numbered(10, 1, 'v') };
  const forty = makeBoard(t, { ...rest, live: numbered(16), silent: numbered(4, 1, 's') });
  const thirty = makeBoard(t, { live: numbered(27), silent: numbered(2, 1, 's'), uncertain: ['u1'] });
  const few = makeBoard(t, { live: numbered(4), silent: numbered(4, 1, 's') });
  const no = 'no: s001 has been silent for AGE';
  const yes = (unheard: number, nodes: number, limit: number) =>
    `yes, though s001 has been silent for AGE: ${unheard} of ${nodes} nodes are silent or uncertain, more than the brake of ${limit}`;
  const rows: [what: string, on: Made, args: string, code: number, says: string][] = [
    ['10 % are not more than 10 %', forty, '', 1, no],
    ['left and never do not count', forty, '--brake 4', 1, no],
    ['by number, beyond', forty, '--brake 3', 0, yes(4, 40, 3)],
    ['by per cent, beyond', forty, '--brake 9%', 0, yes(4, 40, 3.6)],
    ['by per cent, at its edge', forty, '--brake=10%', 1, no],
    ['power saving does not count', forty, '--brake 3 --skip s002', 1, no],
    ['named twice it counts once', forty, '--brake 2 --skip s002,S002', 0, yes(3, 40, 2)],
    ['who is live is not taken off', forty, '--brake 3 --skip n001,l001,v001,x', 0, yes(4, 40, 3)],
    ['uncertain nodes count: three of 30', thirty, '', 1, no],
    ['likewise', thirty, '--brake 2', 0, yes(3, 30, 2)],
    ['three at least', few, '', 0, yes(4, 8, 3)],
    ['per cent that are given are all', few, '--brake 50%', 1, no],
    ['100 %', few, '--brake 100%', 1, no],
    ['closed, too', few, '--fail closed', 0, yes(4, 8, 3)],
  ];
  for (const [what, on, args, code, says] of rows) {
    const [is, said] = await ask(on.path, ['--nodes', 's001,n001', ...args.split(' ').filter(Boolean)]);
    t.strictSame([is, aged(said)], [code, says], what);
  }
  t.strictSame(await ask(few.path, ['--nodes', 'n001']), [0, ''], 'nobody is refused: nothing is said');
  const [code, said] = await ask(few.path, ['--nodes', 'x,s001', '--fail', 'closed']);
  t.strictSame(
    [code, aged(said)],
    [
      0,
      'yes, though s001 has been silent for AGE; x is not on the board: 4 of 8 nodes are silent or uncertain, more than the brake of 3',
    ],
  );
});

t.test('no board, or an unusable one', async t => {
  const made = () => makeBoard(t, { live: ['n001'] });
  const gone = boardPath(t);
  const cut = made();
  cut.writer.close();
  truncateSync(cut.path, 4096);
  const free = made();
  chmodSync(free.path, 0o666);
  const rows: [what: string, board: string, says: string][] = [
    ['absent', gone, `'${gone}': no such board or node: is the receiver running, and the name right?`],
    ['cut short', cut.path, `'${cut.path}': the board is cut short or leads out of its file`],
    ['others can write it', free.path, `'${free.path}': the board is of a user who is not trusted, or others can write it; if he is right, name him with BEOBOARD_OWNER`],
  ]; // biome-ignore format: a table
  for (const [what, board, says] of rows) {
    t.strictSame(await ask(board, ['--nodes', 'n001'], {}, true), [0, `${OPEN}${says}`], what);
    const env = { SLURM_JOB_ID: '1234' };
    t.strictSame(
      await ask(board, ['--nodes', 'n001', '--fail', 'closed'], env, true),
      [1, `${CLOSED}${says}; job 1234 is held back`],
      `${what}, closed`,
    );
  }
  t.strictSame(
    await ask(gone, ['--nodes', 'n001,n002', '--fail', 'closed', '--skip', 'n[001-003]'], {}, true),
    [0, 'yes, though n001 is unknown, n002 is unknown: left out by --skip'],
    'of nodes in power saving nobody wants to know anything',
  );
  t.strictSame(await ask(made().path, ['--nodes', 'n001', '--owner', 'nobody-of-that-name']), [
    0,
    `${OPEN}--owner names no user`,
  ]);
});

t.test('a board that cannot be mapped', { skip: NOT_WHOLE || lacks('musl-tools', 'musl-gcc') }, async t => {
  const { path } = makeBoard(t, { live: numbered(4000) });
  const gate = compile(t, INSTALLED);
  for (const [fail, code, answer] of [
    ['open', 0, OPEN],
    ['closed', 1, CLOSED],
  ] as const) {
    const argv = ['--board', path, '--nodes', 'n001', '--fail', fail];
    const { status, stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -v 8000; exec "$0" "$@"', gate, ...argv]);
    t.strictSame([status, `${stdout}${stderr}`], [code, `beoboard-gate: ${answer}'${path}': out of memory\n`]);
  }
});

t.test('a stalled board is no evidence', async t => {
  const board = makeBoard(t, { live: ['n001'], silent: ['s001'] });
  const args = ['--nodes', 'n001,s001', '--wait', '0s'];
  unborn(board);
  t.strictSame(await ask(board.path, args, {}, true), [0, 'yes, fails open: the receiver has no heartbeat yet']);
  stall(board, 35);
  t.match(await ask(board.path, args, {}, true), [
    0,
    /^yes, fails open: the receiver is stalled: its last heartbeat was 3\d s ago$/,
  ]);
  t.match(await ask(board.path, [...args, '--fail', 'closed', '--brake', '0'], {}, true), [
    1,
    /^no, fails closed: the receiver is stalled: its last heartbeat was 3\d s ago$/,
  ]);
  board.writer.close();
  // Only 101 s, because a machine that was booted for this test may have run only a little longer; and not 100, because
  // the coarse clock may lag.
  stall(board, 101);
  t.match(await ask(board.path, args, {}, true), [0, /^yes, fails open: the receiver was stopped 1\d\d s ago$/]);
});

// ---- waiting ----

t.test('an uncertain node comes back', async t => {
  const board = makeBoard(t, { live: numbered(10), uncertain: ['u1', 'u2'] });
  const running = startGate(board.path, ['--nodes', 'n001,u[1-2]', '--wait', '60s', '--fail', 'closed']);
  await hasLooked(running, board.path);
  board.lay('u1', 0, { interval_ms: 600_000 });
  board.lay('u2', 0, { interval_ms: 600_000 });
  t.strictSame(await running.answer, { code: 0, stdout: '', stderr: '' });
});

t.test('a node that had left comes back', async t => {
  const board = makeBoard(t, { live: numbered(10), left: ['l1'] });
  const running = startGate(board.path, ['--nodes', 'l1', '--wait', '1m']);
  await hasLooked(running, board.path);
  board.lay('l1', 0, { interval_ms: 600_000 });
  t.strictSame(await running.answer, { code: 0, stdout: '', stderr: '' });
});

t.test('a stalled receiver comes back', async t => {
  const board = makeBoard(t, { live: numbered(10) });
  stall(board, 30);
  const running = startGate(board.path, ['--nodes', 'n001', '--wait', '60s', '--fail', 'closed'], {}, true);
  await hasLooked(running, board.path);
  const beating = setInterval(() => beat(board.path), 200);
  t.teardown(() => clearInterval(beating));
  t.strictSame(await running.answer, { code: 0, stdout: '', stderr: '' });
});

t.test('another board takes its place meanwhile', async t => {
  const board = makeBoard(t, { live: numbered(10), uncertain: ['u1'] });
  const other = makeBoard(t, { live: ['u1'] });
  const running = startGate(board.path, ['--nodes', 'u1', '--wait', '60s', '--fail', 'closed']);
  await hasLooked(running, board.path);
  renameSync(other.path, board.path);
  t.strictSame(await running.answer, { code: 0, stdout: '', stderr: '' });
});

t.test('brake and links are judged after the wait', async t => {
  const unsure = numbered(5, 1, 'u');
  const board = makeBoard(t, { live: numbered(20), uncertain: ['x', ...unsure] });
  const running = startGate(board.path, ['--nodes', 'x,n001', '--wait', '60s']);
  await hasLooked(running, board.path);
  // Six nodes that are not heard are more than the brake allows, one is not.
  for (const name of unsure) board.lay(name, 0, { interval_ms: 600_000 });
  // From now on the board proves that x has been silent.
  stall(board, 0);
  board.writer.heartbeat(monotonicNs() + 6n * S);
  const { code, stderr } = await running.answer;
  t.strictSame([code, aged(stderr)], [1, 'beoboard-gate: no: x has been silent for AGE\n']);
});

t.test('it waits no longer than it is told, and not for what is certain', async t => {
  const board = makeBoard(t, { live: numbered(10), left: ['l1'] });
  const began = performance.now();
  const [code] = await ask(board.path, ['--nodes', 'l1', '--wait', '1.5s']);
  t.equal(code, 1);
  t.ok(performance.now() - began >= 1500);
  const silent = makeBoard(t, { live: numbered(10), silent: ['s1'] });
  const running = startGate(silent.path, ['--nodes', 's1', '--wait', '10m']);
  t.equal((await running.answer).code, 1, 'what is certain is not waited for');
});

t.test('a signal to end it gets the answer of --fail', async t => {
  const board = makeBoard(t, { live: numbered(10), left: ['l1'] });
  for (const [fail, code, says] of [
    ['open', 0, `${OPEN}it was asked to end`],
    ['closed', 1, `${CLOSED}it was asked to end`],
  ] as const)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const running = startGate(board.path, ['--nodes', 'l1', '--wait', '10m', '--fail', fail]);
      await hasLooked(running, board.path);
      running.child.kill(signal);
      t.strictSame(
        await running.answer,
        { code, stdout: '', stderr: `beoboard-gate: ${says}\n` },
        `${signal}, ${fail}`,
      );
    }
});

t.test('a board that is cut short while it is read', async t => {
  for (const [fail, code, says] of [
    ['open', 0, OPEN],
    ['closed', 1, CLOSED],
  ] as const) {
    const board = makeBoard(t, { live: numbered(10), left: ['l1'] });
    board.writer.close();
    const running = startGate(board.path, ['--nodes', 'l1', '--wait', '3s', '--fail', fail], {}, true, PLAIN);
    await hasLooked(running, board.path);
    truncateSync(board.path, 0);
    const { code: is, stderr } = await running.answer;
    t.equal(is, code);
    // It notices by SIGBUS, or when it checks the file's size.
    t.match(stderr, new RegExp(`^beoboard-gate: ${says}(the board was cut short|.*)\n$`));
    const other = makeBoard(t, { live: numbered(10), left: ['l1'] });
    const second = startGate(other.path, ['--nodes', 'l1', '--wait', '10m', '--fail', fail], {}, false, PLAIN);
    await hasLooked(second, other.path);
    second.child.kill('SIGBUS');
    t.strictSame(await second.answer, { code, stdout: '', stderr: `beoboard-gate: ${says}the board was cut short\n` });
  }
});

t.test('it does not wait for something that hangs', async t => {
  const board = makeBoard(t, { live: numbered(10), left: ['l1'] });
  for (const [fail, code, says] of [
    ['open', 0, OPEN],
    ['closed', 1, CLOSED],
  ] as const) {
    const running = startGate(board.path, ['--nodes', 'l1', '--wait', '10m', '--fail', fail]);
    await hasLooked(running, board.path);
    running.child.kill('SIGALRM'); // its own alarm, early
    t.strictSame(await running.answer, { code, stdout: '', stderr: `beoboard-gate: ${says}it took too long\n` });
  }
  // A FIFO without a writer.
  const pipe = join(folder(t), 'pipe');
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  t.strictSame(await ask(board.path, ['--nodes', 'n001', '--names', pipe]), [
    0,
    `${OPEN}cannot read '${pipe}': it is not a file`,
  ]);
});

t.test('a restarted receiver leaves no node uncertain for long', async t => {
  const path = boardPath(t);
  const receiver = await startReceiver(t, path);
  start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, '--size', '20', '--prefix', 'n', '--interval', '500ms']);
  const list = 'n[01-20]';
  const live = async () =>
    (await startGate(path, ['--nodes', list, '--fail', 'closed', '--wait', '0s'], {}, true).answer).code === 0;
  await until('all nodes are live', live);
  receiver.child.kill('SIGKILL');
  await receiver.exit;
  const second = start(t, ['receive', '--board', path, '--listen', `127.0.0.1:${receiver.port}`, '--capacity', '2048']);
  await second.ready;
  const { answer } = startGate(path, ['--nodes', list, '--fail', 'closed', '--wait', '60s'], {}, true);
  t.strictSame(await answer, { code: 0, stdout: '', stderr: '' });
});

// ---- how it is called ----

t.test('command line', async t => {
  const board = makeBoard(t, { live: numbered(10) });
  const rows: [args: string[], says: string][] = [
    [['--foo'], "unknown option '--foo'; see beoboard-gate --help"],
    [['n001'], "'n001' is one argument too many; see beoboard-gate --help"],
    [['--nodes'], '--nodes has no value; write --nodes LIST'],
    [['--nodes', '--health'], '--nodes has no value, --health follows it; write --nodes LIST'],
    [['--nodes', 'a', '--nodes=b'], '--nodes is given 2 times; give it once'],
    [['--health=yes'], '--health takes no value; write --health'],
    [['--wait', '8'], "--wait: '8' has no unit; write 8s or 8ms"],
    [['--wait', 'long'], "--wait: 'long' is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s"],
    [['--wait', '-1s'], "--wait: '-1s' is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s"],
    [['--wait', '1d'], "--wait: '1d' is out of bounds; write 0s to 10m"],
    [['--wait', '11m'], "--wait: '11m' is out of bounds; write 0s to 10m"],
    [['--wait', '1.5ms'], "--wait: '1.5ms' is not a whole number of ms; write 2ms"],
    [['--brake', 'ten'], "--brake: 'ten' is not a number of nodes; write it as 5, 2% or 0.1%,1"],
    [['--brake', '101%'], "--brake: '101%' is more than all nodes; write 0% to 100%"],
    [['--brake', '5%%'], "--brake: '5%%' is not a number of nodes; write it as 5, 2% or 0.1%,1"],
    [['--fail', 'never'], "--fail: 'never' is not a valid value; use open or closed"],
    [['--ignore', 'held,helth_warning'], "--ignore: 'helth_warning' is not a problem; did you mean health_warning?"],
    [['--noeds', 'n1'], "unknown option '--noeds'; did you mean --nodes?"],
    [['--skip', '@'], "--skip: '' names no nodes and no file; write one"],
    [['--board', ''], "--board: '' is not a file name; write a path"],
    [['--nodes', ''], '--nodes, column 1: it is empty; write names, as in node[1-3],login1'],
    [['--nodes', 'n[3-1]'], "--nodes, column 3: '3-1' runs backwards; write 1-3"],
    [['--nodes', 'n1\n\u001b[31m'], '--nodes, column 3: a blank; separate names by a comma only'],
    [['--\u001b[31m'], "unknown option '--\\u{1b}[31m'; see beoboard-gate --help"],
    [[], 'no nodes are named: SLURM_JOB_NODELIST is not set; give --nodes LIST'],
  ];
  for (const [args, says] of rows) {
    const name = JSON.stringify(args);
    const [code, said] = await ask(undefined, args);
    t.strictSame([code, said], [0, `${OPEN}${says}`], name);
    if (args[0] === '--fail') continue;
    t.strictSame(
      await ask(undefined, [...args, '--fail', 'closed']),
      [
        1,
        `${CLOSED}${says.replace('--nodes has no value; write --nodes LIST', '--nodes has no value, --fail follows it; write --nodes LIST')}`,
      ],
      name,
    );
  }
  t.equal((await ask(undefined, ['--fail', 'closed', '--fail', 'open'])).at(0), 0, 'both: open');
  t.equal((await ask(undefined, ['--fail', 'closed', '--fail'])).at(0), 0, 'typed by half: open');
  t.equal((await ask(undefined, ['--fail=closed', '--x'])).at(0), 1);
  const [, line] = await ask(undefined, ['--x'], { BEOBOARD_LOG: 'json' });
  const msg = `${OPEN}unknown option '--x'; see beoboard-gate --help`;
  t.match(JSON.parse(line), { level: 30, time: Number, pid: Number, verb: 'gate', msg }, 'as JSON');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const word of ['-V', '--version'])
    t.strictSame(await startGate(undefined, ['--x', word]).answer, { code: 0, stdout: `${version}\n`, stderr: '' });
  for (const word of ['-h', '--help']) {
    const { code, stdout, stderr } = await startGate(undefined, [word]).answer;
    t.strictSame([code, stderr], [0, '']);
    t.match(stdout, /^Usage: beoboard-gate \[options\]\n/);
  }
  t.strictSame(await ask(board.path, ['--nodes', 'n001', '--wait', '0']), [0, '']);
});

t.test('as Slurm calls it: the job is in the environment, and nothing else', async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'] });
  const job = (list: string, id = '1234') => ({ SLURM_JOB_NODELIST: list, SLURM_JOB_ID: id });
  const asked = async (env: Record<string, string>) => {
    const [code, said] = await ask(board.path, [], env);
    return [code, aged(said)];
  };
  t.strictSame(await asked(job('n[001-010]')), [0, '']);
  t.strictSame(await asked(job('n001,s001')), [1, 'no: s001 has been silent for AGE; job 1234 should not start there']);
  const task = (array: string, index: string) => ({
    ...job('s001'),
    SLURM_ARRAY_JOB_ID: array,
    SLURM_ARRAY_TASK_ID: index,
  });
  for (const [array, index, shown] of [
    ['9', '5', '9_5'],
    ['9', '0', '9_0'],
    ['9', '', '1234'],
    ['9', '5\u001b', '1234'],
    ['', '5', '1234'],
  ] as const)
    t.strictSame(await asked(task(array, index)), [
      1,
      `no: s001 has been silent for AGE; job ${shown} should not start there`,
    ]);
  t.strictSame(
    await asked(job('s001', '12\u001b')),
    [1, 'no: s001 has been silent for AGE'],
    'what is not a number is no job',
  );
  t.strictSame(await asked(job('')), [
    0,
    `${OPEN}SLURM_JOB_NODELIST, column 1: it is empty; write names, as in node[1-3],login1`,
  ]);
  t.strictSame(await ask(board.path, ['--nodes', 'n001'], job('s001')), [0, ''], '--nodes goes before it');
});

t.test('stdin, stdout and stderr may be closed, full or gone', async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'] });
  const beating = setInterval(() => beat(board.path), 200);
  t.teardown(() => clearInterval(beating));
  const shell = async (line: string, list: string) => {
    beat(board.path);
    const child = spawn('sh', ['-c', line, GATE, '--board', board.path, '--nodes', list], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return (await once(child, 'close'))[0] as number;
  };
  for (const how of ['<&- >&- 2>&-', '2>&-', '>&-', '<&-', '2>/dev/full', '2>/dev/null'])
    for (const [list, code] of [
      ['n001', 0],
      ['s001', 1],
    ] as const)
      t.equal(await shell(`exec "$0" "$@" ${how}`, list), code, `${how}: ${list}`);
  // `yes` ends when the reader of the pipe is gone.
  const unread = 'exit $({ { yes 2>&-; "$0" "$@" 2>&1; echo $? >&3; } | exec 0<&-; } 3>&1)';
  t.equal(await shell(unread, 's001'), 1, 'nobody reads it');
  t.equal(await shell('"$0" --help >/dev/full; exit $?', ''), 0);
});

t.test('ten thousand nodes', { skip: NOT_WHOLE }, async t => {
  const names = Array.from({ length: 10_000 }, (_, i) => `n${String(i + 1).padStart(5, '0')}`);
  const board = makeBoard(t, { live: names.slice(0, -1), silent: names.slice(-1) });
  t.strictSame(await ask(board.path, ['--nodes', 'n[00001-09999]', '--health']), [0, '']);
  const [code, said] = await ask(board.path, [], { SLURM_JOB_NODELIST: 'n[00001-10000]' });
  t.strictSame([code, aged(said)], [1, 'no: n10000 has been silent for AGE']);
  const all = makeBoard(t, { live: numbered(3, 1, 'x'), silent: names });
  const [, many] = await ask(all.path, ['--nodes', 'n[00001-10000]', '--brake', '100%']);
  t.match(aged(many), /^no: (n0000\d has been silent for AGE(, )?){4} and 9996 more$/);
});

t.test('absurd host lists', { skip: NOT_WHOLE }, async t => {
  const board = makeBoard(t, { live: numbered(10) });
  const lists = [
    `${'n[1-999999],'.repeat(2)}x`,
    `n${'[1-999999999999999]'.repeat(4)}`,
    `n[${'1,'.repeat(50_000)}1]`,
    '['.repeat(100_000),
    'n'.repeat(120_000),
    ','.repeat(100_000),
    `n${'[1]'.repeat(62)}`,
    'n1,'.repeat(40_000),
    'n[1-1000000]',
  ];
  for (const list of lists) {
    const [code, said] = await ask(board.path, ['--fail', 'closed'], { SLURM_JOB_NODELIST: list });
    t.equal(code, 1, list.slice(0, 40));
    t.match(said, /^no, fails closed: [^\n]{1,400}$/);
  }
});

// ---- its lists, beside those of TypeScript ----

t.test('host lists as they are everywhere', async t => {
  const program = join(compileTargets(['gatefiles']), 'gatefiles');
  const vectors = JSON.parse(readFileSync(join(ROOT, 'test', 'vectors', 'hostlists.json'), 'utf8')) as {
    accept: { expr: string; hosts: string[] }[];
    reject: { expr: string }[];
  };
  const tell = (lists: string[]) =>
    tellAll(
      program,
      lists.map(list => Buffer.from(`\0${list}`)),
    );
  const taken = tell(vectors.accept.map(({ expr }) => expr));
  vectors.accept.forEach(({ expr, hosts }, i) => {
    t.strictSame(taken[i]?.split(' ').sort(), [...hosts].sort(), expr);
    t.equal(taken[i], expand(expr, BOARD_MOST).join(' '), 'and in their order');
  });
  tell(vectors.reject.map(({ expr }) => expr)).forEach((told, i) => {
    const { expr = '' } = vectors.reject[i] ?? {};
    t.match(told, /^NO host list, column \d+: /, JSON.stringify(expr));
  });
  t.strictSame(tell(['N1,n[1-2],N1', 'Rack[1-2]']), ['N1 n1 n2', 'Rack1 Rack2'], 'upper case is Slurm’s');
});

// ---- the system's log ----

const noLog = (process.getuid?.() !== 0 && 'needs root to have a /dev of its own') || lacks('python3', 'python3');
t.test('what stands in the log', { skip: noLog }, async t => {
  // Not in /dev, because the test mounts another one there.
  const place = folder(t);
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'] });
  const log = await Manager.start(t, join(place, 'log'));
  const old = join(place, 'dev');
  mkdirSync(old);
  const line = [
    `mount --rbind /dev ${old} && mount -t tmpfs none /dev && mkdir /dev/shm && mount --bind ${old}/shm /dev/shm`,
    `ln -s ${place}/log /dev/log && mknod /dev/null c 1 3 && exec "$0" "$@"`,
  ].join(' && ');
  const inside = ['unshare', '-m', 'sh', '-c', line].join('\u0001');
  const tried = spawnSync('unshare', ['-m', 'sh', '-c', line, 'true']);
  if (tried.status !== 0 && !process.env.CI)
    return void t.pass('a /dev of its own', { skip: `no mounts here: ${tried.stderr}` });
  const rows: [args: string[], env: Record<string, string>, priority: number, says: string | undefined][] = [
    [['--nodes', 'n001'], {}, 0, undefined],
    [['--nodes', 's001'], { SLURM_JOB_ID: '7' }, 28, 'no: s001 has been silent for AGE; job 7 should not start there'],
    [['--nodes', 'x'], {}, 29, 'yes, though x is not on the board: fails open'],
    [['--nodes', 'x', '--fail', 'closed'], {}, 28, 'no, fails closed: x is not on the board'],
    [['--x'], {}, 29, `${OPEN}unknown option '--x'; see beoboard-gate --help`],
  ];
  for (const [args, env, priority, says] of rows) {
    const before = log.told.length;
    beat(board.path);
    const [program = '', ...words] = inside.split('\u0001');
    const child = spawn(program, [...words, GATE, '--board', board.path, ...args], {
      env: { ...env, PATH: process.env.PATH },
    });
    await once(child, 'close');
    // When the mark arrives, everything that the gate has logged has arrived before it.
    const mark = `mark ${before}`;
    const send =
      'import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[2].encode(), sys.argv[1])';
    spawnSync('python3', ['-c', send, `${place}/log`, mark]);
    await until('the mark has come', () => log.told.some(({ lines }) => mark in lines));
    const told = log.told.slice(before, -1).map(({ lines }) => aged(Object.keys(lines)[0] ?? ''));
    const wanted = says === undefined ? [] : [`<${priority}>beoboard-gate[PID]: ${says}`];
    t.strictSame(
      told.map(line => line.replace(/>\w+ +\d+ [\d:]+ /, '>').replace(/\[\d+\]/, '[PID]')),
      wanted,
      args.join(' '),
    );
  }
});

// ---- how it is built ----

t.test('other compilers, C libraries and processors', { skip: NOT_WHOLE }, async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'], left: ['l001'] });
  for (const { what, how, under, skip } of builds(['clang']))
    await t.test(what, { skip }, async t => {
      const gate = [...under, compile(t, how)].join(' ');
      t.strictSame(await startGate(board.path, ['--nodes', 'n[001-010]'], {}, false, gate).answer, {
        code: 0,
        stdout: '',
        stderr: '',
      });
      const { code, stderr } = await startGate(board.path, ['--nodes', 's001,l001', '--wait', '0s'], {}, false, gate)
        .answer;
      t.strictSame([code, aged(stderr)], [1, 'beoboard-gate: no: s001 has been silent for AGE, l001 left AGE ago\n']);
    });
});

t.test('make install, and the manual page', async t => {
  const to = folder(t);
  makeIn('gate', DYNAMIC, 'install', 'PREFIX=/opt/beo', `DESTDIR=${to}`);
  t.strictSame(
    readdirSync(to, { recursive: true, encoding: 'utf8' })
      .filter(path => path.includes('gate'))
      .sort(),
    ['opt/beo/sbin/beoboard-gate', 'opt/beo/share/man/man8/beoboard-gate.8'],
  );
  const page = readFileSync(join(SOURCE, 'beoboard-gate.8'), 'utf8').replaceAll('\\-', '-');
  const { stdout: help } = await startGate(undefined, ['--help']).answer;
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z]+)/gm)].map(([, name = '']) => name);
  t.ok(options.length > 10);
  for (const option of options) t.ok(page.includes(option), `the page tells of ${option}`);
});

t.test('the manual page is without fault', { skip: lacks('groff-base', 'groff') }, async t => {
  const { status, stdout, stderr } = spawnSync(
    'groff',
    ['-man', '-Tutf8', '-ww', '-z', join(SOURCE, 'beoboard-gate.8')],
    { encoding: 'utf8' },
  );
  t.strictSame([status, stdout, stderr], [0, '', '']);
});
