// What tests compile of c/: once for each compiler and its flags, whoever needs it. No test of its own.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { lacks } from './lacking.js';
import { folder, ROOT, type Teardown } from './places.js';
import { NOT_WHOLE, todayOf, WHOLE } from './whole.js';

/** How to compile: variables for make such as `CC`, `CFLAGS` and `LDFLAGS`. */
export type Make = Record<string, string>;

/** Compiling takes less than half as long as with -O1, and most programs of tests run for less than that. */
const QUICKLY = '-O0 -g1';
/** But this optimises what they compute with most. */
const CFLAGS_HASH = '-O2';
/** With sanitizers; each error that they find ends the program. */
export const SANITIZED: Make = {
  CC: 'gcc',
  CFLAGS: `${QUICKLY} -fsanitize=address,undefined -fno-sanitize-recover=all`,
  CFLAGS_HASH,
  LDFLAGS: '',
};
/** -Wno-tsan: gcc warns that TSan does not model fences. Every shared word is atomic, so no verdict depends on them. */
export const RACES: Make = { CC: 'gcc', CFLAGS: `${QUICKLY} -fsanitize=thread -Wno-tsan`, CFLAGS_HASH, LDFLAGS: '' };
/** With the system's C library, so that a test can preload its own functions; in the rest by the other compiler. */
export const DYNAMIC: Make = {
  CC: WHOLE && !lacks('', 'clang') ? 'clang' : 'gcc',
  CFLAGS: QUICKLY,
  CFLAGS_HASH,
  LDFLAGS: '',
};
/** With sanitizers in the rest. Each start with them takes 30 ms, so `npm test` has them where inputs are made up. */
export const CHECKED: Make = WHOLE ? SANITIZED : DYNAMIC;
/** Why `INSTALLED` is not what is shipped, whose size and memory are promised. */
export const NO_MUSL = NOT_WHOLE || lacks('musl-tools', 'musl-gcc');
/** What is installed; `npm test` compiles everything two ways only, this one and with sanitizers. */
export const INSTALLED: Make = WHOLE ? { CC: lacks('', 'musl-gcc') ? 'gcc' : 'musl-gcc' } : DYNAMIC;

/** A way to compile for a test that compares what several make. */
interface Build {
  name: string;
  what: string;
  how: Make;
  /** The emulator for programs of another processor, and its arguments. */
  under: readonly string[];
  skip: string | false;
}

/** The environment variable with which a test takes every build; see test/project/matrix.long.test.ts. */
export const MATRIX = 'BEOBOARD_TEST_MATRIX';
/** There, each compiler optimises. */
const IN_MATRIX = process.env[MATRIX] !== undefined;

const MUSL = `/usr/include/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-musl`;
const BUILDS = {
  installed: {
    what: 'gcc, musl: what is installed',
    how: { CC: 'musl-gcc' },
    packages: 'musl-tools',
    needs: ['musl-gcc'],
  },
  sanitized: { what: 'gcc, address and undefined behaviour', how: SANITIZED, packages: 'gcc', needs: ['gcc'] },
  races: { what: 'gcc, threads', how: RACES, packages: 'gcc', needs: ['gcc'] },
  clang: {
    what: "clang, with the system's C library",
    how: IN_MATRIX ? { CC: 'clang', LDFLAGS: '' } : DYNAMIC,
    packages: 'clang',
    needs: ['clang'],
  },
  aarch64: {
    what: 'gcc for aarch64, run by qemu',
    how: { CC: 'aarch64-linux-gnu-gcc', ...(IN_MATRIX ? {} : { CFLAGS: QUICKLY, CFLAGS_HASH }) },
    under: ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'],
    packages: 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user',
    needs: ['aarch64-linux-gnu-gcc', 'qemu-aarch64'],
  },
  dynamic: {
    what: "gcc, with the system's C library",
    how: WHOLE ? { CC: 'gcc', LDFLAGS: '' } : DYNAMIC,
    packages: 'gcc',
    needs: ['gcc'],
  },
  clangMusl: {
    what: 'clang, musl',
    how: { CC: `clang -nostdlibinc -isystem ${MUSL}`, LINK: 'musl-gcc' },
    packages: 'clang musl-tools',
    needs: ['clang', 'musl-gcc'],
  },
};

type Name = keyof typeof BUILDS;

