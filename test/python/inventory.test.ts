// The inventory for Ansible, packaging/ansible/beoboard-inventory: what it prints, what it refuses, and what the real
// Ansible makes of it, on boards with nodes in several states, under hostile names, with a hostile kernel.
//
// @seconds 8
// @rest

import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { ended } from '../kit/children.js';
import { makeIn } from '../kit/compiling.js';
import { keepAlive } from '../kit/heart.js';
import { lacks } from '../kit/lacking.js';
import { validOf } from '../kit/madeboard.js';
import { folder, ROOT } from '../kit/places.js';
import { makeBoard, numbered, stall } from '../kit/stateboard.js';

t.setTimeout(600_000);

const HERE = join(ROOT, 'packaging', 'ansible');
const SOURCE = readFileSync(join(HERE, 'beoboard-inventory'), 'utf8');
const PAGE = readFileSync(join(HERE, 'beoboard-inventory.1'), 'utf8').replaceAll(/\\(?=-)|\\f./g, '');
const STATES = ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'];
/** What Jinja would run. */
const HOSTILE = "{{ lookup('pipe', 'touch hostile') }}";

/** Nodes with names of groups, which Ansible would take for these. */
const GROUPS = ['all', 'bb_live', 'localhost'];
const leftOut = (name: string) =>
  `beoboard-inventory: node ${name} is left out: ${name === 'localhost' ? 'that is the machine Ansible runs on' : 'it has the name of a group'}\n`;

// Shared memory may forbid programs.
const own = folder(t, join(ROOT, 'build'));
const inventory = join(own, 'beoboard-inventory');
writeFileSync(inventory, SOURCE);
chmodSync(inventory, 0o755);
const [, section = '', ...lines] = /^ +(\[inventory\])\n +(.*)$/m.exec(PAGE) ?? [];
writeFileSync(join(own, 'ansible.cfg'), [section, ...lines, ''].join('\n'));

const board = makeBoard(t, { live: numbered(3), silent: ['n004'], unhealthy: ['n005'], never: [...GROUPS, 'n006'] });
const seldom = { interval_ms: 600_000 };
const valid = validOf('cpus', 'memory', 'system');
const measured = { cpus_online: 64, mem_total_mib: 257_000, mem_avail_mib: 251_000 };
board.lay('n001', 0, { ...seldom, valid, ...measured, os_release: '6.1.0-18-amd64' });
board.lay('n002', 0, { ...seldom, flags: 2 ** bits.flags.held, valid, ...measured, os_release: HOSTILE });
board.lay('n004', 34, { flags: 2 ** bits.flags.held });
const stop = keepAlive(t, board.path, []);

const env = {
  ...process.env,
  ...{ PYTHONPATH: join(ROOT, 'python'), BEOBOARD_LIBRARY: join(makeIn('', {}, 'lib'), 'libbeoboard.so.1') },
  ...{ PYTHONDONTWRITEBYTECODE: '1', BEOBOARD_BOARD: board.path },
  ...{ HOME: own, ANSIBLE_LOCAL_TEMP: own, ANSIBLE_NOCOLOR: '1', ANSIBLE_CONFIG: join(own, 'ansible.cfg') },
};

const run = (command: string, argv: readonly string[], more: Record<string, string> = {}) =>
  ended(spawn(command, argv, { env: { ...env, ...more }, cwd: own }));

/** What the inventory prints as JSON. */
async function asked(...argv: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(inventory, argv);
  const said = argv.includes('--list') ? GROUPS.map(leftOut).join('') : '';
  t.same([code, stderr.split('\n').sort()], [0, said.split('\n').sort()], argv.join(' '));
  return JSON.parse(stdout) as Record<string, unknown>;
}

