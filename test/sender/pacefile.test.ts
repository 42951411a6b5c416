// A temporary interval from a file on the node: what a sender trusts, when it returns to its own interval, and the
// whole way from `beoboard pace` through programs that run commands on nodes. For both senders.
//
// @seconds 18

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { survey } from '../../src/query/survey.js';
import { parsePace } from '../../src/sender/pacefile.js';
import { anomalies } from '../kit/anomalies.js';
import { type Heard, Hearer, startIn } from '../kit/hanging.js';
import { busy, type MadeNode, madeBoard } from '../kit/madeboard.js';
import { folder } from '../kit/places.js';
import { run, SENDER } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

t.setTimeout(600_000);
// They mostly wait.
t.jobs = 4;

/** Runs `beoboard argv`, without what the programs that it runs print. */
const beoboard = verbChild(t);

const isRoot = process.getuid?.() === 0;

/** A sender that checks a pace file, by default ten times a second, and what it logs about it. */
async function begin(t: Test, more: string[] = [], before?: (file: string) => void) {
  const own = folder(t);
  chmodSync(own, 0o755);
  const file = join(own, 'pace');
  before?.(file);
  const hearer = await Hearer.open(t);
  const interval = more.includes('--interval') ? [] : ['--interval', '100ms'];
  const argv = ['send', '--name', 'node1', ...interval, '--to', hearer.address];
  const sender = startIn(t, {}, [...argv, '--pace-file', file, ...more]);
  await hearer.more(3);
  const said = () =>
    sender
      .lines()
      .filter(line => /: pace: /.test(line))
      .map(line => line.replace(/^.*?: pace: /, 'pace: ').replace(own, ''));
  const next = (count: number) => until(`${count} lines were said`, () => said().length >= count && said());
  /** Renames the file into place, so it is never seen half-written. */
  const put = (text: string, change: (path: string) => void = () => {}) => {
    const made = join(own, 'made');
    writeFileSync(made, text, { mode: 0o644 });
    change(made);
    renameSync(made, file);
  };
  const end = async () => {
    sender.child.kill('SIGTERM');
    t.equal(await sender.exit, 0);
  };
  return { own, file, hearer, sender, said, next, put, end };
}

t.test('the interval of the file: announced first, then used for its time, then over by itself', async t => {
  const { hearer, next, put, end } = await begin(t, ['--pace-min', '100ms']);
  const from = hearer.reports.length;
  put('# for the benchmark\ninterval 200ms for 15s\n');
  const [told] = await next(1);
  t.match(told, /^pace: reports every 200ms for (15\.0|14\.\d)s \(\/pace\)$/);
  t.match((await next(2))[1], /^pace: over; reports every 100ms again$/, 'though the file stays');
  await hearer.more(5);
  const reports = hearer.reports.slice(from);
  const slow = reports.filter(({ interval_ms }) => interval_ms === 200);
  const last = slow.at(-1)?.seq ?? 0;
  t.ok(
    reports.every(({ seq, interval_ms }) => interval_ms === (seq >= (slow[0]?.seq ?? 0) && seq <= last ? 200 : 100)),
    'from one report to another, and never again',
  );
  // Over reports that were not late: a busy machine may miss points of the grid, and the next report counts those.
  const gap = (fromNs: bigint, toNs: bigint) => {
    const begun = slow[0]?.t_boot_ns ?? 0n;
    const some = slow.filter(
      ({ late_us = 0, t_boot_ns: at }) => late_us < 50_000 && at >= begun + fromNs && at < begun + toNs,
    );
    const [one, other] = [some[0], some.at(-1)].map(({ seq = 0, missed_ticks = 0, t_boot_ns = 0n } = {} as Heard) => ({
      points: seq + missed_ticks,
      ms: Number(t_boot_ns) / 1e6,
    }));
    const [ms, points] = [(other?.ms ?? 0) - (one?.ms ?? 0), (other?.points ?? 0) - (one?.points ?? 0)];
    // Of fewer points one that came late counts for too much.
    return points < 5 ? undefined : Math.round(ms / points / 50) * 50;
  };
  t.equal(gap(0n, 12_000_000_000n) ?? 100, 100, 'for twelve seconds at the old interval');
  t.equal(gap(13_000_000_000n, 15_000_000_000n) ?? 200, 200, 'and then at the other');
  const seconds = Number((slow.at(-1)?.t_boot_ns ?? 0n) - (slow[0]?.t_boot_ns ?? 0n)) / 1e9;
  t.ok(seconds < 15, `it held for ${seconds} s between its first and last report`);
  await end();
});

