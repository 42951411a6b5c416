// Shared by the tests of tearing: the C programs of c/test and c/test/proof, built from the tree or from a copy in which
// something was removed on purpose. No test of its own.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import tap from 'tap';
import { ended } from '../kit/children.js';
import { writerSources } from '../kit/csources.js';
import { folder, ROOT } from '../kit/places.js';
import { WHOLE } from '../kit/whole.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

const READING = ['board/reader.c', 'lib/memory.c', 'lib/node.c', 'lib/open.c', 'lib/live.c', 'judge/overview.c'];
/** Without board/writer.c, because programs that use the writer's internals include it. */
const WRITING = writerSources().filter(file => file !== 'board/writer.c');
const HOOKS = 'test/hooks.h';
/** Each program with its sources; `hooked`: with a call before every atomic access. */
const PROGRAMS = {
  torn: { sources: ['test/torn.c', 'board/writer.c', ...WRITING, ...READING], hooked: false },
  steps: { sources: ['test/steps.c', 'board/writer.c', ...WRITING, ...READING], hooked: false },
  weave: { sources: ['test/weave.c', ...WRITING, ...READING], hooked: true },
  litmus: { sources: ['test/proof/litmus.c', ...WRITING, ...READING], hooked: true },
  classics: { sources: ['test/proof/classics.c'], hooked: false },
};
export type Program = keyof typeof PROGRAMS;

const FLAGS = '-std=c11 -D_GNU_SOURCE -fno-strict-aliasing -Wall -Wextra -Wpedantic -Werror'.split(' ');
/** Only for the unchanged tree: where something was removed, the program itself has to find the error. */
const CHECKED = '-DBB_INVARIANTS';
export const SANITIZED = ['-O0', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

interface Build {
  compiler?: string | undefined;
  flags?: string[];
  /** Used instead of c/. */
  from?: Edited;
}

interface Ended {
  status: number | string;
  stdout: string;
  stderr: string;
}

async function run(command: string, args: string[], cwd = ROOT): Promise<Ended> {
  const { code: status, ...said } = await ended(spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] }));
  return { status, ...said };
}

/** Runs a program that was built. */
export type Run = (...args: (string | number)[]) => Promise<Ended>;

const C = join(ROOT, 'c');

/** The files that each source includes, and itself, relative to c/. */
const inclusions = new Map<string, Set<string>>();

