// Bundles the output of `tsc` for src/ into few CommonJS files in dist/bin/: beoboard.cjs, and the parts that it loads
// on demand, one for each verb and one for each set of modules that the same verbs share. Nothing else changes;
// packages and the addon stay where they are. The page of the wall goes to dist/page/: one script, and the other files
// unchanged.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const into = join(root, 'dist', 'bin');
const PROGRAM = 'beoboard.cjs';

/** Paths relative to a module stay valid: programs, package.json, packages and the addon are found by them. */
const places = {
  name: 'places',
  resolveImportMeta(property, { moduleId }) {
    const path = JSON.stringify(relative(into, moduleId));
    return property === 'url'
      ? `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${path})).href`
      : null;
  },
};

const bundle = await rollup({
  input: join(root, 'dist', 'src', 'main.js'),
  external: id => !id.startsWith('.') && !id.startsWith('/'),
  plugins: [places],
  // No tree shaking. Rollup 4.68 assumes that an argument which all calls it has found leave out is never given, and
  // does not find the calls of functions from `await import`: whole branches were removed. Modules contain little
  // unused code.
  treeshake: false,
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
const { output: parts } = await bundle.generate({
  format: 'cjs',
  generatedCode: 'es2015',
  banner: ({ isEntry }) => (isEntry ? '#!/usr/bin/env node' : ''),
  entryFileNames: PROGRAM,
  // The main of a verb by its folder. A name contains a hash of the content: a program that has been started finds its
  // own parts.
  chunkFileNames: ({ facadeModuleId, name }) =>
    `${facadeModuleId !== null && name === 'main' ? basename(dirname(facadeModuleId)) : name}-[hash].cjs`,
});

const page = await rollup({
  input: join(root, 'dist', 'src', 'web', 'page', 'main.js'),
  treeshake: false, // As above.
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
const { output: pageParts } = await page.generate({ format: 'es', entryFileNames: 'page.js' });
const source = join(root, 'src', 'web', 'page');
const besides = readdirSync(source).filter(name => /\.(html|css|svg)$/.test(name));

// A service may start at this moment, and a running command may load more parts: each file is replaced atomically,
// beoboard.cjs last, and replaced files stay for a while.
const HOUR_MS = 3_600_000;
/** Writes files, by name, into a folder, in this order. */
function put(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const [name, code] of files) {
    const path = join(folder, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === code) continue;
    // Beside the folder: the remains of a killed build are not part of the package.
    const made = join(dirname(folder), `${name}.${process.pid}`);
    writeFileSync(made, code, { mode: name === PROGRAM ? 0o755 : 0o644 });
    renameSync(made, path);
  }
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!files.has(name) && Date.now() - statSync(path).mtimeMs >= HOUR_MS)
      rmSync(path, { force: true, recursive: true });
  }
}

put(
  join(root, 'dist', 'page'),
  new Map([
    ...pageParts.map(({ fileName, code }) => [fileName, code]),
    ...besides.map(name => [name, readFileSync(join(source, name), 'utf8')]),
  ]),
);
// Parts first.
put(into, new Map(parts.map(({ fileName, code }) => [fileName, code]).reverse()));
