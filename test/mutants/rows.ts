// Small wrong changes, and the test that must fall for each. `npm run mutants` makes them. No test of its own.

/** In this file this text, which stands there once, becomes that; then the test ROOM/NAME falls. */
interface Mutant {
  readonly file: string;
  readonly was: string;
  readonly becomes: string;
  readonly test: string;
}

type Row = readonly [file: string, was: string, becomes: string, test: string];

const ROWS: readonly Row[] = [
  [
    'src/options/values.ts',
    'Math.max(nodes, (share * total) / ALL_NODES)',
    'nodes + (share * total) / ALL_NODES',
    'cli/check',
  ],
  ['src/receiver/forget.ts', "after.get(name) === 'never'", "after.get(name) === 'silent'", 'receiver/nodelist'],
  [
    'src/changes/changes.ts',
    'this.#receiver.startedNs !== startedNs',
    'this.#receiver.startedNs === startedNs',
    'cli/events',
  ],
  ['c/base/optionvalues.c', 'for (size_t i = part.len; i < 3; i++) thousandths *= 10;', '', 'cli/shortverbs'],
];

export const MUTANTS: readonly Mutant[] = ROWS.map(([file, was, becomes, test]) => ({ file, was, becomes, test }));
