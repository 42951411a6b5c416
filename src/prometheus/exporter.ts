// Makes the documents for Prometheus, straight from the boards: first metrics of boards and receivers, then of nodes.
// Opens no port.

import { VERSION } from '../options/version.js';
import { NoBoard } from '../shm/noboard.js';
import { Page } from '../text/buffer.js';
import { type BoardScrape, boardFamilies, type ScrapedBoard } from './boards.js';
import { END, PAGE_BYTES, type Small, textOf, turn, writeSamples } from './exposition.js';
import { FAMILIES } from './families.js';
import { NODE_FAMILIES } from './nodefamilies.js';
import { type Format, ScrapePlan } from './plan.js';
import type { Scrape } from './request.js';
import { BufferPool, type Sample, takeSample } from './sample.js';
import type { SchedulerFamilies } from './schedulerfamilies.js';

/** Plans and pages that are kept for the next scrape. */
const KEPT = 8;
/** The length of a line, about, bytes. */
const LINE_BYTES = 80;
/** How often a board is looked at again if it was replaced meanwhile. */
const TRIES = 3;

type NameLabel = keyof ScrapedBoard['names'];

/** The pieces of a document, each valid until the next is asked for; undefined: not ready yet. */
type Document = Generator<Uint8Array | undefined>;

export class Exporter {
  /** `seconds`: the duration of the last scrape that was served completely, from its request on. */
  readonly done = { scrapes: 0, seconds: Number.NaN };
  readonly #plans = new Map<string, ScrapePlan>();
  readonly #pages: Page[] = [];
  readonly #pool = new BufferPool();

  /** `slurm`: the families about Slurm, of the nodes that are asked for. */
  constructor(
    readonly boards: readonly ScrapedBoard[],
    readonly slurm?: SchedulerFamilies,
  ) {}

  /** The document of `/metrics`. It has metrics of each board, also of one that cannot be read. */
  metrics({ collectors, selection }: Scrape, format: Format): Document {
    const own = collectors.includes('receiver') && selection.shard === 1;
    return this.#document(this.#plan(collectors), 'node', selection, format, own);
  }

  /** About how long a document is, by the lines that its nodes can have, bytes; without collectors `/node-metrics`. */
  sizeOf({ collectors, selection }: Pick<Scrape, 'selection'> & Partial<Scrape>): number {
    const plan = collectors === undefined ? this.#nodePlan : this.#plan(collectors);
    const lines = plan.blocks.reduce((sum, block) => sum + block.lines.length, 0);
    const nodes = this.boards.reduce((sum, { names }) => sum + names.node.names.length, 0) / selection.shards;
    return lines * Math.min(nodes, selection.names?.size ?? nodes) * LINE_BYTES;
  }

  /** The document of `/node-metrics`; it has no collectors to choose from. */
  nodeMetrics({ selection }: Pick<Scrape, 'selection'>, format: Format): Document {
    return this.#document(this.#nodePlan, 'instance', selection, format, false);
  }

  get #nodePlan(): ScrapePlan {
    return this.#planOf('node_', () => new ScrapePlan('node_', NODE_FAMILIES));
  }

  *#document(
    plan: ScrapePlan,
    label: NameLabel,
    selection: Scrape['selection'],
    format: Format,
    own: boolean,
  ): Document {
    const began = performance.now();
    const looks = this.boards.map(board => board.look(label));
    const page = this.#pages.pop() ?? new Page(PAGE_BYTES);
    const samples: Sample[] = [];
    try {
      page.length = 0;
      // The first bytes are sent before any node is read.
      if (own) {
        const scrapes = this.#scrapes(looks);
        const slurm = this.slurm?.of(scrapes, selection.names) ?? [];
        yield Buffer.from(textOf([...this.#own(), ...boardFamilies(scrapes), ...slurm], format));
      }
      for (const [i, board] of this.boards.entries()) {
        if (looks[i] instanceof NoBoard) continue;
        const sample = yield* this.#sample(board, label, plan, selection);
        if (sample !== undefined) samples.push(sample);
      }
      yield* writeSamples(plan, samples, format, page);
      yield* turn(page);
      if (END[format] !== '') yield Buffer.from(END[format]);
    } finally {
      for (const sample of samples) this.#pool.give(sample);
      if (this.#pages.length < KEPT) this.#pages.push(page);
    }
    this.done.scrapes++;
    this.done.seconds = (performance.now() - began) / 1000;
  }

  #scrapes(looks: readonly BoardScrape['nodeStates'][]): BoardScrape[] {
    return looks.map((nodeStates, i) => {
      const { cluster, names } = this.boards[i] as ScrapedBoard;
      return { cluster, names: names.node.names, nodeStates };
    });
  }

  *#sample(
    board: ScrapedBoard,
    label: NameLabel,
    plan: ScrapePlan,
    selection: Scrape['selection'],
  ): Generator<undefined, Sample | undefined> {
    try {
      for (let left = TRIES - 1; left >= 0; left--) {
        const sample = yield* takeSample(board.reader, board.names[label], plan, selection, this.#pool, left === 0);
        if (sample !== undefined) return sample;
        if (board.look(label) instanceof NoBoard) return undefined;
      }
    } catch (error) {
      // The board has disappeared since the look: the next scrape shows that.
      if (!(error instanceof NoBoard)) throw error;
    }
    return undefined;
  }

  #plan(collectors: Scrape['collectors']): ScrapePlan {
    const families = () => collectors.flatMap(collector => FAMILIES[collector]);
    return this.#planOf(collectors.join(), () => new ScrapePlan('beoboard_', families()));
  }

  #planOf(key: string, make: () => ScrapePlan): ScrapePlan {
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = make();
      if (this.#plans.size === KEPT) this.#plans.clear();
      this.#plans.set(key, plan);
    }
    return plan;
  }

  #own(): Small[] {
    const { user, system } = process.cpuUsage();
    const { scrapes, seconds } = this.done;
    const own = (name: string, help: string, value: number, labels = {}): Small => ({
      name: `beoboard_${name}`,
      help,
      samples: Number.isNaN(value) ? [] : [[labels, value]],
    });
    return [
      own('build_info', 'The version of beoboard that serves this; always 1.', 1, { version: VERSION }),
      own('exporter_scrapes_total', 'Scrapes that were served to their end.', scrapes),
      own('exporter_cpu_seconds_total', 'CPU time that the exporter has taken.', (user + system) / 1e6),
      own(
        'exporter_resident_memory_bytes',
        'Memory of the exporter, the board that it has mapped included.',
        process.memoryUsage.rss(),
      ),
      own('exporter_scrape_seconds', 'How long the scrape before this one took.', seconds),
    ];
  }
}
