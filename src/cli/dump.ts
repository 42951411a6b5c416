// All of a board's file, raw, and why readers reject it, if they do.

import { fieldsOf, unpackWord } from '../layout/codec.js';
import { enums } from '../layout/layout.gen.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { SENDERS_EACH } from '../shm/snapshot.js';
import { Page } from '../text/buffer.js';
import { json, print } from '../text/output.js';
import { objectPut } from '../text/putjson.js';
import { BoardFile, blockState, Dump } from './boardfile.js';
import { putLines } from './dumptext.js';

export const verb = defineVerb({
  name: 'dump',
  options: ['board', 'owner', 'json', 'config'],
  examples: [
    'beoboard dump | less',
    'beoboard dump --board /dev/shm/other/board | grep -m1 wrong',
    'beoboard dump --json | jq .header',
  ],
  notes:
    'proto/board-v2.md describes the layout. Exit codes: 0 no error, 1 an error for which readers reject it, 4 no file.',
});

/** The buffer size from which a write is worthwhile. */
const PAGE_BYTES = 1 << 18;
/** More than is written between two checks of the room: a record and its slots are 1,000 lines of at most 200 bytes. */
const MOST_BETWEEN = 1 << 17;

/** Puts a dump on a page, and yields where the page may be written; a text: it must be, and that behind it. */
type Walk = Generator<string | undefined>;

/** Each piece is to be used before the next one is asked for. */
function* piecesOf(walk: (page: Page, dump: Dump) => Walk, dump: Dump): Generator<string | Uint8Array> {
  const page = new Page(PAGE_BYTES);
  for (const text of walk(page, dump)) {
    if (text === undefined && page.room >= MOST_BETWEEN) continue;
    yield page.written;
    page.length = 0;
    yield text ?? '';
  }
  yield page.written;
}

function* putText(page: Page, dump: Dump): Walk {
  page.text(`${dump.file.path}: ${dump.state}, ${dump.file.bytes} bytes\n`);
  if (dump.header !== undefined) yield* putParts(page, dump);
  // By now all of it has been read.
  page.text(`\n${dump.wrong === undefined ? 'no reader rejects it' : `wrong: ${dump.wrong}`}\n`);
}

function* putParts(page: Page, dump: Dump): Walk {
  const lines = (struct: 'link' | 'sender' | 'event', offset: number) => {
    const { view, origin } = dump.part(`${struct}s`);
    putLines(page, struct, view, offset - origin, origin);
  };
  page.text('\nheader\n');
  putLines(page, 'board_header', dump.head.view, 0, 0);
  // The reader has something to read while the rest is written.
  yield '';
  for (const { number, offset } of dump.links()) {
    page.text(`\nlink ${number}\n`);
    lines('link', offset);
    yield;
  }
  for (const { number, offset, entry } of dump.senders()) {
    const reason = enums.reason[Math.floor(number / SENDERS_EACH)] ?? 'no reason';
    page.text(`\nrejected sender ${number}: ${reason}, ${blockState(entry)}\n`);
    lines('sender', offset);
    yield;
  }
  for (const { number, offset, entry } of dump.events()) {
    const kind = enums.event_kind[Number(entry.kind)] ?? 'no kind';
    page.text(`\nevent ${entry.head / 2n} (entry ${number}): ${kind}, ${blockState(entry)}\n`);
    lines('event', offset);
    yield;
  }
  page.text('\nname index (slots in use)\n');
  for (const { slot, record, hash } of dump.index()) {
    page.text(`  slot ${slot}: record ${record}, hash ${hash.toString(16).padStart(8, '0')}\n`);
    yield;
  }
  for (const { index, view, base, origin, column, slots, memory } of dump.records()) {
    const { stamp, link, interval, goodbye } = unpackWord('column', column);
    page.text(`\nrecord ${index}\n            column word: stamp ${stamp} ms, link ${link}, interval ${interval} ms`);
    page.text(goodbye === 1n ? ', goodbye\n' : '\n');
    putLines(page, 'record', view, base, origin);
    for (const [i, { state, base: at }] of slots.entries()) {
      page.text(`\nrecord ${index}, slot ${i}: ${state}\n`);
      if (state !== 'empty') putLines(page, 'slot', view, at, origin);
      yield;
    }
    if (memory === undefined) continue;
    page.text(`\nrecord ${index}, memory\n`);
    putLines(page, 'memory', view, memory, origin);
    yield;
  }
}

function* putJson(page: Page, dump: Dump): Walk {
  const { state, header } = dump;
  const { path, bytes } = dump.file;
  // The reader has something to read while the rest is written.
  page.text(`{"schema":1,${json({ path, state, bytes, header }).slice(1, -1)}`);
  yield '';
  const tables = { links: [...dump.links()], senders: [...dump.senders()], events: dump.events() };
  yield `,${json(tables).slice(1, -1)},"index":[`;
  let separator = '';
  for (const { slot, record, hash } of dump.index()) {
    page.text(`${separator}{"slot":${slot},"record":${record},"hash":${hash}}`);
    separator = ',';
    yield;
  }
  page.text('],"records":[');
  const putOf = (struct: 'record' | 'slot' | 'memory') => objectPut(fieldsOf(struct));
  const [putRecord, putSlot, putMemory] = [putOf('record'), putOf('slot'), putOf('memory')];
  separator = '\n';
  for (const { index, view, base, origin, column, slots, memory } of dump.records()) {
    page.text(`${separator}{"index":${index},"offset":${origin + base},"column":"${column}","record":`);
    putRecord(page, view, base);
    page.text(',"slots":[');
    for (const [i, { base: at, state: of }] of slots.entries()) {
      page.text(`${i === 0 ? '' : ','}{"offset":${origin + at},"state":"${of}","slot":`);
      putSlot(page, view, at);
      page.text('}');
    }
    page.text(']');
    if (memory !== undefined) {
      page.text(`,"memory":`);
      putMemory(page, view, memory);
    }
    page.text('}');
    separator = ',\n';
    yield;
  }
  page.text(`\n],"wrong":${json(dump.wrong ?? null)}}\n`);
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const file = new BoardFile(values.board, values.owner);
  try {
    const dump = new Dump(file, values.owner);
    await print(piecesOf(values.json ? putJson : putText, dump));
    return dump.wrong === undefined ? 0 : 1;
  } finally {
    file.close();
  }
}