/** What every machine can compile that can compile the addon. */
const ANYWHERE: readonly Name[] = ['dynamic'];

const byDays = ([first, ...more]: readonly Name[]) => [first, ...todayOf(more, more.length)];

/** These have no headers of the kernel, which the receiver wants. */
export const OF_MUSL: readonly Name[] = ['installed', 'clangMusl'];

/**
 * The builds that a test is run with: the usual ones, of which each finds what no other finds, of more than two the first
 * and by days the others; in `npm test` one, and in the matrix all but those that there cannot be.
 */
export const builds = (usual: readonly Name[], never: readonly Name[] = []): Build[] =>
  Object.entries<Omit<Build, 'name' | 'skip' | 'under'> & { under?: string[]; packages: string; needs: string[] }>(
    BUILDS,
  )
    .filter(([name]) => IN_MATRIX || (WHOLE ? byDays(usual) : ANYWHERE).some(one => one === name))
    .filter(([name]) => never.every(one => one !== name))
    .map(([name, { packages, needs, ...build }]) => ({ name, under: [], ...build, skip: lacks(packages, ...needs) }));

/** What this process has made: the sources of a running test do not change. */
const made = new Map<string, string>();

/**
 * Makes goals in a folder of c/, and returns the folder of what was made: `OUT` in a goal. It stays in build/, because
 * many test files need the same, in this run and in later ones, and make compiles only what is out of date. A lock lets
 * one process at a time run make. A warning fails it, the linker's as well.
 */
export function makeIn(room: string, how: Make, ...goals: string[]): string {
  const words = Object.entries({ CC: 'gcc', ...how })
    .map(([name, value]) => `${name}=${value}`)
    .sort();
  const asked = [room, ...words, ...goals].join('\n');
  const before = made.get(asked);
  if (before !== undefined) return before;
  // Make does not notice another version of the compiler.
  const { stdout: version } = spawnSync((how.CC ?? 'gcc').split(' ')[0] ?? '', ['--version'], { encoding: 'utf8' });
  const key = createHash('sha256')
    .update([version, ...words].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const out = join(ROOT, 'build', 'test', room || 'c', key);
  mkdirSync(out, { recursive: true });
  // For make a blank ends a name, so it does not get to see the path of the clone.
  const within = join(ROOT, 'c', room);
  const seen = relative(within, out);
  const wanted = goals.map(goal => goal.replace(/^OUT\//, `${seen}/`));
  const command = ['make', '-s', '-j2', '-C', within, `OUT=${seen}`, ...words, ...wanted];
  const { status, error, stdout, stderr } = spawnSync('flock', [out, ...command], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`${command.join(' ')}: ${error ?? ''}\n${stdout}${stderr}`);
  made.set(asked, out);
  return out;
}

/** The path of a program of c/ for tests, by its goal there without OUT/, or of a library to preload (`….so`). */
export const testProgram = (name: string, how: Make = WHOLE ? {} : DYNAMIC): string =>
  preloadable(join(makeIn('', how, `OUT/${name}`), name));

/** A library where it can be preloaded, because for the linker a blank ends a name; another file stays where it is. */
export function preloadable(path: string): string {
  if (!path.endsWith('.so') || !path.includes(' ')) return path;
  const own = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  process.once('exit', () => rmSync(own, { recursive: true, force: true }));
  const to = join(own, basename(path));
  copyFileSync(path, to);
  return to;
}

/** Copies what was made, because any user must be able to run it; returns the copy. */
export function copyOf(t: Teardown, program: string): string {
  const out = folder(t);
  chmodSync(out, 0o755);
  const to = join(out, basename(program));
  copyFileSync(program, to);
  chmodSync(to, 0o755);
  return to;
}

/** Compiles a program of a folder of c/; returns the path of a copy. */
export const compiled = (t: Teardown, room: string, program: string, how: Make = INSTALLED): string =>
  copyOf(t, join(makeIn(room, how, `OUT/${program}`), program));

/** With sanitizers it is made of the objects that are fuzzed, for there are hardly any others. */
export const compileSender = (t: Teardown, how?: Make) =>
  compiled(t, how === SANITIZED ? 'test/fuzz' : 'sender', 'beoboard-send', how);
export const compileMon = (t: Teardown, how?: Make) => compiled(t, 'mon', 'beoboard-mon', how);