const FACTS = {
  ...{ beoboard_cpus_online: 64, beoboard_mem_total_mib: 257_000, beoboard_mem_avail_mib: 251_000 },
  ...{ beoboard_os_release: '6.1.0-18-amd64', beoboard_state: 'live', beoboard_problems: [] },
};
const NOTHING = {
  ...{ beoboard_cpus_online: null, beoboard_mem_total_mib: null, beoboard_mem_avail_mib: null },
  beoboard_os_release: null,
};

t.test('groups and variables', async t => {
  const { _meta, ...groups } = await asked('--list');
  const hosts = Object.entries(groups).map(([name, group]) => [name, (group as { hosts: string[] }).hosts] as const);
  t.same(
    hosts.map(([name]) => name).sort(),
    [...STATES, ...PROBLEMS].map(word => `bb_${word}`).sort(),
    'each state and each problem, also if no node has it',
  );
  t.same(Object.fromEntries(hosts.filter(([, names]) => names.length > 0)), {
    ...{ bb_live: ['n001', 'n002', 'n003', 'n005'], bb_silent: ['n004'], bb_never: ['n006'] },
    ...{ bb_held: ['n002'], bb_bad_health: ['n005'] },
  });
  const { hostvars } = _meta as { hostvars: Record<string, Record<string, unknown>> };
  t.same(Object.keys(hostvars).sort(), numbered(6));
  t.same(hostvars.n001, FACTS);
  t.same(hostvars.n004, { ...NOTHING, beoboard_state: 'silent', beoboard_problems: [] });
  t.same(hostvars.n005, { ...NOTHING, beoboard_state: 'live', beoboard_problems: ['bad_health'] });
  t.same(hostvars.n002, {
    ...FACTS,
    beoboard_os_release: HOSTILE.replaceAll(/[^\w.+~-]/g, '?'),
    beoboard_problems: ['held'],
  });
  t.same(await asked('--host', 'n005'), hostvars.n005, 'one of them');
  t.same(await asked('--board', board.path, '--host', 'n001'), FACTS);
});

t.test('names that the board does not have', async t => {
  const hosts = join(own, 'hosts');
  writeFileSync(hosts, '  hosts (3):\n    n001\n    n002.cluster.example.org\n    nobody\n');
  t.match(await run(inventory, ['--check', hosts]), {
    code: 1,
    stdout: 'n002.cluster.example.org\nnobody\n',
    stderr: '',
  });
  writeFileSync(hosts, Buffer.from('\ufeffn001\r\n\x1b[31m\u202e\nL\xfcfter\nn\xfc\n', 'utf8'));
  const more = { code: 1, stdout: '\\u{1b}[31m\\u{202e}\nL\\u{fc}fter\nn\\u{fc}\n', stderr: '' };
  for (const LC_ALL of ['C.UTF-8', 'POSIX'])
    t.match(await run(inventory, ['--check', hosts], { LC_ALL }), more, 'no text of others controls a terminal');
  writeFileSync(hosts, Buffer.from('n001\nn\xfc\n', 'latin1'));
  t.match(await run(inventory, ['--check', hosts]), { code: 1, stdout: 'n\\u{dcfc}\n', stderr: '' });
  writeFileSync(hosts, 'n001\n');
  t.match(await run(inventory, ['--check', hosts]), { code: 0, stdout: '', stderr: '' });
});

t.test('the manual page has its groups, variables, options and exit codes', async t => {
  for (const word of [...STATES, ...PROBLEMS]) t.ok(PAGE.includes(`bb_${word}`), word);
  for (const name of Object.keys(FACTS)) t.ok(PAGE.includes(name), name);
  const { stdout } = await run(inventory, ['--help']);
  const options = (text: string) => [...new Set(text.match(/--[a-z]+\b/g))].sort();
  t.same(options(stdout), ['--board', '--check', '--help', '--host', '--list']);
  for (const option of options(stdout)) t.match(PAGE, new RegExp(`^(-h, )?${option}\\b`, 'm'));
  for (const [, code] of SOURCE.matchAll(/^[A-Z_]+ = (\d+)$/gm)) t.match(PAGE, new RegExp(`^${code}$`, 'm'));
  if (!lacks('mandoc', 'mandoc'))
    t.same(await run('mandoc', ['-T', 'lint', '-W', 'warning', join(HERE, 'beoboard-inventory.1')]), {
      ...{ code: 0, stdout: '', stderr: '' },
    });
});

