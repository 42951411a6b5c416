// The time from sending a report until it is visible on the board, compared with the bare loop, which copies into slots
// of a shared file: among 10,000 reports a second, with the default tick and without one; and with so few reports that
// each is read when it arrives, with the cost of that.

import { rmSync } from 'node:fs';
import { cpuOf, folder, outputOf, sleep } from './processes.mjs';
import { compile, openBare, openReceiver, openStorm } from './receiving.mjs';

const RATE = 10_000;
const TICK_MS = 5;
/** The background rate, besides the reports of the probe. */
const FEW = 100;
const FEW_PAUSE = 'pause=20';

/** After so long latency.c takes a report for lost, ms. */
const LOST_MS = 1000;

/** The times of so many reports of a node in ms, sorted; a lost one counts as LOST_MS. */
export async function latencies(program, receiver, samples, ...how) {
  const told = await outputOf(program, [String(receiver.port), receiver.board, String(samples), ...how]);
  const times = told
    .trim()
    .split('\n')
    .map(line => (line === 'lost' ? LOST_MS : Number(line) / 1e6));
  if (times.length !== samples) throw new Error(`latency ended early: ${times.length} of ${samples}`);
  return times.sort((a, b) => a - b);
}

/** The time within which this share of the reports was visible. */
export const quantile = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];

export async function bench({ quick, say }) {
  const own = folder();
  const programs = compile(own);
  const [laps, samples] = quick ? [3, 1000] : [5, 2000];
  const few = 2 * FEW;
  const ways = [
    { who: 'receiver', open: () => openReceiver() },
    { who: 'bare loop', open: () => openBare(programs.bare, RATE), how: ['bare'] },
    { who: 'receiver, --drain 0ms', open: () => openReceiver('--drain', '0ms') },
    { who: 'bare loop without a drain interval', open: () => openBare(programs.bare, RATE, 'tick=0'), how: ['bare'] },
    { who: `receiver, ${few} reports a second`, rate: FEW, open: () => openReceiver(), how: [FEW_PAUSE] },
    {
      who: `bare loop without a drain interval, ${few} reports a second`,
      rate: FEW,
      open: () => openBare(programs.bare, FEW, 'tick=0'),
      how: ['bare', FEW_PAUSE],
    },
    {
      who: `bare loop, ${few} reports a second`,
      rate: FEW,
      open: () => openBare(programs.bare, FEW),
      how: ['bare', FEW_PAUSE],
    },
  ];
  const opened = [];
  for (const { who, open, rate = RATE, how = [] } of ways) {
    const receiver = await open();
    const storm = await openStorm(programs.storm, receiver.port, rate, rate, rate * 3600);
    storm.pause();
    // The others stand still: on two CPUs, of which the probe takes one, their heartbeats would be part of the result.
    process.kill(receiver.pid, 'SIGSTOP');
    opened.push({ who, how, receiver, storm, rate, seen: [], cpu: [] });
  }
  say(`${laps} times ${samples} reports to each of ${ways.length}`);
  for (let lap = 0; lap < laps; lap++)
    for (const { how, receiver, storm, rate, seen, cpu } of opened) {
      process.kill(receiver.pid, 'SIGCONT');
      storm.go();
      await sleep(0.5);
      const [began, before] = [performance.now(), cpuOf(receiver.pid)];
      seen.push(await latencies(programs.latency, receiver, rate === RATE ? samples : samples / 2, ...how));
      cpu.push((cpuOf(receiver.pid) - before) / (performance.now() - began) / 10);
      storm.pause();
      process.kill(receiver.pid, 'SIGSTOP');
    }
  for (const { storm, receiver } of opened) {
    process.kill(receiver.pid, 'SIGCONT');
    await storm.close();
    await receiver.close();
  }
  rmSync(own, { recursive: true });
  const [, , quickest, barest, seldom, bareSeldom] = opened;
  const of = ({ seen }, part) => seen.map(times => quantile(times, part));
  const p99 = of(quickest, 0.99).map((ms, i) => Math.min(ms, ms / (1.5 * of(barest, 0.99)[i])));
  return [
    ...opened.flatMap(way => {
      const { who } = way;
      const bounds =
        who === 'receiver'
          ? { 0.99: TICK_MS + 1 }
          : way === seldom || who === 'receiver, --drain 0ms'
            ? { 0.5: 0.1 }
            : {};
      return [0.5, 0.99, 0.999].map(part => ({
        figure: `${who}: visible after, p${part * 100}`,
        unit: 'ms',
        samples: of(way, part),
        ...(bounds[part] && { bound: bounds[part] }),
      }));
    }),
    {
      figure: 'receiver, --drain 0ms: the smaller of p99 in ms and p99 / (1.5 × p99 of the bare loop)',
      unit: '',
      samples: p99,
      bound: 1,
    },
    {
      figure: `${seldom.who}: p99 / that of the bare loop without a drain interval`,
      unit: '',
      samples: of(seldom, 0.99).map((ms, i) => ms / of(bareSeldom, 0.99)[i]),
      bound: 1.5,
    },
    ...opened
      .filter(({ rate }) => rate === FEW)
      .map(({ who, cpu }) => ({ figure: who, unit: '% of a core', samples: cpu })),
  ];
}