t.test('shorter at once, gone at once, another file in its place', async t => {
  const { file, hearer, next, put, end } = await begin(t, ['--interval', '500ms', '--pace-max', '10s']);
  const interval = (ms: number) => hearer.next(`it says ${ms} ms`, ({ interval_ms }) => interval_ms === ms);
  put('interval 250ms for 1h');
  await interval(250);
  t.match(await next(1), [/^pace: reports every 250ms for (1h00m|59m\d\ds) \(\/pace\)$/]);
  put('interval 400ms for 2h');
  await interval(400);
  t.match((await next(2))[1], /^pace: reports every 400ms for (2h00m|1h59m) /, 'nothing is over between two of them');
  rmSync(file);
  await interval(500);
  t.equal((await next(3))[2], 'pace: over; reports every 500ms again');
  await end();
});

t.test('a sender that is started meanwhile uses the interval of the file', async t => {
  const written = (secondsAgo: number, text: string) => (file: string) => {
    writeFileSync(file, text, { mode: 0o644 });
    const at = Date.now() / 1000 - secondsAgo;
    utimesSync(file, at, at);
  };
  const during = await begin(t, [], written(1800, 'interval 1s for 1h'));
  t.match(await during.next(1), [/^pace: reports every 1\.0s for (30m00s|29m\d\ds) /]);
  t.equal(during.hearer.reports[0]?.interval_ms, 200, 'its first step, from its first report on');
  const ahead = await begin(t, [], written(-86_400, 'interval 1s for 1h'));
  t.match(
    await ahead.next(1),
    [/ for (1h00m|59m\d\ds) /],
    'by a wall clock that was wrong: not for longer than it says',
  );
  const far = await begin(t, [], written(Date.now() / 1000 - 9_300_000_000, 'interval 1s for 744h'));
  t.match(await far.next(1), [/ for (31d0h|30d23h) /], 'by one in the year 2264');
  const over = await begin(t, [], written(3601, 'interval 1s for 1h'));
  await over.hearer.more(5);
  t.same(over.said(), [], 'and one that is over is none');
  t.ok(over.hearer.reports.every(({ interval_ms }) => interval_ms === 100));
  for (const { end } of [during, ahead, far, over]) await end();
});

const LINE = 'interval 1s for 1h\n';

