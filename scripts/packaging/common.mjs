// What the makers of packages share: where things lie, running commands, copying files.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { end, finished } from '../progress.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The request: formats, processors and packages, and the output folder. */
export const { words, out } = (() => {
  try {
    const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
    return {
      words: positionals,
      out: values.out === undefined ? join(root, 'build', 'packages') : resolve(values.out),
    };
  } catch (error) {
    return fail(error.message);
  }
})();
/** The intermediate files, beside the output: a folder for each processor, and one for each format. */
export const work = (...names) => join(`${out}.work`, ...names);
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
export const { version } = manifest;

/** Ends with one line for people. */
export function fail(message) {
  end();
  console.error(`package: ${message}`);
  process.exit(1);
}

/** Runs a command and returns what it wrote to stdout; if it fails, all its output is shown. */
export async function run(command, args, options = {}) {
  const { code, stdout, output } = await finished(command, args, { cwd: root, ...options });
  if (code !== 0) fail(`${command} ${args.join(' ')} failed:\n${output}`);
  return stdout;
}

/** Every file and link below a folder, relative to it, in a fixed order. */
export const below = folder =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap(entry =>
      entry.isDirectory() ? below(join(folder, entry.name)).map(path => join(entry.name, path)) : [entry.name],
    )
    .sort();

export function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const linked = path => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
};

/** Copies a file, or a link as a link; `-> TARGET` makes one. */
export function put(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  const target = from.startsWith('-> ') ? from.slice(3) : linked(from);
  if (target !== undefined) symlinkSync(target, to);
  else copyFileSync(from, to);
}

/** Packs what is in a folder, in a fixed order, as root's, and of one time. */
export const tar = (file, folder, names, time = Number(process.env.SOURCE_DATE_EPOCH)) =>
  run('tar', [
    ...['-cf', file, '--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu', `--mtime=@${time}`],
    ...['-C', folder, ...names],
  ]);

/** By Debian's gzip: what Node.js packs depends on its version. */
export const gzip = content => execFileSync('gzip', ['-9nc'], { input: Buffer.from(content) });
