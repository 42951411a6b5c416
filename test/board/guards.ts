// The guards that keep readers from what is torn, vanished or old: each is taken away in a copy of the sources, and what
// must find that is named beside it. A new guard gets a row. No test of its own.

import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';
import { DYNAMIC } from '../kit/compiling.js';
import { boardPath, folder } from '../kit/places.js';
import { build, compare, type Edit, edited, loadsOf, type Program, type Run } from './tearing.js';

/** The program that finds a mutant; for litmus, with the scenario, and for steps with the scene if it is not the first. */
type Finder = Exclude<Program, 'litmus' | 'classics'> | `litmus ${string}` | `steps ${string}`;
const programOf = (finder: Finder) => finder.split(' ')[0] as Exclude<Program, 'classics'>;

/** Lines of C that a mutant moves, or that several rows use. */
const NAME = '  memcpy(r->name, name, strlen(name));\n';
const ENTRY = '  bb_store_release(index_entry(b, i), (hash >> 32) << 32 | (record + 1));\n';
const COUNT = '  bb_store_release(&b->header->count, record + 1);\n';
const PUBLISH = '  if (!bb_file_publish(&w->place, &new, why, size)) return false;\n';
const RETIRE = '  bb_file_retire(&w->board);\n';
const REPORT = '  bb_store_report(b, record, newest, report, arrival);\n';
const DIGEST = '  store_digest(b, record, report);\n';
const ORDER = '  bb_store_order(b, record, &order, NULL, arrival);\n';
const COLUMN = `  bb_store_release(column_word(b, record), BB_COLUMN((uint64_t)arrival->stamp_ns / NS_PER_MS, arrival->link,
                                                     report->interval_ms, order.goodbye));
`;
const SINCE = '  said->since = bb_load(&shared->listening_since_ns);\n';
const HEARTBEAT = '  said->heartbeat = bb_load_acquire(&shared->heartbeat_ns);\n';
const LINK_SINCE = '  by.listening_since_ns = bb_load(&shared->listening_since_ns);\n';
const LINK_HEARTBEAT = '  by.heartbeat_ns = bb_load_acquire(&shared->heartbeat_ns);\n';
const BEAT = '  bb_store_release(&h->heartbeat_ns, (uint64_t)heard_ns);\n';
const DRAINS = '  bb_add(&h->drains, 1);\n';
const LINK_COUNT = '  bb_store_release(&b->header->links_used, link);\n';
const LINK_NAME = '  snprintf(entry->name, sizeof entry->name, "%s", name);\n';
const EVENT_BEGIN = '  bb_write_begin(&e->head, &e->tail, 2 * number);\n';
const EVENT_NUMBER = '  bb_store_release(&b->header->event_last, number);\n';
const SENDER_BEGIN = '  bb_write_begin(&s->head, &s->tail, sequence);\n';
const BEGUN = '  if (is_new) bb_store(&e->begun, begun_again(e->begun, stamp_ms));\n';
const SEEN = '  store_new(&e->seen, BB_SIGHTING(stamp_ms, 0));\n';
const BIT = '  if (is_new) bb_store_release(&m->recent, m->recent | bit);\n';
const WORDS = '  store_last_words(b, record, newest);\n';
const SILENCE = '  bb_store_release(&m->silence, begun_again(m->silence, begin_ms));\n';
const DIGESTS = 'steps a report whose digest takes the place of another';
const COPIES = '  for (uint32_t i = 0; i < count; i++) {\n    numbers[i] = BB_NO_SUBJECT;';

