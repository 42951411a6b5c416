// The chart of `beoboard zoom`: its columns, and the whole of it on a pseudo terminal.
//
// @seconds 7
// @whole
// @days 3

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { painter } from '../../src/terminal/style.js';
import { shellWord } from '../../src/text/text.js';
import { SampleRecorder } from '../../src/zoom/recording.js';
import { type ToldName, toldValues } from '../../src/zoom/samplevalues.js';
import { chart, type Heading, History, plot } from '../../src/zoom/zoomchart.js';
import { compileMon } from '../kit/compiling.js';
import { folder } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { NO_SHELL, onShell } from '../kit/shell.js';
import { NO_TERMINAL, onTerminal } from '../kit/terminal.js';
import { NOT_WHOLE } from '../kit/whole.js';

t.setTimeout(600_000);

const UNITS = new Map(toldValues.map(({ name, unit }) => [name, unit]));
const HEADING: Heading = { node: 'n1', rate: 100, samples: 42, ms: 420, leftOut: 0, cost: 1.25, isPlayed: false };

t.test('columns', async t => {
  t.same(plot([0, 1, 50, 100, Number.NaN, 200], 100, 1, 8), ['  ▁▁▄█ █']);
  t.same(plot([0, 25, 50, 75, 100], 100, 2, 5), ['   ▄█', '▁▄███']);
  t.same(plot([], 1, 2, 3), ['   ', '   ']);
  t.same(plot([5], 5, 1, 0), ['█'], 'whoever asks for no room has to ask for no values');
});

t.test('means of columns', async t => {
  const history = new History();
  const add = (ms: number, cpu?: number) =>
    history.add({ ms, values: new Map<ToldName, number>(cpu === undefined ? [] : [['cpu_pct', cpu]]) });
  for (const [ms, cpu] of [
    [10, 10],
    [90, 30],
    [110, 50],
    [310, 70],
    [420, undefined],
    [500, 90],
  ] as const)
    add(ms, cpu);
  t.same(history.columns('cpu_pct', 80), [20, 50, Number.NaN, 70, Number.NaN]);
  t.same(history.columns('cpu_pct', 2), [70, Number.NaN]);
  t.same(history.columns('cpu_pct', 0), []);
  for (let ms = 600; ms < 600_000; ms += 100) add(ms, 1);
  add(1e9, 1);
  t.equal(history.columns('cpu_pct', 1e6).length, 1000, 'no more than a screen has');
});

