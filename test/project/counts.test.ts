// What each thing costs that is done often, in instructions: within 2 % of what bench/results.json has. Who changes a
// count changes that file, with the reason in the commit:
//   npm run build && npm run bench -- counts --markdown
//
// @rest
// @days 3
// @seconds 50

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';

interface Row {
  figure: string;
  unit: string;
  median: number;
  local?: boolean;
}
interface Counts {
  tools: string;
  rows: Row[];
}

const BENCH = join(ROOT, 'bench');
const WITHIN = 0.02;
const kept: Counts = JSON.parse(readFileSync(join(BENCH, 'results.json'), 'utf8')).counts;
const { tools } = await import(join(BENCH, 'counts.bench.mjs'));
const held = (rows: Row[]) => new Map(rows.filter(({ local }) => !local).map(({ figure, median }) => [figure, median]));

const reason =
  lacks('valgrind musl-tools iproute2', 'valgrind', 'musl-gcc', 'ip') ||
  (process.getuid?.() !== 0 && 'needs root, for a network of its own') ||
  (process.arch !== 'x64' && 'the counts are those of another processor') ||
  (tools() !== kept.tools && `the counts are of ${kept.tools}, and here is ${tools()}`);

t.test('no count has changed unseen', { skip: reason }, async t => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(BENCH, 'run.mjs'), 'counts', '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 24,
  });
  t.equal(status, 0, stderr);
  const now = held(JSON.parse(stdout).results.counts.rows);
  const before = held(kept.rows);
  t.strictSame([...now.keys()], [...before.keys()]);
  for (const [figure, count] of before) {
    const ratio = (now.get(figure) ?? 0) / count;
    t.ok(Math.abs(ratio - 1) <= WITHIN, `${figure}: ${now.get(figure)} instructions, ${count} in bench/results.json`);
  }
});