t.test('a file that is not trusted is logged once, and the sender keeps its own interval', async t => {
  const { own, file, hearer, sender, said, next, put, end } = await begin(t);
  const wrong: [what: string, RegExp, () => void][] = [
    [
      'a link',
      /\/pace is a link; ignored$/,
      () => {
        const aside = join(own, 'aside');
        writeFileSync(aside, LINE);
        rmSync(file, { force: true });
        symlinkSync(aside, file);
      },
    ],
    [
      'a folder',
      /\/pace is not a regular file; ignored$/,
      () => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'a FIFO',
      /\/pace is not a regular file; ignored$/,
      () => {
        rmSync(file, { recursive: true });
        spawnSync('mkfifo', [file]);
      },
    ],
    [
      'writable by its group',
      /\/pace can be written by others; ignored$/,
      () => put(LINE, path => chmodSync(path, 0o664)),
    ],
    ['writable by all', /\/pace can be written by others; ignored$/, () => put(LINE, path => chmodSync(path, 0o646))],
    ['too large', /\/pace is larger than 4096 bytes; ignored$/, () => put(`${LINE}${'#\n'.repeat(2048)}`)],
    ['malformed', /\/pace does not read as 'interval TIME for TIME'; ignored$/, () => put('interval 1 for 1h')],
    ['empty', /\/pace does not read as 'interval TIME for TIME'; ignored$/, () => put('')],
    [
      'too short',
      /\/pace wants an interval of 249ms, which is not within 250ms and 1m00s; ignored$/,
      () => put('interval 249ms for 1h'),
    ],
    [
      'too long',
      /\/pace wants an interval of 1m01s, which is not within 250ms and 1m00s; ignored$/,
      () => put('interval 61s for 1h'),
    ],
  ];
  if (isRoot)
    wrong.push([
      'of another user',
      /\/pace belongs to user 1234, who is neither root nor beoboard nor the sender's own; ignored$/,
      () => put(LINE, path => chownSync(path, 1234, 1234)),
    ]);
  for (const [what, line, make] of wrong) {
    const before = said().length;
    make();
    t.match((await next(before + 1)).at(-1), line, what);
    await hearer.more(3);
    t.equal(said().length, before + 1, `${what}: once`);
  }
  t.ok(hearer.reports.every(({ interval_ms }) => interval_ms === 100));
  let before = said().length;
  put(LINE);
  t.match((await next(before + 1)).at(-1), /^pace: reports every 1\.0s for /, 'and one that is good is taken');
  before = said().length;
  put('interval 1s for ever');
  const lines = (await next(before + 2)).slice(before).sort();
  t.match(lines, [/ does not read as /, /^pace: over; reports every 100ms again$/], 'one that is not ends it');
  t.ok(existsSync(file) && sender.child.exitCode === null);
  await end();
});

t.test('SIGHUP reads its options again', async t => {
  const config = join(folder(t), 'send.toml');
  writeFileSync(config, 'pace-max = "500ms"\n');
  const { sender, next, put, end, own } = await begin(t, ['--config', config]);
  put(LINE);
  t.match(await next(1), [/wants an interval of 1\.0s, which is not within 250ms and 500ms; ignored/]);
  writeFileSync(config, 'pace-max = "5s"\n');
  sender.child.kill('SIGHUP');
  t.match((await next(2))[1], /^pace: reports every 1\.0s for /, 'what is within them now');
  t.ok(readdirSync(own).includes('pace'));
  await end();
});

// ---- the verb ----

/**
 * A stand-in for clush, pdsh or ssh: logs its arguments, runs the command here in a shell, and ends with `code`. Several
 * run at once, so each logs to a file of its own: a shell may write one long line in several pieces.
 */
function standIn(t: Test, name: string, code = 0) {
  const own = folder(t);
  const program = join(own, name);
  const log = join(own, 'log');
  mkdirSync(log);
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\037' "$@" > "$(mktemp ${log}/XXXXXX)"\nfor word; do :; done\nsh -c "$word" || exit\nexit ${code}\n`,
    { mode: 0o755 },
  );
  const calls = () => readdirSync(log).map(name => readFileSync(join(log, name), 'utf8').split('\x1f').slice(0, -1));
  return { program, calls };
}

