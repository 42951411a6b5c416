// The verb nodeset, and our lists compared with what Slurm, pdsh and ClusterShell themselves make of them.
//
//
// @rest

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { BOARD_MOST, expand, fold, foldAll } from '../../src/text/hostlists.js';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM, run } from '../kit/program.js';
import { verbChild } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

const SEED = Number(process.env.SEED ?? 8677);
t.comment(`SEED=${SEED}`);
const runHere = verbChild(t);

const vectors: { accept: { expr: string; agree: { slurm: boolean; pdsh: boolean } }[] } = JSON.parse(
  readFileSync(join(ROOT, 'test', 'vectors', 'hostlists.json'), 'utf8'),
);

/** Random names like those of real sites: a few prefixes, numbers of one or several widths, gaps. */
function names(next: () => number): string[] {
  const beginnings = ['node', 'r1n', 'r02-n', 'gpu-', 'x.y'].filter(() => next() < 0.5);
  const width = Math.floor(next() * 4);
  const found = [...(beginnings.length > 0 ? beginnings : ['n'])].flatMap(beginning => {
    const first = Math.floor(next() * 120);
    return Array.from({ length: Math.floor(next() * 30) + 1 }, (_, i) => first + i)
      .filter(() => next() < 0.8)
      .map(number => `${beginning}${String(number).padStart(next() < 0.95 ? width : 0, '0')}`);
  });
  return found.length > 0 ? found : ['login'];
}

/** The output of another program, which must exit with 0. */
function ask(t: Test, program: string, argv: string[], input = ''): string {
  const env = { ...process.env, SLURM_CONF: conf };
  const { stdout, status } = spawnSync(program, argv, { input, encoding: 'utf8', env });
  t.equal(status, 0, `${program} ${argv.join(' ').slice(0, 60)}`);
  return stdout;
}

const conf = join(folder(t), 'slurm.conf');
writeFileSync(conf, 'ClusterName=test\nSlurmctldHost=localhost\n');

/** The names of each list of the JSON on stdin, as JSON. */
const CLUSTERSHELL = `import json, sys
from ClusterShell.NodeSet import NodeSet
json.dump([list(NodeSet(text)) for text in json.load(sys.stdin)], sys.stdout)`;

interface Tool {
  name: string;
  package: string;
  program: string;
  /** The names of each of these lists. */
  expand(t: Test, lists: readonly string[]): string[][];
}

const TOOLS: readonly Tool[] = [
  {
    name: 'slurm',
    package: 'slurm-client',
    program: 'scontrol',
    expand: (t, lists) => lists.map(list => ask(t, 'scontrol', ['show', 'hostnames', list]).trim().split('\n')),
  },
  {
    name: 'pdsh',
    package: 'pdsh',
    program: 'pdsh',
    // Its last line is the list of targets.
    expand: (t, lists) =>
      lists.map(list => ask(t, 'pdsh', ['-Q', '-w', list]).trim().split('\n').at(-1)?.split(',') ?? []),
  },
  {
    name: 'clustershell',
    package: 'clustershell',
    program: 'nodeset',
    // Its library, in the Python of its command, which would take a quarter of a second for each list.
    expand: (t, lists) => {
      const line = `exec $(sed -n '1s/^#!//p' "$(command -v nodeset)") -c "$0"`;
      return JSON.parse(ask(t, 'sh', ['-c', line, CLUSTERSHELL], JSON.stringify(lists)));
    },
  },
];

type Case = readonly [list: string, names: readonly string[]];

/** A tool makes these names of each list. */
function compare(t: Test, tool: Tool, cases: readonly Case[]): void {
  const lists = cases.map(([list]) => list);
  const found = tool.expand(t, lists);
  for (const [i, [list, names]] of cases.entries())
    t.same(found[i]?.sort(), [...new Set(names)].sort(), `${tool.name}: ${list}`);
}

for (const tool of TOOLS) {
  const missing = lacks(tool.package, tool.program);
  t.test(`${tool.name} reads our lists as we do`, { skip: NOT_WHOLE || missing }, async t => {
    const next = random(SEED);
    const cases = Array.from({ length: 15 }, () => names(next)).map((wanted): Case => [fold(wanted), wanted]);
    for (const { expr, agree } of vectors.accept)
      if (tool.name === 'clustershell' || agree[tool.name as 'slurm' | 'pdsh'])
        cases.push([expr, expand(expr, BOARD_MOST)]);
    compare(t, tool, cases);
  });
}

t.test(
  'folded in several dimensions: the same names, as ClusterShell reads them, and Slurm where nothing follows',
  async t => {
    const next = random(SEED);
    const numbers = (most: number) => Array.from({ length: most }, (_, i) => i + 8).filter(() => next() < 0.7);
    const cases: Case[] = [];
    for (let i = 0; i < 15; i++) {
      const suffix = next() < 0.5 ? '.cluster1.local' : '';
      const wanted = numbers(4).flatMap(rack =>
        numbers(6).map(n => `r${rack}n${next() < 0.9 ? String(n).padStart(2, '0') : n}${suffix}`),
      );
      if (wanted.length === 0) continue;
      const list = foldAll(wanted);
      t.same(expand(list, BOARD_MOST).sort(), wanted.sort(), list);
      t.ok(list.length <= fold(wanted).length);
      cases.push([list, wanted]);
    }
    for (const tool of TOOLS.filter(tool => !lacks(tool.package, tool.program)))
      compare(t, tool, tool.name === 'slurm' ? cases.filter(([, [name]]) => !name?.endsWith('.local')) : cases);
  },
);

