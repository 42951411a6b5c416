// Keeps the last results of each benchmark in results.json, and makes the documents' tables and the plots from it.
//   node bench/results.mjs            writes the tables again
//   node bench/results.mjs --check    exits with 0 if they are up to date

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = path => fileURLToPath(new URL(path, import.meta.url));
const KEPT = at('./results.json');
const PLOTS = at('../docs/plots');
/** README.md and all pages of docs/: any of them may have tables. */
const DOCUMENTS = [
  at('../README.md'),
  ...readdirSync(at('../docs'), { recursive: true })
    .filter(name => name.endsWith('.md'))
    .map(name => at(`../docs/${name}`)),
];

const read = () => (existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {});

/** Replaces the last results of the same benchmarks. */
export function keep(results) {
  // A row is a line, so that version control shows a change as one.
  const parts = Object.entries({ ...read(), ...results }).map(([name, { rows, ...about }]) => {
    const lines = rows.map(row => `\n  ${JSON.stringify(row)}`);
    return `${JSON.stringify(name)}: ${JSON.stringify(about).slice(0, -1)},"rows":[${lines}]}`;
  });
  writeFileSync(KEPT, `{\n${parts.join(',\n')}\n}\n`);
}

/** The text about a row's bound. */
export function verdict({ median, bound, atLeast }) {
  if (bound !== undefined) return `at most ${bound}: ${median <= bound ? 'holds' : 'BROKEN'}`;
  if (atLeast !== undefined) return `at least ${atLeast}: ${median >= atLeast ? 'holds' : 'BROKEN'}`;
  return '';
}

/** The rows that are points of curves, by plot, and then by series. */
function curves(rows) {
  const plots = new Map();
  for (const row of rows.filter(({ plot }) => plot !== undefined)) {
    const { name, series } = row.plot;
    if (!plots.has(name)) plots.set(name, new Map());
    const curve = plots.get(name).get(series) ?? [];
    plots.get(name).set(series, [...curve, row]);
  }
  return plots;
}

