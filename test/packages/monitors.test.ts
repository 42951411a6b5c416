// The definitions for Nagios, Icinga and NRPE in packaging/nagios: their command lines are run as these programs run
// them, on a board with a silent node. And the script that passes on the word of NHC.
//
// @seconds 5
// @rest

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ended } from '../kit/children.js';
import { copyOf, INSTALLED, makeIn } from '../kit/compiling.js';
import { beat } from '../kit/linkboard.js';
import { folder, ROOT } from '../kit/places.js';
import { makeBoard, numbered } from '../kit/stateboard.js';

const read = (name: string) => readFileSync(join(ROOT, 'packaging', 'nagios', name), 'utf8');
const PROGRAM = copyOf(t, join(makeIn('verbs', INSTALLED), 'beoboard-check'));
const beats = setInterval(() => beat(BOARD), 100);
t.teardown(() => clearInterval(beats));
const { path: BOARD } = makeBoard(t, { live: numbered(9), silent: ['n010'] });

/** Runs a command line, or the words of one, with this build of the program, on this board. */
async function ran(line: string | readonly string[]) {
  const command = (text: string) => text.replace(/^\/usr\/bin\/beoboard-check\b/, PROGRAM);
  const [program = '', ...words] = typeof line === 'string' ? ['/bin/sh', '-c', `${line} --board ${BOARD}`] : line;
  const { code, stdout } = await ended(
    spawn(command(program), words.map(command).concat(typeof line === 'string' ? [] : ['--board', BOARD])),
  );
  return { status: code, stdout };
}

/** Nagios puts values in place of macros, and gives the line to a shell. */
const filled = (line: string, macros: Readonly<Record<string, string>>) =>
  line.replace(/\$([A-Z0-9]+)\$/g, (_, name: string) => macros[name] ?? '');

t.test('Nagios', async t => {
  const lines = new Map(
    [...read('nagios.cfg').matchAll(/command_name +(\S+)\n +command_line +(.*)/g)].map(([, name, line]) => [
      name,
      line ?? '',
    ]),
  );
  t.same([...lines.keys()], ['check_beoboard', 'check_beoboard_node']);
  const all = lines.get('check_beoboard') ?? '';
  t.match(await ran(filled(all, { ARG1: '5', ARG2: '20%' })), { status: 0, stdout: /^BEOBOARD OK/ });
  t.match(await ran(filled(all, { ARG1: '0', ARG2: '20%' })), { status: 1 });
  t.match(await ran(filled(all, { ARG1: '5', ARG2: '0' })), { status: 2 });
  const one = lines.get('check_beoboard_node') ?? '';
  t.match(await ran(filled(one, { HOSTNAME: 'n001' })), { status: 0 });
  t.match(await ran(filled(one, { HOSTNAME: 'n010' })), { status: 2, stdout: /n010/ });
  t.match(await ran(filled(one, { HOSTNAME: 'n001; echo hostile' })), { status: 3 }, 'what is in a name is no command');
});

t.test('Icinga 2', async t => {
  const text = read('icinga2.conf');
  const [, program = ''] = /command = \[ "(.*)" \]/.exec(text) ?? [];
  const options = [...text.matchAll(/"(--[a-z]+)" = "\$beoboard_[a-z]+\$"/g)].map(([, option]) => option ?? '');
  t.same(options, ['--nodes', '--warning', '--critical', '--ignore']);
  const values = ['n[001-010]', '5', '20%', 'oom'];
  t.match(await ran([program, ...options.flatMap((option, i) => [option, values[i] ?? ''])]), {
    status: 0,
    stdout: /^BEOBOARD OK/,
  });
  t.match(await ran([program]), { status: 2 }, 'none of them is needed');
});

t.test('NRPE', async t => {
  const [, line = ''] = /^command\[check_beoboard\]=(.*)$/m.exec(read('nrpe.cfg')) ?? [];
  t.match(await ran(line), { status: 1, stdout: /n010/ }, 'one of ten is a warning');
  t.notMatch(line, /\$ARG/, 'nothing comes from the network');
});

t.test('NHC', async t => {
  const own = folder(t);
  const run = join(own, 'run');
  mkdirSync(run);
  const script = join(own, 'nhc-beoboard');
  const source = readFileSync(join(ROOT, 'packaging', 'health', 'nhc-beoboard'), 'utf8');
  const here = source.replaceAll('/run/beoboard', run).replaceAll('/usr/sbin/nhc', join(own, 'nhc'));
  writeFileSync(script, here, { mode: 0o755 });
  const rows = [
    ['exit 0', 0, '', 'ok check\n'],
    [
      "echo 'ERROR:  nhc:  Health check failed:  /scratch'; echo 'is not mounted' >&2; exit 3",
      ...[3, 'ERROR:  nhc:  Health check failed:  /scratch\nis not mounted'],
      'bad check ERROR:  nhc:  Health check failed:  /scratch is not mounted\n',
    ],
    ["printf '%2000s' x; exit 1", 1, ' '.repeat(1999).concat('x'), `bad check ${' '.repeat(999)}\n`],
  ] as const;
  for (const [does, status, says, word] of rows) {
    writeFileSync(join(own, 'nhc'), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
    const { code, stdout } = await ended(spawn(script));
    t.same([code, stdout], [status, says], does);
    t.equal(readFileSync(join(run, 'health'), 'utf8'), word);
    t.equal(statSync(join(run, 'health')).mode & 0o777, 0o644, 'the sender can read it');
  }
  t.same(readdirSync(run), ['health'], 'nothing else is left');
});
