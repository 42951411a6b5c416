// The names and lines of the journal's files.

import t from 'tap';
import {
  type Line,
  lineId,
  parseJobsLine,
  parseLine,
  segmentName,
  segmentsOf,
  writeLine,
} from '../../src/journalfile/format.js';

const FRAME = { id: lineId(0xabcn, 1_764_212_698_000_000_001n, 7), mono_ms: 12.5, board: 'default', ring: 4 };
const LINE: Line = {
  ...FRAME,
  at: '2026-11-27T03:05:08.412Z',
  event: 'silent',
  from: '2026-11-27T03:04:58.001Z',
  nodes: 'rack11n[01-48]',
  count: 48,
  first: 'rack11n03',
  last_words: ['memory_low'],
};

t.test('segments are in the order of their numbers, and other files are none', async t => {
  const [last, first] = [segmentName('events', '2026-11-26', 10), segmentName('events', '2026-11-27', 9)];
  t.equal(first, 'events-2026-11-27-0000009.jsonl');
  const others = ['lock', '.events-2026-11-27-0000009.jsonl', `${first}.gz`, 'events-2026-11-27-9.jsonl', `x${first}`];
  const jobs = segmentName('jobs', '2026-11-27', 9);
  t.same(
    segmentsOf([last, jobs, ...others, first], 'events').map(({ name }) => name),
    [first, last],
  );
  t.same(segmentsOf([last, jobs], 'jobs'), [{ kind: 'jobs', day: '2026-11-27', number: 9, name: jobs }]);
});

t.test('what is written is read, also of a later version; what is none is refused', async t => {
  const text = writeLine(LINE);
  t.match(text, /^\{"id":"0000000000000abc-1764212698000000001-7",[^\n]*\}\n$/);
  t.same(parseLine(text), LINE);
  t.same(parseLine(writeLine({ ...LINE, event: 'later', more_to_come: [1] } as Line))?.event, 'later');
  for (const wrong of [
    { event: 'dark', link: 'eth0', count: undefined },
    { event: 'odd', reading: 'mhz', value: 1, lowest: 2 },
    { event: 'odd', reading: 'mhz', value: 1, lowest: 2, highest: '3' },
    { from: '3 o clock' },
    { at: 'now' },
    { nodes: 7 },
    { id: 'x' },
    { last_words: 'oom' },
  ])
    t.equal(parseLine(writeLine({ ...LINE, ...wrong } as unknown as Line)), undefined, JSON.stringify(wrong));
  const { ring: _, ...incomplete } = LINE;
  for (const none of [text.slice(0, 80), '', '7', 'null', '[]', JSON.stringify(incomplete)])
    t.equal(parseLine(none), undefined, none);
});

t.test('jobs', async t => {
  const line = { id: FRAME.id, jobs: [{ id: '4711', user: 'anna', nodes: 'rack11n03' }] };
  t.same(parseJobsLine(writeLine(line)), line);
  for (const jobs of [{}, [7], [{ user: 'anna' }], [{ id: '4711', user: 7 }]])
    t.equal(parseJobsLine(JSON.stringify({ ...line, jobs })), undefined, JSON.stringify(jobs));
});
