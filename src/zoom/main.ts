// The verb `zoom`: one node in detail. Asks it again and again, and shows what it does between two answers, as a chart
// or as lines.

import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import type { Unit } from '../readings/units.js';
import { pause } from '../service/pause.js';
import { onStdoutGone } from '../service/process.js';
import { readKeys } from '../terminal/keystrokes.js';
import { followStops, Screen } from '../terminal/screen.js';
import { painter } from '../terminal/style.js';
import { Failure } from '../text/failure.js';
import { hasScreen, json } from '../text/output.js';
import { monCommand, NodeLink } from './nodelink.js';
import { type Heard, openRecording, SampleRecorder } from './recording.js';
import { ASKED_MASK, SampleReader, SERVER_MASK, type ToldName, toldValues, type ZoomSample } from './samplevalues.js';
import { COLUMN_MS, chart, type Heading, History, headingText } from './zoomchart.js';

export const verb = defineVerb({
  name: 'zoom',
  options: ['rate', 'for', 'via', 'at', 'csv', 'json', 'record', 'play', 'color', 'config'],
  arguments: ['[node]'],
  examples: [
    'beoboard zoom node017',
    'beoboard zoom node017 --rate 500 --for 30s --csv >node017.csv',
    "beoboard zoom node017 --via 'sudo -u monitor ssh'",
    'beoboard zoom --at 10.0.0.17 --record jitter.jsonl',
    'beoboard zoom --play jitter.jsonl',
  ],
  notes: `It runs ssh NODE beoboard-mon --stdio and asks again and again until it is stopped. beoboard-mon must be installed on the node.
Without a node it watches this machine. --at asks a server that listens, without ssh; if that server has several nodes, name one of them.
The kernel counts CPU time in jiffies of 10 ms, so CPU shares are over the last 100 ms. All other values are between two samples.
At the end, and in the title, it says what it costs the node: the CPU time of beoboard-mon. What sshd uses comes on top.
q, Ctrl-C and --for stop it; a second Ctrl-C stops it at once. Exit codes: 0 done, 1 no answer, a broken link or a bad recording, 2 usage.`,
});

type ZoomOptions = ValuesOf<typeof verb>;

/** The time between two looks at the cost on the node, ms. */
const COST_EVERY_MS = 1000;
/** How late a question may be and still be made up for, ms: timers come late. */
const CATCH_UP_MS = 20;
/**
 * When the link ends, it may be by the same Ctrl-C as ours, because that goes to all processes in the foreground: for
 * so long we wait for our own signal, ms. Signals within that time count as one.
 */
const SAME_END_MS = 200;

interface SampleSource {
  reader: SampleReader;
  heard: AsyncGenerator<Heard>;
  keep(one: Heard): Promise<void>;
  /** Counters so far; also of questions that were left out because the last one was not answered yet. */
  readonly progress: { samples: number; ms: number; leftOut: number };
  close(): Promise<void>;
}

const UNITS: ReadonlyMap<ToldName, Unit> = new Map(toldValues.map(({ name, unit }) => [name, unit]));

