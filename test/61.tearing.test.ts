// No reader ever sees a report that is torn, vanished or older than one before, whatever the moment at which the writer is killed.
// Shown by real processes, by single steps, by all ways to interleave, and against the memory model of C11; and each of these has
// to find what is wrong when a guard is taken away. docs/tearing.md tells what that proves.

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { boardPath, folder } from './lib.js';
import { build, compare, type Edit, edited, type Program, SANITIZED, scenarios, tear } from './tearing.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
t.comment(`SEED=${SEED}`);
t.setTimeout(600_000);

const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

t.test('the axioms judge as the literature does', async t => {
  const classics = await build(t, 'classics');
  const { status, stdout } = await classics();
  t.equal(status, 0, stdout);
  t.comment(stdout.trim());
});

t.test('and as herd7 does, where there is one', async t => {
  if (!has('herd7')) return t.comment('herd7 is not here');
  const litmus = await build(t, 'litmus');
  for (const [scenario] of await scenarios(litmus, 4)) {
    const { different, wrong } = await compare(t, litmus, scenario, 4, 'c');
    t.strictSame([different, wrong], [[], []], scenario);
  }
});

for (const compiler of ['gcc', 'clang']) {
  const skip = !has(compiler) && !process.env.CI && `${compiler} missing: apt-get install ${compiler}`;
  t.test(`killed after each instruction, ${compiler}`, { skip }, async t => {
    const steps = await build(t, 'steps', { compiler });
    const { status, stdout, stderr } = await steps(folder(t), 100, SEED);
    if (status === 3) t.pass('single steps', { skip: `this machine lets nobody trace a process: ${stderr.trim()}` });
    else t.equal(status, 0, `${stdout}${stderr}`);
    t.comment(stdout.trim());
  });
}

const builds: [what: string, flags: string[], most: number, every: number, kills: number][] = [
  ['optimised', ['-O2'], 12, 199, 2000],
  ['sanitized', SANITIZED, 6, 1999, 200],
];
for (const [what, flags, most, every, kills] of builds) {
  t.test(`what C11 allows, ${what}`, async t => {
    const litmus = await build(t, 'litmus', { flags });
    for (const [scenario, loads] of await scenarios(litmus, most)) {
      const { status, stdout, stderr } = await litmus('check', folder(t), scenario, loads);
      t.strictSame([status, stderr], [0, ''], `${scenario}: ${stdout}`);
    }
  });

  t.test(`ways to interleave, ${what}`, async t => {
    const weave = await build(t, 'weave', { flags });
    const { status, stdout, stderr } = await weave(boardPath(t), every, SEED);
    t.strictSame([status, stderr], [0, ''], stdout);
    t.comment(stdout.trim());
  });

  t.test(`real processes, ${what}`, { timeout: 600_000 }, async t => {
    const torn = await build(t, 'torn', { flags });
    const { status, stdout, stderr, looks, fault } = await tear(t, torn, boardPath(t), kills, SEED);
    t.strictSame([status, stderr], [0, ''], stdout);
    t.equal(fault, undefined, 'seen by TypeScript');
    t.ok(looks > 0);
    t.comment(`${stdout.trim()}, ${looks} by TypeScript`);
  });
}

/** What finds it; of litmus, in which scenario. */
type Finder = Exclude<Program, 'litmus' | 'classics'> | `litmus ${string}`;

/** Lines that are moved, or stand in several rows. */
const NAME = '  memcpy(r->name, name, strlen(name));\n';
const ENTRY = '  bb_store_release(index_entry(b, i), (hash >> 32) << 32 | (record + 1));\n';
const COUNT = '  bb_store_release(&b->header->count, record + 1);\n';
const PUBLISH = '  if (!publish(w, &new, why, size)) return false;\n';
const RETIRE = '  bb_store_release(&w->board.header->state, w->board.header->state | BB_BOARD_STATE_RETIRED);\n';
const REPORT = '  store_report(b, record, newest, report, arrival);\n';
const ORDER = '  store_order(b, record, &order, NULL, arrival);\n';
const COLUMN = `  bb_store_release(column_word(b, record),
                   (uint64_t)arrival->stamp_ns / 1000000 << 21 | (uint64_t)report->interval_ms << 1 | order.goodbye);
`;
const SINCE = '  const uint64_t since = bb_load(&shared->listening_since_ns);\n';
const HEARTBEAT = '  const uint64_t heartbeat = bb_load_acquire(&shared->heartbeat_ns);\n';
const COPIES = '  for (uint32_t i = 0; i < w->board.header->count; i++)\n    if (keep == NULL || keep[i]) copy_record(';

