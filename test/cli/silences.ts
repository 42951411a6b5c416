// Nodes that die at random, and racks that die at once, in many trials: how often the rule says of either that they
// fell silent together. Only the pure rule (src/changes/silences.ts), without a board or a clock. No test of its own.

import { fellTogether } from '../../src/changes/silences.js';
import { random } from '../kit/brokenboards.js';

/** The default limits in intervals: after how many a node is uncertain, and after how many it is silent. */
const UNCERTAIN_AFTER = 4.5;
const SILENT_AFTER = 10.5;
/** The maximum number of groups, as in `beoboard status`. */
const GROUPS = 3;
/** The number of nodes that died one by one during the last month, because real boards have such nodes, too. */
const LONG_DEAD = 20;
const MONTH_S = 30 * 86_400;

/** The times of nodes' deaths in s; the last report of each came at a random moment of the interval before. */
type Deaths = readonly number[];

/** A source of random numbers from 0 to 1. */
type Chance = () => number;

export function chanceOf(seed: number): Chance {
  const next = random(seed);
  return () => next(2 ** 31) / 2 ** 31;
}

/** The times of their last reports, s. */
function lastReports(deaths: Deaths, intervalS: number, chance: Chance): number[] {
  return deaths.map(at => at - intervalS * chance());
}

/** The groups at this moment: the last reports of the nodes in each. */
function said(lasts: readonly number[], intervalS: number, at: number): number[][] {
  const intervalMs = 1000 * intervalS;
  const nodes = lasts
    .map(last => ({ last, ageMs: 1000 * (at - last), intervalMs }))
    .filter(({ ageMs }) => ageMs >= UNCERTAIN_AFTER * intervalMs)
    .map(node => ({ ...node, isSilent: node.ageMs >= SILENT_AFTER * intervalMs }));
  return fellTogether(nodes, GROUPS).map(group => group.map(({ last }) => last));
}

/**
 * Lets `count` nodes die one by one at random times within `overS`; returns whether the rule ever says that some fell
 * together.
 */
function isSaidOfSingle(count: number, overS: number, intervalS: number, chance: Chance): boolean {
  const deaths = Array.from({ length: count }, () => overS * chance());
  const old = Array.from({ length: LONG_DEAD }, () => -MONTH_S * chance());
  const lasts = lastReports([...deaths, ...old], intervalS, chance);
  // It is enough to look when one more node becomes silent: only then can a wrong group appear.
  const looks = lasts.slice(0, count).map(last => last + SILENT_AFTER * intervalS);
  return looks.some(at => said(lasts, intervalS, at).length > 0);
}

/**
 * Lets a rack die at once, while others die one by one at a rate per interval; returns whether nine in ten of the rack
 * are in one group as soon as all of it is silent. Not all of it, because the window with the most nodes may leave out
 * one of the rack for two others.
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

/** The number of trials in which it is said. */
function times(trials: number, isSaid: () => boolean): number {
  let told = 0;
  for (let i = 0; i < trials; i++) told += Number(isSaid());
  return told;
}

/**
 * The number of trials in which `count` nodes die one by one within `overS`, and the rule says of some that they fell
 * together.
 */
export function falselySaid(trials: number, count: number, overS: number, intervalS: number, chance: Chance): number {
  return times(trials, () => isSaidOfSingle(count, overS, intervalS, chance));
}

/** The number of trials in which a rack dies while others die at a rate, and the rule says so. */
export function rightlySaid(trials: number, count: number, rate: number, intervalS: number, chance: Chance): number {
  return times(trials, () => isSaidOfRack(count, rate, intervalS, chance));
}
