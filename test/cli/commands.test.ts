// The program as people use it: help, option files, load, dump, describe. Invalid command lines are those of
// test/common/wronguses.test.ts.
//
// @seconds 8
// @whole
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { explained } from '../../src/cli/describe.js';
import { dictionary } from '../../src/layout/dictionary.gen.js';
import { terms } from '../../src/layout/terms.gen.js';
import { VERBS } from '../../src/options/verbs.js';
import { COLUMNS } from '../../src/query/columns.js';
import { entryReadings } from '../../src/readings/entries.js';
import { readingNames, readingOf } from '../../src/readings/readings.js';
import { BoardReader } from '../../src/shm/reader.js';
import { json, visible } from '../../src/text/output.js';
import { UNSEEN } from '../../src/text/text.js';
import { KINDS } from '../../src/trouble/kinds.js';
import { ended } from '../kit/children.js';
import { beating, node, writeBoard } from '../kit/ganglia.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, run, start, startReceiver } from '../kit/program.js';
import { settled } from '../kit/sampler.js';
import { NO_TERMINAL, onTerminal } from '../kit/terminal.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';
import { NOT_WHOLE, partOf, SEED } from '../kit/whole.js';

/** Runs a command line in one process with others; the program itself is started where that can show more. */
const ask = verbChild(t);

t.test('sentences of a help end at the width of a terminal', async t => {
  const long = (text: string) => text.split('\n').filter(line => /^\S/.test(line) && line.length > 82);
  t.equal(
    (await run(['--help'])).stdout
      .split('\n')
      .filter(line => line.length > 82)
      .join('\n'),
    '',
    'the verbs',
  );
  for (const verb of ['status', 'jobs', 'odd', 'describe', 'web'])
    t.same(long((await ask([verb, '--help'])).stdout), [], verb);
  let seen = 0;
  for (const file of readdirSync(join(ROOT, 'c'), { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.[ch]$/.test(name),
  ))
    for (const [, help = ''] of readFileSync(join(ROOT, 'c', file), 'utf8').matchAll(/"Usage: (.*(?:\n\s+".*)+)/g)) {
      seen++;
      // One literal is a line of the text.
      t.same(long(help.replaceAll(/^\s*"(.*?)(?:\\n)?"[ ;\\]*$/gm, '$1')), [], file);
    }
  t.equal(seen, 7, 'programs in C');
});

t.test('one is never counted in the plural', async t => {
  /** Where it is never one. */
  const SEVERAL = [
    ...['eventlines.ts nodes', 'findings.ts nodes', 'remembered.ts nodes', 'wording.gen.ts names', 'jobfacts.ts jobs'],
    ...['jobpage.ts jobs', 'keygen.ts files', 'keygen.ts nodes', 'joblook.ts nodes'],
    ...['main.ts nodes', 'samplevalues.ts nodes'],
  ];
  const found = new Set<string>();
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts'))
      for (const line of readFileSync(join(ROOT, 'src', file), 'utf8').split('\n'))
        for (const [, noun] of line.matchAll(
          /(?:count|length|size)\} (?:more |other )?(nodes|jobs|hosts|names|users|files|lines|events|reports|senders|masters|GPUs|interfaces)\b/g,
        ))
          if (!/[!=]== 1\b|> 1\b/.test(line)) found.add(`${basename(file)} ${noun}`);
  t.same([...found].sort(), SEVERAL.sort());
});