t.test('what it refuses is a sentence, and no inventory', async t => {
  const refused = async (argv: string[], code: number, sentence: RegExp, more: Record<string, string> = {}) =>
    t.match(await run(inventory, argv, more), { code, stdout: '', stderr: sentence }, argv.join(' '));
  for (const name of ['n009', '', '-x', '../n001', '$(touch hostile)', '{{ 1 }}', 'n001\n', 'é', `${'n'.repeat(99)}`])
    await refused([`--host=${name}`], 1, /^beoboard-inventory: [\s\S]*: no such board or node/);
  for (const argv of [[], ['--list', '--host', 'n001'], ['--list', 'n001'], ['--host']])
    await refused(argv, 2, /^beoboard-inventory: error: /m);
  await refused(['--list', '--board', '/nowhere'], 4, /^beoboard-inventory: \/nowhere: no such board or node: .*\n$/);
  await refused(['--list'], 4, /^beoboard-inventory: none\.so cannot be loaded .*\n$/, { BEOBOARD_LIBRARY: 'none.so' });
  const full = openSync('/dev/full', 'w');
  const child = spawn(inventory, ['--list'], { env, stdio: ['ignore', full, 'pipe'] });
  t.match(await ended(child), { code: 74, stderr: /beoboard-inventory: .*No space left on device\n$/ });
  closeSync(full);
  t.notOk(existsSync(join(own, 'hostile')));
});

const skip = lacks('ansible-core', 'ansible-inventory', 'ansible');

t.test('Ansible', { skip }, async t => {
  const { code, stdout, stderr } = await run('ansible-inventory', ['-i', inventory, '--list']);
  t.equal(code, 0, stderr);
  const all = JSON.parse(stdout) as Record<string, { hosts: string[]; hostvars: Record<string, unknown> }>;
  t.same(all.bb_live?.hosts.sort(), ['n001', 'n002', 'n003', 'n005']);
  t.same(all._meta?.hostvars.n001, FACTS);
  const chosen = async (pattern: string) => {
    const { code, stdout, stderr } = await run('ansible', ['-i', inventory, pattern, '--list-hosts']);
    t.equal(code, 0, stderr);
    return stdout.trim().split(/\s+/).slice(2);
  };
  t.same(await chosen('bb_silent'), ['n004']);
  t.same(await chosen('bb_live:!bb_bad_health'), ['n001', 'n002', 'n003'], 'as any group');
  t.same(await chosen('bb_root_full'), [], 'no node has it: no host, and no error');
  const shown = await run('ansible', ['-i', inventory, 'bb_held', '-m', 'debug', '-a', 'var=beoboard_os_release']);
  t.match(shown, { code: 0, stdout: /"beoboard_os_release": "\?\?\?lookup/ }, 'a kernel is a text');
  t.notOk(existsSync(join(own, 'hostile')), 'and nothing was run');
});

t.test('from a stalled board there is no inventory', async t => {
  stop();
  stall(board, 60);
  for (const argv of [['--list'], ['--host', 'n001']])
    t.match(await run(inventory, argv), {
      ...{ code: 4, stdout: '' },
      stderr: /^beoboard-inventory: .*: the receiver is stalled: nothing is known about nodes\n$/,
    });
  if (skip) return;
  const { code, stdout, stderr } = await run('ansible', ['-i', inventory, 'all', '--list-hosts']);
  t.not(code, 0, 'Ansible, with what the manual page says');
  t.notMatch(stdout, /n001/);
  t.match(stderr.replace(/\s+/g, ' '), /the receiver is stalled/);
});
