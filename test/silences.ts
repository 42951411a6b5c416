// Nodes that die by chance, and racks that die at once, as often as is asked for: how often it is said of either that they fell silent
// together. Over the pure rule (src/telling/together.ts), without a board or a clock. No test of its own.

import { fellTogether } from '../src/telling/together.js';
import { random } from './brokenboards.js';

/** After how many intervals a node is uncertain, and after how many it is silent: the usual limits. */
const UNCERTAIN_AFTER = 4.5;
const SILENT_AFTER = 10.5;
/** Said at most, as by `beoboard status`. */
const GROUPS = 3;
/** Nodes that died one by one over the last month, s: a board has such, too. */
const LONG_DEAD = 20;
const MONTH_S = 30 * 86_400;

/** When nodes died, in s; each had last reported at some moment of the interval before. */
type Deaths = readonly number[];

/** A source of chance: numbers from 0 to 1. */
export type Chance = () => number;

export function chanceOf(seed: number): Chance {
  const next = random(seed);
  return () => next(2 ** 31) / 2 ** 31;
}

/** When they reported last, s. */
function lastReports(deaths: Deaths, intervalS: number, chance: Chance): number[] {
  return deaths.map(at => at - intervalS * chance());
}

/** What is said at that moment: the last reports of each group. */
function said(lasts: readonly number[], intervalS: number, at: number): number[][] {
  const intervalMs = 1000 * intervalS;
  const nodes = lasts
    .map(last => ({ last, ageMs: 1000 * (at - last), intervalMs }))
    .filter(({ ageMs }) => ageMs >= UNCERTAIN_AFTER * intervalMs)
    .map(node => ({ ...node, isSilent: node.ageMs >= SILENT_AFTER * intervalMs }));
  return fellTogether(nodes, GROUPS).map(group => group.map(({ last }) => last));
}

/** So many nodes die one by one, each at any moment of that time: whether it is ever said that some fell together. */
function isSaidOfSingle(count: number, overS: number, intervalS: number, chance: Chance): boolean {
  const deaths = Array.from({ length: count }, () => overS * chance());
  const old = Array.from({ length: LONG_DEAD }, () => -MONTH_S * chance());
  const lasts = lastReports([...deaths, ...old], intervalS, chance);
  // What is said changes for the worse when one more is silent.
  const looks = lasts.slice(0, count).map(last => last + SILENT_AFTER * intervalS);
  return looks.some(at => said(lasts, intervalS, at).length > 0);
}

/**
 * A rack dies at once, while others die one by one at that rate per interval: whether nine in ten of it are in one group as soon as all of it is
 * silent. Not all: the window that holds most nodes may leave one of it out and take two others.
 */
function isSaidOfRack(count: number, rate: number, intervalS: number, chance: Chance): boolean {
  const at = (SILENT_AFTER + 1) * intervalS;
  const others: number[] = [];
  const gap = () => (-Math.log(1 - chance()) / rate) * intervalS;
  if (rate > 0) for (let death = -100 * intervalS + gap(); death < at; death += gap()) others.push(death);
  const rack = lastReports(new Array(count).fill(0), intervalS, chance);
  const groups = said([...rack, ...lastReports(others, intervalS, chance)], intervalS, at);
  return groups.some(group => rack.filter(last => group.includes(last)).length >= 0.9 * count);
}

/** How many of so many trials are told. */
function times(trials: number, isSaid: () => boolean): number {
  let told = 0;
  for (let i = 0; i < trials; i++) told += Number(isSaid());
  return told;
}

/** Of so many trials in which that many nodes die one by one over that time, in how many a group is said to have fallen together. */
export function falselySaid(trials: number, count: number, overS: number, intervalS: number, chance: Chance): number {
  return times(trials, () => isSaidOfSingle(count, overS, intervalS, chance));
}

/** Of so many trials in which a rack dies beside so many others per interval, in how many that is said. */
export function rightlySaid(trials: number, count: number, rate: number, intervalS: number, chance: Chance): number {
  return times(trials, () => isSaidOfRack(count, rate, intervalS, chance));
}