t.test('help answers on stdout, with examples', { skip: NOT_WHOLE }, async t => {
  const all = await run(['--help']);
  t.equal(all.code, 0);
  for (const [verb, summary] of Object.entries(VERBS)) {
    t.match(all.stdout, new RegExp(`^  ${verb} +\\S`, 'm'));
    const { code, stdout, stderr } = await ask([verb, '--help']);
    t.equal(code, 0, verb);
    t.match(stdout, /Usage: beoboard .*\n[\s\S]*Examples:\n {2}beoboard /);
    t.ok(stdout.replaceAll(/(\S)\n(\S)/g, '$1 $2').includes(`\n\n${summary}\n\n`), `${verb} is what the list says`);
    t.equal(stderr, '');
  }
  t.same(await run(['status', '--help']), await ask(['status', '--help']));
  for (const verb of Object.keys(VERBS)) t.same(await ask(['help', verb]), await ask([verb, '--help']), `help ${verb}`);
  for (const asked of [
    ['slurm', '--help'],
    ['help', 'slurm'],
  ])
    t.same(await ask(asked), await ask(['scheduler', '--help']), 'its earlier name');
  t.notMatch(all.stdout, /^ {2}slurm /m);
  t.match(await ask(['slurm', '--what']), { code: 2, stderr: /^beoboard scheduler: / });
  t.same(await run([]), { ...all, code: 2 });
  t.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
});

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const PACKAGES = Object.keys(manifest.dependencies);

/** The program before it is bundled into few files. */
const MODULES = join(ROOT, 'dist', 'src', 'main.js');

/** The files of ours and of our packages that a command loads, according to Node's coverage. */
function loaded(t: Test, program: string, argv: string[]): string[] {
  const into = folder(t);
  spawnSync(process.execPath, [program, ...argv], { env: { ...process.env, NODE_V8_COVERAGE: into } });
  const [file = ''] = readdirSync(into);
  const { result } = JSON.parse(readFileSync(join(into, file), 'utf8')) as { result: { url: string }[] };
  // Under tap, its modules are loaded, too.
  const paths = result.map(({ url }) => /.*\/(?:node_modules|dist(?=\/(?:src|bin)\/))\/(.*)$/.exec(url)?.[1] ?? '');
  t.ok(paths.includes(relative(join(ROOT, 'dist'), program)), 'the account is there');
  return paths.filter(path => /^(src|bin)\//.test(path) || PACKAGES.includes(path.split('/')[0] ?? ''));
}

t.test('a command loads only what it needs, so that it starts quickly', async t => {
  const modules = (...argv: string[]) =>
    loaded(t, MODULES, argv).filter(
      path =>
        !/^src\/((main|base|parts|runverb)\.js|text\/|options\/|layout\/terms\.gen\.js|service\/process\.js)/.test(
          path,
        ),
    );
  t.strictSame(modules('--help'), []);
  t.strictSame(modules('nodeset', '--fold', 'n1', 'n2'), ['src/cli/nodeset.js']);
  t.match(loaded(t, PROGRAM, ['--help']).sort(), [/^bin\/base-\w+\.cjs$/, 'bin/beoboard.cjs'], 'no verb');
  const config = join(folder(t), 'config.toml');
  writeFileSync(config, '');
  t.ok(
    loaded(t, PROGRAM, ['status', '--config', config, '--board', '/nowhere']).some(path =>
      path.startsWith('smol-toml/'),
    ),
    'a package would be seen',
  );
  for (const verb of partOf(['receive', 'send', 'status', 'nodes', 'check', 'ganglia'], 3, SEED)) {
    const paths = loaded(t, PROGRAM, [verb, '--help']);
    t.match(paths.sort(), [/^bin\/base-/, 'bin/beoboard.cjs', new RegExp(`^bin/${verb}-`)], `${verb} loads no package`);
    t.equal(paths.length, 3);
  }
});

t.test('a class that the parts share stands in one file: a copy would be another class', async t => {
  const text = (name: string) => readFileSync(join(dirname(PROGRAM), name), 'utf8');
  const parts = [...text('beoboard.cjs').matchAll(/require\("\.\/([\w-]+\.cjs)"\)/g)].map(([, name = '']) => name);
  const base = parts.find(name => name.startsWith('base-')) ?? '';
  // Behind each line that names a module stands what it became.
  const modules = text(base).split(/^\/\/ (?=src\/)/m);
  const shared = modules.filter(module => / = class /.test(module)).map(module => module.split('\n')[0] ?? '');
  t.ok(parts.length > 10 && shared.length > 1, `${shared.join()} in ${base}`);
  for (const part of parts.filter(name => name !== base))
    t.strictSame(
      shared.filter(module => text(part).includes(`\n// ${module}\n`)),
      [],
      part,
    );
});

t.test('an option file, and the command line before it', async t => {
  const file = join(folder(t), 'beoboard.toml');
  const board = boardPath(t);
  writeFileSync(file, `board = "${board}"\nlisten = ["127.0.0.1:0"]\ncapacity = 4\nnodes = "node[1-3]"\n`);
  const receiver = start(t, ['receive', '--config', file, '--capacity', '7']);
  await receiver.ready;
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  t.equal(reader.snapshot().header.capacity, 7);
  t.equal(reader.snapshot().count, 3);
  writeFileSync(file, 'capcity = 4\n');
  const { code, stderr } = await run(['receive', '--config', file]);
  t.equal(code, 2);
  t.match(stderr, /beoboard\.toml:1: .*capacity/);
});

t.test('a thousand nodes from load: all live, none lost', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  // However late a busy machine lets us look, they are live.
  const { port } = await startReceiver(t, board, ['--uncertain-after', '1h', '--silent-after', '2h']);
  const load = await run([
    'load',
    '--to',
    `127.0.0.1:${port}`,
    '--size',
    '1000',
    '--interval',
    '200ms',
    '--for',
    '1s',
    '--json',
  ]);
  t.equal(load.code, 0, load.stderr);
  const sent = JSON.parse(load.stdout);
  t.match(sent, { schema: 1, nodes: 1000, reports: 5000 });
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  await until('all are taken', () => (reader.snapshot().header.received ?? 0) >= 5000);
  await settled(reader);
  const { stdout } = await run(['status', '--json', '--board', board]);
  const { board: head, nodes } = JSON.parse(stdout);
  t.same([head.nodes, head.kernel_drops, head.refused, head.accepted], [1000, 0, {}, 5000]);
  const count = (what: (node: { state: string; lost: number; reports: number; rates: object }) => boolean) =>
    nodes.filter(what).length;
  t.equal(
    count(node => node.state === 'live'),
    1000,
  );
  t.equal(
    count(node => node.lost === 0 && node.reports === 5),
    1000,
  );
  t.equal(
    count(node => node.rates !== undefined),
    1000,
  );
  const table = await run(['status', '--long', '--board', board]);
  t.equal(table.stdout.match(/^node\d+ /gm)?.length, 1000);
  t.match(table.stdout, /^1000 nodes: 1000 live; listening without gaps for /);
  const dump = await run(['dump', '--board', board]);
  t.equal(dump.code, 0);
  t.match(dump.stdout, /\nno reader rejects it\n$/);
  t.equal(
    dump.stdout.match(/\nrecord \d+, memory\n(?: .*\n)* +\d+ {2}remembers_since_ns +[1-9]\d* ns\n/g)?.length,
    1000,
  );
  const { records } = JSON.parse((await run(['dump', '--json', '--board', board])).stdout);
  t.equal(records.length, 1000);
  t.match(records[0].memory, { remembers_since_ns: /^[1-9]\d*$/, silence: '0' });
});