t.test('the whole way: the verb, a program that runs commands on nodes, and a sender that returns', async t => {
  for (const [name, ...options] of [
    ['clush', '-S', '-w'],
    ['pdsh', '-S', '-w'],
    ['ssh', '-o', 'BatchMode=yes'],
  ] as [string, ...string[]][]) {
    const { file, hearer, next, end } = await begin(t);
    const { program, calls } = standIn(t, name);
    const via = ['--via', [program, ...options].join(' '), '--pace-file', file];
    const paced = await beoboard(['pace', '-w', 'node[3,1-2],login1', '--interval', '1s', '--for', '90m', ...via]);
    t.match(paced, { code: 0, stderr: '' });
    const groups = name === 'ssh' ? ['node3', 'node1', 'node2', 'login1'] : ['login1,node[1-3]'];
    t.same(
      calls()
        .map(call => call.slice(0, -1))
        .sort(),
      groups.map(group => [...options, group]).sort(),
      `${name}: what it was called with`,
    );
    const lines = paced.stdout.trimEnd().split('\n');
    t.equal(lines.length, groups.length, 'each is shown');
    t.ok(lines.every(line => line.startsWith(`${program} ${options.join(' ')} `)));
    t.same(
      spawnSync('sh', ['-c', `printf '%s\\0' ${lines[0]}`], { encoding: 'utf8' })
        .stdout.split('\0')
        .slice(0, -1),
      [program, ...options, groups[0], calls()[0]?.at(-1)],
      'as a shell would take it',
    );
    t.equal(readFileSync(file, 'utf8'), 'interval 1s for 90m\n');
    t.equal(statSync(file).mode & 0o777, 0o644);
    t.match((await next(1))[0], /^pace: reports every 1\.0s for (1h30m|1h29m) /);
    await hearer.next('it is on the way', ({ interval_ms }) => interval_ms === 200);

    const off = await beoboard(['pace', '-w', 'node[1-3]', '--off', ...via]);
    t.match(off, { code: 0, stderr: '' });
    t.notOk(existsSync(file));
    await hearer.next('it has gone back', ({ interval_ms }) => interval_ms === 100);
    t.same(readdirSync(join(file, '..')), [], 'nothing is left of the way');
    await end();
  }
});

