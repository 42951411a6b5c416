// Puts what `tsc` made of src/ into few files, dist/bin/: the parts of the program, one for each verb and one for each set of modules
// that the same verbs share, and beoboard.cjs, which loads them (launch.cjs). Nothing else is different; packages and the addon stay
// where they are.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const into = join(root, 'dist', 'bin');

/** What a module says of its own place stays true: programs, package.json, packages and the addon are found from there. */
const places = {
  name: 'places',
  transform(code, id) {
    const from = `requireFrom(${JSON.stringify(relative(into, dirname(id)))})`;
    return code
      .replace("import { createRequire } from 'node:module';", '')
      .replaceAll('createRequire(import.meta.url)', from);
  },
  resolveImportMeta(property, { moduleId }) {
    const path = JSON.stringify(relative(into, moduleId));
    return property === 'url'
      ? `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${path})).href`
      : null;
  },
  /** Of packages that are ES modules alone. */
  renderDynamicImport: ({ targetModuleId }) =>
    targetModuleId?.startsWith('/') ? null : { left: 'importFrom(', right: ')' },
};

const bundle = await rollup({
  input: { main: join(root, 'dist', 'src', 'main.js') },
  external: id => !id.startsWith('.') && !id.startsWith('/'),
  plugins: [places],
  // What of Node nobody asks for need not be loaded.
  treeshake: { moduleSideEffects: id => !id.startsWith('node:') },
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
// A name tells the content: what V8 has made of one file is never taken for what it made of another.
const { output } = await bundle.generate({
  format: 'cjs',
  generatedCode: 'es2015',
  // As launch.cjs calls them.
  banner: '(function (exports, require, requireFrom, importFrom, __dirname) {',
  footer: '})',
  entryFileNames: '[name]-[hash].js',
  // A verb's main by its folder.
  chunkFileNames: ({ facadeModuleId, name }) =>
    `${facadeModuleId !== null && name === 'main' ? basename(dirname(facadeModuleId)) : name}-[hash].js`,
});
const main = output.find(({ isEntry }) => isEntry).fileName;
const files = new Map(output.map(({ fileName, code }) => [fileName, code]));
files.set('beoboard.cjs', readFileSync(join(root, 'scripts', 'launch.cjs'), 'utf8').replace('./main.js', `./${main}`));

// A service may start from here at this very moment, and a command that has been started wants more parts: each file is replaced at
// once, beoboard.cjs last, and what has been replaced stays for a while.
const HOUR_MS = 3_600_000;
mkdirSync(into, { recursive: true });
for (const [name, code] of files) {
  const path = join(into, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === code) continue;
  // Beside the folder: what a build that was killed leaves is no part of the package.
  const made = join(dirname(into), `${name}.${process.pid}`);
  writeFileSync(made, code, { mode: name === 'beoboard.cjs' ? 0o755 : 0o644 });
  renameSync(made, path);
}
const isOf = (name, file) => name === file || (name.startsWith(`${file}.`) && name.endsWith('.cache'));
for (const name of readdirSync(into)) {
  const path = join(into, name);
  if ([...files.keys()].some(file => isOf(name, file)) || Date.now() - statSync(path).mtimeMs < HOUR_MS) continue;
  rmSync(path, { force: true, recursive: true });
}