t.test('a reader of the output may leave early', async t => {
  const board = boardPath(t);
  // The nodes stay live however long this takes: `nodes` has something to say on stderr about uncertain ones.
  const { port } = await startReceiver(t, board, ['--uncertain-after', '1h', '--silent-after', '2h']);
  await run(['load', '--to', `127.0.0.1:${port}`, '--size', '500', '--for', '1s']);
  const verbs = [
    ['status', '--long'],
    ['status', '--json'],
    ['status', '--csv'],
    ['nodes', '--expand'],
    ['xml'],
    ['dump'],
    ['describe'],
  ];
  for (const verb of partOf(verbs, 3, SEED)) {
    const shell = spawn('bash', [
      '-c',
      `set -o pipefail; "$0" "$@" | head -1 >/dev/null; echo "\${PIPESTATUS[0]}"`,
      process.execPath,
      PROGRAM,
      ...verb,
      ...(verb[0] === 'describe' ? [] : ['--board', board]),
    ]);
    const { stdout, stderr } = await ended(shell);
    t.equal(stdout, '0\n', verb.join(' '));
    t.equal(stderr, '');
  }
});

t.test('a stdout that cannot be written gets one line', async t => {
  for (const verb of ['describe', 'status --help']) {
    const shell = spawn('bash', ['-c', `"$0" "$1" ${verb} >/dev/full`, process.execPath, PROGRAM]);
    const { code, stderr } = await ended(shell);
    t.equal(code, 74, verb);
    t.match(stderr, /^beoboard: cannot write to stdout: .*no space left.*\n$/);
  }
});