t.test(
  'why names with text after the number are not folded by default: Slurm rejects them',
  { skip: NOT_WHOLE || lacks('slurm-client', 'scontrol') },
  t => {
    const { stderr } = spawnSync('scontrol', ['show', 'hostnames', 'n[01-02].cluster.local'], {
      encoding: 'utf8',
      env: { ...process.env, SLURM_CONF: conf },
    });
    t.match(stderr, /Invalid hostlist/);
    t.end();
  },
);

t.test("groups are ClusterShell's own", { skip: NOT_WHOLE || lacks('clustershell', 'nodeset') }, async t => {
  const dir = folder(t);
  mkdirSync(join(dir, 'groups.d'));
  writeFileSync(join(dir, 'groups.conf'), `[Main]\ndefault: site\nautodir: ${join(dir, 'groups.d')}\n`);
  writeFileSync(join(dir, 'groups.d', 'site.yaml'), "site:\n  racka: 'node[01-03]'\n  gpu: 'node02,Login1'\n");
  const env = { CLUSTERSHELL_CFGDIR: dir };
  const fine = (stdout: string) => ({ code: 0, stdout, stderr: '' });
  t.same(await run(['nodeset', '--fold', '@racka', 'node09'], env), fine('node[01-03,09]\n'));
  t.same(await run(['nodeset', '--expand', '@site:gpu'], env), fine('Login1\nnode02\n'));
  const none = await run(['nodeset', '--expand', '@nogroup'], env);
  t.match(none, { code: 2, stdout: '', stderr: /^beoboard nodeset: '@nogroup' is not a file, and .*\n$/ });
  t.match(await run(['nodeset', '--expand', '@racka'], { ...env, PATH: dir }), {
    code: 2,
    stderr: /install clustershell\n$/,
  });
});

t.test('the verb', async t => {
  const lists = join(folder(t), 'lists');
  writeFileSync(lists, '# of the rack\nnode[1-3]\nnode5,login\n');
  const rows: [argv: string[], stdout: string][] = [
    [['--expand', 'node[08-10],a'], 'node08\nnode09\nnode10\na\n'],
    [['--expand', 'n2,n1', 'n[1-3]'], 'n2\nn1\nn3\n'],
    [['--fold', 'node2', 'node1', 'Login1'], 'Login1,node[1-2]\n'],
    [['-f', 'node[1-10]', '-x', 'node[3-4],node7'], 'node[1-2,5-6,8-10]\n'],
    [['--fold', `@${lists}`, '--exclude', 'login'], 'node[1-3,5]\n'],
    [['--fold', 'a1', '--exclude', 'a1'], ''],
    [['--count', 'n[1-1000000]'], '1000000\n'],
    [['--count', 'a', 'a,b'], '2\n'],
    [['--fold', 'n[2-9]', '-i', 'n[1-4],n8', '--intersection', 'n[3-9]'], 'n[3-4,8]\n'],
    [['--fold', 'n1', '-i', 'n2'], ''],
    [['--expand', 'n[0-10/4],m[01-04/3]'], 'n0\nn4\nn8\nm01\nm04\n'],
    [['--count', 'n[1-1000000000/1000000000]'], '1\n'],
    [['--fold', 'n[01-02].cluster.local'], 'n01.cluster.local,n02.cluster.local\n'],
    [['--fold', '--nd', 'n[01-02].cluster1.local', 'n4.cluster1.local'], 'n[01-02,4].cluster1.local\n'],
    [['--fold', '--nd', 'r[1-2]n[1-3]', 'r3n[1-2]', 'login'], 'login,r3n[1-2],r[1-2]n[1-3]\n'],
  ];
  for (const [argv, stdout] of rows)
    t.same(await runHere(['nodeset', ...argv]), { code: 0, stdout, stderr: '' }, argv.join(' '));
  const refused: [argv: string[], stderr: RegExp][] = [
    [['--expand', 'n[3-1]'], /^beoboard nodeset: host list, column 3: '3-1' runs backwards; write 1-3\n$/],
    [['--count', 'n[1-1000000000000]'], /too many names; at most 1000000 are allowed/],
    [['--fold', 'a!b'], /column 2: '!' is not allowed here/],
    [['--expand', '@/no/such'], /cannot read '\/no\/such'/],
    [['a'], /write one of --expand, --fold and --count/],
    [['--fold', '--count', 'a'], /--fold and --count do not go together; leave one out/],
    [['--expand', '--nd', 'a'], /--nd is a way to fold; write --fold --nd/],
    [['--expand', 'n[1-4/0]'], /column 3: '1-4\/0' has no step/],
  ];
  for (const [argv, stderr] of refused) {
    const answer = await runHere(['nodeset', ...argv]);
    t.equal(answer.code, 2, argv.join(' '));
    t.match(answer.stderr, stderr);
    t.match(answer.stderr, /^.*\n$/);
    t.equal(answer.stdout, '');
  }
});

t.test('names on stdin, in lines or with blanks between them', async t => {
  const piped = (input: string, ...argv: string[]) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, 'nodeset', ...argv], {
      input,
      encoding: 'utf8',
    });
    return { stdout, stderr, status };
  };
  t.same(piped('node2 node1\r\n\tnode[3-4] # four\n', '--fold'), { stdout: 'node[1-4]\n', stderr: '', status: 0 });
  t.same(piped('', '--fold'), { stdout: '', stderr: '', status: 0 }, 'no names are no names');
  t.same(piped('', '--count'), { stdout: '0\n', stderr: '', status: 0 });
  t.same(piped('a\nb c[1-\n', '--count'), {
    stdout: '',
    stderr: 'beoboard nodeset: stdin:2, column 4: a [ without its ]; write node[1-3]\n',
    status: 2,
  });
});
