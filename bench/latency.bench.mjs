// How long after it is sent a report can be seen on the board, among 10,000 a second: at the usual tick and without one, against the bare
// loop that copies into slots of a shared file.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { folder } from './processes.mjs';
import { compile, openBare, openReceiver, openStorm } from './receiving.mjs';

const RATE = 10_000;
const TICK_MS = 5;

/** The times in ms, sorted, of so many reports of a node; a lost one would be without end. */
export async function latencies(program, receiver, samples, ...how) {
  const child = spawn(program, [String(receiver.port), receiver.board, String(samples), ...how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  for await (const data of child.stdout) told += data;
  const times = told
    .trim()
    .split('\n')
    .map(line => (line === 'lost' ? Number.POSITIVE_INFINITY : Number(line) / 1e6));
  if (times.length !== samples) throw new Error(`latency ended early: ${times.length} of ${samples}`);
  return times.sort((a, b) => a - b);
}

/** The time within which this part of the reports could be seen. */
export const quantile = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];

export async function bench({ quick, say }) {
  const own = folder();
  const programs = compile(own);
  const [laps, samples] = quick ? [3, 1000] : [5, 2000];
  const ways = [
    { who: 'receiver', open: () => openReceiver() },
    { who: 'bare loop', open: () => openBare(programs.bare, RATE), how: ['bare'] },
    { who: 'receiver, --drain 0ms', open: () => openReceiver('--drain', '0ms') },
    { who: 'bare loop without a tick', open: () => openBare(programs.bare, RATE, 'tick=0'), how: ['bare'] },
  ];
  const opened = [];
  for (const { who, open, how = [] } of ways) {
    const receiver = await open();
    const storm = await openStorm(programs.storm, receiver.port, RATE, RATE, RATE * 3600);
    storm.pause();
    opened.push({ who, how, receiver, storm, seen: [] });
  }
  say(`${laps} times ${samples} reports to each of ${ways.length}`);
  for (let lap = 0; lap < laps; lap++)
    for (const { how, receiver, storm, seen } of opened) {
      storm.go();
      seen.push(await latencies(programs.latency, receiver, samples, ...how));
      storm.pause();
    }
  for (const { storm, receiver } of opened) {
    await storm.close();
    await receiver.close();
  }
  rmSync(own, { recursive: true });
  const [, , quickest, barest] = opened;
  const of = ({ seen }, part) => seen.map(times => quantile(times, part));
  const p99 = of(quickest, 0.99).map((ms, i) => Math.min(ms, ms / (1.5 * of(barest, 0.99)[i])));
  return [
    ...opened.flatMap(way => {
      const { who } = way;
      const bounds = who === 'receiver' ? { 0.99: TICK_MS + 1 } : who === 'receiver, --drain 0ms' ? { 0.5: 0.1 } : {};
      return [0.5, 0.99, 0.999].map(part => ({
        figure: `${who}: seen after, p${part * 100}`,
        unit: 'ms',
        samples: of(way, part),
        ...(bounds[part] && { bound: bounds[part] }),
      }));
    }),
    {
      figure: 'receiver, --drain 0ms: p99 in ms, or in 1.5 times that of the bare loop, whichever is less',
      unit: '',
      samples: p99,
      bound: 1,
    },
  ];
}
