// What the calls of libbeoboard cost a scheduler, in C: one process, boards of up to 100,000 nodes.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const C = fileURLToPath(new URL('../c', import.meta.url));

/** The figures of a line of c/lib/bench.c, by the number of nodes. */
function parse(table) {
  const lines = table.split('\n').filter(line => /^ *\d+ \|/.test(line));
  return new Map(
    lines.map(line => {
      const [nodes, state, stateInRow, stateAtRandom, index, indexAtRandom, read, readAtRandom, readAll, , tallyUs] =
        line.match(/[\d.]+/g).map(Number);
      return [nodes, { state, stateInRow, stateAtRandom, index, indexAtRandom, read, readAtRandom, readAll, tallyUs }];
    }),
  );
}

export async function bench({ quick, say }) {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  execFileSync('make', ['-s', '-C', C, 'lib-bench', `OUT=${own}`]);
  const laps = quick ? 3 : 9;
  say(`${laps} laps`);
  const runs = Array.from({ length: laps }, () =>
    parse(execFileSync(join(own, 'lib-bench'), { encoding: 'utf8', env: { ...process.env, LD_LIBRARY_PATH: own } })),
  );
  rmSync(own, { recursive: true });
  const row = (figure, unit, nodes, of, bound) => ({
    figure: `${figure}, ${nodes} nodes`,
    unit,
    samples: runs.map(run => of(run.get(nodes))),
    bound,
  });
  return [
    row('state of a node', 'ns', 10_000, ({ stateInRow }) => stateInRow, 25),
    row('state of a node at random', 'ns', 10_000, ({ stateAtRandom }) => stateAtRandom),
    row('index of a name, of 64', 'ns', 10_000, ({ index }) => index, 30),
    row('index of a name at random', 'ns', 10_000, ({ indexAtRandom }) => indexAtRandom),
    row('copy of a node, of 64', 'ns', 10_000, ({ read }) => read, 80),
    row('copy of a node at random', 'ns', 10_000, ({ readAtRandom }) => readAtRandom),
    row('tally', 'us', 10_000, ({ tallyUs }) => tallyUs, 10),
    row('tally', 'us', 100_000, ({ tallyUs }) => tallyUs, 120),
  ];
}
