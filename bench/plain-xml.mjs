// The smallest program for Node that sends the hosts of a board as `beoboard ganglia` does: made of the same parts, for
// one board and clients that never fail, without queries, comments, sums and turns. With `print` it reads no board, with
// `board` no readings.
//   node plain-xml.mjs BOARD HOSTS [print | board]      prints its port on 127.0.0.1

import { createServer } from 'node:net';
import { attributes } from '../dist/src/ganglia-xml/dtd.js';
import { Host } from '../dist/src/ganglia-xml/host.js';
import { METRICS } from '../dist/src/ganglia-xml/metrics.js';
import { safeOn } from '../dist/src/ganglia-xml/safe.js';
import { structs } from '../dist/src/layout/layout.gen.js';
import { TEXT_GAP, template } from '../dist/src/native/index.js';
import { MeasureReader } from '../dist/src/readings/measurereader.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { Page } from '../dist/src/text/buffer.js';

const [path, hosts, how = 'all'] = process.argv.slice(2);
const PIECE = 24;
const { name, address } = structs.record.fields;
const values = new Float64Array(METRICS.length + 5);
const OPENING = METRICS.length;
const texts = new Page(8192);
const page = Buffer.alloc(1 << 20);
const textual = METRICS.flatMap(({ put }, place) => (put === undefined ? [] : [{ put, place }]));
const readings = new MeasureReader(
  METRICS.map(({ value }) => value),
  values,
);
const host = new Host();

/** A HOST whose readings are so old. */
function makeForm(age) {
  const gaps = [];
  let text = '';
  const gap = (before, place, digits, after = '') => {
    gaps.push(Buffer.byteLength(before), Buffer.byteLength(after), place, digits);
    text += before + after;
  };
  gap('<HOST NAME="', OPENING, TEXT_GAP);
  gap('" IP="', OPENING + 1, TEXT_GAP);
  gap('" TAGS="" REPORTED="', OPENING + 2, 0);
  gap('" TN="', OPENING + 3, 0);
  gap(`"${attributes({ TMAX: 20, DMAX: 0, LOCATION: 'unspecified' })} GMOND_STARTED="`, OPENING + 4, 0, '">\n');
  for (const [place, { name, type, units, tmax, slope, put, digits, group, description, title }] of METRICS.entries()) {
    const extras = Object.entries({ GROUP: group, DESC: description, TITLE: title })
      .map(([extra, text]) => `<EXTRA_ELEMENT${attributes({ NAME: extra, VAL: text })}/>\n`)
      .join('');
    const rest = `${attributes({ TMAX: tmax, DMAX: 0, SLOPE: slope })}>\n<EXTRA_DATA>\n${extras}</EXTRA_DATA>\n</METRIC>\n`;
    const before = `"${attributes({ TYPE: type, UNITS: units })} TN="${age}"`;
    gap(`<METRIC NAME="${name}" VAL="`, place, put === undefined ? digits : TEXT_GAP, `${before}${rest}`);
  }
  return template(Buffer.from(`${text}</HOST>\n`), Uint32Array.from(gaps), values, texts.bytes);
}

/** What every host shows of which nothing is read. */
function pretend() {
  values.fill(1234.5);
  texts.text('node0001127.0.0.1'.padEnd(80, 'x'));
  values.set([8, 17, 1_790_000_000, 1, 1_790_000_000], OPENING);
  for (const [i, { place }] of textual.entries()) values[place] = 25 + 8 * i;
}

function look(piece, node, now) {
  host.layHost(piece, node);
  readings.read(host, host.bytes);
  texts.length = 0;
  safeOn(texts, host.bytes, host.record + name.offset, name.count, 'name');
  values[OPENING] = texts.length;
  for (let i = 12; i < 16; i++) {
    if (i > 12) texts.text('.');
    texts.whole(host.bytes[host.record + address.offset + i]);
  }
  values[OPENING + 1] = texts.length;
  values[OPENING + 2] = now - host.tn;
  values[OPENING + 3] = host.tn;
  values[OPENING + 4] = host.wallSeconds('start');
  for (const { put, place } of textual) {
    if (Number.isNaN(values[place])) continue;
    put(host, texts);
    values[place] = texts.length;
  }
}

function* pieces(reader, now) {
  const forms = [];
  let length = 0;
  const print = age => {
    forms[age] ??= makeForm(age);
    length += forms[age](page, length, texts.length);
  };
  for (let i = 0; i < hosts && how === 'print'; i++) {
    print(1);
    if (i % PIECE === PIECE - 1) {
      yield page.subarray(0, length);
      length = 0;
    }
  }
  if (how === 'print') return yield page.subarray(0, length);
  for (const piece of reader.pieces(PIECE)) {
    length = 0;
    for (const node of piece.nodes()) {
      if (how !== 'board') look(piece, node, now);
      print(how === 'board' ? 1 : Math.floor(host.age));
    }
    yield page.subarray(0, length);
  }
}

pretend();
const reader = new BoardReader(path);
const server = createServer(async socket => {
  for (const bytes of pieces(reader, Math.floor(Date.now() / 1000)))
    await new Promise(sent => socket.write(bytes, () => sent()));
  socket.end();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