/** Makes an acquire load or a release store relaxed. */
const relaxed = (file: string, what: string): Edit[] => [[file, what, what.replace(/_(acquire|release)\(/, '(')]];
const without = (file: string, what: string): Edit[] => [[file, what, '']];

export const guards: [what: string, edits: Edit[], found: [Finder, ...Finder[]]][] = [
  // What the sequence lock stores and compares.
  ['the odd mark', without('board/seqlock.h', '  bb_store(head, sequence - 1);\n'), ['steps']],
  [
    'the tail before the words',
    [
      ['board/seqlock.h', '  bb_store(tail, sequence);\n', ''],
      [
        'board/records.c',
        '  bb_write_end(&slot->head, ',
        '  bb_store(&slot->tail, sequence);\n  bb_write_end(&slot->head, ',
      ],
    ],
    ['weave', 'torn'],
  ],
  [
    'the head after the words',
    [
      [
        'board/records.c',
        '  bb_store(&slot->stamp_ns, ',
        '  bb_write_end(&slot->head, sequence);\n  bb_store(&slot->stamp_ns, ',
      ],
    ],
    ['weave', 'torn', 'steps'],
  ],
  [
    'the look at the tail',
    [['board/seqlock.h', 'bb_load_acquire(tail) == sequence', 'tail != NULL']],
    ['weave', 'torn'],
  ],
  // The memory order of the sequence lock.
  [
    'fence (A)',
    without('board/seqlock.h', '  __atomic_thread_fence(__ATOMIC_RELEASE);\n'),
    ['litmus slot', 'litmus block', 'litmus newest_of_one'],
  ],
  [
    'fence (B)',
    without('board/seqlock.h', '    __atomic_thread_fence(__ATOMIC_ACQUIRE);\n'),
    ['litmus slot', 'litmus block', 'litmus order'],
  ],
  ['release (C)', relaxed('board/seqlock.h', 'bb_store_release(head, sequence)'), ['litmus slot', 'litmus block']],
  ['acquire of the head', relaxed('board/seqlock.h', 'bb_load_acquire(head)'), ['litmus slot', 'litmus block']],
  ['acquire of the tail', relaxed('board/seqlock.h', 'bb_load_acquire(tail)'), ['litmus newest_of_one']],
  // The two slots of a record.
  [
    'the older slot is the one that is written',
    [['board/records.c', 'newest == 0 ? 1 : 0', 'newest == 1 ? 1 : 0']],
    ['torn', 'weave'],
  ],
  [
    'the copy of the second slot',
    [['board/reader.c', 'attempt > 0 && (had[i] || empty)', 'had[i] || empty']],
    ['weave', 'torn'],
  ],
  [
    'the copy after the other was seen to be written',
    [['board/reader.c', 'attempt < BB_SLOT_ATTEMPTS', 'attempt < 2']],
    ['weave'],
  ],
  [
    'the slot that is not being written',
    [['board/newest.h', '(one & 1) != 0 ? 1 : (other & 1) != 0 ? 0 : ', '']],
    ['weave', 'torn'],
  ],
  ['the second look at which is newer', [['board/newest.h', 'if (other > sequence) *newest = 1;', '']], ['weave']],
  [
    'acquire of the first head, library',
    relaxed('board/newest.h', 'one = bb_load_acquire('),
    ['litmus library_one', 'litmus library_alone_one'],
  ],
  [
    'acquire of the second head, library',
    relaxed('board/newest.h', 'other = bb_load_acquire('),
    ['litmus library_one', 'litmus library_alone_one'],
  ],
  // The order of the stores of one delivery.
  [
    'the report before the order block',
    [['board/writer.c', REPORT + DIGEST + ORDER, DIGEST + ORDER + REPORT]],
    ['weave', 'steps'],
  ],
  ['the digest before the order block', [['board/writer.c', DIGEST + ORDER, ORDER + DIGEST]], [DIGESTS]],
  [
    'the digests of a record whose order does not agree',
    without(
      'board/repair.c',
      '    for (size_t i = 0; i < sizeof m->digests / sizeof *m->digests; i++) bb_store(&m->digests[i], 0);\n',
    ),
    [DIGESTS],
  ],
  [
    'the column after the report',
    [
      ['board/writer.c', COLUMN, ''],
      ['board/writer.c', REPORT, COLUMN + REPORT],
    ],
    ['weave', 'steps'],
  ],
  [
    'acquire of the column',
    relaxed('board/reader.c', 'bb_load_acquire(column_of('),
    ['litmus column', 'litmus column_takeover'],
  ],
  [
    'release of the heartbeat',
    relaxed('board/writer.c', 'bb_store_release(&h->heartbeat_ns'),
    ['litmus heartbeat', 'litmus links', 'litmus listened'],
  ],
  [
    'acquire of the heartbeat',
    relaxed('board/reader.c', 'bb_load_acquire(&shared->heartbeat_ns)'),
    ['litmus heartbeat'],
  ],
  [
    'acquire of the heartbeat, library',
    relaxed('lib/internal.h', 'bb_load_acquire(&h->heartbeat_ns)'),
    ['litmus listened'],
  ],
  [
    'the heartbeat before the listening-since',
    [
      ['board/reader.c', SINCE, ''],
      ['board/reader.c', HEARTBEAT, SINCE + HEARTBEAT],
    ],
    ['litmus heartbeat'],
  ],
  // The evidence of a link.
  [
    "release of a link's heartbeat",
    relaxed('board/linktable.c', 'bb_store_release(&h->evidence[i].heartbeat_ns'),
    ['litmus links', 'litmus links_listed', 'litmus silent_state', 'litmus silent_roll'],
  ],
  [
    'release of the heartbeat of all other links',
    relaxed('board/linktable.c', 'bb_store_release(&h->evidence[BB_LINK_OTHERS].heartbeat_ns'),
    ['litmus links'],
  ],
  [
    "the links' heartbeats before the receiver's",
    [
      ['board/writer.c', BEAT, ''],
      ['board/writer.c', DRAINS, DRAINS + BEAT],
    ],
    ['litmus links', 'torn'],
  ],
  [
    "acquire of a link's heartbeat",
    relaxed('board/parts.h', LINK_HEARTBEAT),
    [
      'litmus links',
      'litmus links_listed',
      'litmus silent_roll',
      'litmus silent_roll_pause',
      'litmus silent_overview',
      'litmus silent_state',
      'litmus silent_state_pause',
      'litmus silent_tally',
      'litmus silent_check_up',
      'litmus silent_read',
      'litmus silent_read_moves',
    ],
  ],
  [
    "a link's heartbeat before its listening-since",
    [
      ['board/parts.h', LINK_SINCE, ''],
      ['board/parts.h', LINK_HEARTBEAT, LINK_SINCE + LINK_HEARTBEAT],
    ],
    [
      'litmus links',
      'litmus links_listed',
      'litmus silent_roll_pause',
      'litmus silent_overview_up',
      'litmus silent_state_pause',
      'litmus silent_tally_blink',
      'litmus silent_read_up',
    ],
  ],
  [
    'the word again, after its link',
    [
      [
        'lib/internal.h',
        '    word = bb_load(column);\n    if (link_of(word) == link)',
        '    if (link_of(word) == link)',
      ],
    ],
    ['litmus silent_state', 'litmus silent_state_move'],
  ],
  [
    'whether the word is of that link',
    [['lib/internal.h', '    if (link_of(word) == link) return word;', '    return word;']],
    ['litmus silent_state_leave'],
  ],
  [
    'nothing is known where the word goes from link to link',
    without(
      'lib/internal.h',
      '  *by = no_evidence; /* it came by another link each time: it is being heard right now */\n',
    ),
    ['litmus silent_state_return'],
  ],
  [
    'the slot after its link',
    [
      ['lib/node.c', '    *by = load_link(b, link);\n    sequence = bb_newest_of(', '    sequence = bb_newest_of('],
      ['lib/node.c', '    if (sequence < 2 || SLOT', '    *by = load_link(b, link);\n    if (sequence < 2 || SLOT'],
    ],
    ['litmus silent_read', 'litmus silent_read_move'],
  ],
  [
    'whether the slot is of that link',
    [['lib/node.c', 'if (sequence < 2 || SLOT(link) == link) return', 'return']],
    ['litmus silent_read_leave'],
  ],
  [
    'nothing is known where the slot goes from link to link',
    [['lib/node.c', '  *by = no_evidence;\n  return sequence;', '  return sequence;']],
    ['litmus silent_read_returns'],
  ],
  [
    'a link that is down has no heartbeat',
    without('board/linktable.c', '    if (!is_up(link_at(l->board, i))) continue;\n'),
    ['litmus silent_state_down', 'litmus silent_tally_leave', 'litmus silent_overview_down'],
  ],
  [
    'a link that comes up is listened to anew',
    without(
      'board/linktable.c',
      '  /* Before any heartbeat that follows: what was sent to it while it was down has not been heard. */\n' +
        '  bb_links_listen_anew(l, link, now_ns);\n',
    ),
    ['litmus silent_state_up', 'litmus silent_state_blink', 'litmus silent_overview_up'],
  ],
  [
    'each link is listened to anew after a pause',
    without(
      'board/writer.c',
      '  for (uint32_t i = 1; i <= h->links_used; i++) bb_links_listening_since(&w->links, i, since_ns);\n',
    ),
    ['litmus silent_state_pause', 'litmus silent_state_takeover', 'litmus silent_roll_pause'],
  ],
  // What is remembered.
  [
    'release of a bit of recent',
    relaxed('board/memory.c', 'bb_store_release(&m->recent, m->recent | bit'),
    ['litmus recent'],
  ],
  ['acquire of recent, library', relaxed('lib/memory.c', 'bb_load_acquire(&m->recent)'), ['litmus recent']],
  ['acquire of recent', relaxed('board/reader.c', 'bb_load_acquire(&shared->recent)'), ['litmus recent_look']],
  ['acquire of a silence', relaxed('board/reader.c', 'bb_load_acquire(&shared->silence)'), ['litmus last_words_look']],
  [
    'an episode before its bit',
    [['board/memory.c', BEGUN + SEEN + BIT, BIT + BEGUN + SEEN]],
    ['litmus recent', 'steps'],
  ],
  [
    'last words before the silence',
    [['board/memory.c', WORDS + SILENCE, SILENCE + WORDS]],
    ['litmus last_words', 'litmus last_words_takeover'],
  ],
  ['release of a silence', relaxed('board/memory.c', SILENCE), ['litmus last_words']],
  ['acquire of a silence, library', relaxed('lib/memory.c', 'bb_load_acquire(&m->silence)'), ['litmus last_words']],
  [
    'the repair of an episode that was not seen yet',
    without('board/memory.c', '  settle_episodes(m);\n'),
    ['steps the second report'],
  ],
  [
    'release of a bit that a takeover sets',
    relaxed('board/memory.c', 'bb_store_release(&m->recent, recent_of'),
    ['litmus recent_takeover'],
  ],
  ['release of the count of links', relaxed('board/linktable.c', LINK_COUNT), ['litmus link']],
  [
    'acquire of the count of links',
    relaxed('board/parts.h', 'used = bb_load_acquire(&header_of(b)->links_used)'),
    ['litmus link', 'litmus link_takeover'],
  ],
  [
    "a link's name before it is counted",
    [
      ['board/linktable.c', LINK_NAME, ''],
      ['board/linktable.c', LINK_COUNT, LINK_COUNT + LINK_NAME],
    ],
    ['litmus link'],
  ],
  // Events, and rejected senders.
  ['release of the number of the newest event', relaxed('board/records.c', EVENT_NUMBER), ['litmus event']],
  [
    'acquire of the number of the newest event',
    relaxed('board/parts.h', 'bb_load_acquire(&header_of(b)->event_last)'),
    ['litmus event', 'litmus event_takeover'],
  ],
  [
    'the event before its number',
    [
      ['board/records.c', EVENT_NUMBER, ''],
      ['board/records.c', EVENT_BEGIN, EVENT_NUMBER + EVENT_BEGIN],
    ],
    ['litmus event', 'litmus event_takeover', 'steps', 'torn'],
  ],
  [
    'the mark of an event that is being written',
    [['board/records.c', EVENT_BEGIN, '  bb_store(&e->tail, 2 * number);\n']],
    ['litmus event_ring', 'steps'],
  ],
  [
    'whether the event is of the number that was asked for',
    [['board/parts.h', '== 2 * n;', '!= 0;']],
    ['litmus event_ring', 'torn'],
  ],
  [
    "the mark of a refused sender's entry that is being written",
    [['board/rejected.c', SENDER_BEGIN, '  bb_store(&s->tail, sequence);\n']],
    ['litmus sender', 'steps'],
  ],
  [
    "a refused sender's entry that was left half-written begins anew",
    [['board/rejected.c', '!is_of(s, r) || (s->head & 1) != 0', '!is_of(s, r)']],
    ['litmus sender_takeover'],
  ],
  // Names of nodes.
  [
    'the name before the entry',
    [
      ['board/records.c', NAME, ''],
      ['board/records.c', ENTRY, ENTRY + NAME],
    ],
    ['litmus index', 'steps'],
  ],
  ['the entry before the count', [['board/records.c', ENTRY + COUNT, COUNT + ENTRY]], ['litmus name', 'steps']],
  ['release of the entry', relaxed('board/records.c', 'bb_store_release(index_entry(b, i)'), ['litmus index']],
  [
    'release of the count',
    relaxed('board/records.c', 'bb_store_release(&b->header->count'),
    ['litmus name', 'litmus library_name'],
  ],
  [
    'acquire of the entry',
    relaxed('board/reader.c', 'const uint64_t entry = bb_load_acquire('),
    ['litmus index', 'litmus library_index'],
  ],
  [
    'acquire of the count',
    relaxed('board/parts.h', 'bb_load_acquire(&header_of(b)->count)'),
    ['litmus name', 'litmus library_name'],
  ],
  // Taking over a board.
  [
    'a half-written slot stays',
    [['board/repair.c', '(slot->head & 1) != 0 || slot->head <= ', 'slot->head <= ']],
    ['weave'],
  ],
  [
    'the repair of a torn order block',
    [['board/repair.c', 'is_torn(&r->order_head, &r->order_tail)', 'false']],
    ['steps'],
  ],
  [
    'the repair of an order block that lags behind',
    [['board/repair.c', '  if (!agrees) {', '  if (!agrees && false) {']],
    ['steps'],
  ],
  [
    'the repair of the column',
    [
      [
        'board/repair.c',
        '  bb_store_release(column_word(b, record),\n                   BB_COLUMN(slot',
        '  (void)(BB_COLUMN(slot',
      ],
    ],
    ['steps'],
  ],
  [
    'the repair of the count',
    [['board/repair.c', 'if (record == h->count) bb_store_release(&h->count, h->count + 1);', '']],
    ['steps another name'],
  ],
  ['release of the repaired count', relaxed('board/repair.c', 'bb_store_release(&h->count'), ['litmus name_takeover']],
  [
    'a new board has all records before its name',
    [
      ['board/writer.c', PUBLISH, ''],
      ['board/writer.c', COPIES, PUBLISH + COPIES],
    ],
    ['steps another name'],
  ],
  [
    'the old board is retired after the new one is there',
    [
      ['board/writer.c', RETIRE, ''],
      ['board/writer.c', PUBLISH, RETIRE + PUBLISH],
    ],
    ['steps another name'],
  ],
];

/** Code that is not needed for correctness. */
export const NOT_NEEDED: [what: string, edits: Edit[]][] = [
  // It only avoids copying a block that is being written.
  ['the look whether a head is odd', [['board/seqlock.h', '    if (sequence & 1) continue;\n', '']]],
  // Fence (A) of the order block is already between the report and the column word, and the word depends on no other
  // block.
  [
    'release of the column',
    [
      ['board/writer.c', 'bb_store_release(column_word(b, record), BB_', 'bb_store(column_word(b, record), BB_'],
      ['board/repair.c', 'bb_store_release(column_word(b, record),\n', 'bb_store(column_word(b, record),\n'],
    ],
  ],
];

/** How many loads of its reader litmus judges where a guard was taken away. */
const LOADS = 9;

/**
 * Takes guards away: one of eight in turn, by the seed, which the first of its programs must find; or all, and each of
 * their programs must.
 */
export function takeAway(t: Test, which: 'some' | 'all', seed: number): void {
  const herd7 = spawnSync('herd7', ['-version']).error === undefined;
  for (const [what, edits, finders] of which === 'all' ? guards : guards.filter((_, i) => (i + seed) % 12 === 0))
    t.test(`taken away: ${what}`, { buffered: true, timeout: 600_000 }, async t => {
      const from = edited(t, edits);
      const built = new Map<Program, Run>();
      for (const finder of finders) {
        const program = programOf(finder);
        if (which === 'some' && program !== programOf(finders[0])) continue;
        const run =
          built.get(program) ?? (await build(t, program, { compiler: DYNAMIC.CC, from, flags: ['-O0', '-w'] }));
        built.set(program, run);
        const scenario = finder.slice(program.length + 1);
        const { status, stdout, stderr } = await {
          litmus: () => run('check', folder(t), scenario, loadsOf(scenario, LOADS)),
          steps: () => run(folder(t), 0, seed, ...(scenario ? [scenario] : [])),
          weave: () => run(boardPath(t), 97, seed),
          torn: () => run(boardPath(t), 1_000_000, seed, 4000),
        }[program]();
        t.equal(status, 1, `${finder}: ${stdout}${stderr}`);
        if (program === 'litmus' && herd7) t.strictSame((await compare(t, run, scenario, 4, 'c')).different, []);
      }
    });
}
