// What a running journal says of itself: written, read, believed or not, and told.

import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type JournalState,
  journalTrouble,
  readJournalStates,
  removeState,
  writeState,
} from '../../src/journalfile/state.js';
import { wallTime } from '../../src/shm/sentences.js';
import { boardPath, folder } from '../kit/places.js';

const NOW = 1_000_000;
const WALL = 1_790_000_000_000;
const look = { realNs: BigInt(WALL) * 1_000_000n, evidence: { nowNs: BigInt(NOW) * 1_000_000n } };

const state = (board: string, over: Partial<JournalState> = {}): JournalState => ({
  schema: 1,
  board,
  journal_dir: '/var/log/beoboard/default',
  pid: 4711,
  time_ms: WALL - 4000,
  mono_ms: NOW - 4000,
  next_ms: NOW + 6000,
  ...over,
});
const at = (ago: number) => wallTime(WALL - ago).slice(-8);

t.test('a state is written whole, read by its board, and removed at the end', async t => {
  const [run, board] = [folder(t), boardPath(t)];
  t.same(readJournalStates(join(run, 'none'), board), [], 'no folder, no remark');
  writeFileSync(board, '');
  writeState(run, 'default', state(board, { mono_ms: NOW - 4000.25 }));
  writeState(run, 'other', state('/run/another/board'));
  writeState(run, 'near', state('board'));
  t.match(readFileSync(join(run, 'near.json'), 'utf8'), `"board":"${join(process.cwd(), 'board')}"`);
  removeState(run, 'near');
  t.equal(statSync(join(run, 'default.json')).mode & 0o777, 0o644);
  t.same(readdirSync(run), ['default.json', 'other.json']);
  t.same(readJournalStates(run, board), [{ name: 'default', state: state(board) }]);
  const link = `${board}.link`;
  symlinkSync(board, link);
  t.same(readJournalStates(run, link).length, 1, 'a board by another path');
  t.same(readJournalStates(run, '/run/another/./board').length, 1, 'a board that is not there');
  removeState(run, 'default');
  removeState(run, 'default');
  t.same(readJournalStates(run, board), []);
});

t.test('what nobody believes, or is no state, is passed over', async t => {
  const [run, board] = [folder(t), boardPath(t)];
  const text = (over: object) => JSON.stringify({ ...state(board), ...over });
  const put = (name: string, contents: string) => writeFileSync(join(run, name), contents);
  put('broken.json', text({}).slice(0, -9));
  put('null.json', 'null');
  put('later.json', text({ schema: 2 }));
  put('words.json', text({ mono_ms: '5' }));
  put('below.json', text({ next_ms: -1 }));
  put('since.json', text({ error: 'without since when' }));
  put('large.json', text({ error: 'x'.repeat(70_000), error_since_ms: WALL }));
  put('name with blank.json', text({}));
  put('.default.json.new', text({}));
  mkdirSync(join(run, 'folder.json'));
  writeFileSync(join(folder(t), 'elsewhere'), text({}));
  symlinkSync(board, join(run, 'link.json'));
  t.same(readJournalStates(run, board), []);
  put('later.json', text({ more: { of: ['a later version'] } }));
  t.same(
    readJournalStates(run, board).map(({ name }) => name),
    ['later'],
  );
  // What only some readers need, they do without.
  put('later.json', text({ times_hour: { silent: 'often' }, journal_dir: 7 }));
  const [found] = readJournalStates(run, board);
  t.match(found, { name: 'later', state: { times_hour: undefined, journal_dir: undefined } });
  if (process.geteuid?.() !== 0) return;
  chownSync(join(run, 'later.json'), 4711, 4711);
  t.same(readJournalStates(run, board), [], "another user's");
});

t.test('what is wrong, in a sentence', async t => {
  const trouble = (over: Partial<JournalState>) => journalTrouble({ name: 'a', state: state('/b', over) }, look)?.text;
  t.equal(trouble({}), undefined);
  t.equal(trouble({ next_ms: NOW - 15_000 }), undefined, 'late, but not too late');
  const stopped = (ago: number, age: string) =>
    `the journal of this board has stopped: it last ran at ${at(ago)} (${age}); see systemctl status beoboard-journal@a`;
  t.equal(trouble({ next_ms: NOW - 15_001, time_ms: WALL - 25_000 }), stopped(25_000, '25.0s'));
  t.equal(trouble({ mono_ms: NOW + 15_000, time_ms: WALL + 15_000 }), undefined, 'written after the look');
  t.equal(trouble({ mono_ms: NOW + 15_001, time_ms: WALL - 60_000 }), stopped(60_000, '1m00s'), 'before this boot');
  t.equal(
    trouble({ error: 'cannot write /var/log:\nENOSPC', error_since_ms: WALL - 3_600_000, dropped: 12 }),
    `the journal of this board has not been written since ${at(3_600_000)} (1h00m): cannot write /var/log:\\u{a}ENOSPC; lines lost so far: 12`,
  );
  const later = trouble({ error: 'x'.repeat(500), error_since_ms: WALL + 5000 });
  t.match(later, /since .* \(0ms\): x{199}…; lines lost so far: 0$/, 'a clock that was set back');
});