/** The exponent with which a curve grows: least squares over the logarithms. */
function slope(points) {
  const logs = points.map(({ plot, median }) => [Math.log(plot.x), Math.log(median)]);
  const mean = i => logs.reduce((sum, log) => sum + log[i], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const over = logs.reduce((sum, [lx]) => sum + (lx - x) ** 2, 0);
  return logs.reduce((sum, [lx, ly]) => sum + (lx - x) * (ly - y), 0) / over;
}

/** How every curve of at least three points grows, as rows. */
export function slopes(rows) {
  return [...curves(rows)].flatMap(([name, series]) =>
    [...series]
      .filter(([, points]) => points.length >= 3 && points.every(({ median }) => median > 0))
      .map(([title, points]) => {
        const power = Number(slope(points).toFixed(2));
        const figure = `${title}: grows with ${DRAWN[name].of} to the power of`;
        return { figure, unit: '', median: power, least: power, most: power, runs: points.length };
      }),
  );
}

/** The plots: title, axes, and what x counts. */
const DRAWN = {
  receiver: { title: 'What a report costs the master', x: 'reports a second', y: 'us of CPU a report', of: 'the rate' },
  readers: { title: 'What reading the board takes', x: 'nodes', y: 'us', of: 'the nodes' },
};

/** Eight colours, then dashed. */
const style = i => `lc ${(i % 8) + 1} dt ${i < 8 ? 1 : 2}`;

/** Draws them, with gnuplot. */
export function writePlots() {
  mkdirSync(PLOTS, { recursive: true });
  const rows = Object.values(read()).flatMap(({ rows }) => rows);
  for (const [name, series] of curves(rows)) {
    const { title, x, y } = DRAWN[name];
    const blocks = [...series].map(
      ([, points], i) =>
        `$d${i} << EOD\n${points.map(({ plot, median, least, most }) => [plot.x, median, least, most].join(' ')).join('\n')}\nEOD`,
    );
    const lines = [...series].map(
      ([what], i) =>
        `$d${i} using 1:2 with lines ${style(i)} lw 2 title "${what}", $d${i} using 1:2:3:4 with yerrorbars ${style(i)} pt 7 ps 0.6 notitle`,
    );
    const script = [
      'set terminal svg size 1000,480 dynamic background "white" font "sans-serif,13"',
      `set title "${title}" noenhanced`,
      `set xlabel "${x}"`,
      `set ylabel "${y}"`,
      'set logscale xy',
      'set format x "%.0f"',
      'set grid',
      'set key outside right top Left reverse noenhanced',
      ...blocks,
      `plot ${lines.join(', ')}`,
    ].join('\n');
    const drawn = spawnSync('gnuplot', [], { input: `${script}\n`, encoding: 'utf8' });
    if (drawn.error?.code === 'ENOENT') {
      console.error('bench: no plots without gnuplot: apt-get install gnuplot-nox');
      return;
    }
    if (drawn.status !== 0) throw new Error(drawn.stderr);
    writeFileSync(`${PLOTS}/${name}.svg`, drawn.stdout);
  }
}

const MANY = 'beoboard receive, 10000 nodes: CPU on the master';
const LARGEST = '100000 nodes for 600 s';

/** Tables of chosen figures, by name: their words, and the benchmark, row and unit of each. */
const CHOSEN = {
  // Of README.md, at most ten.
  headlines: [
    [
      'CPU on a node, `beoboard-send` with one report a second',
      'peers',
      'beoboard-send: CPU on the node',
      'us a report',
    ],
    [
      'the same for gmond (Ganglia), compared with `beoboard-send`',
      'peers',
      'gmond, every second / beoboard-send: CPU on the node',
      'ratio',
    ],
    [
      'the same for node_exporter, scraped once a second',
      'peers',
      'node_exporter / beoboard-send: CPU on the node',
      'ratio',
    ],
    ['the same for PCP, sampled once a second', 'peers', 'PCP / beoboard-send: CPU on the node', 'ratio'],
    ['CPU on the master of 10,000 nodes', 'receiver', 'receiver, 10000 reports/s of 10000 nodes', '% of a core'],
    [
      'CPU on the master for each report, gmond compared with `beoboard receive`',
      'peers',
      `gmond as receiver, 1000 nodes / ${MANY}`,
      'ratio',
    ],
    ['CPU on the master of 100,000 nodes', 'scale', `${LARGEST}: receiver`, '% of a core'],
    ['reports of 100,000 nodes lost in ten minutes', 'scale', `${LARGEST}: lost by sequence number`, 'reports'],
    [
      'time from sending a report until programs see it, for 99 % of reports',
      'latency',
      'receiver: visible after, p99',
      'ms',
    ],
    ['reading the states of 10,000 nodes in a C program', 'readers', 'C: state of every node, 10,000 nodes', 'us'],
  ],
  // Of docs/performance.md.
  node: [
    [
      'CPU of `beoboard-send`, compared with a C program that only reads the same files and sends',
      'peers',
      'beoboard-send / bare C program that reads and sends: CPU on the node',
      'ratio',
      ['counts', 'report sent, 2 CPUs', 'instructions'],
      ['peers', 'beoboard-send: CPU on the node', 'us a report'],
    ],
    [
      'the same on files of 512 CPUs',
      'peers',
      '512 CPUs: beoboard-send / bare C program that reads and sends: CPU on the node',
      'ratio',
      ['counts', 'report sent, 512 CPUs', 'instructions'],
      ['peers', '512 CPUs: beoboard-send: CPU on the node', 'us a report'],
    ],
    [
      'CPU of `beoboard send` on Node.js, compared with `beoboard-send`',
      'peers',
      'beoboard send / beoboard-send: CPU on the node',
      'ratio',
      ['peers', 'beoboard send: CPU on the node', 'us a report'],
    ],
    [
      'the same for collectd',
      'peers',
      'collectd / beoboard-send: CPU on the node',
      'ratio',
      ['peers', 'collectd: CPU on the node', 'us a report'],
    ],
    [
      'the same for node_exporter, on files of 512 CPUs',
      'peers',
      '512 CPUs: node_exporter / beoboard-send: CPU on the node',
      'ratio',
      ['peers', '512 CPUs: node_exporter: CPU on the node', 'us a report'],
    ],
    [
      'memory of `beoboard send` on Node.js (PSS), compared with `beoboard-send`',
      'peers',
      'beoboard send: memory (PSS)',
      'KiB',
      { by: ['peers', 'beoboard-send: memory (PSS)', 'KiB'] },
    ],
  ],
  master: [
    [
      'receiver, 1,000 nodes, a report compared with a C loop that only copies',
      'receiver',
      'receiver / bare with stamps, addresses and packet info, 1000 reports/s of 1000 nodes',
      'ratio',
      ['counts', 'report received, 1,000 nodes', 'instructions'],
      ['receiver', 'receiver, 1000 reports/s of 1000 nodes', '% of a core'],
    ],
    [
      'the same, 100,000 nodes',
      'receiver',
      'receiver / bare with stamps, addresses and packet info, 100000 reports/s of 100000 nodes',
      'ratio',
      ['counts', 'report received, 100,000 nodes', 'instructions'],
      ['receiver', 'receiver, 100000 reports/s of 100000 nodes', '% of a core'],
    ],
    [
      'receiver, a million nodes every ten seconds: lost in ten minutes',
      'million',
      '1000000 nodes for 600 s: lost by sequence number',
      'reports',
      ['million', '1000000 nodes for 600 s: receiver', '% of a core'],
    ],
    [
      "checking a signature with nodes' own keys, compared with HMAC alone",
      'receiver',
      "verifying / bare HMAC, nodes' own keys",
      'ratio',
      ['counts', "report received, 1,000 nodes, nodes' own keys", 'instructions'],
      ['receiver', "verifying a signature, nodes' own keys", 'us a report'],
    ],
    ['reports lost out of 10,000 sent at once', 'receiver', 'lost out of 10,000 sent at once', 'reports'],
    [
      'memory of the receiver, with a board for 100,000 nodes',
      'scale',
      '10000 nodes for 600 s: memory of the receiver, with half of its board (a reader maps it, too)',
      'MiB of PSS',
    ],
    [
      'from sending a report until programs see it, for 99 %, with `--drain 0ms`, compared with bare C',
      'latency',
      'receiver, --drain 0ms: visible after, p99',
      'ms',
      { by: ['latency', 'bare loop without a drain interval: visible after, p99', 'ms'] },
    ],
    [
      "after kill -9 of the receiver of a million nodes, until another listens, compared with Node's start",
      'million',
      'after kill -9, until another receiver listens',
      's',
      { by: ['million', 'node -e 0', 'ms'], times: 1000 },
    ],
  ],
  reading: [
    [
      'states of 10,000 nodes, in Python with libbeoboard, compared with C',
      'readers',
      'Python with libbeoboard: state of every node, 10,000 nodes',
      'us',
      { by: ['readers', 'C: state of every node, 10,000 nodes', 'us'] },
      ['counts', 'libbeoboard: state of a node', 'instructions', 'a node'],
    ],
    [
      'all reports of 10,000 nodes in C, compared with memcpy',
      'readers',
      'C: every report / memcpy, 10,000 nodes',
      'ratio',
      ['counts', 'libbeoboard: a node read with all', 'instructions', 'a node'],
      ['readers', 'C: every report, 10,000 nodes', 'us'],
    ],
    [
      "`beoboard status`, 10,000 nodes, beyond Node.js' own start, and compared",
      'cli',
      'status of 10,000 nodes, above node -e 0',
      'ms',
      { by: ['cli', 'node -e 0, whole process', 'ms'] },
    ],
    [
      '`beoboard status --watch`, compared with the receiver',
      'cli',
      'status --watch',
      '% of a core',
      { by: ['receiver', 'receiver, 10000 reports/s of 10000 nodes', '% of a core'] },
    ],
    [
      '`beoboard-nodes --state silent`, in C',
      'cli',
      'beoboard-nodes --state silent, whole process',
      'ms',
      ['counts', 'beoboard-nodes --state silent: a node', 'instructions', 'a node'],
    ],
    [
      '`beoboard-gate`, 64 nodes',
      'cli',
      'beoboard-gate, 64 nodes, whole process',
      'ms',
      ['counts', 'beoboard-gate, 64 nodes: whole process', 'instructions'],
    ],
    [
      'one scrape of 10,000 nodes by Prometheus with gzip, compared with the program gzip',
      'prometheus',
      'exporter with gzip / the program gzip -1 on the same bytes',
      'ratio',
      ['prometheus', 'the same with gzip', 'ms'],
    ],
  ],
};

/** JSON has no infinity: the latency of a lost report. */
const number = value =>
  value === null ? 'lost' : Math.abs(value) >= 10_000 ? value.toLocaleString('en-US') : String(value);
const line = cells => `| ${cells.join(' | ')} |`;
/** The first column is words. */
const table = (head, rows) =>
  [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');

/** How the names of a benchmark's rows say a row and a column of a table. Other rows are lines of their own. */
const COLUMNS = {
  receiver: /^(?<row>.*), (?<column>\d+ reports\/s of \d+ nodes)$/,
  readers: /^(?<row>.*), (?<column>[\d,]+ nodes)$/,
  scale: /^(?<column>\d+ nodes) for 600 s: (?<row>.*)$/,
  latency: /^(?<row>.*): visible after, (?<column>p[\d.]+)$/,
  cli: /^(?<row>.*?)[,:] (?<column>(?:first byte, )?above node -e 0|whole process)$/,
  sender: /^(?<row>.*), (?<column>every \d+m?s)$/,
  peers: /^(?<on>512 CPUs: )?(?<row>.*): (?<column>CPU on (?:the node|a master of 4 nodes))$/,
};

/** The cell of a row, `{table, row, column}`, if it has one. */
function cellOf(bench, { cell, figure, unit }) {
  const { row, column, on = '' } = COLUMNS[bench]?.exec(figure)?.groups ?? {};
  return cell ?? (row && { table: '', row: `${row}, ${unit}`, column: `${on}${column}` });
}

/** What a figure is held to, in words. */
const bounded = row => verdict(row).replace('BROKEN', '**broken**');

/** Tables of cells; medians only. */
function crossed(rows) {
  const titles = [...new Set(rows.map(({ cell }) => cell.table))].sort((a, b) => (a === '') - (b === ''));
  return titles.flatMap(title => {
    const those = rows.filter(({ cell }) => cell.table === title);
    const columns = [...new Set(those.map(({ cell }) => cell.column))];
    const lines = [...new Set(those.map(({ cell }) => cell.row))].map(name => [
      name,
      ...columns.map(column => {
        const found = those.find(({ cell }) => cell.row === name && cell.column === column);
        if (found === undefined) return '';
        return bounded(found) === '' ? number(found.median) : `${number(found.median)} (${bounded(found)})`;
      }),
    ]);
    return [...(title === '' ? [] : [`${title}:`]), table(['', ...columns], lines)];
  });
}

/** The tables of a benchmark, and where and when it was measured. A column that would be empty is left out. */
function tableOf(bench, { date, commit, machine, command, rows: all }) {
  const when = commit === undefined ? date : `${date}, ${commit}`;
  const rows = all.map(row => ({ ...row, cell: cellOf(bench, row) }));
  const runs = rows.map(row => row.runs);
  const [fewest, most] = [Math.min(...runs), Math.max(...runs)];
  const lines = rows
    .filter(({ cell }) => cell === undefined)
    .map(row => [
      row.figure,
      `${number(row.median)}${row.unit === '' ? '' : ` ${row.unit}`}`,
      row.least === row.most ? '' : `${number(row.least)} to ${number(row.most)}`,
      bounded(row),
    ]);
  const filled = ['', 'median', 'spread', 'bound'].map((_, i) => lines.some(line => line[i] !== ''));
  const some = cells => cells.filter((_, i) => filled[i]);
  return [
    `\`${command}\`, ${when},\n${machine}; ${fewest === most ? '' : `${fewest} to `}${most} ${most === 1 ? 'run' : 'runs'}.`,
    ...crossed(rows.filter(({ cell }) => cell !== undefined)),
    ...(lines.length === 0 ? [] : [table(some(['', 'median', 'spread', 'bound']), lines.map(some))]),
  ].join('\n\n');
}

/** What is the same on every machine, or nearly: ratios, and counts of instructions, of losses and of bytes. */
const IS_FIRST = /^(ratio|instructions|reports|KiB|MiB of PSS)$/;

/**
 * Such figures come first, because times are of one machine; in a short table there is one column. After the first of a
 * row, `by`: its ratio to another one, in whose unit it is so many `times` as much. The last laps of `bounds` take the
 * place of what its own benchmark has found.
 */
function chosen(name, results) {
  const isShort = name === 'headlines';
  const cells = CHOSEN[name]
    .filter(([, bench]) => results[bench] !== undefined)
    .map(([words, bench, figure, unit, ...more]) => {
      const rowOf = ([bench, figure, unit]) => {
        const found = name => results[name]?.rows.find(row => row.figure === figure && row.unit === unit);
        const [from, row] = found('bounds') ? ['bounds', found('bounds')] : [bench, found(bench)];
        if (row === undefined) throw new Error(`bench ${bench} has no figure "${figure}" in ${unit}`);
        return { ...row, from };
      };
      const value = one => {
        if ('by' in one) {
          const ratio = ((one.times ?? 1) * rowOf([bench, figure, unit]).median) / rowOf(one.by).median;
          return `${number(Number(ratio.toPrecision(3)))} ×`;
        }
        const [, , its, of] = one;
        const row = rowOf(one);
        if (its === 'ratio') return isShort ? `${number(row.median)} times as much` : `${number(row.median)} ×`;
        return `${number(row.median)} ${its}${of === undefined ? '' : ` ${of}`}`;
      };
      const all = [[bench, figure, unit], ...more];
      const isFirst = one => 'by' in one || IS_FIRST.test(one[2]);
      const { from } = rowOf(all[0]);
      const { date, command } = results[from];
      if (isShort) return [words, value(all[0]), `\`${command}\`, ${date}`];
      const some = those => those.map(value).join('; ');
      return [
        words,
        some([...all.filter(one => 'by' in one), ...all.filter(one => !('by' in one) && isFirst(one))]),
        some(all.filter(one => !isFirst(one))),
        `\`${from}\`, ${date}`,
      ];
    });
  return isShort
    ? table(['what', 'measured', 'command, date'], cells)
    : table(['what', 'ratio, count', 'measured', 'benchmark, date'], cells);
}

/** A document with its current tables: between `<!-- bench NAME -->` and `<!-- end -->`. */
function written(text, results) {
  return text.replace(/(<!-- bench (\S+) -->\n)[\s\S]*?(<!-- end -->)/g, (before, begin, name, end) => {
    const now = name in CHOSEN ? chosen(name, results) : results[name] && tableOf(name, results[name]);
    return now === undefined ? before : `${begin}\n${now}\n\n${end}`;
  });
}

/** Writes the tables; returns whether there was anything to write. */
export function writeDocuments({ check = false } = {}) {
  const results = read();
  const stale = DOCUMENTS.filter(path => {
    const text = readFileSync(path, 'utf8');
    const now = written(text, results);
    if (!check && now !== text) writeFileSync(path, now);
    return now !== text;
  });
  return stale.length > 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes('--check');
  if (writeDocuments({ check }) && check) {
    console.error(
      'bench: the tables in the documents are not those of bench/results.json; write them with: node bench/results.mjs',
    );
    process.exitCode = 1;
  }
}