/** A store or load that gives up its order. */
const relaxed = (file: string, what: string): Edit[] => [[file, what, what.replace(/_(acquire|release)\(/, '(')]];
const without = (file: string, what: string): Edit[] => [[file, what, '']];

const mutants: [what: string, edits: Edit[], found: Finder[]][] = [
  // What the sequence lock stores, and looks at.
  ['the odd mark', without('seqlock.h', '  bb_store(head, sequence - 1);\n'), ['steps']],
  [
    'the tail before the words',
    [
      ['seqlock.h', '  bb_store(tail, sequence);\n', ''],
      [
        'board_writer.c',
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
        'board_writer.c',
        '  bb_store(&slot->stamp_ns, ',
        '  bb_write_end(&slot->head, sequence);\n  bb_store(&slot->stamp_ns, ',
      ],
    ],
    ['weave', 'torn', 'steps'],
  ],
  ['the look at the tail', [['seqlock.h', 'bb_load_acquire(tail) == sequence', 'tail != NULL']], ['weave', 'torn']],
  // Its orders.
  [
    'fence (A)',
    without('seqlock.h', '  __atomic_thread_fence(__ATOMIC_RELEASE);\n'),
    ['litmus slot', 'litmus block', 'litmus newest_of_one'],
  ],
  [
    'fence (B)',
    without('seqlock.h', '    __atomic_thread_fence(__ATOMIC_ACQUIRE);\n'),
    ['litmus slot', 'litmus block', 'litmus order'],
  ],
  ['release (C)', relaxed('seqlock.h', 'bb_store_release(head, sequence)'), ['litmus slot', 'litmus block']],
  ['acquire of the head', relaxed('seqlock.h', 'bb_load_acquire(head)'), ['litmus slot', 'litmus block']],
  ['acquire of the tail', relaxed('seqlock.h', 'bb_load_acquire(tail)'), ['litmus newest_of_one']],
  // Two slots.
  [
    'the older slot is the one that is written',
    [['board_writer.c', 'newest == 0 ? 1 : 0', 'newest == 1 ? 1 : 0']],
    ['weave', 'torn'],
  ],
  [
    'the copy of the second slot',
    [['board.c', 'attempt > 0 && (had[i] || empty)', 'had[i] || empty']],
    ['weave', 'torn'],
  ],
  [
    'the copy after the other was seen to be written',
    [['board.c', 'attempt < BB_SLOT_ATTEMPTS', 'attempt < 2']],
    ['weave'],
  ],
  [
    'the slot that is not being written',
    [['lib/node.c', '(first & 1) != 0 ? 1 : (second & 1) != 0 ? 0 : ', '']],
    ['weave', 'torn'],
  ],
  ['the second look at which is newer', [['lib/node.c', 'if (other > sequence) *newest = 1;', '']], ['weave']],
  [
    'acquire of the first head, library',
    relaxed('lib/node.c', 'first = bb_load_acquire('),
    ['litmus library_one', 'litmus library_alone_one'],
  ],
  [
    'acquire of the second head, library',
    relaxed('lib/node.c', 'second = bb_load_acquire('),
    ['litmus library_one', 'litmus library_alone_one'],
  ],
  // The order of a delivery.
  ['the report before the order block', [['board_writer.c', REPORT + ORDER, ORDER + REPORT]], ['weave', 'steps']],
  [
    'the column after the report',
    [
      ['board_writer.c', COLUMN, ''],
      ['board_writer.c', REPORT, COLUMN + REPORT],
    ],
    ['weave', 'steps'],
  ],
  [
    'acquire of the column',
    relaxed('board.c', 'bb_load_acquire((const uint64_t *)(column + i'),
    ['litmus column', 'litmus column_takeover'],
  ],
  [
    'release of the heartbeat',
    relaxed('board_writer.c', 'bb_store_release(&w->board.header->heartbeat_ns'),
    ['litmus heartbeat', 'litmus silent', 'litmus silent_pause'],
  ],
  ['acquire of the heartbeat', relaxed('board.c', 'bb_load_acquire(&shared->heartbeat_ns)'), ['litmus heartbeat']],
  [
    'acquire of the heartbeat, library',
    relaxed('lib/internal.h', 'bb_load_acquire(&h->heartbeat_ns)'),
    ['litmus silent', 'litmus silent_pause'],
  ],
  [
    'the heartbeat before the listening-since',
    [
      ['board.c', SINCE, ''],
      ['board.c', HEARTBEAT, SINCE + HEARTBEAT],
    ],
    ['litmus heartbeat'],
  ],
  // Names.
  [
    'the name before the entry',
    [
      ['board_writer.c', NAME, ''],
      ['board_writer.c', ENTRY, ENTRY + NAME],
    ],
    ['steps', 'litmus index'],
  ],
  ['the entry before the count', [['board_writer.c', ENTRY + COUNT, COUNT + ENTRY]], ['steps', 'litmus name']],
  ['release of the entry', relaxed('board_writer.c', 'bb_store_release(index_entry(b, i)'), ['litmus index']],
  [
    'release of the count',
    relaxed('board_writer.c', 'bb_store_release(&b->header->count'),
    ['litmus name', 'litmus library_name'],
  ],
  [
    'acquire of the entry',
    relaxed('board.c', 'bb_load_acquire((const uint64_t *)(b->map + b->header.index_offset'),
    ['litmus index'],
  ],
  ['acquire of the entry, library', relaxed('lib/node.c', 'bb_load_acquire(entry_of('), ['litmus library_index']],
  ['acquire of the count', relaxed('board.c', 'bb_load_acquire(&shared_header(b)->count)'), ['litmus name']],
  [
    'acquire of the count, library',
    relaxed('lib/internal.h', 'bb_load_acquire(&header_of(b)->count)'),
    ['litmus library_name'],
  ],
  // Taking over.
  [
    'a half-written slot stays',
    [['board_writer.c', '(slot->head & 1) != 0 || slot->head <= ', 'slot->head <= ']],
    ['weave'],
  ],
  [
    'the repair of a torn order block',
    [['board_writer.c', '(r->order_head & 1) != 0 || r->order_head != r->order_tail', 'false']],
    ['steps'],
  ],
  [
    'the repair of an order block that lags behind',
    [['board_writer.c', '  if (!agrees) {', '  if (!agrees && false) {']],
    ['steps'],
  ],
  [
    'the repair of the column',
    [['board_writer.c', '  bb_store_release(column_word(b, record), slot->stamp_ns', '  (void)(slot->stamp_ns']],
    ['steps'],
  ],
  [
    'the repair of the count',
    [['board_writer.c', 'if (record == h->count) bb_store_release(&h->count, h->count + 1);', '']],
    ['steps'],
  ],
  ['release of the repaired count', relaxed('board_writer.c', 'bb_store_release(&h->count'), ['litmus name_takeover']],
  [
    'a new board has all records before its name',
    [
      ['board_writer.c', PUBLISH, ''],
      ['board_writer.c', COPIES, PUBLISH + COPIES],
    ],
    ['steps'],
  ],
  [
    'the old board is retired after the new one is there',
    [
      ['board_writer.c', RETIRE, ''],
      ['board_writer.c', PUBLISH, RETIRE + PUBLISH],
    ],
    ['steps'],
  ],
];

t.jobs = 2;
for (const [what, edits, finders] of mutants)
  t.test(`taken away: ${what}`, { buffered: true, timeout: 600_000 }, async t => {
    const from = edited(t, edits);
    for (const finder of finders) {
      const [program = '', scenario = ''] = finder.split(' ');
      const run = await build(t, program as Program, { from, flags: ['-O0', '-w'] });
      const { status, stdout, stderr } = await {
        litmus: () => run('check', folder(t), scenario, scenario === 'block' ? 5 : 12),
        steps: () => run(folder(t), 10, SEED),
        weave: () => run(boardPath(t), 97, SEED),
        torn: () => run(boardPath(t), 100_000, SEED, 4000),
      }[program as 'litmus' | 'steps' | 'weave' | 'torn']();
      t.equal(status, 1, `${finder}: ${stdout}${stderr}`);
      if (program === 'litmus' && has('herd7')) t.strictSame((await compare(t, run, scenario, 4, 'c')).different, []);
    }
  });