function includedBy(source: string): Set<string> {
  const known = inclusions.get(source);
  if (known !== undefined) return known;
  const found = new Set([source]);
  inclusions.set(source, found);
  for (const [, name = ''] of readFileSync(join(C, source), 'utf8').matchAll(/^#include "(.*)"/gm))
    for (const file of includedBy(normalize(join(dirname(source), name)))) found.add(file);
  return found;
}

async function compile(compiler: string, args: string[], cwd: string): Promise<void> {
  const { status, stderr } = await run(compiler, args, cwd);
  if (status !== 0) throw new Error(`${compiler} ${args.join(' ')}: ${stderr}`);
}

/** Compiled sources of c/, by compiler, flags and source: programs share them, and an edited copy shares most of them. */
const objects = new Map<string, Promise<string>>();

function objectOf(source: string, compiler: string, flags: string[]): Promise<string> {
  const key = [compiler, ...flags, source].join(' ');
  const made = objects.get(key) ?? compileObject(source, compiler, flags);
  objects.set(key, made);
  return made;
}

async function compileObject(source: string, compiler: string, flags: string[]): Promise<string> {
  const object = join(folder(tap), `${basename(source)}.o`);
  await compile(compiler, [...flags, '-c', '-o', object, source], C);
  return object;
}

/** Whether what is compiled of a source is another in an edited copy of c/; `object` is that of the unedited one. */
async function isAnother(
  source: string,
  from: Edited,
  flags: string[],
  object: () => Promise<string>,
): Promise<boolean> {
  const functions = [...includedBy(source)].flatMap(file => from.functions.get(file) ?? []);
  if (functions.length === 0 || from.functions.has(source) || !flags.includes('-O0')) return functions.length > 0;
  // A header. Without optimising, of its functions those are there, by name, which the source uses, and no others.
  const compiled = readFileSync(await object());
  return functions.some(name => compiled.includes(name));
}

/** Compiles a program. */
export async function build(t: Teardown, name: Program, options: Build = {}): Promise<Run> {
  const { compiler = 'gcc', from } = options;
  const { sources, hooked } = PROGRAMS[name];
  const flags = [...FLAGS, ...(options.flags ?? (WHOLE ? ['-O2'] : ['-O0'])), ...(hooked ? ['-include', HOOKS] : [])];
  if (from === undefined) flags.push(CHECKED);
  const parts = sources.map(async source => {
    const object = () => objectOf(source, compiler, flags);
    return from !== undefined && (await isAnother(source, from, flags, object)) ? source : object();
  });
  const out = join(folder(t), name);
  await compile(compiler, [...flags, '-o', out, ...(await Promise.all(parts))], from?.path ?? C);
  return (...args) => run(out, args.map(String));
}

/** One or more lines of a file under c/, and their replacement. */
export type Edit = [file: string, from: string, to: string];

/** A copy of what our programs are made of, and the functions that are changed in it, by file. */
interface Edited {
  path: string;
  functions: Map<string, string[]>;
}

/** What these edits make of the files of c/, and the functions that they change; each must be possible in one place. */
export function textsOf(edits: Edit[]): Pick<Edited, 'functions'> & { texts: Map<string, string> } {
  const [texts, functions] = [new Map<string, string>(), new Map<string, string[]>()];
  for (const [file, from, replacement] of edits) {
    const parts = (texts.get(file) ?? readFileSync(join(C, file), 'utf8')).split(from);
    if (parts.length !== 2) throw new Error(`${parts.length - 1} times in c/${file}: ${from}`);
    texts.set(file, parts.join(replacement));
    const [, name] = [...`${parts[0]}${from}`.matchAll(/^[a-z].*?(\w+)\(/gm)].at(-1) ?? [];
    if (name === undefined) throw new Error(`in no function of c/${file}: ${from}`);
    functions.set(file, [...(functions.get(file) ?? []), name]);
  }
  return { texts, functions };
}

/** A copy of c/, as far as our programs are made of it, with these edits. */
export function edited(t: Teardown, edits: Edit[]): Edited {
  const { texts, functions } = textsOf(edits);
  const path = folder(t);
  for (const file of new Set(
    Object.values(PROGRAMS).flatMap(({ sources }) => sources.flatMap(s => [...includedBy(s)])),
  ))
    cpSync(join(C, file), join(path, file));
  cpSync(join(C, HOOKS), join(path, HOOKS));
  for (const [file, text] of texts) writeFileSync(join(path, file), text);
  return { path, functions };
}

/** After how many loads the reader in a scenario is cut off, if the general number is `loads`. */
export function loadsOf(scenario: string, loads: number): number {
  // The reader of a block repeats the same loads up to eight times.
  if (scenario === 'block') return 5;
  if (scenario.startsWith('sender')) return Math.min(loads, 9);
  // The reader of a node reads again if its report came by another link, and this second reading is the one that has to
  // be right.
  if (scenario === 'silent_read_returns') return Math.max(loads + 8, 20);
  return scenario.startsWith('silent_read') ? Math.ceil(1.5 * loads) : loads;
}

/** The scenarios of c/test/proof/litmus.c, each with the number of loads after which its reader is cut off. */
export async function scenarios(litmus: Run, loads: number): Promise<[scenario: string, loads: number][]> {
  const { stdout } = await litmus('list');
  return stdout
    .trim()
    .split('\n')
    .map(name => [name, loadsOf(name, loads)]);
}

/** The results of herd7 for a scenario's tests, compared with those of our own program. */
interface Compared {
  tests: number;
  outcomes: number;
  /**
   * Tests with other outcomes than ours; for a processor only those with additional ones, because it may allow less
   * than C11.
   */
  different: string[];
  /** Tests in which a wrong outcome is allowed. */
  wrong: string[];
}

const MODELS = { c: 'rc11.cat', aarch64: 'aarch64.cat' };

/** Runs herd7 on a scenario, in C11 or as compiled for a processor. */
export async function compare(
  t: Teardown,
  litmus: Run,
  scenario: string,
  loads: number,
  as: keyof typeof MODELS,
): Promise<Compared> {
  const to = folder(t);
  const written = await litmus('write', to, scenario, loads, as);
  if (written.status !== 0) throw new Error(`litmus: ${written.stderr}`);
  const compared: Compared = { tests: 0, outcomes: 0, different: [], wrong: [] };
  for (const file of readdirSync(to).filter(name => name.endsWith('.litmus'))) {
    const { stdout, stderr } = await run('herd7', ['-optace', 'true', '-model', MODELS[as], join(to, file)]);
    const told = /^States \d+\n(.*?)^(Ok|No)$/ms.exec(stdout);
    if (told === null) throw new Error(`herd7: ${file}: ${stdout}${stderr}`);
    const states = (told[1] ?? '').trim().split('\n');
    const ours = new Set(
      readFileSync(join(to, file.replace('.litmus', '.states')), 'utf8')
        .trim()
        .split('\n'),
    );
    compared.tests++;
    compared.outcomes += states.length;
    if (states.some(state => !ours.has(state)) || (as === 'c' && states.length !== ours.size))
      compared.different.push(file);
    if (told[2] === 'Ok') compared.wrong.push(file);
  }
  return compared;
}

/** Runs c/test/torn.c on a board together with a reader in TypeScript; returns the results of both. */
export async function tear(t: Teardown, torn: Run, board: string, kills: number, seed: number) {
  const reader = fork(join(ROOT, 'dist', 'test', 'board', 'tornreader.js'), [board]);
  t.teardown(() => {
    reader.kill('SIGKILL');
  });
  await once(reader, 'message');
  const ended = await torn(board, kills, seed, 4000);
  const told = once(reader, 'message');
  reader.send('end');
  const [{ looks, fault }] = (await told) as [{ looks: number; fault?: string }];
  return { ...ended, looks, fault };
}
