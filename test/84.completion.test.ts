// The completions that are generated from the help: the shells themselves say what they would offer.

import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { boardPath, folder, PROGRAM, ROOT, startReceiver } from './lib.js';

t.setTimeout(300_000);
const SCRIPTS = join(ROOT, 'packaging', 'completions');

/** A folder with a program `beoboard`, as the shells look for one. */
function path(): string {
  const bin = folder(t);
  writeFileSync(join(bin, 'beoboard'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, 'beoboard'), 0o755);
  return `${bin}:${process.env.PATH}`;
}

const env = { ...process.env, PATH: path() };
const missing = (shell: string) =>
  spawnSync(shell, ['-c', ':']).error !== undefined && !process.env.CI && `${shell} is not installed`;

/** What bash offers behind these words, of which the last is begun. */
function bash(...words: string[]): string[] {
  const script = `source '${SCRIPTS}/beoboard.bash'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _beoboard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8', env });
  t.same([stderr, status], ['', 0], words.join(' '));
  return stdout.trim().split('\n').filter(Boolean);
}

t.test('bash', async t => {
  const board = boardPath(t);
  await startReceiver(t, board, ['--nodes', 'node[01-12],login']);
  t.same(bash('beoboard', 'no'), ['nodes', 'nodeset']);
  t.same(bash('beoboard', 'status', '--wh'), ['--where']);
  t.same(bash('beoboard', 'nodes', '--state', 'un'), ['unknown', 'uncertain']);
  t.same(bash('beoboard', 'check', '--fail', ''), ['open', 'closed']);
  t.same(bash('beoboard', 'nodes', '--board', board, '--nodes', 'node1'), ['node10', 'node11', 'node12']);
  t.same(bash('beoboard', 'status', '--board', board, '-w', 'log'), ['login']);
  t.same(bash('beoboard', 'forget', '--board', board, 'node0').length, 9);
  t.same(
    bash('beoboard', 'status', '--board', `${board}.none`, '-w', ''),
    [],
    'no board, no names, and no word about it',
  );
  t.same(bash('beoboard', 'status', '--sort', 'lo'), [], 'a value that cannot be listed');
  t.ok(bash('beoboard', 'status', '--board', '/dev/sh').includes('/dev/shm'));
});

t.test('fish', { skip: missing('fish') }, async t => {
  const fish = (line: string) => {
    const { stdout, stderr } = spawnSync(
      'fish',
      ['-N', '-c', `source '${SCRIPTS}/beoboard.fish'; complete -C '${line}'`],
      {
        encoding: 'utf8',
        env: { ...env, HOME: folder(t) },
      },
    );
    t.equal(stderr, '', line);
    return stdout
      .trim()
      .split('\n')
      .map(offer => offer.split('\t', 1)[0]);
  };
  t.same(fish('beoboard nod').sort(), ['nodes', 'nodeset']);
  t.same(fish('beoboard status --wh'), ['--where']);
  t.same(fish('beoboard nodes --state un').sort(), ['uncertain', 'unknown']);
});

t.test('zsh', { skip: missing('zsh') }, async t => {
  const { stderr, status } = spawnSync('zsh', ['-f', '-n', join(SCRIPTS, '_beoboard')], { encoding: 'utf8' });
  t.same([stderr, status], ['', 0], 'reads it');
  // Completes only in a terminal; what it is asked to offer can be seen all the same.
  const script = `compdef() { :; }; _arguments() { printf '%s\\n' "$@"; }; source '${SCRIPTS}/_beoboard'
    words=(beoboard nodes --st); CURRENT=3; _beoboard`;
  const { stdout } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8', env });
  t.match(stdout, /^\*--state\[nodes in these states\\: .*\]:STATES:\(silent unknown uncertain never left live\)$/m);
  t.match(stdout, /^\*-w\[.*\]:LIST:_beoboard_nodes$/m);
});
