// Texts that people write and read: durations, addresses, options from three sources, the log's lines.

import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { HelpShown, parseVerb, UsageError } from '../../src/options/options.js';
import { forms, OPTION_NAMES, type OptionForms, type OptionName, options } from '../../src/options/table.js';
import { letterOf, optionOf, type Verb } from '../../src/options/verb.js';
import { parts } from '../../src/parts.js';
import { createLog, type LogWorld } from '../../src/service/log.js';
import { formatAddress, parseAddress, parseHosts, parseNetwork } from '../../src/text/addresses.js';
import { formatDuration, parseDuration } from '../../src/text/durations.js';
import { beginning, characters, cut, ending, fits, nearest, oneLine, quote, shortened } from '../../src/text/text.js';
import { anyText } from '../kit/anytext.js';
import { ROOT } from '../kit/places.js';

function refusal(run: () => unknown): string {
  try {
    return `taken: ${JSON.stringify(run())}`;
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('the documents name the verbs that take no option file', async t => {
  const [, named = ''] =
    /Verbs that have `--config` \(all but ([a-z, ]+)\)/.exec(readFileSync(join(ROOT, 'docs', 'commands.md'), 'utf8')) ??
    [];
  const without: string[] = [];
  for (const [name, load] of Object.entries(parts))
    if (!(await load()).verb.options.includes('config')) without.push(name);
  t.same(named.split(', ').sort(), without.sort());
});

t.test('the README names each verb once', async t => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, list = ''] = / The verbs .*:\n\n((?:- .*\n)+)\n/.exec(readme) ?? [];
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, verb]) => verb);
  t.same(named.sort(), Object.keys(parts).sort());
});

