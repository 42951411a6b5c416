// What `beoboard events` tells of journals, which are written here line by line.
//
// @seconds 5
// @waits

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { news } from '../../src/journalfile/following.js';
import { LINE_BYTES } from '../../src/journalfile/format.js';
import { Journal } from '../../src/journalfile/journal.js';
import { Listing, merged } from '../../src/journalfile/listing.js';
import { believedUsers, JournalFolder } from '../../src/journalfile/segments.js';
import { wallTime } from '../../src/shm/sentences.js';
import { dayLater, parseMoment } from '../../src/text/moments.js';
import { ended } from '../kit/children.js';
import { DAY, isoOf, MadeJournal } from '../kit/journals.js';
import { NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';
import { folder } from '../kit/places.js';
import { commandOf, start } from '../kit/program.js';
import { unlike } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

const ENV = { ...process.env, TZ: 'UTC' };
const verb = verbChild(t);

const journalIn = (t: Test, board?: string) => new MadeJournal(join(folder(t), 'journal'), board);

/** What `beoboard events` says of these journals. */
async function asked(of: readonly MadeJournal[], ...argv: readonly string[]) {
  const folders = of.flatMap(({ folder }) => ['--journal-dir', folder]);
  const { code, stdout, stderr } = await verb(['events', ...folders, ...argv], ENV);
  const lines = stdout.replaceAll(`${DAY} `, '').split('\n').slice(0, -1);
  return { code, lines, stderr };
}

function objects(lines: readonly string[]): Record<string, unknown>[] {
  const all = lines.map(line => JSON.parse(line) as Record<string, unknown>);
  for (const one of all) t.strictSame(unlike('at' in one ? 'JournalEvent' : 'LastEnd', one), []);
  return all;
}

const SILENT = { event: 'silent', from: '03:04:58.001', from_last: '03:04:59', nodes: 'rack11n[01-48]', count: 48 };
const AGAIN = { ...SILENT, event: 'heard_again', to: '03:07:12.100', to_last: '03:07:12.900' };

/** A rack that fell silent, and what happened around it. */
function rack(t: Test, board?: string): MadeJournal {
  const journal = journalIn(t, board);
  journal.line('02:00:00', { event: 'begin', version: '0.3.0', count: 60, states: { live: 58, silent: 2 } });
  journal.line('02:00:10.6', { event: 'silent', from: '02:00:00', nodes: 'n1', count: 1, last_words: [] });
  journal.line('02:10:10.6', { event: 'silent', from: '02:10:00', nodes: 'n2', count: 1, last_words: [] });
  journal.line('02:11:01', { event: 'heard_again', from: '02:10:00', to: '02:11:00', nodes: 'n2', count: 1 });
  journal.line('03:05:02', { event: 'link_down', from: '03:05:01', link: 'eth0' });
  journal.line('03:05:08', { ...SILENT, first: 'rack11n03', last_words: ['memory_low'] }, [
    { id: '4711', user: 'anna', nodes: 'rack11n[01-04]' },
    { id: '4712', nodes: 'rack11n05' },
  ]);
  journal.line('03:05:30', { event: 'problem', problem: 'oom', from: '03:05:20', nodes: 'n3', count: 1 });
  journal.line('03:07:14', AGAIN);
  journal.line('03:07:15', { event: 'link_up', from: '03:07:14', link: 'eth0' });
  journal.line('03:08:01', { event: 'restart', from: '03:08:00', nodes: 'n4', count: 1, more: 2 });
  journal.line('03:20:00', {
    event: 'problem_resolved',
    problem: 'oom',
    from: '03:05:20',
    to: '03:09:20',
    nodes: 'n3',
  });
  journal.line('03:30:00', { event: 'silent', from: '03:29:50', nodes: 'n3', count: 1, last_words: ['late', 'oom'] });
  return journal;
}

const RACK =
  '03:04:58 to 03:07:12  rack11n[01-48] (48 nodes; first rack11n03) silent for 2m14s; ' +
  'their last reports: hardly any memory was available; jobs 4711 (anna), 4712';
const N1 = '02:00:00  n1 silent (goes on); its last report: nothing that explains it';
const N3 = '03:05:20 to 03:09:20  n3 problem: programs were killed, memory ran out, for 4m00s';
const LINK = '03:05:01 to 03:07:14  eth0 is down: nothing is heard from the nodes behind it, for 2m13s';

t.test('an event is one line with its end, and counts if it went on in the span', async t => {
  const journal = rack(t);
  const all = await asked([journal], '--since', DAY);
  t.same(all, {
    code: 0,
    lines: [
      '02:00:00  the journal begins, watching 60 nodes: 2 silent, 58 live',
      N1,
      '02:10:00 to 02:11:00  n2 silent for 1m00s; its last report: nothing that explains it',
      RACK,
      LINK,
      N3,
      '03:08:00  n4 sender restarted; 2 more in the minute before',
      '03:29:50  n3 silent (goes on); its last report: programs were killed, memory ran out, its sender was late',
    ],
    stderr: `beoboard events: ${journal.folder}: begins only at ${DAY} 02:00:00\n`,
  });
  for (const [argv, isTold] of [
    [['--since', `${DAY} 01:00`, '--until', `${DAY} 01:30`], true],
    [['--until', `${DAY} 01:30`], true],
    [['--since', `${DAY} 02:00`], false],
    [['--last-end'], false],
  ] as const)
    t.equal((await asked([journal], ...argv)).stderr !== '', isTold, argv.join(' '));
  const spans: [span: string[], lines: string[]][] = [
    [
      ['--since', `${DAY} 03:05`, '--until', `${DAY} 03:05:10`],
      [N1, RACK, LINK],
    ],
    [
      ['--since', `${DAY} 03:06`, '--until', `${DAY}T03:07:00Z`],
      [N1, RACK, LINK, N3],
    ],
    [
      ['--since', `${DAY} 03:05`, '--kind', 'silent,oom', '--until', `${DAY} 03:10`],
      [N1, RACK, N3],
    ],
    [
      ['--since', `${DAY} 03:05`, '--until', `${DAY} 03:10`, '-w', 'n3'],
      [LINK, N3],
    ],
    [['--until', `${DAY} 02:00`, '-w', 'n1', '--kind', 'silent'], [N1]],
    [['--kind', 'problem'], [N3]],
    [['--kind', 'link_down'], [LINK]],
    [['--kind', 'boot,hung_tasks'], []],
    [['--kind', 'silent', '-n', '1', '--until', `${DAY} 03:10`], [RACK]],
    // An end stands alone only if it is asked for.
    [['--kind', 'link_up'], ['03:07:14  eth0 is up']],
    [['--kind', 'heard_again', '-w', 'n2'], ['02:10:00 to 02:11:00  n2 heard again after 1m00s']],
  ];
  for (const [argv, lines] of spans) t.same((await asked([journal], ...argv)).lines, lines, argv.join(' '));
});

t.test('what a single report has shown is a moment', async t => {
  const journal = journalIn(t);
  const oom = { problem: 'oom', from: '03:05:20', nodes: 'n3', count: 1 };
  journal.line('03:05:30', { event: 'problem', ...oom });
  journal.line('03:20:00', { event: 'problem_resolved', ...oom, to: '03:05:20' });
  t.same((await asked([journal], '--kind', 'oom')).lines, [
    '03:05:20  n3 problem: programs were killed, memory ran out',
  ]);
});

t.test('a node that differs from the others of its job, and a job only for those who may know it', async t => {
  const journal = journalIn(t);
  const clock = { event: 'odd', reading: 'mhz', from: '03:05:20', nodes: 'n7', count: 1 };
  const values = { value: 1200, lowest: 2900, highest: 2920 };
  journal.line('03:05:40', { ...clock, ...values }, [{ id: '4711', user: 'anna', nodes: 'n7' }]);
  const hot = { ...clock, reading: 'temp', value: 95, lowest: 61, highest: 63 };
  journal.line('03:06:00', { ...hot, from: '03:05:50' });
  journal.line('03:09:25', { ...clock, event: 'odd_ended', to: '03:09:20' });
  journal.line('03:10:00', {
    event: 'odd_ended',
    nodes: 'n8',
    reading: '\u001b[1mnew',
    from: '03:01:00',
    to: '03:10:00',
  });
  const over = { event: 'odd_ended', nodes: 'n9', reading: 'gpus_up', from: '03:02:00', to: '03:11:00' };
  journal.line('03:11:00', { ...over, why: 'job_over' });
  journal.line('03:11:01', { ...over, nodes: 'n10', why: 'unjudged' });
  journal.line('03:11:02', { ...over, nodes: 'n11', why: 'constructor' });
  const others = 'from the other nodes of its job';
  t.same((await asked([journal], '--kind', 'odd')).lines, [
    `03:01:00 to 03:10:00  n8 no longer differs ${others}: \\u{1b}[1mnew, after 9m00s`,
    `03:02:00 to 03:11:00  n9 no longer differs ${others}: GPUs that work (the job runs no more), after 9m00s`,
    `03:02:00 to 03:11:00  n10 no longer differs ${others}: GPUs that work (not judged now), after 9m00s`,
    `03:02:00 to 03:11:00  n11 no longer differs ${others}: GPUs that work, after 9m00s`,
    `03:05:20 to 03:09:20  n7 differs ${others}: clock 1.2 GHz, others 2.9 to 2.92 GHz, for 4m00s; job 4711 (anna)`,
    `03:05:50  n7 differs ${others}: CPU temperature 95 °C, others 61 to 63 °C (goes on)`,
  ]);
  const [n7 = {}] = objects((await asked([journal], '--kind', 'odd', '-w', 'n7', '--json')).lines);
  t.match(n7, { ...values, reading: 'mhz', nodes: 'n7', to: isoOf('03:09:20'), jobs: [{ id: '4711', user: 'anna' }] });
  rmSync(journal.path('jobs'));
  t.notMatch((await asked([journal], '--kind', 'odd')).lines.join(), /job 4711|anna/);
});

t.test('some nodes of many: how many, how long, which jobs', async t => {
  const journal = journalIn(t);
  const silent = { ...SILENT, first: 'rack11n03', last_words: [] };
  const id = journal.line('03:05:08', silent, [{ id: '1', user: 'anna', nodes: 'rack11n[01-02]' }]);
  journal.line('03:07:14', { ...AGAIN, nodes: 'rack11n[01-10]', count: 10 });
  journal.line('03:17:14', {
    ...AGAIN,
    to: '03:17:12.900',
    to_last: '03:17:12.900',
    nodes: 'rack11n[11-40]',
    count: 30,
  });
  const texts: [string, string][] = [
    ['rack11n[01-02]', '03:04:58 to 03:07:12  rack11n[01-02] (2 of 48 nodes; first rack11n03) silent for 2m14s'],
    ['rack11n03', '03:04:58 to 03:07:12  rack11n03 (1 of 48 nodes; first rack11n03) silent for 2m14s'],
    [
      'rack11n[10-11]',
      '03:04:58 to 03:17:12  rack11n[10-11] (2 of 48 nodes; first rack11n03) silent for 2m14s to 12m14s',
    ],
    [
      'rack11n[40-42]',
      '03:04:58  rack11n[40-42] (3 of 48 nodes; first rack11n03) silent for 12m14s (goes on for rack11n[41-42])',
    ],
  ];
  for (const [nodes, text] of texts)
    t.same((await asked([journal], '-w', nodes, '--kind', 'silent')).lines, [
      `${text}; ${nodes === 'rack11n03' ? 'its last report' : 'their last reports'}: nothing that explains it${nodes === 'rack11n[01-02]' ? '; job 1 (anna)' : ''}`,
    ]);
  const [object] = objects((await asked([journal], '-w', 'rack11n[02,40-42]', '--json')).lines);
  t.match(object, {
    ...{ schema: 1, id, board: 'default', event: 'silent', nodes: 'rack11n[02,40-42]', count: 4, of: 48 },
    ...{ from: isoOf('03:04:58.001'), to: isoOf('03:07:12.100'), to_last: isoOf('03:17:12.900') },
    ...{ goes_on: 'rack11n[41-42]', jobs: [{ id: '1', user: 'anna', nodes: 'rack11n[01-02]' }], last_words: [] },
  });
});

t.test('what goes on is repeated at the head of a segment, and told once with its jobs', async t => {
  const journal = journalIn(t);
  const silent = { event: 'silent', from: '01:00:00', nodes: 'n[1-2]', count: 2, last_words: [] };
  const id = journal.line('01:00:10', silent, [{ id: '7', user: 'zoe', nodes: 'n1' }]);
  journal.line('01:10:00', { event: 'heard_again', from: '01:00:00', to: '01:09:59', nodes: 'n2', count: 1 });
  journal.next().line('01:00:10', { ...silent, nodes: 'n1', count: 1, id, repeated: true });
  journal.line('02:00:00', { event: 'restart', from: '02:00:00', nodes: 'n5', count: 1 });
  const whole =
    '01:00:00  n[1-2] (2 nodes) silent for 9m59s (goes on for n1); their last reports: nothing that explains it; job 7 (zoe)';
  t.same((await asked([journal], '--kind', 'silent')).lines, [whole]);
  // The second segment began before that moment, so that reading begins there.
  const repeated = '01:00:00  n1 silent (goes on); its last report: nothing that explains it; job 7 (zoe)';
  t.same((await asked([journal], '--since', `${DAY} 01:30`, '--kind', 'silent')).lines, [repeated]);
  // The journal was started anew: what it does not repeat was over at some time.
  journal.next().line('03:00:00', { event: 'begin', version: '0.3.0', count: 0, states: {} });
  journal.line('03:00:01', { event: 'restart', from: '03:00:00', nodes: 'n5', count: 1 });
  t.same((await asked([journal], '--kind', 'silent')).lines, [
    whole
      .replace(' (goes on for n1)', ', its end was not recorded for 1 node')
      .replace('01:00:00  ', '01:00:00 to 01:09:59  '),
  ]);
  t.match(objects((await asked([journal], '--kind', 'silent', '--json')).lines), [{ id, unrecorded: 1 }]);
});

t.test('jobs for which a line had no room are counted', async t => {
  const journal = journalIn(t);
  const silent = { event: 'silent', from: '01:00:00', nodes: 'n[1-2]', count: 2, last_words: [] };
  journal.line('01:00:10', silent, [{ id: '7', user: 'zoe', nodes: 'n1' }], 9999);
  for (const argv of [['--kind', 'silent'], ['--last-end'], ['-w', 'n1', '--kind', 'silent']]) {
    t.match((await asked([journal], ...argv)).lines, [/; jobs 7 \(zoe\) and 9999 more$/], argv.join(' '));
    t.match(objects((await asked([journal], ...argv, '--json')).lines), [{ jobs: [{ id: '7' }], jobs_left_out: 9999 }]);
  }
});

t.test('a segment of which nobody knows when it begins hides no other', async t => {
  const journal = journalIn(t);
  const restart = (from: string, nodes = 'n1') => journal.line(from, { event: 'restart', from, nodes, count: 1 });
  const told = async (since: string) => (await asked([journal], '--since', `${DAY} ${since}`)).lines;
  restart('01:00:00');
  restart('02:00:00');
  journal.next().raw('');
  t.same(await told('01:30:00'), ['02:00:00  n1 sender restarted'], 'an empty one, as a full disk leaves');
  journal.raw(Buffer.alloc(4096)).raw('\n');
  restart('03:00:00');
  t.equal((await told('01:30:00')).length, 2, 'one whose first line is spoilt');
  t.equal((await told('03:30:00')).length, 0);
  const long = Array.from({ length: 20_000 }, (_, i) => i * 2).join(',');
  journal.next();
  restart('04:00:00', `n[${long}]`);
  t.equal((await told('01:30:00')).length, 3, 'one whose first line is long');
  rmSync(join(journal.folder, `events-${DAY}-0000001.jsonl`));
  const { stderr } = await asked([journal], '--since', `${DAY} 00:30:00`);
  t.match(stderr, `begins only at ${DAY} 03:00:00\n`);
});

t.test('ends that were not recorded, or not in the journal', async t => {
  const journal = journalIn(t);
  const silent = (from: string) => ({ event: 'silent', from, nodes: 'n1', count: 1, last_words: [] });
  journal.line('00:59:00', { event: 'heard_again', from: '00:50:00', to: '00:58:59', nodes: 'n1', count: 1 });
  journal.line('01:00:10', silent('01:00:00'));
  journal.line('02:00:10', silent('02:00:00'));
  journal.line('02:31:00', {
    event: 'heard_again',
    from: '02:30:00',
    to: '02:30:59',
    nodes: 'n1',
    count: 1,
    late: true,
  });
  journal.line('03:00:10', silent('03:00:00'));
  journal.line('03:10:00', { event: 'removed', from: '03:10:00', nodes: 'n1', count: 1 });
  journal.line('04:00:10', { ...silent('04:00:00'), late: true, missed: 3 });
  // The clock of the master was set back by an hour; the duration is that of the line with the end.
  journal.line('03:30:00', {
    event: 'heard_again',
    from: '03:00:00',
    to: '03:05:00',
    nodes: 'n1',
    mono_ms: 1e6 + 16.2e6,
  });
  const words = '; its last report: nothing that explains it';
  t.same((await asked([journal], '--kind', 'silent,removed')).lines, [
    '00:50:00 to 00:58:59  n1 heard again after 8m59s',
    `01:00:00  n1 silent, its end was not recorded${words}`,
    `02:00:00  n1 silent, its end was not recorded${words}`,
    '02:30:00 to 02:30:59  n1 heard again after 59.0s; found afterwards',
    `03:00:00  n1 silent, its end was not recorded${words}`,
    '03:10:00  n1 no longer on the board',
    `04:00:00 to 04:05:00  n1 silent for 5m00s${words}; found afterwards; 3 silences not recorded`,
  ]);
});

t.test('every event has its words', async t => {
  const journal = journalIn(t);
  const about = { nodes: 'n1', count: 1 };
  const rows: [Parameters<MadeJournal['line']>[1], string][] = [
    [{ event: 'boot', ...about, goodbye: true }, 'n1 booted after a goodbye'],
    [
      { event: 'boot', ...about, last_words: ['oom'] },
      'n1 booted without goodbye; its last report: programs were killed, memory ran out',
    ],
    [{ event: 'boot', ...about }, 'n1 booted'],
    [{ event: 'goodbye', ...about }, 'n1 said goodbye'],
    [{ event: 'reset', ...about }, 'n1 reset: accepted only because nothing else was heard'],
    [{ event: 'refusal', ...about, reason: 'rival' }, 'n1 rejected: rival (another run or boot of that name is live)'],
    [{ event: 'refusal', reason: 'size' }, 'a datagram was rejected: size'],
    [
      { event: 'clone', ...about, addresses: ['10.0.0.1', '10.0.0.2'] },
      'n1 two machines report as one, from 10.0.0.1 and 10.0.0.2',
    ],
    [{ event: 'new', ...about }, 'n1 new on the board'],
    [
      { event: 'dark', link: 'eth0', count: 3 },
      'eth0 is dark: all 3 nodes behind it fell silent together; a switch or this master is more likely at fault (goes on)',
    ],
    [{ event: 'overflow', count: 3 }, 'a socket buffer was full: 3 datagrams were dropped; see net.core.rmem_max'],
    [{ event: 'takeover', instance: 2 }, 'a receiver started, the 2nd of this board'],
    [{ event: 'forget', count: 1 }, '1 node was removed from the board'],
    [{ event: 'followed', master: 'm1' }, 'the mirror follows m1'],
    [{ event: 'lost', count: 2, why: 'disk' }, '2 lines were lost: the journal could not be written'],
    [{ event: 'lost', count: 2, why: 'constructor' }, '2 lines were lost: constructor'],
    [
      { event: 'lost', count: 1, why: 'ring' },
      '1 event was lost: there were more between two looks than the board keeps, or another board replaced it',
    ],
    [
      { event: 'stalled', closed: true },
      'the receiver was stopped: nothing is known about nodes, its end was not recorded',
    ],
    [{ event: 'stalled', master: 'm1' }, 'nothing new comes from the master: nothing is known about nodes (goes on)'],
    [{ event: 'no_board', why: 'gone' }, 'no board: gone'],
    [{ event: 'board', count: 2, states: { live: 2 } }, 'another board has replaced this one: 2 nodes: 2 live'],
    [{ event: 'clock_step', by_ms: -3200 }, 'the clock of this master was set 3.2 s behind'],
    [{ event: 'order', ...about, act: 'drain', outcome: 'done', why: 'silent' }, 'n1 the bridge: drain, done: silent'],
    [{ event: 'problem', ...about, problem: 'on_fire' }, 'n1 problem: on_fire (goes on)'],
    [{ event: 'later', ...about, nodes: 'n1' }, 'n1 an event that this version does not know: later'],
    [{ event: 'x\x1b[31m' }, 'an event that this version does not know: x\\u{1b}[31m'],
    [{ event: 'end' }, 'the journal ends'],
  ];
  for (const [happening] of rows) journal.line('05:00:00', { from: '05:00:00', ...happening });
  const { lines, stderr } = await asked([journal]);
  t.same(
    lines,
    rows.map(([, text]) => `05:00:00  ${text}`),
  );
  t.equal(stderr, '');
});

t.test('several journals merge by time and board, and an id is shown once', async t => {
  const [west, east] = [rack(t, 'west'), journalIn(t, 'east')];
  east.line('03:05:08', { ...SILENT, nodes: 'e1', count: 1 });
  const copy = new MadeJournal(`${west.folder}.copy`);
  cpSync(west.folder, copy.folder, { recursive: true });
  const { lines, code } = await asked([west, east, copy], '--kind', 'silent,oom', '--since', `${DAY} 03:00`);
  t.equal(code, 0);
  t.same(
    lines.map(line => line.replace(/(silent|problem).*/, '$1')),
    [
      '02:00:00  west: n1 silent',
      '03:04:58  east: e1 silent',
      '03:04:58 to 03:07:12  west: rack11n[01-48] (48 nodes; first rack11n03) silent',
      '03:05:20 to 03:09:20  west: n3 problem',
      '03:29:50  west: n3 silent',
    ],
  );
  // One that is missing is told, and the others are shown.
  const missing = await asked([east, new MadeJournal(join(folder(t), 'none'))], '--kind', 'silent');
  t.match(missing, {
    code: 1,
    lines: [/e1 silent/],
    stderr: /^beoboard events: .*none: there is no journal; start beoboard journal, or give its --journal-dir\n$/,
  });
});

t.test('how each node ended the last time', async t => {
  const journal = journalIn(t);
  const silent = (from: string, nodes: string, count: number) => ({
    event: 'silent',
    from,
    nodes,
    count,
    last_words: ['memory_low'],
  });
  const boot = (from: string, nodes: string, more: object) => ({ event: 'boot', from, nodes, count: 1, ...more });
  journal.line('01:00:00', boot('01:00:00', 'n1', { goodbye: true }));
  journal.line('01:00:01', boot('01:00:00', 'n9', { goodbye: true }));
  journal.line('02:00:10', silent('02:00:00', 'n[1-4]', 4), [{ id: '7', user: 'zoe', nodes: 'n[1-2]' }]);
  journal.line('02:05:01', { event: 'heard_again', from: '02:00:00', to: '02:05:00', nodes: 'n[1-2]', count: 2 });
  journal.line('02:05:02', boot('02:05:00', 'n1', { last_words: ['memory_low'], words_from: '02:00:00' }));
  journal.line('03:00:01', boot('03:00:00', 'n3', { last_words: ['late'], words_from: '02:59:59' }));
  journal.line('03:30:10', silent('03:30:00', 'n5', 1));
  journal.line('03:35:01', boot('03:35:00', 'n5', { last_words: ['late'], words_from: '03:30:10' }));
  // The clock of the master was set back by an hour, while two were silent, of which one was booted.
  journal.line('04:00:10', silent('04:00:00', 'n[6-7]', 2));
  const set = { count: 1, mono_ms: 1e6 + 14_700_000 };
  journal.line('03:05:00', { event: 'heard_again', from: '03:00:00', to: '03:04:58', nodes: 'n6', ...set });
  const words = { last_words: ['memory_low'], words_from: '03:00:00' };
  journal.line('03:05:00', { event: 'boot', from: '03:04:58', nodes: 'n7', ...words, ...set });
  const { lines } = await asked([journal], '--last-end');
  const low = '; its last report: hardly any memory was available';
  t.same(lines, [
    '01:00:00  n9 booted after a goodbye',
    `02:00:00  n1 fell silent without goodbye, booted 02:05:00${low}; job 7 (zoe)`,
    `02:00:00  n2 fell silent without goodbye, heard again after 5m00s${low}; job 7 (zoe)`,
    `02:00:00  n4 fell silent without goodbye, not heard since${low}`,
    '03:00:00  n3 booted without goodbye, last heard 02:59:59; its last report: its sender was late',
    '03:35:00  n5 booted without goodbye, last heard 03:30:10; its last report: its sender was late',
    `04:00:00  n6 fell silent without goodbye, heard again after 4m58s${low}`,
    `04:00:00  n7 fell silent without goodbye, booted 03:04:58${low}`,
  ]);
  t.same((await asked([journal], '--last-end', '-w', 'n4', '--since', `${DAY} 04:00`)).lines, [lines[3]]);
  t.same((await asked([journal], '--last-end', '-w', 'n2', '--since', `${DAY} 04:00`)).lines, []);
  t.match(objects((await asked([journal], '--last-end', '--json')).lines), [
    { schema: 1, board: 'default', event: 'boot', nodes: 'n9', count: 1, goodbye: true },
    { event: 'silent', goodbye: false, to: isoOf('02:05:00'), boot: isoOf('02:05:00'), jobs: [{ id: '7' }] },
    { event: 'silent', to: isoOf('02:05:00'), last_words: ['memory_low'], words_from: isoOf('02:00:00') },
    { event: 'silent', nodes: 'n4' },
    { event: 'boot', goodbye: false, words_from: isoOf('02:59:59'), last_words: ['late'] },
    { event: 'boot', nodes: 'n5' },
    { event: 'silent', to: isoOf('04:04:58') },
    { event: 'silent', boot: isoOf('03:04:58') },
  ]);
});

t.test('a silence after which nodes stood still says so', async t => {
  const journal = journalIn(t);
  const again = { event: 'heard_again', from: '02:00:00', to: '02:00:14' };
  journal.line('02:00:11', {
    event: 'silent',
    from: '02:00:00',
    nodes: 'n[1-5]',
    count: 5,
    first: 'n5',
    last_words: [],
  });
  journal.line('02:00:15', { ...again, nodes: 'n[1-2]', count: 2, stood_still_ms: 13_600 });
  journal.line('02:00:16', { ...again, nodes: 'n3', count: 1, stood_still_ms: 4_294_900 });
  journal.line('02:00:17', { ...again, nodes: 'n4', count: 1 });
  journal.line('02:10:11', { event: 'silent', from: '02:10:00', nodes: 'n6', count: 1, last_words: ['late'] });
  journal.line('02:10:17', { ...again, nodes: 'n6', count: 1, from: '02:10:00', to: '02:10:14', stood_still_ms: 9900 });
  const some = 'silent for 14.0s (goes on for n5); 3 of them stood still for 13.6s to over 71 min';
  const one = 'the node or its sender stood still for 9.9s';
  const span = ['--since', `${DAY} 02:00`];
  t.same((await asked([journal], ...span)).lines, [
    `02:00:00  n[1-5] (5 nodes; first n5) ${some}`,
    `02:10:00 to 02:10:14  n6 silent for 14.0s; ${one}`,
  ]);
  t.match((await asked([journal], ...span, '-w', 'n[1-2]')).lines, [
    /the nodes or their senders stood still for 13\.6s$/,
  ]);
  t.match(objects((await asked([journal], ...span, '--json')).lines), [
    { event: 'silent', stood_still_ms: 4_294_900 },
    { event: 'silent', stood_still_ms: 9900 },
  ]);
  const kind = ['--kind', 'heard_again'];
  t.match((await asked([journal], ...span, ...kind)).lines.at(-1), one);
  t.equal(objects((await asked([journal], ...span, ...kind, '--json')).lines).at(-1)?.stood_still_ms, 9900);
  const why = '; its last report: nothing that explains it';
  t.same((await asked([journal], '--last-end')).lines, [
    '02:00:00  n[1-2] (2 nodes) fell silent without goodbye, heard again after 14.0s; the nodes or their senders stood still for 13.6s',
    '02:00:00  n3 fell silent without goodbye, heard again after 14.0s; the node or its sender stood still for over 71 min',
    `02:00:00  n4 fell silent without goodbye, heard again after 14.0s${why}`,
    `02:00:00  n5 fell silent without goodbye, not heard since${why}`,
    `02:10:00  n6 fell silent without goodbye, heard again after 14.0s; ${one}`,
  ]);
  const ends = objects((await asked([journal], '--last-end', '--json')).lines);
  t.same(
    ends.map(end => end.stood_still_ms),
    [13_600, 4_294_900, undefined, undefined, 9900],
  );
});

t.test('an end that was held for a minute is of the silence before, or of one after', async t => {
  const journal = journalIn(t);
  const silent = (from: string, nodes: string) => ({ event: 'silent', from, nodes, count: 1, last_words: [] });
  const heard = (from: string, to: string, nodes: string) => ({ event: 'heard_again', from, to, nodes, count: 1 });
  journal.line('05:01:10', silent('05:00:59', 'n1'));
  journal.line('05:01:12', heard('05:00:40', '05:00:53', 'n1'));
  journal.line('05:02:00', silent('05:01:40', 'n2'));
  journal.line('05:02:20', heard('05:02:00', '05:02:12', 'n2'));
  // Clocks are slewed.
  journal.line('05:03:00', silent('05:03:00', 'n3'));
  journal.line('05:03:20', heard('05:03:00.400', '05:03:12', 'n3'));
  const { lines } = await asked([journal], '--last-end');
  t.match(lines, [
    /^05:00:59 {2}n1 fell silent .* not heard since/,
    /^05:02:00 {2}n2 fell silent .* heard again after 12\.0s/,
    /^05:03:00 {2}n3 fell silent .* heard again after 12\.0s/,
  ]);
  const all = (await asked([journal], '--since', `${DAY} 05:00`)).lines;
  t.match(all[1], /^05:00:59 {2}n1 silent \(goes on\)/);
});

t.test('what is no line, half a line, or too much of one', async t => {
  const journal = rack(t);
  const before = (await asked([journal])).lines;
  journal.raw('{"id":"half a line of a writer that was killed\n');
  journal.raw(Buffer.from([0xff, 0xfe, 0, 10, 10]));
  journal.raw(`{"id":"${'x'.repeat(LINE_BYTES)}"}\n`);
  journal.line('04:00:00', { event: 'restart', from: '04:00:00', nodes: 'n[1-', count: 1 });
  journal.line('04:00:00', { event: 'restart', from: '04:00:00', nodes: 'n1', count: 1 });
  journal.raw('{"id":"half a line"');
  const { lines, stderr, code } = await asked([journal]);
  t.same(lines, [...before, '04:00:00  n1 sender restarted']);
  t.equal(code, 0);
  t.equal(stderr, `beoboard events: ${journal.folder}: 5 lines are left out: no line of a journal\n`);
});

t.test('links, FIFOs and files of other users are left out', async t => {
  const journal = rack(t);
  const whole = (await asked([journal])).lines;
  const first = journal.path();
  symlinkSync(first, journal.next().path());
  execFileSync('mkfifo', [journal.next().path()]);
  t.same(await asked([journal]), {
    code: 0,
    lines: whole,
    stderr:
      `beoboard events: ${journal.folder}/events-${DAY}-0000002.jsonl is left out: it is a link\n` +
      `beoboard events: ${journal.folder}/events-${DAY}-0000003.jsonl is left out: it is no plain file\n`,
  });
  rmSync(journal.path());
  writeFileSync(journal.path(), Buffer.alloc((16 << 20) + 1, 10));
  t.match((await asked([journal], '--kind', 'oom')).stderr, /is left out: it is too large: only its beginning is read/);
  if (!ROOT_USER) return;
  chownSync(first, NOBODY, NOBODY);
  rmSync(journal.path());
  t.match(await asked([journal]), {
    code: 4,
    lines: [],
    stderr:
      /0000001.jsonl is not read: it belongs to nobody, and only files of root, beoboard-journal, yourself and --owner/,
  });
  t.same((await asked([journal], '--since', DAY, '--owner', 'nobody')).lines, whole);
});

t.test('without a right: what that is, and what to do', { skip: noOrdinaryUser() }, async t => {
  const journal = rack(t);
  chmodSync(folder(t), 0o755);
  chmodSync(join(journal.folder, '..'), 0o755);
  const ordinary = (...argv: string[]) => {
    const [program, ...args] = commandOf(['events', '--journal-dir', journal.folder, ...argv]);
    const user = ROOT_USER ? { uid: NOBODY, gid: NOBODY } : {};
    return ended(spawn(program, args, { ...user, env: ENV, stdio: ['ignore', 'pipe', 'pipe'] }));
  };
  chmodSync(journal.path('jobs'), 0o000);
  t.match(await ordinary('--kind', 'silent', '-w', 'rack11n01'), {
    code: 0,
    stdout: /its last report: hardly any memory was available\n$/m,
    stderr: 'beoboard events: jobs are left out: you may not read them (group beoboard-jobs)\n',
  });
  chmodSync(journal.folder, 0o700);
  if (!ROOT_USER) chmodSync(journal.folder, 0o000);
  const denied = await ordinary('--kind', 'silent');
  chmodSync(journal.folder, 0o755);
  t.same(denied, {
    code: 4,
    stdout: '',
    stderr: `beoboard events: ${journal.folder}: permission denied; run this as a user who may read it\n`,
  });
});

t.test('a segment that is removed while it is read, and a folder without any', async t => {
  const journal = rack(t);
  const reading = new Journal(new JournalFolder(journal.folder, believedUsers(undefined)));
  const span = { sinceMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
  const listing = new Listing(reading, span);
  renameSync(journal.path(), join(journal.folder, 'gone'));
  rmSync(join(journal.folder, 'gone'));
  t.equal([...merged([listing])].length, 8);
  t.same(news([reading], {}), []);
  // The folder comes back, with another journal.
  rmSync(journal.folder, { recursive: true });
  t.same(news([reading], {}), []);
  new MadeJournal(journal.folder).line('07:00:00', { event: 'restart', from: '07:00:00', nodes: 'n1', count: 1 });
  t.match(news([reading], {}), [{ line: { event: 'restart', nodes: 'n1' } }]);
  rmSync(journal.path());
  reading.close();
  t.match(await asked([journal]), { code: 4, lines: [], stderr: /there is no journal; start beoboard journal/ });
  t.match(await verb(['events', '--journal-dir', '/dev/null'], ENV), { code: 4, stderr: /there is no journal/ });
});

t.test('what is written next is followed over segments, until SIGTERM', async t => {
  const journal = rack(t);
  const following = start(t, ['events', '-f', '--json', '--kind', 'silent', '--journal-dir', journal.folder]);
  const told = () => objects(following.output().stdout.split('\n').slice(0, -1));
  await until('it says what goes on', () => told().length === 2);
  t.match(told(), [{ nodes: 'n1', goes_on: 'n1' }, { nodes: 'n3' }]);
  const n7 = { event: 'silent', from: '06:00:00', nodes: 'n7', count: 1, last_words: [] };
  const half = `{"id":"0000000000000abc-1-99","at":"${isoOf('06:00:09')}","mono_ms":1,"board":"b","ring":1,`;
  journal.raw(half).raw(`"event":"silent","nodes":"half","from":"${isoOf('06:00:00')}"}\n`);
  const id = journal.line('06:00:10', n7, [{ id: '7', user: 'zoe', nodes: 'n7' }]);
  await until('a line that came in halves, and one with jobs', () => told().length === 4);
  t.match(told().slice(2), [{ nodes: 'half' }, { nodes: 'n7', jobs: [{ id: '7', user: 'zoe' }] }]);
  journal.line('06:30:00', { event: 'restart', from: '06:30:00', nodes: 'n7', count: 1 });
  journal.next().line('06:00:10', { ...n7, id, repeated: true });
  journal.line('07:00:01', { event: 'heard_again', from: '06:00:00', to: '07:00:00', nodes: 'n7', count: 1 });
  await until('its end, in the next segment', () => told().length === 5);
  t.match(told()[4], { event: 'heard_again', nodes: 'n7', to: isoOf('07:00:00') });
  following.child.kill('SIGTERM');
  t.equal(await following.exit, 0);
  t.equal(following.output().stderr, '');
});

t.test('moments as people write them', async t => {
  process.env.TZ = 'Europe/Berlin';
  const now = Date.parse('2026-11-27T09:30:00+01:00');
  const at = (text: string) => new Date(parseMoment(text, now).ms).toISOString();
  const moments: [string, string][] = [
    ['03:00', '2026-11-27T02:00:00.000Z'],
    ['3:00:07', '2026-11-27T02:00:07.000Z'],
    ['09:30', '2026-11-27T08:30:00.000Z'],
    ['09:31', '2026-11-26T08:31:00.000Z'],
    ['2026-07-27', '2026-07-26T22:00:00.000Z'],
    ['2026-11-27 03:00', '2026-11-27T02:00:00.000Z'],
    ['2026-11-27T03:00:05.25', '2026-11-27T02:00:05.250Z'],
    ['2026-11-27T03:00:05Z', '2026-11-27T03:00:05.000Z'],
    ['2026-11-27T03:00:05.001-0230', '2026-11-27T05:30:05.001Z'],
    ['-1h', '2026-11-27T07:30:00.000Z'],
    ['1.5h ago', '2026-11-27T07:00:00.000Z'],
    ['2d ago', '2026-11-25T08:30:00.000Z'],
    ['1 hour ago', '2026-11-27T07:30:00.000Z'],
    ['1 h ago', '2026-11-27T07:30:00.000Z'],
    ['2 hrs ago', '2026-11-27T06:30:00.000Z'],
    ['90 minutes ago', '2026-11-27T07:00:00.000Z'],
    ['now', '2026-11-27T08:30:00.000Z'],
    ['today', '2026-11-26T23:00:00.000Z'],
    ['yesterday', '2026-11-25T23:00:00.000Z'],
    ['yesterday 14:00', '2026-11-26T13:00:00.000Z'],
    ['@1795915200', '2026-11-29T01:20:00.000Z'],
    ['@1795915200.25', '2026-11-29T01:20:00.250Z'],
    ['2026-10-25 02:30:00 +01:00', '2026-10-25T01:30:00.000Z'],
  ];
  for (const [text, iso] of moments) t.equal(at(text), iso, text);
  for (const wrong of [
    ...['', 'x', '24:00', '03:60', '2026-02-30', '2026-13-01', '2026-11-27 25:00', '3', '1h', '1 ago', '-x', '@x'],
    ...['@1795915200123456', '1 fortnight ago', '5 ms ago', 'yesterdays', '99999999d ago', '+99999999d'],
  ])
    t.throws(() => parseMoment(wrong, now), { name: 'InputError', message: /^'.*; write/ }, wrong);
  const twice = parseMoment('2026-10-25 02:30', now);
  t.same([twice.ms, twice.lastMs].map(wallTime), ['2026-10-25 02:30:00 +02:00', '2026-10-25 02:30:00 +01:00']);
  t.equal(twice.lastMs - twice.ms, 3_600_000, 'the hour that happens twice');
  for (const once of ['2026-10-25 01:59', '2026-10-25 03:00', '2026-03-29 03:30', '2026-11-27 03:00:01'])
    t.equal(wallTime(parseMoment(once, now).lastMs), once.padEnd(19, ':00'), once);
  // The clocks were set back between the two.
  t.equal(dayLater(Date.parse('2026-10-24T03:30:00+02:00'), 1), Date.parse('2026-10-25T03:30:00+01:00'));
});
