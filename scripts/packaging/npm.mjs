// The package for npm, with an addon for each processor, so that nothing has to be compiled if one of them fits.

import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSORS } from '../../packaging/packages.mjs';
import { below, manifest, out, put, root, run, version, work } from './common.mjs';
import { programFiles } from './program.mjs';
import { settle } from './stage.mjs';

/** Without a check for a newer npm; errors are shown. */
const QUIETLY = ['--no-update-notifier', '--loglevel', 'error'];

/** Makes it, with the addons of these processors. */
export async function npmPackage(processors) {
  const into = work('npm');
  rmSync(into, { recursive: true, force: true });
  const names = readdirSync(root);
  // What package.json lists, but from dist/ only what belongs to this build.
  for (const wanted of ['package.json', ...manifest.files]) {
    // npm itself leaves out what is listed with an exclamation mark.
    if (/^(dist\/|!|prebuilds$)/.test(wanted)) continue;
    const [folder, pattern] = wanted.split('/*');
    const path = join(root, folder);
    if (pattern === undefined && names.includes(wanted) && statSync(path).isFile()) put(path, join(into, wanted));
    else
      for (const file of below(path))
        if (file.endsWith(pattern ?? '') && (pattern === undefined || !file.includes('/')))
          put(join(path, file), join(into, folder, file));
  }
  for (const path of programFiles()) put(join(root, path), join(into, path));
  for (const processor of processors) {
    const { node } = PROCESSORS[processor];
    put(work(processor, 'beoboard.node'), join(into, 'prebuilds', `linux-${node}`, 'beoboard.node'));
  }
  settle(into, /\/beoboard\.cjs$/);
  await run('npm', ['pack', ...QUIETLY, '--ignore-scripts', '--pack-destination', out], { cwd: into });
  return join(out, `beoboard-${version}.tgz`);
}

/**
 * npm's list of the contents (CycloneDX). Its serial number and time, which differ each time, are replaced by those of
 * the commit.
 */
export async function bill(id) {
  const found = JSON.parse(
    await run('npm', ['sbom', ...QUIETLY, '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']),
  );
  found.serialNumber = `urn:uuid:${id.slice(0, 8)}-${id.slice(8, 12)}-5${id.slice(13, 16)}-a${id.slice(17, 20)}-${id.slice(20, 32)}`;
  found.metadata.timestamp = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000).toISOString();
  // npm uses the folder's name.
  found.metadata.component.name = manifest.name;
  const file = join(out, `beoboard-${version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  return file;
}
