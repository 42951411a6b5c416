// The JavaScript of the program, for /usr/lib/beoboard and for npm: exactly what belongs to this build.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_ONLY } from '../../packaging/packages.mjs';
import { below, put, root, work } from './common.mjs';

/** Files of dist/: parts of other builds may lie beside them. */
export function programFiles() {
  const bin = new Set(['beoboard.cjs']);
  for (const name of bin)
    for (const [, part] of readFileSync(join(root, 'dist', 'bin', name), 'utf8').matchAll(/"\.\/([\w-]+\.cjs)"/g))
      bin.add(part);
  // The files that the wall's server sends to browsers.
  const page = below(join(root, 'dist', 'page')).map(name => join('dist', 'page', name));
  return [...[...bin].map(name => join('dist', 'bin', name)), ...page].sort();
}

/** Packages that are installed with the program: their folders, names and licences. */
function installed() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { license, version }]) => ({ path, license, version, name: path.replace(/^node_modules\//, '') }));
}
/** Those that the program needs at run time. */
export const modules = () => installed().filter(({ name }) => !BUILD_ONLY.includes(name));
/** Those whose headers are compiled into the addon. */
export const compiledIn = () => installed().filter(({ name }) => BUILD_ONLY.includes(name));

/** The licence of such a package. */
export const licenceOf = path =>
  ['LICENSE', 'LICENSE.md'].map(file => join(root, path, file)).find(file => existsSync(file));

/** The files of a package that are needed at run time, and its licence. */
const RUNS = /(\.[cm]?js|(^|\/)package\.json|(^|\/)LICENSE[^/]*)$/;

/** Collects everything for /usr/lib/beoboard. */
export function assemble(processor) {
  const into = work(processor, 'program');
  for (const path of ['package.json', ...programFiles()]) put(join(root, path), join(into, path));
  const main = join(into, 'dist', 'bin', 'beoboard.cjs');
  // The system's Node.js, whatever comes first in PATH.
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, '#!/usr/bin/node'));
  for (const { path } of modules())
    for (const file of below(join(root, path)))
      if (RUNS.test(file)) put(join(root, path, file), join(into, path, file));
  put(work(processor, 'beoboard.node'), join(into, 'build', 'beoboard.node'));
  for (const { path, name } of compiledIn()) put(licenceOf(path), join(into, 'build', `LICENSE.${name}`));
}
