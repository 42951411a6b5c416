// The vectors of the contract: version 1 has not changed since it was frozen, and both languages read it in the same
// way. 26 and 70 test that both senders make it.

import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decode, type Encodable, encode, REPORT_BYTES } from '../../src/layout/codec.js';
import { enums, HASH_STAT_V1 } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { folder, ROOT } from '../kit/places.js';
import { parseHexDump, textOf } from '../kit/tree.js';

const section = readFileSync(join(ROOT, 'proto', 'stat-v1.md'), 'utf8').split('\n## Vectors\n')[1] ?? '';
const [, dump = ''] = /\n```\n(.*?)```\n/s.exec(section) ?? [];
const rows = [...section.split('\n## ')[0]!.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(
  ([, field = '', value = '']) => [field, value] as const,
);

/** The bytes of the section; bytes that it leaves out are zero. */
const vector = new Uint8Array(REPORT_BYTES);
for (const [, offset = '', hex = ''] of dump.matchAll(/^ *(\d+) {2}([0-9a-f ]+)$/gm))
  vector.set(Buffer.from(hex.replaceAll(' ', ''), 'hex'), Number(offset));
const view = new DataView(vector.buffer);

t.test('version 1 is frozen', async t => {
  t.equal(HASH_STAT_V1, 0xf0b4d862878e67acn, 'the layout: make what shall change version 2');
  t.ok(
    readFileSync(join(ROOT, 'proto', 'stat-v1.md'), 'utf8').includes(`0x${HASH_STAT_V1.toString(16)}`),
    'and so the document says',
  );
  t.ok(rows.length > 50, `${rows.length} values`);
  t.ok(Buffer.from(vector).equals(parseHexDump(textOf('two-sockets', 'report.hex'))), 'it is what the senders make');
});

t.test('in TypeScript', async t => {
  const report = decode('report', view, 0);
  for (const [field, value] of rows) {
    const found = field
      .split(/[[\].]+/)
      .filter(Boolean)
      .reduce<unknown>((of, key) => (of as Record<string, unknown>)[key], report);
    t.equal(typeof found === 'string' ? JSON.stringify(found) : String(found), value, field);
  }
  const again = new Uint8Array(REPORT_BYTES);
  encode('report', new DataView(again.buffer), 0, report as Encodable<'report'>);
  t.ok(Buffer.from(again).equals(vector), 'what was read, written again');
});

t.test('in C', async t => {
  const dir = folder(t);
  const print = rows.map(([field, value]) =>
    value.startsWith('"')
      ? `  printf("\\"%s\\"\\n", r->${field});`
      : `  if (r->${field} < 0) printf("%lld\\n", (long long)r->${field});\n  else printf("%llu\\n", (unsigned long long)r->${field});`,
  );
  writeFileSync(
    join(dir, 'vector.c'),
    `#include <stdio.h>\n#include "format/layout.gen.h"\nint main(void) {\n  static struct bb_report report, *r = &report;\n  if (fread(r, 1, sizeof *r, stdin) != sizeof *r) return 1;\n${print.join('\n')}\n  return 0;\n}\n`,
  );
  const program = join(dir, 'vector');
  execFileSync('cc', ['-std=c11', '-I', join(ROOT, 'c'), '-o', program, join(dir, 'vector.c')]);
  const found = execFileSync(program, { input: vector, encoding: 'utf8' }).trimEnd().split('\n');
  for (const [i, [field, value]] of rows.entries()) t.equal(found[i], value, field);
});

t.test('its tags', async t => {
  const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
  const { hostname } = decode('report', view, 0);
  const node = createHmac('sha256', secret).update(hostname).digest();
  const [, cluster, own] = /its tag is `([0-9a-f]{32})`.*`([0-9a-f]{32})`/s.exec(section) ?? [];
  for (const [alg, key, tag] of [
    ['cluster', secret, cluster],
    ['node', node, own],
  ] as const) {
    const signed = vector.slice();
    encode('report', new DataView(signed.buffer), 0, { key_id: 7, auth_alg: enums.auth_alg.indexOf(alg) });
    sign(signed, { secret: key });
    t.equal(Buffer.from(signed.subarray(1200)).toString('hex'), tag, alg);
  }
});
