// The groups of packaging/clustershell in ClusterShell's own nodeset, on a board with nodes in several states, with and
// without jobs; and names that would be commands to a shell.
//
// @seconds 13
// @rest
// @days 3

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { ended } from '../kit/children.js';
import { copyOf, INSTALLED, makeIn } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import { beat } from '../kit/linkboard.js';
import { madeJob, madeState } from '../kit/madejobs.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { makeBoard, numbered, stall } from '../kit/stateboard.js';

const skip = lacks('clustershell', 'nodeset');
const HERE = join(ROOT, 'packaging', 'clustershell');
const own = folder(t);
const slurmDir = join(own, 'slurm');

/** Programs of this build under their names, with this board and these jobs. */
function programs(board: string): string {
  const bin = folder(t);
  const script = (name: string, line: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\nverb=$1\n${line}\n`, { mode: 0o755 });
  const more = `--board '${board}'`;
  script('beoboard-nodes', `exec ${copyOf(t, join(makeIn('verbs', INSTALLED), 'beoboard-nodes'))} ${more} "$@"`);
  script('beoboard', `shift; exec '${process.execPath}' '${PROGRAM}' "$verb" ${more} --slurm-dir '${slurmDir}' "$@"`);
  return bin;
}

/** Asks nodeset with the packaged configuration, in which only the path of the script is another one. */
function asking(bin: string) {
  const etc = folder(t);
  mkdirSync(join(etc, 'groups.conf.d'));
  writeFileSync(join(etc, 'groups.conf'), `[Main]\ndefault: bb\nconfdir: ${join(etc, 'groups.conf.d')}\n`);
  const conf = readFileSync(join(HERE, 'beoboard.conf'), 'utf8');
  writeFileSync(join(etc, 'groups.conf.d', 'beoboard.conf'), conf.replaceAll('/usr/share/beoboard/clustershell', HERE));
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, CLUSTERSHELL_CFGDIR: etc };
  return async (...argv: string[]) => {
    const { code, stdout, stderr } = await ended(spawn('nodeset', argv, { env, cwd: own }));
    return { status: code, stdout: stdout.trim(), stderr };
  };
}

t.test('the groups that the program knows are the states and problems of the board', async t => {
  const source = readFileSync(join(HERE, 'groups.py'), 'utf8');
  const [, listed = ''] = /PROBLEMS = \(([^)]*)\)/.exec(source) ?? [];
  t.same([...listed.matchAll(/"(\w+)"/g)].map(([, name]) => name).sort(), [...PROBLEMS].sort());
  t.notOk(existsSync(join(HERE, '__pycache__')));
});

t.test('nodeset', { skip }, async t => {
  const board = makeBoard(t, { live: numbered(6), silent: ['n007'], unhealthy: ['n008'], never: ['n009'] });
  const beats = setInterval(() => beat(board.path), 100);
  t.teardown(() => clearInterval(beats));
  mkdirSync(slurmDir);
  const ask = asking(programs(board.path));
  t.match(await ask('-f', '@bb:silent'), { status: 0, stdout: 'n007' });
  t.match(await ask('-f', '@bb:live'), { status: 0, stdout: 'n[001-006,008]' });
  t.match(await ask('-f', '@bb:bad_health'), { status: 0, stdout: 'n008' });
  t.match(await ask('-f', '@bb:root_full'), { status: 0, stdout: '' }, 'a problem that no node has');
  t.match(await ask('-f', '-a', '-s', 'bb'), { status: 0, stdout: 'n[001-009]' });
  t.match(await ask('-f', '@bb:live&@bb:bad_health'), { status: 0, stdout: 'n008' }, 'as any group');
  t.match(await ask('-l', '-s', 'bb'), { status: 0, stdout: /@bb:bad_health\n(.*\n)*@bb:silent/ });
  t.match(await ask('-l', '-s', 'bb', 'n008'), { status: 0, stdout: '@bb:bad_health\n@bb:live' }, 'and in reverse');
  t.match(await ask('-f', '@bb:job-4711'), { status: 1 }, 'without beoboard scheduler');
  const checking = spawn('python3', [join(HERE, 'groups.py'), 'check'], {
    env: { ...process.env, PATH: `${programs(board.path)}:${process.env.PATH}` },
  });
  checking.stdin.end(Buffer.from('\xef\xbb\xbfn001 n002,n002.cluster.example.org\r\nnobody\n\x1b[31m\xfc\n', 'latin1'));
  const unknown = 'n002.cluster.example.org\nnobody\n\\u{1b}[31m\\u{dcfc}\n';
  t.match(await ended(checking), { code: 1, stdout: unknown }, 'names of others');

  const tell = (all: ReturnType<typeof madeJob>[]) =>
    writeFileSync(
      join(slurmDir, 'state'),
      stateText(
        madeState(
          numbered(9).map(name => ({ name, state: 'ALLOCATED', cpus: 4, cpus_used: 4 })),
          all,
        ),
      ),
      { mode: 0o600 },
    );
  tell([
    madeJob('4711', 'n[001-003,007]', { user: 'anna' }),
    madeJob('4712_3', 'n004', { user: 'bert' }),
    madeJob('4712_4', 'n005', { user: 'x;touch hostile' }),
    madeJob('4713+0', 'n006', { user: 'dora@ad.example.org', raw_id: '4714' }),
    madeJob('77[3].pbs01', 'n008', { user: 'AD\\carl' }),
  ]);
  for (const name of ['job-4713+0', 'job-4714', 'user-dora@ad.example.org', 'user-dora'])
    t.match(await ask('-f', `@bb:${name}`), { status: 0, stdout: 'n006' }, name);
  for (const name of ['job-77_3.pbs01', 'job-77', 'user-AD\\carl', 'user-carl'])
    t.match(await ask('-f', `@bb:${name}`), { status: 0, stdout: 'n008' }, name);
  t.match(await ask('-l', '-s', 'bb', 'n008'), {
    stdout: /^@bb:bad_health\n@bb:job-77_3.pbs01\n@bb:live\n@bb:user-AD.carl$/,
  });
  t.match(await ask('-f', '@bb:job-4711'), { status: 0, stdout: 'n[001-003,007]' });
  t.match(await ask('-f', '@bb:job-4711&@bb:silent'), { status: 0, stdout: 'n007' });
  t.match(await ask('-f', '@bb:job-4712_3'), { status: 0, stdout: 'n004' });
  t.match(await ask('-f', '@bb:job-4712'), { status: 0, stdout: 'n[004-005]' }, 'the parts of an array');
  t.match(await ask('-f', '@bb:user-anna'), { status: 0, stdout: 'n[001-003,007]' });
  const { stdout: listed } = await ask('-l', '-s', 'bb');
  t.match(listed, /@bb:user-bert/);
  t.notMatch(listed, /hostile/, 'a name that is no group is not offered');
  t.match(await ask('-f', '@bb:job-99'), { status: 1, stderr: /no node of job 99/ });
  t.match(await ask('-f', '@bb:nothing'), { status: 1, stderr: /there is no group nothing/ });
  t.match(await ask('-l', '-s', 'bb', 'n001'), { status: 0, stdout: '@bb:job-4711\n@bb:live\n@bb:user-anna' });

  t.comment('names that would be commands');
  for (const name of [
    ...['$(touch hostile)', '`touch hostile`', ';touch hostile', "';touch hostile;'", '|touch hostile'],
    ...['\ntouch hostile', '\nNAME\ntouch hostile\n', '--help', '-x', '%(here)s', '$SOURCE', 'a b', '../etc', ''],
  ]) {
    t.not((await ask('-f', `@bb:${name}`)).status, 0, JSON.stringify(name));
    t.notOk(existsSync(join(own, 'hostile')) || existsSync(join(HERE, 'hostile')), 'nothing was run');
  }
  t.notOk(existsSync('hostile'));

  const other = makeBoard(t, { live: ['localhost', 'n1'] });
  const others = setInterval(() => beat(other.path), 100);
  t.teardown(() => clearInterval(others));
  const ofOwn = asking(programs(other.path));
  const left = /a node called localhost is left out/;
  for (const asked of [['@bb:live'], ['-a', '-s', 'bb']])
    t.match(await ofOwn('-f', ...asked), { status: 0, stdout: 'n1', stderr: left });

  clearInterval(beats);
  stall(board, 60);
  t.match(await ask('-f', '@bb:silent'), { status: 1, stdout: '' }, 'from a stalled board nothing is known');
  t.match(await ask('-f', '-a', '-s', 'bb'), { status: 0, stdout: 'n[001-009]' });
});
