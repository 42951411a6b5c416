// Puts what `tsc` made of src/ into few files, dist/bin/: beoboard.cjs, and beside it what each verb needs. Beyond Node's
// own start a short verb then takes two thirds of the time: eight files to find instead of twenty, and no loader of ES modules.
// Nothing else is different; packages and the addon stay where they are.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const into = join(root, 'dist', 'bin');

/** What a module says of its own place stays true: programs, package.json and the addon are found from there. */
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
  input: { beoboard: join(root, 'dist', 'src', 'main.js') },
  external: id => !id.startsWith('.') && !id.startsWith('/'),
  plugins: [places],
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
const { output } = await bundle.generate({
  format: 'cjs',
  generatedCode: 'es2015',
  entryFileNames: '[name].cjs',
  // A verb's main by its folder: what a file is called must not change with the others.
  chunkFileNames: ({ facadeModuleId, name }) =>
    `${facadeModuleId !== null && name === 'main' ? basename(dirname(facadeModuleId)) : name}.cjs`,
});
// A service may start from here at this very moment: each file changes at once, if it changes, and the first one last.
mkdirSync(into, { recursive: true });
for (const { fileName, code } of [...output].reverse()) {
  const path = join(into, fileName);
  if (existsSync(path) && readFileSync(path, 'utf8') === code) continue;
  // Beside the folder: what a build that was killed leaves is no part of the package.
  const made = join(dirname(into), `${fileName}.${process.pid}`);
  writeFileSync(made, code, { mode: fileName === 'beoboard.cjs' ? 0o755 : 0o644 });
  renameSync(made, path);
}
const written = new Set(output.map(({ fileName }) => fileName));
for (const name of readdirSync(into))
  if (name.endsWith('.cjs') && !written.has(name)) rmSync(join(into, name), { force: true });