t.test('durations are read', async t => {
  const good: [text: string, ms: number][] = [
    ['250ms', 250],
    ['1s', 1_000],
    ['1.5s', 1_500],
    ['1.1s', 1_100],
    ['4.5s', 4_500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['0.5h', 1_800_000],
    ['0ms', 0],
    ['007s', 7_000],
  ];
  for (const [text, ms] of good) t.equal(parseDuration(text), ms, text);
  const form = 'is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s';
  const bad: [text: string, says: string][] = [
    ['5', "'5' has no unit; write 5s or 5ms"],
    ['1.5', "'1.5' has no unit; write 1.5s or 1.5ms"],
    ['', `'' ${form}`],
    ['-1s', `'-1s' ${form}`],
    ['1 s', `'1 s' ${form}`],
    ['1S', `'1S' ${form}`],
    ['.5s', `'.5s' ${form}`],
    ['1w', `'1w' ${form}`],
    ['1e3ms', `'1e3ms' ${form}`],
    ['1s\n', `'1s\\u{a}' ${form}`],
    ['0.4ms', "'0.4ms' is not a whole number of ms; write 1ms"],
    ['1.0004s', "'1.0004s' is not a whole number of ms; write 1000ms"],
    ['99999999999h', "'99999999999h' is too long; write a shorter time"],
    [`${'9'.repeat(400)}s`, `'${'9'.repeat(59)}…' is too long; write a shorter time`],
  ];
  for (const [text, says] of bad)
    t.equal(
      refusal(() => parseDuration(text)),
      says,
      JSON.stringify(text),
    );
});

t.test('durations are written', async t => {
  const table: [ms: number, text: string][] = [
    [0, '0ms'],
    [350, '350ms'],
    [999.9, '999ms'],
    [1_000, '1.0s'],
    [4_299, '4.2s'],
    [59_999, '59.9s'],
    [60_000, '1m00s'],
    [192_000, '3m12s'],
    [3_599_999, '59m59s'],
    [18_120_000, '5h02m'],
    [86_399_999, '23h59m'],
    [86_400_000, '1d0h'],
    [1_047_600_000, '12d3h'],
    [-4_200, '-4.2s'],
  ];
  for (const [ms, text] of table) t.equal(formatDuration(ms), text, `${ms} ms`);
});

t.test('addresses', async t => {
  const good: [text: string, host: string, port: number, written: string][] = [
    ['10.0.0.1', '10.0.0.1', 8677, '10.0.0.1:8677'],
    ['10.0.0.1:9000', '10.0.0.1', 9000, '10.0.0.1:9000'],
    ['0.0.0.0:0', '0.0.0.0', 0, '0.0.0.0:0'],
    ['master', 'master', 8677, 'master:8677'],
    ['head-1.hpc_a.example.:65535', 'head-1.hpc_a.example.', 65535, 'head-1.hpc_a.example.:65535'],
    ['[::1]:9000', '::1', 9000, '[::1]:9000'],
    ['[fe80::1%eth0]', 'fe80::1%eth0', 8677, '[fe80::1%eth0]:8677'],
    ['::1', '::1', 8677, '[::1]:8677'],
    ['::1:9000', '::1:9000', 8677, '[::1:9000]:8677'],
  ];
  for (const [text, host, port, written] of good) {
    t.same(parseAddress(text), { host, port }, text);
    t.equal(formatAddress({ host, port }), written);
    t.same(parseAddress(written, 1), { host, port }, `${written} is read back`);
  }
  t.equal(parseAddress('a', 80).port, 80, 'another default port');
  for (const text of '10.0.0.5 10.1.0.0/16 10.128.0.0/9 fd00::/8 fd00:1::1 2001:DB8:0:8000::/49 ::1/128'.split(' '))
    t.same(parseHosts(text), parseNetwork(text), text);
  for (const [text, says] of [
    ['0.0.0.0/0', 'nearly every'],
    ['::/0', 'nearly every'],
    ['128.0.0.0/1', 'nearly every'],
    ['10.1.2.3/24', 'bits behind its first 24'],
    ['10.192.0.0/9', 'bits behind'],
    ['fd00::1/64', 'bits behind'],
    ['2001:db8:0:8000::/48', 'bits behind its first 48'],
    ['::ffff:10.0.0.5', 'write 10.0.0.5'],
    ['fe80::1%eth0', 'write fe80::1'],
    ['10.0.0.0/33', 'is not a network'],
  ] as const)
    t.throws(() => parseHosts(text), { name: 'InputError', message: new RegExp(says) }, text);
  const forms = 'write ADDR, ADDR:PORT or [V6]:PORT';
  const bad: [text: string, says: string][] = [
    ['', `'' is not an address; ${forms}`],
    [':9000', "':9000' has no address before the port; write ADDR:PORT; 0.0.0.0:PORT listens on every interface"],
    ['9000', "'9000' has no address; write ADDR:9000"],
    ['10.0.0', "'10.0.0' is not an IPv4 address; write four numbers of 0 to 255, as in 10.0.0.1"],
    ['10.0.0.256:1', "'10.0.0.256' is not an IPv4 address; write four numbers of 0 to 255, as in 10.0.0.1"],
    ['a:', "port '' of 'a:' is not a port; write 0 to 65535"],
    ['a:65536', "port '65536' of 'a:65536' is not a port; write 0 to 65535"],
    ['a:-1', "port '-1' of 'a:-1' is not a port; write 0 to 65535"],
    ['a:0x10', "port '0x10' of 'a:0x10' is not a port; write 0 to 65535"],
    ['[::1]:', "port '' of '[::1]:' is not a port; write 0 to 65535"],
    ['[a]:1', `'a' in brackets is not an IPv6 address; ${forms}`],
    ['[::1', `'[::1' is not an address; ${forms}`],
    ['::1::2', `'::1::2' is not an address; ${forms}`],
    ['udp://a:1', `'udp://a:1' is not an address; ${forms}`],
    ['a b', `'a b' is not an address; ${forms}`],
    ['-a', `'-a' is not an address; ${forms}`],
    ['a..b', `'a..b' is not an address; ${forms}`],
  ];
  for (const [text, says] of bad)
    t.equal(
      refusal(() => parseAddress(text)),
      says,
      JSON.stringify(text),
    );
});

t.test('words', async t => {
  t.equal(quote('a\u001b[2J\u2028\u202eb\ud800'), "'a\\u{1b}[2J\\u{2028}\\u{202e}b\\u{d800}'");
  t.equal(quote('x'.repeat(61)), `'${'x'.repeat(59)}…'`);
  const known = ['board', 'to', 'uncertain-after', 'silent-after', 'once'];
  const table: [word: string, meant: string | undefined][] = [
    ['bord', 'board'],
    ['baord', 'board'],
    ['uncertain', 'uncertain-after'],
    ['silentafter', 'silent-after'],
    ['onec', 'once'],
    ['t', undefined],
    ['xyzzy', undefined],
    ['', undefined],
    ['b'.repeat(1_000_000), undefined],
  ];
  for (const [word, meant] of table) t.equal(nearest(word, known), meant, word.slice(0, 20));
});

t.test('a text is cut between its characters, and not within an escape', async t => {
  t.equal(quote(`${'x'.repeat(58)}😀${'y'.repeat(9)}`), `'${'x'.repeat(58)}😀…'`);
  t.equal(quote('😀'.repeat(60)), `'${'😀'.repeat(60)}'`);
  t.equal(quote('😀'.repeat(61)), `'${'😀'.repeat(59)}…'`);
  t.equal(ending('😀a😀b', 3), 'a😀b');
  t.equal(beginning(oneLine('ab\x1bcd'), 7), 'ab');
  t.equal(beginning(oneLine('ab\x1bcd'), 8), 'ab\\u{1b}');
  t.equal(ending(oneLine('ab\x1bcd'), 7), 'cd');
  t.equal(cut(oneLine('ocea\x1b[2J model of the ocean'), 24), 'ocea…del of the ocean');
  t.equal(cut(oneLine('train model of the\x1b blue ocean'), 24), 'train m… blue ocean');
  const names = fc.array(
    fc.oneof(fc.constantFrom('\x1b', '\u202e', '😀', 'e\u0301', '\\', 'x'), anyText({ maxLength: 3 })),
  );
  fc.assert(
    fc.property(names, fc.nat(40), (parts, most) => {
      const text = parts.join('');
      const shown = oneLine(text);
      const whole = new Set([...text].map(oneLine));
      const isWhole = (some: string) =>
        (some.replaceAll('…', '').match(/\\u\{[0-9a-f]+\}|./gsu) ?? []).every(
          part => whole.has(part) || text.includes('\\'),
        );
      return (
        [beginning, ending].every(take => {
          const [raw, taken] = [take(text, most), take(shown, most)];
          return fits(raw, most) && fits(taken, most) && !/\\u\{d[89a-f]/.test(oneLine(raw)) && isWhole(taken);
        }) &&
        shown.startsWith(beginning(shown, most)) &&
        shown.endsWith(ending(shown, most)) &&
        fits(text, most) === characters(text) <= most &&
        beginning(shown, characters(shown)) === shown &&
        ending(shown, characters(shown)) === shown &&
        (most === 0 || (fits(shortened(shown, most), most) && isWhole(shortened(shown, most)))) &&
        (most < 2 || fits(cut(shown, most), most))
      );
    }),
  );
});

/** A verb that the program does not have. */
const madeVerb = <const K extends OptionName, const F extends OptionForms = Record<never, never>>(verb: Verb<K, F>) =>
  verb;

const every = madeVerb({
  name: 'every',
  summary: 'Takes every option.',
  options: [
    'board',
    'to',
    'listen',
    'name',
    'cluster',
    'interval',
    'once',
    'aligned',
    'nodes',
    'capacity',
    'uncertain-after',
    'silent-after',
    'drain',
    'proc',
    'sys',
    'config',
    'json',
    'owner',
    'rate',
    'size',
    'prefix',
    'for',
  ],
  examples: ['beoboard every --to master'],
});
const few = madeVerb({
  name: 'few',
  summary: 'Takes a few options and arguments.',
  options: ['board', 'once', 'interval'],
  arguments: ['<node>', '[field]'],
  examples: ['beoboard few node1', 'beoboard few node1 load1_c'],
  notes: 'A field that was not measured is absent.',
});
const read = (...argv: string[]) => parseVerb(every, argv).values;

t.beforeEach(() => {
  delete process.env.BEOBOARD_OWNER;
});

t.test('defaults', async t => {
  t.same(read('--name', 'n1'), {
    board: '/dev/shm/beoboard/board',
    to: [],
    listen: [{ host: '0.0.0.0', port: 8677 }],
    name: 'n1',
    cluster: undefined,
    interval: 1_000,
    once: false,
    aligned: false,
    nodes: undefined,
    capacity: 10_240,
    uncertainAfter: 4_500,
    silentAfter: 10_500,
    drain: 5,
    proc: ['/proc'],
    sys: ['/sys'],
    config: undefined,
    json: false,
    owner: undefined,
    rate: undefined,
    size: 1_000,
    prefix: 'node',
    for: undefined,
  });
  t.equal(read().name, hostname().split('.')[0]?.toLowerCase());
});

t.test('values have the types of their options', async t => {
  const { values, args } = parseVerb(few, ['n1', '--interval', '250ms', '--once', 'f']);
  const board: string = values.board;
  const interval: number = values.interval;
  const once: boolean = values.once;
  // @ts-expect-error: an option that the verb did not pick has no value
  const none: unknown = values.capacity;
  const uncertain: number = read().uncertainAfter;
  t.same([board, interval, once, none, uncertain], ['/dev/shm/beoboard/board', 250, true, undefined, 4_500]);
  t.same(args, ['n1', 'f']);
  t.same(parseVerb(few, ['--', '--once']).args, ['--once']);
});

t.test('the command line is read', async t => {
  const values = read(
    ...['--to', 'a', '--to=[::1]:9', '--to', '-', '--listen', '127.0.0.1:0', '--nodes', 'n[1-2]', '--capacity=100k'],
    ...['--proc', 'a', '--proc', 'b', '--owner', '1000', '--drain', '0ms', '--interval', '600s', '--for', '500h'],
    ...['--json', '--json', '--cluster', 'Hall-2', '--rate', '2M', '--prefix', 'gpu-'],
  );
  t.match(values, {
    to: [{ host: 'a', port: 8677 }, { host: '::1', port: 9 }, '-'],
    listen: [{ host: '127.0.0.1', port: 0 }],
    nodes: ['n1', 'n2'],
    capacity: 100_000,
    proc: ['a', 'b'],
    owner: 1000,
    drain: 0,
    interval: 600_000,
    for: 1_800_000_000,
    json: true,
    cluster: 'Hall-2',
    rate: 2_000_000,
    prefix: 'gpu-',
  });
});

t.test('what is wrong, and what to write instead', async t => {
  const table: [argv: string[], says: string][] = [
    [['--bord', 'x'], "unknown option '--bord'; did you mean --board?"],
    [['--bord=x'], "unknown option '--bord'; did you mean --board?"],
    [['--uncertain', '5s'], "unknown option '--uncertain'; did you mean --uncertain-after?"],
    [['--xyzzy'], "unknown option '--xyzzy'; see beoboard every --help"],
    [['--count', '5'], "unknown option '--count'; did you mean --size?"],
    [['-x'], "unknown option '-x'; see beoboard every --help"],
    [['-board'], "unknown option '-board'; write --board PATH"],
    [['--once=yes'], '--once takes no value; write --once'],
    [['--a\nb'], "unknown option '--a\\u{a}b'; see beoboard every --help"],
    [['x'], "'x' is one argument too many; see beoboard every --help"],
    [['--to'], '--to has no value; write --to ADDR[:PORT]'],
    [['--to', '--once'], '--to has no value, --once follows it; write --to ADDR[:PORT]'],
    [['--to', 'a:0'], "--to: 'a:0' has port 0; write the port that the receiver listens on"],
    [['--to', 'a', '--to', 'b:x'], "--to: port 'x' of 'b:x' is not a port; write 0 to 65535"],
    [['--board', ''], "--board: '' is not a file name; write a path"],
    [['--name', 'Node1'], "--name: 'Node1' is not a node name; write node1"],
    [['--name', 'a', '--name', 'b'], '--name is given 2 times; give it once'],
    [['--proc=a', '--proc=b', '--proc=c'], '--proc is given 3 times; give it at most 2 times'],
    [
      ['--cluster', 'a&b'],
      "--cluster: 'a&b' is not a cluster name; write 1 to 63 letters, digits, . _ -, a letter or digit first",
    ],
    [['--interval', '5'], "--interval: '5' has no unit; write 5s or 5ms"],
    [['--interval', '50ms'], "--interval: '50ms' is out of bounds; write 100ms to 600s"],
    [['--interval', '11m'], "--interval: '11m' is out of bounds; write 100ms to 600s"],
    [['--drain', '101ms'], "--drain: '101ms' is out of bounds; write 0ms to 100ms"],
    [['--nodes', 'n[1-'], '--nodes: host list, column 2: a [ without its ]; write node[1-3]'],
    [['--capacity', '0'], "--capacity: '0' is out of bounds; write 1 to 1000000"],
    [['--capacity', '10,240'], "--capacity: '10,240' is not a whole number; write 1 to 1000000, as in 10000 or 10k"],
    [['--capacity', '1001k'], "--capacity: '1001k' is out of bounds; write 1 to 1000000"],
    [['--owner', 'a b'], "--owner: 'a b' is not a user; write a user name or a user id"],
    [['--owner', '4294967295'], "--owner: '4294967295' is not a user; write a user name or a user id"],
    [
      ['--prefix', '-n'],
      "--prefix: '-n' is not a prefix of node names; write 1 to 50 of a-z 0-9 . _ -, a letter or digit first",
    ],
    [
      ['--config', '/no/such'],
      "cannot read '/no/such': no such file or directory; name a file that this user can read",
    ],
  ];
  for (const [argv, says] of table) {
    t.throws(() => read(...argv), UsageError);
    t.equal(
      refusal(() => read(...argv)),
      `${says}`,
      argv.join(' '),
    );
  }
  const others: [argv: string[], says: string][] = [
    [[], 'the argument NODE is missing; see beoboard few --help'],
    [['a', 'b', 'c', 'd'], "'c' is one argument too many; see beoboard few --help"],
    [['a', '--listen', 'x'], '--listen is an option of other verbs; see beoboard few --help'],
    [['a', '--count'], '--count is an option of other verbs; see beoboard few --help'],
  ];
  for (const [argv, says] of others)
    t.equal(
      refusal(() => parseVerb(few, argv)),
      `${says}`,
      argv.join(' '),
    );
  t.equal(new UsageError('y').exitCode, 2);
});

t.test('help', async t => {
  for (const argv of [['--help'], ['-h'], ['n1', '--board', 'x', '--help']]) {
    t.throws(() => parseVerb(few, argv), HelpShown, argv.join(' '));
  }
  let text = '';
  try {
    parseVerb(few, ['--help']);
  } catch (error) {
    if (error instanceof HelpShown) text = error.text;
  }
  t.equal(
    text,
    `Usage: beoboard few [options] <node> [field]

Takes a few options and arguments.

Options:
  --board PATH     the board file (default: /dev/shm/beoboard/board)
  --once           send one report, flagged as the last, and exit
  --interval TIME  time between reports, 100ms to 600s (default: 1s)
  -h, --help       show this help

A field that was not measured is absent.

Examples:
  beoboard few node1
  beoboard few node1 load1_c
`,
  );
});

t.test('a config file', async t => {
  const folder = t.testdir({
    'good.toml': `# a sender
board = "/b"   # its board
to = ["a", "b:9"]
listen = "::1"
nodes = "n[1-3]"
interval = "2s"
"uncertain-after" = "9s"
capacity = 5
once = true
aligned = false
owner = 7
proc = [
  "p",
  "q",
]
`,
  });
  const file = join(folder, 'good.toml');
  const good = read('--config', file);
  t.match(good, {
    board: '/b',
    to: [
      { host: 'a', port: 8677 },
      { host: 'b', port: 9 },
    ],
    listen: [{ host: '::1', port: 8677 }],
    nodes: ['n1', 'n2', 'n3'],
    interval: 2_000,
    uncertainAfter: 9_000,
    silentAfter: 10_500,
    capacity: 5,
    once: true,
    aligned: false,
    owner: 7,
    proc: ['p', 'q'],
    config: file,
  });
  const both = read('--config', file, '--interval', '3s', '--to', 'c', '--aligned');
  t.match(both, { interval: 3_000, to: [{ host: 'c', port: 8677 }], aligned: true, capacity: 5 });
  t.equal(both.to.length, 1, 'the command line replaces, it does not add');

  process.env.BEOBOARD_OWNER = 'ops';
  t.equal(read().owner, 'ops', 'environment before default');
  t.equal(read('--config', file).owner, 7, 'file before environment');
  t.equal(read('--config', file, '--owner', 'root').owner, 'root', 'command line before file');
  process.env.BEOBOARD_OWNER = 'a b';
  t.match(
    refusal(() => read()),
    /^BEOBOARD_OWNER: 'a b' is not a user; /,
  );
  process.env.BEOBOARD_OWNER = '';
  t.equal(read().owner, undefined, 'an empty variable is none');
});

t.test('config files that are refused', async t => {
  const array = 'not a value for it; write an array of one or more texts in quotes';
  const text = 'not a value for it; write one text in quotes, or a number';
  const table: [toml: string, says: string][] = [
    ['\nboard = "x"\nintervall = "1s"\n', ":3: unknown name 'intervall'; did you mean interval?"],
    ['[receiver]\nboard = "x"\n', ":1: unknown name 'receiver'; known are board, "],
    ['a.b = 1\n', ":1: unknown name 'a'; known are board, "],
    ['once = true\ncount = 5\n', ":2: unknown name 'count'; did you mean size?"],
    ['config = "x"\n', ':1: config cannot be set in a file for this verb; remove it'],
    ['"a\\u001b" = 1\n', ":1: unknown name 'a\\u{1b}'; known are board, "],
    ['proc = [\n"a",\n"b"]\n# c\n\ninterval = 1\n', ":6: interval: '1' has no unit; write 1s or 1ms"],
    ['cluster = """\nboard = """\nboard = 1.5\nname = "N"\n', ":1: cluster: 'board = ' is not a cluster name"],
    ['board = "x"\ncluster = """\\\nname = 3"""\nname = 3\n', ":2: cluster: 'name = 3' is not a cluster name"],
    ['once = 1\n', ':1: once: not a value for it; write true or false'],
    ['once = "true"\n', ':1: once: not a value for it; write true or false'],
    ['__proto__ = 1\n', ":1: unknown name '__proto__'; known are board, "],
    ['board = true\n', `:1: board: ${text}`],
    ['board = ["a"]\n', `:1: board: ${text}`],
    ['board = 2020-01-01\n', `:1: board: ${text}`],
    ['name = "a"\nto = []\n', `:2: to: ${array}`],
    ['to = [true]\n', `:1: to: ${array}`],
    ['capacity = 1.5\n', ":1: capacity: '1.5' is not a whole number; write 1 to 1000000, as in 10000 or 10k"],
    ['proc = ["a", "b", "c"]\n', ':1: proc is given 3 times; give it at most 2 times'],
    ['board = "x"\nto = [\n"a"\n', ':4: not TOML at column 1: '],
    ['board = x\n', ':1: not TOML at column 9: invalid value; write NAME = VALUE, texts in quotes'],
    ['once = true\nonce = true\n', ':2: not TOML at column 1: '],
  ];
  for (const [toml, says] of table) {
    const file = join(t.testdir({ 'c.toml': toml }), 'c.toml');
    const shown = refusal(() => read('--name', 'n', '--config', file));
    t.equal(shown.slice(0, `${file}${says}`.length), `${file}${says}`, JSON.stringify(toml));
    t.notMatch(shown, /[\n\u001b]/);
  }
  const file = join(t.testdir({ 'c.toml': 'once = true\ncapacity = 5\n' }), 'c.toml');
  const one = madeVerb({ name: 'one', summary: '', options: ['once', 'config'], examples: [] });
  t.equal(
    refusal(() => parseVerb(one, ['--config', file])),
    `${file}:2: capacity cannot be set in a file for this verb; remove it`,
  );
});

/**
 * Options that have another meaning in one verb on purpose: in English, `for` is natural for a recipient as well as for
 * a duration.
 */
const OTHERWISE = ['nodes --for', 'load --jobs'];

/** The file of names that beoboard-gate takes, and always has; no verb takes a name as well. */
const SEVERAL = ['names'];

/** A line for each option of these verbs that breaks the rule that a name means one thing. */
function ambiguities(verbs: readonly Verb[]): string[] {
  const wrong: string[] = [];
  for (const name of OPTION_NAMES)
    if (name.endsWith('s') && !SEVERAL.includes(name) && OPTION_NAMES.some(other => `${other}s` === name))
      wrong.push(`--${name} and --${name.slice(0, -1)} are one word`);
  for (const verb of verbs) {
    for (const name of Object.keys(verb.forms ?? {}) as (keyof typeof options)[]) {
      const [here, elsewhere] = [optionOf(verb, name), options[name]];
      if (!verb.options.includes(name)) wrong.push(`${verb.name} has a form of --${name} and does not take it`);
      if (here.value?.kind !== elsewhere.value?.kind && !OTHERWISE.includes(`${verb.name} --${name}`))
        wrong.push(
          `--${name} takes ${here.value?.kind ?? 'nothing'} in ${verb.name}, and ${elsewhere.value?.kind ?? 'nothing'} elsewhere`,
        );
    }
    for (const name of verb.options)
      for (const word of optionOf(verb, name).mistaken ?? [])
        if (verb.options.some(other => other === word))
          wrong.push(`${verb.name} has --${word}, which is told to be --${name}`);
  }
  return wrong;
}

t.test('an option of one name means one thing in every verb', async t => {
  const verbs = (await Promise.all(Object.values(parts).map(load => load()))).map(({ verb }) => verb);
  t.same(ambiguities(verbs), []);
  const taken = new Set<string>(verbs.flatMap(verb => verb.options));
  t.same(
    OPTION_NAMES.filter(name => !taken.has(name)),
    [],
    'every option is one of some verb',
  );
  t.same(
    Object.keys(forms).filter(name => verbs.find(verb => verb.name === name)?.forms === undefined),
    [],
    'a form is called after the verb that takes it',
  );
  const shell = madeVerb({
    name: 'shell',
    summary: '',
    options: ['nodes', 'size', 'count'],
    forms: { nodes: options.count, board: options.board },
    examples: [],
  });
  t.same(
    ambiguities([shell]),
    [
      '--nodes takes nothing in shell, and nodes elsewhere',
      'shell has a form of --board and does not take it',
      'shell has --count, which is told to be --size',
    ],
    'what breaks the rule is found',
  );
});

t.test('a letter means one thing, except where a verb has the letters of another program', async t => {
  const verbs = (await Promise.all(Object.values(parts).map(load => load()))).map(({ verb }) => verb);
  const meanings = new Map<string, Set<string>>();
  for (const verb of verbs)
    for (const name of verb.options) {
      const letter = letterOf(verb, name);
      if (letter !== undefined) meanings.set(letter, (meanings.get(letter) ?? new Set()).add(name));
    }
  const several = [...meanings].filter(([, names]) => names.size > 1);
  t.same(Object.fromEntries(several.map(([letter, names]) => [letter, [...names].sort()])), {
    // Plugins of Nagios have -w and -c, pdsh has -w for nodes, and nodeset of ClusterShell has -c to count.
    w: ['nodes', 'warning'],
    c: ['count', 'critical'],
    // zpool status has -x for pools with problems, and nodeset of ClusterShell has it to exclude.
    x: ['exceptions', 'exclude'],
    // nodeset of ClusterShell has -f to fold, tail has it to follow.
    f: ['fold', 'follow'],
  });
});

/** A log that writes into an array, with a clock that only the test moves. */
function logged(world: LogWorld = {}, verb = 'receive') {
  const lines: string[] = [];
  const clock = { now: 0 };
  const log = createLog(verb, { write: line => lines.push(line), now: () => clock.now, env: {}, ...world });
  return { log, lines, clock };
}

t.test('the log speaks in one line', async t => {
  const { log, lines } = logged();
  log.info('listening on 127.0.0.1:8677, board /dev/shm/b');
  log.warn('100%s of a%d\nsecond \u001b[31m');
  log.error('');
  t.same(lines, [
    'beoboard receive: listening on 127.0.0.1:8677, board /dev/shm/b\n',
    'beoboard receive: 100%s of a%d\\u{a}second \\u{1b}[31m\n',
    'beoboard receive: \n',
  ]);
});

/**
 * Lines that pino 10.4.0 wrote as process 4711 at 1700000000123: verb, level, message, line. Below Node 25, it left a
 * lone surrogate in a short text as it was, so that the line was not UTF-8; it is escaped here as in all other texts, and
 * so are characters that do something to a terminal.
 */
const PINO = readFileSync(join(ROOT, 'test', 'golden', 'log-lines.txt'), 'utf8');

t.test('a line of JSON is what pino made of the message', async t => {
  t.intercept(Date, 'now', { value: () => 1_700_000_000_123 });
  for (const row of PINO.trimEnd().split('\n')) {
    const [verb, level, message, line] = JSON.parse(row) as [string, 'info' | 'warn' | 'error', string, string];
    const { log, lines } = logged({ env: { BEOBOARD_LOG: 'json' } }, verb);
    log[level](message);
    const escapes = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;
    const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
    t.same(lines, [line.replace('4711', `${process.pid}`).replaceAll(escapes, escaped)], row);
  }
});

t.test('a repeated message is logged rarely', async t => {
  const { log, lines, clock } = logged();
  const steps: [at: number, key: string][] = [
    [0, 'full'],
    [1, 'full'],
    [2, 'junk'],
    [59_999, 'full'],
    [60_000, 'full'],
    [60_001, 'full'],
    [119_999, 'full'],
    [119_999, 'junk'],
    [360_000, 'full'],
    [500_000, 'full'],
  ];
  for (const [now, key] of steps) {
    clock.now = now;
    log.seldom(key, `${key} at ${now}`);
  }
  t.same(
    lines.map(line => line.replace('beoboard receive: ', '').trimEnd()),
    [
      'full at 0',
      'junk at 2',
      'full at 60000 (and 2 more in the last minute)',
      'junk at 119999',
      'full at 360000 (and 2 more in the last 5m00s)',
      'full at 500000',
    ],
  );
});

t.test('a stderr that nobody reads does not end the program', async t => {
  const log = new URL('../../src/service/log.js', import.meta.url).href;
  // Logs once its stdin has ended, then reports that it is alive.
  const program = `import { createLog } from ${JSON.stringify(log)};
    process.stdin.resume().on('end', () => {
      for (const _ of Array(3)) createLog('x').error('gone');
      console.log('alive');
    });`;
  for (const [what, stderr] of [
    ['EPIPE', 'pipe'],
    ['ENOSPC', openSync('/dev/full', 'w')],
    ['taken', 'pipe'],
  ] as const) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', stderr],
      env: { ...process.env, BEOBOARD_LOG: '' },
    });
    let out = '';
    let err = '';
    child.stdout?.on('data', data => {
      out += data;
    });
    if (what === 'EPIPE') {
      await new Promise(closed => child.stderr?.once('close', closed).destroy());
    } else {
      child.stderr?.on('data', data => {
        err += data;
      });
    }
    child.stdin?.end();
    const code = await new Promise(ended => child.once('close', ended));
    t.same([code, out, err], [0, 'alive\n', what === 'taken' ? 'beoboard x: gone\n'.repeat(3) : ''], what);
  }
});
