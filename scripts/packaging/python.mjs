// Wheel and source distribution of the Python module, by Debian's python3-build.

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { below, gzip, out, put, root, run, tar, version, work, write } from './common.mjs';
import { settle } from './stage.mjs';

/** Debian's, where its packages are. */
export const PYTHON = '/usr/bin/python3';
const MODULES = '/usr/lib/python3/dist-packages';
/** What it takes, and the Debian packages that have it. */
export const needs = [
  [PYTHON, 'python3'],
  [`${MODULES}/build/__main__.py`, 'python3-build'],
  [`${MODULES}/setuptools/build_meta.py`, 'python3-setuptools'],
  [`${MODULES}/wheel/wheelfile.py`, 'python3-wheel'],
];

/** Makes both in the output folder. */
export async function pythonPackages() {
  const source = work('python', 'source');
  const made = work('python', 'made');
  for (const path of below(join(root, 'python')).filter(path => /\.(py|typed|toml)$/.test(path)))
    put(join(root, 'python', path), join(source, path));
  put(join(root, 'LICENSE'), join(source, 'LICENSE'));
  settle(source, /^$/);
  await run(PYTHON, ['-m', 'build', '--no-isolation', '--outdir', made, source]);
  const [wheel] = readdirSync(made).filter(name => name.endsWith('.whl'));
  put(join(made, wheel), join(out, wheel));
  // The times and the owner of who made it are in what setuptools packs.
  const name = `beoboard-${version}`;
  const unpacked = work('python', 'unpacked');
  mkdirSync(unpacked);
  await run('tar', ['-xf', join(made, `${name}.tar.gz`), '-C', unpacked]);
  settle(unpacked, /^$/);
  const plain = work('python', `${name}.tar`);
  await tar(plain, unpacked, [name]);
  write(join(out, `${name}.tar.gz`), gzip(readFileSync(plain)));
  rmSync(work('python'), { recursive: true });
  return [join(out, wheel), join(out, `${name}.tar.gz`)];
}
