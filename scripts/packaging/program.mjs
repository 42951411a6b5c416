// The JavaScript of the program, for /usr/lib/beoboard and for npm: exactly what belongs to this build.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUILD_ONLY } from '../../packaging/packages.mjs';
import { below, put, root, work } from './common.mjs';

/** Files of dist/: parts of other builds may lie beside them. */
export function programFiles() {
  const bin = new Set(['beoboard.cjs']);
  for (const name of bin)
    for (const [, part] of readFileSync(join(root, 'dist', 'bin', name), 'utf8').matchAll(
      /require\('\.\/([^']+\.cjs)'\)/g,
    ))
      bin.add(part);
  const modules = below(join(root, 'dist', 'src')).filter(
    path => path.endsWith('.js') && existsSync(join(root, 'src', path.replace(/\.js$/, '.ts'))),
  );
  // The files that the wall's server sends to browsers.
  const page = below(join(root, 'dist', 'page')).map(name => join('dist', 'page', name));
  return [
    ...[...bin].map(name => join('dist', 'bin', name)),
    ...page,
    ...modules.map(path => join('dist', 'src', path)),
  ].sort();
}

/** Packages that the program needs at run time: their folders, names and licences. */
export function modules() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && !BUILD_ONLY.includes(basename(path)))
    .map(([path, { license, version }]) => ({ path, license, version, name: path.replace(/^node_modules\//, '') }));
}

/** The files of a package that are needed at run time, and its licence. */
const RUNS = /(\.[cm]?js|(^|\/)package\.json|(^|\/)LICEN[CS]E[^/]*)$/;
const NEVER_RUNS =
  /^bin\.js$|(^|\/)(tests?|benchmarks?|docs|examples?|node_modules|\.[^/]+)\/|\.(test|bench|config)\.[cm]?js$/;

/** Collects everything for /usr/lib/beoboard. */
export function assemble(processor) {
  const into = work(processor, 'program');
  for (const path of ['package.json', ...programFiles()]) put(join(root, path), join(into, path));
  const main = join(into, 'dist', 'bin', 'beoboard.cjs');
  // The system's Node.js, whatever comes first in PATH.
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, '#!/usr/bin/node'));
  for (const { path } of modules())
    for (const file of below(join(root, path)))
      if (RUNS.test(file) && !NEVER_RUNS.test(file)) put(join(root, path, file), join(into, path, file));
  put(work(processor, 'beoboard.node'), join(into, 'build', 'beoboard.node'));
}
