// Trees of /proc and /sys with what machines of others have, made by tests, and what both senders report of them. No
// test.

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { memoryFolder, type Teardown } from '../kit/places.js';
import { prepare, readable } from '../kit/tree.js';
import { askC, askHere, differences } from '../kit/twosenders.js';

/** Files by their paths, as in `proc/stat` and `run/health`; null: what is there is removed, also a folder. */
export type Files = Readonly<Record<string, string | null>>;

interface Told {
  /** The fields that were measured, with bits and enums by name; `valid` is the list of sets. */
  report: ReturnType<typeof readable>;
  /** The lines of the log, with `ROOT` in place of the folder of the trees. */
  said: string;
}

/** A machine of test/fixtures on which some files are others, for both senders. The one in C has sanitizers. */
export class ForeignTrees {
  readonly root: string;
  readonly #sender: string;
  readonly #argv: string[];

  /** `pretend`: what is added to the machine's pretend file, tables alone. */
  constructor(t: Teardown, machine = 'vm', pretend = '') {
    this.#sender = compileSender(t, SANITIZED);
    this.root = memoryFolder(t);
    this.#argv = prepare(machine, this.root).filter(word => word !== 'send');
    appendFileSync(join(this.root, 'pretend.toml'), pretend);
  }

  /** Changes files of the tree of the tick before, and of that of the report. */
  write(before: Files, now: Files): void {
    for (const [tree, files] of Object.entries({ before, now }))
      for (const [path, text] of Object.entries(files)) {
        const at = join(this.root, tree, path);
        if (text === null) rmSync(at, { recursive: true, force: true });
        else {
          mkdirSync(dirname(at), { recursive: true });
          writeFileSync(at, text);
        }
      }
  }

  /** What both senders say alike. Throws if they differ. */
  async ask(...more: string[]): Promise<Told> {
    const argv = [...this.#argv, ...more];
    const [c, ts] = [askC(this.#sender, argv), await askHere(argv)];
    const found = differences(c, ts);
    if (c.code !== 0) found.push(`exit code ${c.code}: ${c.said}`);
    if (found.length > 0) throw new Error(found.join('\n'));
    return { report: readable(Buffer.from(c.report, 'hex')), said: c.said.replaceAll(this.root, 'ROOT') };
  }
}