/** Tests in which no sender takes part. */
function withoutSender(): void {
  t.test('what a file may say', async t => {
    const said: [text: string, intervalMs: number, forMs: number][] = [
      ['interval 10s for 1h', 10_000, 3_600_000],
      ['interval 250ms for 1s\n', 250, 1000],
      ['# why\n\n#\n\tinterval \t 1.5s\tfor  744h  \n\n', 1500, 744 * 3_600_000],
    ];
    for (const [text, intervalMs, forMs] of said) t.same(parsePace(text), { intervalMs, forMs }, JSON.stringify(text));
    for (const text of [
      ...['', '\n# interval 10s for 1h\n', 'interval 10s', 'interval 10 for 1h', 'interval 10s for 999ms'],
      ...['interval 10s for 745h', 'interval 10s for 1h for 1h', 'interval 10s for 1h\ninterval 10s for 1h'],
      ...['interval 10s for 1h\r\n', 'interval -1s for 1h', 'Interval 10s for 1h', 'interval=10s for 1h'],
      ...['interval 10s\0 for 1h', 'interval 10s for'],
    ])
      t.throws(() => parsePace(text), { message: "does not read as 'interval TIME for TIME'" }, JSON.stringify(text));
  });

  t.test('nothing is run if the arguments are invalid', async t => {
    const { program, calls } = standIn(t, 'clush');
    const at = ['--via', program];
    const good = ['-w', 'node[1-3]', '--interval', '10s', '--for', '1h'];
    const dry = await beoboard(['pace', ...good, '--dry-run', ...at]);
    t.match(dry, { code: 0, stdout: /^\S+clush 'node\[1-3\]' 'sh -c .*interval 10s for 1h.*\n$/ });
    t.equal(dry.stderr, 'beoboard pace: 1h: 10 s are reached after 3m00s\n', 'and what the nodes will reach');
    for (const [interval, time, told] of [
      ['1s', '10m', ''],
      ['2s', '11s', '11s: 2 s is never reached'],
      ['60s', '10m', '10m: 60 s is never reached, 32 s are reached after 6m12s'],
      ['1m', '1h', '1h: 60 s are reached after 12m36s'],
      ['600s', '4h', '4h: 600 s are reached after 3h24m'],
    ] as const)
      t.equal(
        (await beoboard(['pace', '-w', 'node1', '--interval', interval, '--for', time, '--dry-run', ...at])).stderr,
        told && `beoboard pace: ${told}\n`,
      );
    const wrong: [RegExp, ...string[]][] = [
      [/no nodes are given; write -w LIST/, '--interval', '10s', '--for', '1h'],
      [/no interval; write --interval TIME, or --off/, '-w', 'node1', '--for', '1h'],
      [/for how long\? write --for TIME/, '-w', 'node1', '--interval', '10s'],
      [/--interval: '99ms' is out of bounds/, '-w', 'node1', '--interval', '99ms', '--for', '1h'],
      [/--interval: '10' has no unit/, '-w', 'node1', '--interval', '10', '--for', '1h'],
      [/--for: '999ms' is out of bounds; write 1s to 744h/, '-w', 'node1', '--interval', '1s', '--for', '999ms'],
      [/--for: '745h' is out of bounds/, '-w', 'node1', '--interval', '1s', '--for', '745h'],
      [/leave --interval and --for out/, ...good, '--off'],
      [/is one argument too many/, ...good, 'node4'],
      [/is not a plain absolute path/, ...good, '--pace-file', "/run/x'; reboot; '"],
      [/is not a plain absolute path/, ...good, '--pace-file', '/run/%h'],
      [/is not a plain absolute path/, ...good, '--pace-file', '/run/../etc/passwd'],
      [/is not a plain absolute path/, ...good, '--pace-file', 'pace'],
      [/is not a command/, ...good, '--via', ''],
      [/is not a command/, ...good, '--via', "clush -o '-x' -w"],
    ];
    for (const name of [
      ...['$(reboot)', '`reboot`', 'a;reboot', 'a b', '-oProxyCommand=reboot', "a'b", 'a"b', 'a|b', 'a&b', 'a\nb'],
      ...['%h', '@all', '*', 'a/../b', 'root@a', 'a>b', '\\a', '', '..'],
    ])
      wrong.push([/^beoboard pace: --nodes: /, '-w', name, '--interval', '10s', '--for', '1h']);
    for (const [why, ...argv] of wrong) {
      const { code, stdout, stderr } = await beoboard(['pace', ...(argv.includes('--via') ? [] : at), ...argv]);
      t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: why }, argv.join(' '));
      t.equal(stderr.trimEnd().split('\n').length, 1, 'in one line');
    }
    t.same(calls(), []);
  });

  t.test('ssh behind another command, and a list that is too long for one argument', async t => {
    const file = join(folder(t), 'pace');
    const good = ['--interval', '10s', '--for', '1h', '--pace-file', file];
    const groupsOf = (calls: string[][]) => calls.map(call => call.at(-2) ?? '');
    for (const [words, lists] of [
      ['env ssh', ['node1', 'node2']],
      ['timeout 60 ssh -o BatchMode=yes', ['node1', 'node2']],
      ['clush -R ssh -w', ['node[1-2]']],
    ] as const) {
      const { program, calls } = standIn(t, words.includes('clush') ? 'clush' : 'ssh');
      const via = words.replace(/(^| )(ssh|clush)/, `$1${program}`);
      t.match(await beoboard(['pace', '-w', 'node[1-2]', ...good, '--via', via]), { code: 0 });
      t.same(groupsOf(calls()).sort(), lists, words);
    }

    // Names without numbers, so that the list cannot be folded.
    const many = Array.from(
      { length: 10_000 },
      (_, i) => `n${i.toString(26).replace(/\d/g, d => 'qrstuvwxyz'[Number(d)] ?? '')}xxxxxxxxxx`,
    );
    const nodes = join(folder(t), 'nodes');
    writeFileSync(nodes, many.join('\n'));
    const { program, calls } = standIn(t, 'clush');
    t.match(await beoboard(['pace', '-w', `@${nodes}`, ...good, '--via', program]), { code: 0 });
    const lists = groupsOf(calls());
    t.ok(lists.length > 1 && lists.every(list => list.length < 128 * 1024), `${lists.length} lists`);
    t.same(lists.flatMap(list => list.split(',')).sort(), [...new Set(many)].sort());
  });

  t.test('what fails is told, with its code', async t => {
    const file = join(folder(t), 'pace');
    const good = ['pace', '-w', 'node[1-3]', '--interval', '500ms', '--for', '1h', '--pace-file', file];
    const clush = standIn(t, 'clush', 3);
    const failed = await beoboard([...good, '--via', clush.program]);
    t.match(failed, { code: 1, stderr: /^beoboard pace: \S+clush ended with 3; some nodes may have been reached\n$/ });
    const ssh = standIn(t, 'ssh', 255);
    t.match(await beoboard([...good, '--via', ssh.program]), {
      code: 1,
      stderr:
        /^beoboard pace: \S+ssh ended with 255 for 3 of 3 nodes \(node\[1-3\]\); some nodes may have been reached\n$/,
    });
    t.equal(ssh.calls().length, 3);
    t.match(await beoboard([...good, '--via', '/nonexistent/clush']), {
      code: 1,
      stderr:
        /^beoboard pace: \/nonexistent\/clush cannot be run: there is no such program in PATH; no node was reached\n$/,
    });
    t.match(await beoboard([...good, '--via', `${clush.program}/clush`]), {
      code: 1,
      stderr: /^beoboard pace: \S+ cannot be run: ENOTDIR; no node was reached\n$/,
    });
    // The folder does not exist on the node, and the shell there says so.
    const { program } = standIn(t, 'clush');
    const nowhere = await run([
      ...good.slice(0, -1),
      join(file, '..', 'none', 'pace').replaceAll('//', '/'),
      '--via',
      program,
    ]);
    t.match(nowhere, { code: 1, stderr: /ended with 1; some nodes/ });
    mkdirSync(join(file, '..', 'folder'));
    const inside = await beoboard([...good.slice(0, -1), join(file, '..', 'folder'), '--via', program]);
    t.match(inside, { code: 1 }, 'a folder in its place is not taken for one to write into');
    t.same(readdirSync(join(file, '..', 'folder')), []);
    t.same(readdirSync(join(file, '..')).sort(), ['folder', 'pace'], 'and nothing half made is left');
  });

  t.test('status says who reports at another interval than most', async t => {
    const node = (i: number, interval_ms: number, more: Partial<MadeNode> = {}) => ({
      name: `node${i}`,
      age: 0.1,
      ...busy(1, { interval_ms }),
      ...more,
    });
    const say = (nodes: MadeNode[]) => anomalies(survey(madeBoard(nodes))).map(({ text }) => text);
    const most = (count: number, more: MadeNode[] = []) => [
      ...Array.from({ length: count }, (_, i) => node(100 + i, 1000)),
      ...more,
    ];
    t.same(say(most(5)), []);
    t.same(say(most(6, [node(1, 10_000), node(2, 10_000), node(3, 10_000)])), [
      'node[1-3]: reports every 10s, 6 others 1s',
    ]);
    t.same(say(most(5, [node(7, 250)])), ['node7: reports every 250ms, 5 others 1s']);
    t.same(say(most(5, [node(1, 10_000), node(2, 10_000), node(3, 10_000)])), [], 'more than a third do not differ');
    t.same(
      say(most(12, [node(1, 60_000), node(2, 10_000), node(3, 1500), node(4, 250), node(5, 500), node(6, 60_000)])),
      [
        'node[1,6]: reports every 1m; node2: reports every 10s; node3: reports every 1500ms; 2 more with 2 other values, 12 others 1s',
      ],
      'a few of them',
    );
    t.same(
      say(most(5, [node(1, 10_000, { goodbye: true }), { name: 'node2' }])),
      [],
      'those that have left, or never reported, are not counted',
    );
  });
}

if (SENDER === '') withoutSender();
