// The memory that a process and all that it started take, seen from time to time. Plain JavaScript without
// dependencies, because it runs before there are any.

import { readdirSync, readFileSync, statfsSync } from 'node:fs';

const MIB = 2 ** 20;
/** How often it looks, ms: a look at twenty processes takes some 20 ms of CPU. */
const EVERY_MS = 2000;

/** The words of a file, after the name of the program, which may be several; none if it is not there. */
function wordsOf(path) {
  try {
    return readFileSync(path, 'utf8')
      .replace(/^.*\) /s, '')
      .split(/\s+/);
  } catch {
    return [];
  }
}

/** A process and what it started, and what that started: the pids of those whose parents still run. */
function family(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const parent = Number(wordsOf(`/proc/${name}/stat`)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [pid];
  for (const one of found) found.push(...(children.get(one) ?? []));
  return found;
}

/** What a process takes, memory that it shares counted by its part, MiB; 0 if it has ended or does not show it. */
function pssOf(pid) {
  const words = wordsOf(`/proc/${pid}/smaps_rollup`);
  const at = words.indexOf('Pss:');
  return at < 0 ? 0 : (Number(words[at + 1]) * 1024) / MIB;
}

/** What is taken of /dev/shm, and what is free there, MiB; undefined where there is none. */
export function sharedMemory() {
  try {
    const { bsize, blocks, bfree, bavail } = statfsSync('/dev/shm');
    return { taken: ((blocks - bfree) * bsize) / MIB, free: (bavail * bsize) / MIB };
  } catch {
    return undefined;
  }
}

/** The memory that this machine, or this container, has left, MiB. */
export function freeMemory() {
  const [, available = 'Infinity'] = /^MemAvailable: +(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  const limit = Number(wordsOf('/sys/fs/cgroup/memory.max')[0] ?? Number.NaN);
  const used = Number(wordsOf('/sys/fs/cgroup/memory.current')[0] ?? 0);
  return Math.min((Number(available) * 1024) / MIB, Number.isNaN(limit) ? Infinity : (limit - used) / MIB);
}

/** Looks at this process and its family until `end` is called, which returns the most of each, MiB; `last`: the last look. */
export function footprint() {
  const before = sharedMemory()?.taken ?? 0;
  const most = { pss: 0, shared: 0 };
  const last = { pss: 0, shared: 0 };
  const look = () => {
    last.pss = family(process.pid).reduce((sum, pid) => sum + pssOf(pid), 0);
    last.shared = (sharedMemory()?.taken ?? 0) - before;
    for (const what of ['pss', 'shared']) most[what] = Math.max(most[what], last[what]);
  };
  const looking = setInterval(look, EVERY_MS);
  return {
    last,
    end() {
      clearInterval(looking);
      return most;
    },
  };
}
