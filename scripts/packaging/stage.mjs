// Lays out the files of a package as they will be installed, in the paths of Debian or rpm.

import { chmodSync, lstatSync, lutimesSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PACKAGES, PLACES, PROCESSORS } from '../../packaging/packages.mjs';
import { below, gzip, put, root, work, write } from './common.mjs';

/** A path, or all paths that match one with a * in its last part. */
function expand(path) {
  if (!path.includes('*')) return [path];
  const [before, behind] = basename(path).split('*');
  return readdirSync(dirname(path))
    .filter(name => name.startsWith(before) && name.endsWith(behind))
    .sort()
    .map(name => join(dirname(path), name));
}

/** All rows of the table. */
const ROWS = Object.values(PACKAGES).flatMap(({ files }) => files);

/** Folders of the sources that documents name, and where they are installed. */
const INSTALLED = ROWS.filter(
  ([from, to]) => from !== null && /^usr\/share\/beoboard\/.*\/$/.test(to) && /^packaging\/\w+$/.test(from),
).map(([from, to]) => [new RegExp(`(?<![\\w/])${from}\\b/?`, 'g'), `/${to}`]);

/** A document names the files of the sources by where they are installed. */
export const asInstalled = text => INSTALLED.reduce((all, [from, to]) => all.replace(from, to), text);

function install(file, to) {
  if (to.includes('/share/man/')) write(`${to}.gz`, gzip(readFileSync(file)));
  else if (to.includes('/share/doc/') && file.endsWith('.md')) write(to, asInstalled(readFileSync(file, 'utf8')));
  else put(file, to);
}

/** The files of a package in a folder, which is returned. */
export function stage(name, format, processor) {
  const { triplet } = PROCESSORS[processor];
  const into = work(format, processor, name);
  rmSync(into, { recursive: true, force: true });
  const places = { ...PLACES[format], format, lib: PLACES[format].lib.replace('{triplet}', triplet) };
  const placed = text => text.replace(/\{(\w+)\}/g, (all, word) => places[word] ?? all);
  const sourcesOf = from => expand(resolve(root, placed(from).replace('{built}', work(processor))));
  for (const [from, to] of PACKAGES[name].files) {
    const target = join(into, placed(to));
    if (from === null) mkdirSync(target, { recursive: true });
    else if (from.startsWith('-> ')) put(from, target);
    else
      for (const file of sourcesOf(from))
        if (statSync(file).isDirectory()) {
          const others = new Set(
            ROWS.filter(([row]) => row?.startsWith(`${from}/`)).flatMap(([row]) => sourcesOf(row)),
          );
          for (const inner of below(file).filter(
            path => !path.includes('__pycache__') && !others.has(join(file, path)),
          ))
            install(join(file, inner), join(target, inner));
        } else install(file, to.endsWith('/') ? join(target, basename(file)) : target);
  }
  return into;
}

/**
 * Sets the modes and times below a folder; times are those of SOURCE_DATE_EPOCH. What matches `executable` gets the
 * execute bit.
 */
export function settle(folder, executable, time = Number(process.env.SOURCE_DATE_EPOCH)) {
  for (const name of ['.', ...readdirSync(folder, { recursive: true })]) {
    const path = join(folder, name);
    const entry = lstatSync(path);
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || executable.test(`/${name}`) ? 0o755 : 0o644);
    lutimesSync(path, time, time);
  }
}