t.test('JSON holds nothing that steers a terminal', async t => {
  const text = '\u009b2J\u007f\u2028\u202e\ufeff\u{e0001}\x1b';
  t.match(json({ text }), /^[\x20-\x7e]*$/);
  t.equal(JSON.parse(json({ text })).text, text);
});

/** Whatever a terminal would not show as a character of a line, colours and ends of lines aside. */
const unseen = (text: string) => text.replace(/\x1b\[0n|\x1b\[[\d;]*m|[\t\n]|\r\n/g, '').match(UNSEEN) ?? [];

t.test('what others wrote controls no terminal', async t => {
  const path = boardPath(t);
  const evil = 'e\u202e\u2066\x1b[2J\x9b\u200f';
  const n1 = { ...node('n\u202e1', 0, { net: [{ name: evil }] }), release: Buffer.from(evil) };
  writeBoard(path, [n1, node('n2')], { ...beating(), cluster: Buffer.from(evil) });
  const lines = [
    ...['status', 'status --json', 'status --csv', 'status --plain', 'status --color always --by os_release'],
    ...['status --columns name,os_release,net.0.name', 'show n2', 'dump', 'dump --json', 'xml'],
    ...['metrics --collect state', 'check', 'nodes --state live', 'jobs', 'users', 'events --for 1ms --last 5'],
    ...['status --where \'os_release~"\x1b"\''],
  ];
  for (const line of lines) {
    const [verb = '', ...more] = line.split(' ');
    const { stdout, stderr } = await ask([verb, '--board', path, ...more]);
    const isRaw = verb === 'metrics';
    if (!isRaw) t.strictSame(unseen(stdout + stderr), [], line);
    else t.ok(stdout.includes(evil), 'a format has texts as they are');
  }
  if (NO_TERMINAL !== undefined) return;
  const argv = ['metrics', '--board', path, '--collect', 'state'];
  const terminal = await onTerminal(t, [process.execPath, PROGRAM, ...argv]);
  await terminal.exit;
  t.match(terminal.output(), 'e\\u{202e}\\u{2066}\\u{1b}[2J\\u{9b}\\u{200f}', 'but not on a terminal');
  t.strictSame(unseen(terminal.output()), []);
});

t.test('pieces for a terminal', t => {
  const [first, last] = [Buffer.from('a\u202eb\n\x1b[1m').subarray(0, 2), Buffer.from('a\u202eb\n\x1b[1m').subarray(2)];
  t.strictSame(
    [...visible([first, last, '\x1b[1;31mx\x1b[0m\x1b[2J', Buffer.from([0xe2])])],
    ['a', '\\u{202e}b\n\\u{1b}[1m', '\x1b[1;31mx\x1b[0m\\u{1b}[2J', '', '\ufffd'],
  );
  // The line ends of CSV, and no other carriage return.
  t.strictSame([...visible(['a\r\n\rb', Buffer.from('a\r\n\t\r\nb\r')])], ['a\r\n\\u{d}b', 'a\r\n\t\r\nb\\u{d}', '']);
  t.end();
});

t.test('describe: every field has its meaning; an unknown name; a field within a struct', async t => {
  t.same(
    dictionary
      .filter(entry => entry.meaning === '' && !['group', 'flags', 'gpu_flags', 'tag'].includes(entry.field))
      .map(entry => entry.field),
    [],
  );
  const one = await ask(['describe', 'cpu_iowait_pm']);
  t.equal(one.code, 0);
  for (const line of [
    /means +of all CPUs/,
    /is not +a measure of disk load/,
    /unit +1\/1000/,
    /source +\/proc\/stat/,
    /valid bit +cpu_share/,
  ])
    t.match(one.stdout, line);
  t.match((await ask(['describe', 'net.rx_bytes'])).stdout, /^net_if\.rx_bytes\n +means +bytes received/);
  t.match((await ask(['describe', 'flags'])).stdout, /bit 1 +goodbye/);
  t.match(
    (await ask(['describe', 'recent(oom)'])).stdout,
    /^oom_recent\n +means +whether it has or lately had the problem: .*\n +also +recent\(oom\)\n/,
  );
  t.match((await ask(['describe', 'recent(omm)'])).stderr, /no field 'recent\(omm\)'; did you mean oom_recent\?/);
  t.equal(JSON.parse((await ask(['describe', '--json'])).stdout).fields.length, dictionary.length);
});

t.test('describe: every listed name can be asked for, and every name that can be asked for is explained', async t => {
  const { stdout } = await ask(['describe']);
  // Lines have a name, a unit and a meaning; titles have no second column.
  const listed = stdout.split('\n').flatMap(line => /^([a-z][\w.]*) {2,}/.exec(line)?.[1] ?? []);
  t.ok(listed.length > 200, `${listed.length} names`);
  const arrays = new Set(['group', 'net', 'gpu', 'net_rest', 'fabric', 'gpu_flags', 'tag']);
  const unasked = listed.filter(name => !arrays.has(name) && !readingOf(name) && !entryReadings().has(name));
  t.same(unasked, []);
  const names = [
    ...readingNames(),
    ...entryReadings().keys(),
    'gpu.1.util',
    'net.eth0.mbps',
    ...COLUMNS.map(c => c.name),
  ];
  t.same(
    names.filter(name => explained(name).length === 0),
    [],
  );
  t.match(
    (await ask(['describe', 'load'])).stdout,
    /^load\n +means +load average.*\n +100 % is +cpus_online\n +column +LOAD\n$/,
  );
  t.match(
    (await ask(['describe', 'held'])).stdout,
    /^held\n +means +put on hold by the local admin.*\n +place +bit 6 of flags\nheld\n +problem +put on hold/,
  );
  t.equal(
    (await ask(['describe', 'silent'])).stdout,
    'silent\n  state       not heard for silent_after, while the receiver listened\n  trouble     nodes that are not heard, while the receiver listens\n',
  );
  // The words of lists, and the titles of all tables, wherever they are written.
  const sources = ['cli', 'jobs', 'query'].flatMap(room =>
    readdirSync(join(ROOT, 'src', room)).map(file => readFileSync(join(ROOT, 'src', room, file), 'utf8')),
  );
  const titles = sources.flatMap(text =>
    [...text.matchAll(/(?:title: |column\(\s*(?:'\w+', )?)'([A-Z][^a-z']*(?:\/s)?)'/g)].map(([, title = '']) => title),
  );
  t.ok(titles.length > 60, `${titles.length} titles`);
  const counted = terms.node_state.map(state => state.toUpperCase());
  const words = [...Object.keys(KINDS), ...Object.values(terms).flat(), ...counted, ...titles];
  const unexplained = words.filter(word => explained(word).length === 0);
  t.same(unexplained, []);
  t.same(JSON.parse((await ask(['describe', '--json', 'JOB'])).stdout).words, [
    { of: 'jobs', means: "the job's id, as its scheduler writes it" },
  ]);
  t.match((await ask(['describe', 'toString'])).stderr, /^beoboard describe: there is no field 'toString'/);
  t.match((await ask(['describe', 'togather'])).stderr, /did you mean together\?/);
  t.match((await ask(['describe', 'mem_avail'])).stdout, /^ +also +mem_avail \(in B\)$/m);
  t.match(JSON.parse((await ask(['describe', '--json', 'load'])).stdout), {
    fields: [],
    readings: [{ name: 'load', quantity: 'number', total: 'cpus_online' }],
  });
});