t.test('as lines', async t => {
  const history = new History();
  for (let i = 0; i <= 20; i++)
    history.add({
      ms: i * 100,
      values: new Map<ToldName, number>([
        ['cpu_pct', i * 5],
        ['running', i % 4],
        ['mem_used_mib', 512],
        ['mem_total_mib', 1024],
        ['rx_bytes_s', i * 1e6],
      ]),
    });
  const lines = chart(history, UNITS, HEADING, { columns: 46, rows: 12 }, painter('never'));
  t.same(
    lines,
    [
      'n1: 42 samples in 420ms, 100 a second; it costs the node 1.3% of a CPU',
      'CPU                 100 % ▁▁▁▁▂▂▂▃▃▄▄▄▅▅▆▆▆▇▇█',
      'run queue               0 ▁▃▅█▁▃▅█▁▃▅█▁▃▅█▁▃▅█',
      'memory            512 MiB ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄',
      'network in        20 MB/s ▁▁▁▁▂▂▃▃▃▄▄▅▅▅▆▆▇▇██',
      'network out             -',
      'disk read               -',
      'disk write              -',
      'wait for CPU            -',
      'for memory              -',
      'for disks               -',
      'q quit   a column is 100 ms',
    ].map(line => (/-$/.test(line) ? line.padEnd(46) : line)),
  );
  // The longest scale: three figures, a point and a unit.
  for (const ms of [2100, 2200]) history.add({ ms, values: new Map<ToldName, number>([['rx_bytes_s', 95.2e6]]) });
  const high = chart(history, UNITS, HEADING, { columns: 60, rows: 42 }, painter('never'));
  t.ok(high.some(line => line.startsWith('             of 95.2 MB/s ')));
  t.same([...new Set(high.slice(1, -1).map(line => line.length))], [60], 'all lines end together');
  t.equal(
    chart(history, UNITS, HEADING, { columns: 80, rows: 42 }, painter('never')).length,
    42,
    'as high as there is room for',
  );
  for (const [columns, rows] of [
    [1, 1],
    [10, 3],
    [24, 5],
    [1000, 1000],
  ] as const)
    t.ok(
      chart(history, UNITS, HEADING, { columns, rows }, painter('never')).length <= Math.max(2, rows),
      `${columns} × ${rows}`,
    );
  const none = new History();
  const zero = new Map<ToldName, number>([
    ['mem_used_mib', 0],
    ['mem_total_mib', 0],
  ]);
  for (const ms of [0, 100]) none.add({ ms, values: zero });
  const memory = chart(none, UNITS, HEADING, { columns: 46, rows: 12 }, painter('never'))[3];
  t.ok(memory?.endsWith('▁'), 'of a machine without memory there is something to be seen, too');
  const long = chart(
    none,
    UNITS,
    { ...HEADING, node: '\x9b'.repeat(300) },
    { columns: 46, rows: 12 },
    painter('never'),
  );
  t.ok(long[0]?.startsWith(`${'\\u{9b}'.repeat(79)}…: `), 'a name is no order to the terminal');
  for (const TZ of ['America/New_York', 'Asia/Kolkata']) {
    process.env.TZ = TZ;
    const present = { ...HEADING, atMs: Date.UTC(2026, 10, 27, 2, 3, 4) };
    t.match(
      chart(history, UNITS, present, { columns: 80, rows: 24 }, painter('never')).at(-1),
      TZ === 'Asia/Kolkata' ? / {3}07:33:04$/ : / {3}21:03:04$/,
      `the present time, in ${TZ}`,
    );
  }
  const late = { ...HEADING, leftOut: 7, cost: undefined };
  t.equal(
    chart(history, UNITS, late, { columns: 80, rows: 24 }, painter('never'))[0],
    'n1: 42 samples in 420ms, 100 a second; 7 left out, because earlier answers came late; its cost on the node is unknown',
  );
});