async function live(
  options: ZoomOptions,
  node: string | undefined,
  stop: AbortSignal,
  lasts: number,
): Promise<SampleSource> {
  const { at, via, rate, record } = options;
  const recorder = record === undefined ? undefined : await SampleRecorder.prepare(record);
  const command = monCommand(rate);
  const local = () => NodeLink.run('this machine', ['sh', '-c', `exec ${command.join(' ')}`]);
  const link =
    at !== undefined
      ? NodeLink.connect(at)
      : node === undefined
        ? local()
        : NodeLink.run(node, [...via, node, ...command]);
  const stopped = () => void link.close();
  stop.addEventListener('abort', stopped, { once: true });
  const close = async () => {
    stop.removeEventListener('abort', stopped);
    await link.close();
    await recorder?.close();
  };
  const progress = { samples: 0, ms: 0, leftOut: 0 };
  async function* heard(): AsyncGenerator<Heard> {
    const begin = performance.now();
    let costMs = Number.NEGATIVE_INFINITY;
    const step = 1000 / rate;
    for (let due = 0; due <= lasts && !stop.aborted; due += step) {
      const left = begin + due - performance.now();
      if (left >= 1) await pause(left, stop);
      const now = performance.now() - begin;
      if (stop.aborted) return;
      const behind = Math.floor((now - due - CATCH_UP_MS) / step);
      if (behind > 0) {
        progress.leftOut += behind;
        due += behind * step;
      }
      // The cost of the last second is included if it is known.
      const withCost = now - costMs >= COST_EVERY_MS || due + step > lasts;
      if (withCost) costMs = now;
      const answer = await link.ask(`0x${(withCost ? ASKED_MASK | SERVER_MASK : ASKED_MASK).toString(16)}S`);
      // The same as in a recording, so that playing it shows the same.
      yield { ms: Math.round((performance.now() - begin) * 1000) / 1000, answer };
    }
  }
  try {
    const schema = await link.ask('#');
    const reader = new SampleReader(schema, node);
    recorder?.begin({ node, schema });
    return { reader, heard: heard(), keep: async one => recorder?.add(one), progress, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A recording, played at its own pace or all at once. */
async function played(
  file: string,
  node: string | undefined,
  paced: boolean,
  stop: AbortSignal,
  lasts: number,
): Promise<SampleSource> {
  const recording = await openRecording(file);
  async function* heard(): AsyncGenerator<Heard> {
    const begin = performance.now();
    for await (const one of recording.heard) {
      if (one.ms > lasts || stop.aborted) return;
      const left = begin + one.ms - performance.now();
      if (paced && left >= 1) await pause(left, stop);
      if (stop.aborted) return;
      yield one;
    }
  }
  try {
    const reader = new SampleReader(recording.schema, node ?? recording.node);
    const progress = { samples: 0, ms: 0, leftOut: 0 };
    return { reader, heard: heard(), keep: async () => undefined, progress, close: recording.close };
  } catch (error) {
    await recording.close();
    throw error;
  }
}

function csvLine({ ms, values }: ZoomSample): string {
  const cell = (value: number | undefined) => (value === undefined ? '' : String(Math.round(value * 1000) / 1000));
  return `${[ms, ...toldValues.map(({ name }) => values.get(name))].map(cell).join(',')}\n`;
}

const jsonLine = ({ ms, values }: ZoomSample) =>
  `${json({ t_ms: ms, ...Object.fromEntries(toldValues.map(({ name }) => [name, values.get(name)])) })}\n`;

async function each(
  { reader, heard, keep, progress }: SampleSource,
  take: (sample: ZoomSample) => Promise<void> | void,
): Promise<void> {
  for await (const one of heard) {
    const { ms, answer } = one;
    const sample = reader.take(answer, ms);
    await keep(one);
    if (sample === undefined) continue;
    progress.samples++;
    progress.ms = ms;
    await take(sample);
    // The samples of a recording come before anything else.
    if (progress.samples % 64 === 0) await turn();
  }
}

async function draw(
  source: SampleSource,
  heading: () => Heading,
  options: ZoomOptions,
  end: () => void,
): Promise<void> {
  const input = process.stdin.isTTY ? process.stdin : undefined;
  const screen = new Screen(process.stdout, input);
  const history = new History();
  const paint = painter(options.color);
  const show = () => screen.draw(chart(history, UNITS, heading(), screen.size, paint));
  let stops: ReturnType<typeof followStops> | undefined;
  const press = (text: string) => {
    for (const key of readKeys(text).keys) {
      if (key === 'q' || key === 'ctrl-c' || key === 'escape') end();
      if (key === 'ctrl-l') screen.clear();
      if (key === 'ctrl-z') stops?.suspend(0);
    }
  };
  const resized = () => {
    screen.clear();
    show();
  };
  const gone = () => input?.pause();
  let drawn = Number.NEGATIVE_INFINITY;
  try {
    await each(source, sample => {
      // Not before there is something to see: until then ssh may ask for a password.
      if (source.progress.samples === 1) {
        screen.enter();
        stops = followStops(screen, show);
        input?.setEncoding('utf8').on('data', press).on('error', gone);
        process.stdout.on('resize', resized);
      }
      history.add(sample);
      if (sample.ms - drawn < COLUMN_MS) return;
      drawn = sample.ms;
      show();
    });
  } finally {
    process.stdout.off('resize', resized);
    input?.off('data', press).off('error', gone);
    stops?.end();
    screen.leave();
  }
}

async function print(source: SampleSource, asCsv: boolean, stop: AbortSignal): Promise<void> {
  const write = async (line: string) => {
    if (process.stdout.write(line)) return;
    await once(process.stdout, 'drain', { signal: stop }).catch(() => undefined);
  };
  if (asCsv) await write(`${['t_ms', ...toldValues.map(({ name }) => name)].join(',')}\n`);
  await each(source, sample => write(asCsv ? csvLine(sample) : jsonLine(sample)));
}

function check(
  { at, play, record, csv, json }: ZoomOptions,
  node: string | undefined,
  given: ReadonlyMap<string, unknown>,
): void {
  const usage = (wrong: string) => new UsageError(wrong);
  if (csv && json) throw usage('--csv and --json are two forms of the same; leave one out');
  if (play !== undefined && (at !== undefined || record !== undefined || given.has('rate') || given.has('via')))
    throw usage('--play shows what was recorded; leave --at, --via, --rate and --record out');
  if (at !== undefined && given.has('via')) throw usage('--at asks a server that listens; leave --via out');
  if (node?.startsWith('-')) throw usage(`a node is not an option: write its name, not ${node}`);
  if (csv || json || hasScreen()) return;
  const where = process.stdout.isTTY ? 'in the foreground of a terminal that can be drawn on' : 'a terminal to draw on';
  throw usage(`stdout is not ${where}; write --csv or --json`);
}

export async function main(argv: string[]): Promise<number> {
  const { values: options, args, given } = parseVerb(verb, argv);
  const [node] = args;
  check(options, node, given);
  const stop = new AbortController();
  let ending = Number.POSITIVE_INFINITY;
  const end = () => {
    // A user who presses the key again does not want to wait.
    if (performance.now() - ending > SAME_END_MS) process.exit(1);
    ending = Math.min(ending, performance.now());
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  let isRead = true;
  onStdoutGone(() => {
    isRead = false;
    stop.abort();
  });
  const { signal } = stop;
  const lasts = options.for ?? Number.POSITIVE_INFINITY;
  const inLines = options.csv || options.json;
  let source: SampleSource | undefined;
  try {
    source =
      options.play === undefined
        ? await live(options, node, signal, lasts)
        : await played(options.play, node, !inLines, signal, lasts);
    const { reader, progress } = source;
    const isPlayed = options.play !== undefined;
    const heading = (): Heading => ({
      node: reader.node ?? node ?? 'this machine',
      ...{ rate: options.rate, cost: reader.cost, isPlayed, ...progress },
      atMs: isPlayed ? undefined : Date.now(),
    });
    try {
      if (inLines) await print(source, options.csv, signal);
      else await draw(source, heading, options, end);
    } finally {
      if (progress.samples > 0) process.stderr.write(`beoboard zoom: ${headingText(heading())}\n`);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Ctrl-C goes to all processes in the foreground: the signal that ended the link may be on its way to us.
    await pause(SAME_END_MS, signal);
    if (!signal.aborted) throw error;
  } finally {
    await source?.close();
    // Nothing can be written any more, and otherwise the end would wait for that.
    if (!isRead) process.exit(0);
  }
  return 0;
}
