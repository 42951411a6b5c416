// The completions that are generated from the table of options: the shells themselves list what they would offer.
//
// @rest

import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ranked } from '../../src/layout/terms.gen.js';
import { parts } from '../../src/parts.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, startReceiver } from '../kit/program.js';

t.setTimeout(600_000);
const SCRIPTS = join(ROOT, 'packaging', 'completions');

/** A PATH with a program `beoboard`. */
function path(): string {
  const bin = folder(t);
  writeFileSync(join(bin, 'beoboard'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, 'beoboard'), 0o755);
  return `${bin}:${process.env.PATH}`;
}

const env = { ...process.env, PATH: path() };
const missing = (shell: string) =>
  spawnSync(shell, ['-c', ':']).error !== undefined && !process.env.CI && `${shell} is not installed`;

/** The completions that bash offers for these words, of which the last is incomplete. */
function bash(...words: string[]): string[] {
  const script = `source '${SCRIPTS}/beoboard.bash'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _beoboard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8', env });
  t.same([stderr, status], ['', 0], words.join(' '));
  return stdout.trim().split('\n').filter(Boolean);
}

/** One option of each kind that has completions, with these. */
const WORDS: [verb: string, option: string, words: string[]][] = [
  ['check', '--fail', ['open', 'closed']],
  ['receive', '--require', ['none', 'cluster', 'node']],
  ['receive', '--clock-window', ['off']],
  ['ganglia', '--metrics', ['all', 'gmond']],
  ['xml', '--metrics', ['all', 'gmond']],
  ['status', '--color', ['auto', 'always', 'never']],
  ['nodes', '--state', [...ranked.node_state]],
  ['nodes', '-s', [...ranked.node_state]],
];
const FILES: [verb: string, option: string][] = [
  ['ganglia', '--board'],
  ['status', '--board'],
  ['receive', '--config'],
  ['slurm', '--config'],
  ['send', '--key-file'],
  ['pace', '--pace-file'],
];
const files = t.testdir({ one: '', folder: {} });

/** The verbs with all their options. */
const verbs = (await Promise.all(Object.values(parts).map(load => load()))).map(({ verb }) => ({
  name: verb.name,
  letters: ['-h', ...Object.keys(verb.letters ?? {}).map(letter => `-${letter}`)],
  options: ['--help', ...verb.options.map(name => `--${name}`)],
}));

t.test('bash', async t => {
  const board = boardPath(t);
  await startReceiver(t, board, ['--nodes', 'node[01-12],login']);
  t.same(bash('beoboard', 'no'), ['nodes', 'nodeset']);
  t.same(bash('beoboard', 'status', '--wh'), ['--where']);
  t.same(bash('beoboard', 'nodes', '--state', 'un'), ['unknown', 'uncertain']);
  t.same(bash('beoboard', 'nodes', '-s', 'live,un'), ['live,unknown', 'live,uncertain'], 'the last of a list');
  for (const { name, letters, options } of verbs)
    t.same(bash('beoboard', name, '-').sort(), [...letters, ...options].sort(), name);
  for (const [verb, option, words] of WORDS) t.same(bash('beoboard', verb, option, ''), words, option);
  t.same(bash('beoboard', 'load', '--by', 'lo'), [], 'an option of another verb');
  t.same(bash('beoboard', 'nodes', '--board', board, '--nodes', 'node1'), ['node10', 'node11', 'node12']);
  t.same(bash('beoboard', 'status', '--board', board, '-w', 'log'), ['login']);
  t.same(bash('beoboard', 'forget', '--board', board, 'node0').length, 9);
  t.same(
    bash('beoboard', 'status', '--board', `${board}.none`, '-w', ''),
    [],
    'no board, no names, and no word about it',
  );
  t.same(bash('beoboard', 'status', '--sort', 'lo'), [], 'a value that cannot be listed');
  for (const [verb, option] of FILES) t.same(bash('beoboard', verb, option, `${files}/o`), [`${files}/one`], option);
  t.same(bash('beoboard', 'keygen', `${files}/o`), [`${files}/one`], 'an argument');
  t.same(bash('beoboard', 'send', '--scratch', `${files}/`), [`${files}/folder`], 'folders alone');
  t.ok(bash('beoboard', 'receive', '--interface', 'l').includes('lo'));
  t.ok(bash('beoboard', 'status', '--owner', 'roo').includes('root'));
  t.ok(bash('beoboard', 'pace', '--via', 'en').includes('env'));
});

t.test('fish', { skip: missing('fish') }, async t => {
  const fish = (line: string) => {
    const { stdout, stderr } = spawnSync(
      'fish',
      ['-N', '-c', `source '${SCRIPTS}/beoboard.fish'; complete -C '${line}'`],
      { encoding: 'utf8', env: { ...env, HOME: folder(t) } },
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
  t.same(fish('beoboard nodes -s live,un').sort(), ['live,uncertain', 'live,unknown'], 'the last of a list');
  for (const { name, options } of verbs) t.same(fish(`beoboard ${name} --`).sort(), [...options].sort(), name);
  for (const [verb, option, words] of WORDS)
    if (option.startsWith('--')) t.same(fish(`beoboard ${verb} ${option} `).sort(), [...words].sort(), option);
  for (const [verb, option] of FILES)
    t.same(fish(`beoboard ${verb} ${option} ${files}/o`), [`${files}/one`], `${verb} ${option}`);
  t.same(fish(`beoboard keygen ${files}/o`), [`${files}/one`], 'an argument');
  t.same(fish(`beoboard send --scratch ${files}/`), [`${files}/folder/`], 'folders alone');
  t.ok(fish('beoboard receive --interface l').includes('lo'));
});

t.test('zsh', { skip: missing('zsh') }, async t => {
  const { stderr, status } = spawnSync('zsh', ['-f', '-n', join(SCRIPTS, '_beoboard')], { encoding: 'utf8' });
  t.same([stderr, status], ['', 0], 'reads it');
  // zsh completes only in a terminal, but the arguments of its function _arguments can be recorded.
  const offered = (verb: string) => {
    const script = `compdef() { :; }; _arguments() { printf '%s\\n' "$@"; }; source '${SCRIPTS}/_beoboard'
      words=(beoboard ${verb} --st); CURRENT=3; _beoboard`;
    return spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8', env }).stdout.split('\n');
  };
  for (const [verb, option, words] of WORDS) {
    const spec = offered(verb).find(line => line.startsWith(`*${option}[`)) ?? '';
    const one = `:(${words.join(' ')})`;
    t.ok(
      spec.endsWith(verb === 'nodes' ? `:_values -s , STATES ${words.join(' ')}` : one),
      `${verb} ${option}: ${spec}`,
    );
  }
  for (const { name, letters, options } of verbs)
    t.same(
      offered(name)
        .flatMap(line => /^\*(-[^[]+)\[/.exec(line)?.[1] ?? [])
        .sort(),
      [...letters, ...options].sort(),
      name,
    );
  t.ok(offered('nodes').some(line => /^\*-w\[.*\]:LIST:_beoboard_nodes$/.test(line)));
  t.ok(offered('send').some(line => /^\*--scratch\[.*\]:DIR:_files -\/$/.test(line)));
  t.ok(offered('forget').includes('*:LIST:_beoboard_nodes'));
});