/** A command like ssh that runs beoboard-mon here, and before it something else. */
function via(t: Test, before = ''): string {
  const script = join(folder(t), 'ssh');
  writeFileSync(script, `#!/bin/sh\n${before}\nnode="$1"; shift 4\nexec ${compileMon(t)} --name "$node" "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}

const zoom = (...argv: string[]) => [process.execPath, PROGRAM, 'zoom', ...argv];

t.test('as a job of a shell', { skip: NO_SHELL || NOT_WHOLE }, async t => {
  const shell = await onShell(t);
  const line = zoom('n9', '--via', via(t)).map(shellWord).join(' ');
  shell.type(`${line} &\r`);
  await shell.shows(/stdout is not in the foreground of a terminal that can be drawn on; write --csv or --json/);
  const drawn = /\x1b\[\?1049h[\s\S]*n9: \d+ samples? in /;
  shell.type(`${line}\r`);
  await shell.shows(drawn);
  shell.type('\x1a');
  await shell.shows(/\x1b\[\?1049l[\s\S]*Stopped[\s\S]*<ready>/);
  await shell.run('bg');
  t.equal(await shell.run('echo typed'), 'echo typed\r\ntyped\r\n<ready>', 'neither takes keys nor draws');
  shell.type('fg\r');
  await shell.shows(drawn);
  shell.type('q');
  await shell.shows(/\x1b\[\?1049l[\s\S]*n9: \d+ samples? in [\s\S]*<ready>/);
});

t.test('on a terminal', { skip: NO_TERMINAL ?? false }, async t => {
  const ENTERED = '\x1b[?1049h';
  const LEFT = /\x1b\[\?25h\x1b\[\?1049l/;

  await t.test('live, another size, and the end by a key', async t => {
    const terminal = await onTerminal(t, zoom('n9', '--via', via(t)), { rows: 24, columns: 100 });
    await terminal.shows(
      /^n9: \d+ samples? in [\s\S]*\nCPU +[\d.]+ % +.*[▁▂▃▄▅▆▇█][\s\S]*\nmemory +[\d.]+ .iB .*[▁▂▃▄▅▆▇█][\s\S]*\nq quit/,
    );
    t.same([terminal.screen.alternate, terminal.screen.cursor], [true, false]);
    terminal.send({ size: [8, 60] });
    await terminal.shows(/^n9: (.*\n){7}q quit/);
    terminal.send({ size: [60, 200] });
    await terminal.shows(/\nfor disks +[\s\S]*\nq quit/);
    terminal.send({ keys: 'q' });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.match(terminal.output(), LEFT);
    t.match(
      terminal.screen.text(),
      /beoboard zoom: n9: \d+ samples? in .*, 100 a second/,
      'and says in the end what it was',
    );
  });

  for (const [what, end] of [
    ['Ctrl-C', { keys: '\x03' }],
    ['SIGINT', { signal: 2 }],
    ['SIGTERM', { signal: 15 }],
  ] as const)
    await t.test(what, async t => {
      const terminal = await onTerminal(t, zoom('n9', '--via', via(t)));
      await terminal.shows(/^n9: \d+ samples?/);
      terminal.send(end);
      t.same(await terminal.exit, { exit: 0, same: true });
      t.match(terminal.output(), LEFT);
    });

  await t.test('the connection breaks: the error is printed on the normal screen', async t => {
    const pid = join(folder(t), 'pid');
    const terminal = await onTerminal(t, zoom('n9', '--via', via(t, `echo $$ > ${pid}`)), { columns: 200 });
    await terminal.shows(/^n9: \d+ samples?/);
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    t.same(await terminal.exit, { exit: 1, same: true });
    t.match(
      terminal.screen.text(),
      /beoboard zoom: n9: \d+ samples? in .*\nbeoboard zoom: n9: .*ssh ended by SIGKILL$/m,
    );
  });

  await t.test('no answer at all: no screen', async t => {
    const terminal = await onTerminal(t, zoom('n9', '--via', via(t, 'exit 255')), { columns: 200 });
    t.same(await terminal.exit, { exit: 1, same: true });
    t.notMatch(terminal.output(), ENTERED);
  });

  await t.test('a recording with a long pause: Ctrl-C ends it there', async t => {
    const file = join(folder(t), 'pause.jsonl');
    const answer = '((n9 cpuinfo live 0 ((nr 1) 1)))';
    const head = { form: 'beoboard zoom 1', schema: '((s cpuinfo 0x1 0 ((nr 1) user)))' };
    const lines = [head, ...[0, 5, 80_000_000].map(ms => ({ ms, answer }))].map(line => JSON.stringify(line));
    writeFileSync(file, `${lines.join('\n')}\n`);
    const terminal = await onTerminal(t, zoom('--play', file), { columns: 120 });
    await terminal.shows(/^n9: 1 sample in 5ms/);
    terminal.send({ keys: '\x03' });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.match(terminal.screen.text(), /beoboard zoom: n9: 1 sample in 5ms, recorded/m);
  });

  await t.test('a file that somebody else makes meanwhile stays', async t => {
    const file = join(folder(t), 'theirs.jsonl');
    const recorder = await SampleRecorder.prepare(file);
    writeFileSync(file, 'theirs');
    await t.rejects(
      recorder.add({ ms: 1, answer: { bytes: Buffer.from('()'), elements: [] } }),
      /is there already; name a new file/,
    );
    t.equal(readFileSync(file, 'utf8'), 'theirs');
  });

  await t.test('a recording, at its own pace, to its end', async t => {
    const file = join(folder(t), 'kept.jsonl');
    const first = await onTerminal(t, zoom('n9', '--via', via(t), '--for', '500ms', '--record', file));
    t.same(await first.exit, { exit: 0, same: true });
    const terminal = await onTerminal(t, zoom('--play', file), { columns: 120 });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.match(terminal.screen.text(), /beoboard zoom: n9: \d+ samples? in \d+ms, recorded; it costs/m);
  });
});
