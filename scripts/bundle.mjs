// Puts what `tsc` made of src/ into few files of CommonJS, dist/bin/: beoboard.cjs, and the parts that it loads when they are wanted, one
// for each verb and one for each set of modules that the same verbs share. Nothing else is different; packages and the addon stay where
// they are.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const into = join(root, 'dist', 'bin');
const PROGRAM = 'beoboard.cjs';

/** What a module says of its own place stays true: programs, package.json, packages and the addon are found from there. */
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
  // Nothing is left out. Rollup 4.68 takes an argument that all calls it has found leave out for one that is never given, and does not find
  // those of what `await import` gave: whole branches went. Modules hold little that nobody asks for.
  treeshake: false,
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
const { output } = await bundle.generate({
  format: 'cjs',
  generatedCode: 'es2015',
  banner: ({ isEntry }) => (isEntry ? '#!/usr/bin/env node' : ''),
  entryFileNames: PROGRAM,
  // A verb's main by its folder. A name tells the content: a program that has been started finds the parts that belong to it.
  chunkFileNames: ({ facadeModuleId, name }) =>
    `${facadeModuleId !== null && name === 'main' ? basename(dirname(facadeModuleId)) : name}-[hash].cjs`,
});
// Parts first.
const files = new Map(output.map(({ fileName, code }) => [fileName, code]).reverse());

// A service may start from here at this very moment, and a command that has been started wants more parts: each file is replaced at
// once, beoboard.cjs last, and what has been replaced stays for a while.
const HOUR_MS = 3_600_000;
mkdirSync(into, { recursive: true });
for (const [name, code] of files) {
  const path = join(into, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === code) continue;
  // Beside the folder: what a build that was killed leaves is no part of the package.
  const made = join(dirname(into), `${name}.${process.pid}`);
  writeFileSync(made, code, { mode: name === PROGRAM ? 0o755 : 0o644 });
  renameSync(made, path);
}
for (const name of readdirSync(into)) {
  const path = join(into, name);
  if (!files.has(name) && Date.now() - statSync(path).mtimeMs >= HOUR_MS)
    rmSync(path, { force: true, recursive: true });
}
