// JSON that is written directly from a struct's bytes is exactly the JSON of the decoded object: for valid bytes, and
// for random ones.
//
// @whole

import fc from 'fast-check';
import t from 'tap';
import { decode, decodeReport, encode, fieldsOf, REPORT_BYTES, shownFields } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { rates, visitRates } from '../../src/shm/rates.js';
import { Page } from '../../src/text/buffer.js';
import { json } from '../../src/text/output.js';
import { closeObject, keyOf, objectPut, putJson, putKeyed, putNumber, putText } from '../../src/text/putjson.js';
import { anyText } from '../kit/anytext.js';
import { runsOf } from '../kit/whole.js';

const seed = Number(process.env.SEED ?? 1);
const runs = { seed, numRuns: runsOf(300) };
t.comment(`SEED=${seed}`);

/** The text that `put` writes. */
function written(put: (page: Page) => void): string {
  const page = new Page(1 << 17);
  put(page);
  return Buffer.from(page.written).toString();
}

/**
 * `length` bytes; small numbers and zeros are as likely as all others together, because most fields have such values.
 */
const bytesOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).chain(all =>
    fc
      .array(fc.record({ at: fc.nat(length - 1), run: fc.nat(64), byte: fc.constantFrom(0, 0, 1, 0x41, 255) }), {
        maxLength: 60,
      })
      .map(runsOf => {
        const bytes = all.slice();
        for (const { at, run, byte } of runsOf) bytes.fill(byte, at, at + run);
        return new DataView(bytes.buffer);
      }),
  );

t.test('every struct of the contract', async t => {
  for (const struct of ['report', 'record', 'slot', 'link', 'sender', 'event', 'board_header'] as const)
    t.doesNotThrow(
      () =>
        fc.assert(
          fc.property(
            bytesOf(structs[struct].bytes),
            view => written(page => objectPut(fieldsOf(struct))(page, view, 0)) === json(decode(struct, view, 0)),
          ),
          runs,
        ),
      struct,
    );
});

t.test('a report as readers see it', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(bytesOf(REPORT_BYTES), fc.boolean(), (view, isWhole) => {
        // Otherwise hardly any report would have many sets.
        if (isWhole) view.setBigUint64(structs.report.fields.valid.offset, 2n ** 64n - 1n, true);
        return written(page => objectPut(shownFields())(page, view, 0)) === json(decodeReport(view, 0));
      }),
      runs,
    ),
  );
});

t.test('rates of two reports of one boot', async t => {
  const all = Object.keys(bits.valid).length;
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(bytesOf(2 * REPORT_BYTES), fc.nat(2 ** 31), fc.nat(1000), (view, span, moved) => {
        // The later one is the earlier one with some of its bytes changed, or another one altogether.
        const bytes = new Uint8Array(view.buffer);
        if (moved > 300) {
          bytes.copyWithin(REPORT_BYTES, 0, REPORT_BYTES);
          for (let at = moved; at < REPORT_BYTES; at += 101) bytes[REPORT_BYTES + at] = (bytes[at] ?? 0) + 1;
        }
        const ids = { boot_id: 7n, valid: 2n ** BigInt(all) - 1n };
        encode('report', view, 0, { ...ids, t_boot_ns: 1_000n, slow_boot_ns: 1_000n });
        encode('report', view, REPORT_BYTES, { ...ids, t_boot_ns: 1_000n + BigInt(span), slow_boot_ns: 9_000n });
        const text = written(page => {
          visitRates(view, 0, REPORT_BYTES, (name, rate) => putKeyed(page, keyOf(name), rate));
          closeObject(page, 0);
        });
        return text === json(rates(view, 0, REPORT_BYTES));
      }),
      runs,
    ),
  );
  const view = new DataView(new ArrayBuffer(2 * REPORT_BYTES));
  view.setUint8(structs.report.fields.boot_id.offset, 1);
  t.equal(rates(view, 0, REPORT_BYTES), undefined, 'of two boots there are none');
});

t.test('any value', async t => {
  const value = fc.anything({
    key: fc.constantFrom('a', 'b "c"', 'é'),
    values: [fc.integer(), fc.double(), fc.bigInt(), anyText(), fc.boolean(), fc.constantFrom(null, undefined)],
  });
  const isTold = (some: unknown) => typeof some === 'object' && some !== null;
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(value.filter(isTold), some => written(page => putJson(page, some)) === json(some)),
      runs,
    ),
  );
});

t.test('numbers and texts', async t => {
  const sameNumber = (value: number) => written(page => putNumber(page, value)) === json(value);
  const sameText = (text: string) => written(page => putText(page, text)) === json(text);
  t.doesNotThrow(() => fc.assert(fc.property(fc.double({ noNaN: true, min: 0, max: 1e18 }), sameNumber), runs));
  t.doesNotThrow(() => fc.assert(fc.property(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), sameNumber), runs));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.nat(2 ** 40), n => sameNumber(n / 1000)),
      runs,
    ),
  );
  t.doesNotThrow(() => fc.assert(fc.property(anyText(), sameText), runs));
  t.doesNotThrow(() => fc.assert(fc.property(fc.string(), sameText), runs));
});
