// Makes JavaScript of the TypeScript with esbuild, which checks no types. `program`: dist/bin/, one CommonJS file for
// each verb, loaded on demand by beoboard.cjs; and dist/page/, what browsers get. `modules`: dist/src/, dist/test/ …,
// each file by itself, for tests and benchmarks, and tap in one file. Other packages and the addon stay where they are.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export { stop } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'dist', 'bin');
const PROGRAM = 'beoboard.cjs';

const sourceOf = (importer, path) => resolve(dirname(importer), path.replace(/\.js$/, '.ts'));

/** Bundles entries, `{ name: source }`, in memory; returns the paths in dist/bin/ by source, and fills `files`. */
async function bundle(files, entries, { plugins = [], names = '[name]-[hash]', banner = '', supported = {} }) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([out, source]) => ({ out, in: source })),
    entryNames: names,
    outExtension: { '.js': '.cjs' },
    outdir: bin,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    banner: {
      js: `${banner}const moduleUrl = path => require('node:url').pathToFileURL(require('node:path').join(__dirname, path)).href;`,
    },
    supported,
    write: false,
    metafile: true,
    plugins,
  });
  for (const { path, text } of outputFiles) files.set(basename(path), text);
  return new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [join(root, entryPoint), basename(path)]),
  );
}

/**
 * What is found relative to a module (package.json, packages, the addon, scripts/) stays where it is seen from
 * dist/src/. The file of a child process that is forked is an entry of its own, in `children` by its source.
 */
const places = children => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const module = `'../${relative(root, path).replace(/\.ts$/, '.js')}'`;
      const contents = text
        .replace(/new URL\('(\.\/[^']+\.js)', import\.meta\.url\)/g, (_, child) => {
          const made = children.get(sourceOf(path, child));
          if (made === undefined) throw new Error(`${relative(root, path)}: no entry for ${child}; see FORKED`);
          return `new URL(moduleUrl("./${made}"))`;
        })
        .replaceAll('import.meta.url', `moduleUrl(${module})`);
      return { contents, loader: 'ts' };
    });
  },
});

/** Imports of these sources become a require of the file made of them. */
const outside = made => ({
  name: 'outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ importer, path, kind }) => {
      const file = kind === 'entry-point' ? undefined : made.get(sourceOf(importer, path));
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
});

/** Modules that run as child processes. */
const FORKED = { 'slow-child': 'src/sender/slow/child.ts' };

/** The sources of the verbs, as src/parts.ts loads them. */
function verbs() {
  const text = readFileSync(join(root, 'src', 'parts.ts'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^ +(\w+): \(\) => import\('\.\/(.+)\.js'\)/gm)].map(([, verb, path]) => [
      verb,
      `src/${path}.ts`,
    ]),
  );
}

/** Everything for dist/bin/, by name; beoboard.cjs last. */
async function programFiles() {
  const files = new Map();
  // What beoboard.cjs and the verbs share has to be one module: the classes of errors, and what happens to stdout.
  const base = await bundle(files, { base: 'src/base.ts' }, {});
  const [shared] = base.values();
  const own = readFileSync(join(root, 'src', 'base.ts'), 'utf8').matchAll(/from '(.+)\.js'/g);
  const outer = new Map([...own].map(([, path]) => [join(root, 'src', `${path}.ts`), shared]));
  const children = await bundle(files, FORKED, { plugins: [outside(outer), places(new Map())] });
  const parts = await bundle(files, verbs(), { plugins: [outside(outer), places(children)] });
  await bundle(
    files,
    { beoboard: 'src/main.ts' },
    {
      plugins: [outside(new Map([...outer, ...parts])), places(children)],
      names: '[name]',
      banner: '#!/usr/bin/env node\n',
      // A verb is loaded by require: the loader of ES modules would take as long as the verb itself.
      supported: { 'dynamic-import': false },
    },
  );
  return files;
}

/** Everything for dist/page/, by name: one script, and the other files unchanged. */
async function pageFiles() {
  const source = join(root, 'src', 'web', 'page');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(source, 'main.ts')],
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    write: false,
  });
  const besides = readdirSync(source).filter(name => /\.(html|css|svg)$/.test(name));
  return new Map([
    ['page.js', outputFiles[0].text],
    ...besides.map(name => [name, readFileSync(join(source, name), 'utf8')]),
  ]);
}

const HOUR_MS = 3_600_000;

/**
 * Writes files, by name, into a folder, in this order. A service may start at this moment, and a running command may
 * load more files: each is replaced atomically, and replaced ones stay for a while.
 */
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

export async function program() {
  put(join(root, 'dist', 'page'), await pageFiles());
  put(bin, await programFiles());
}

/** Every module below these folders, each by itself. */
export async function modules(folders) {
  await build({
    absWorkingDir: root,
    entryPoints: folders.map(folder => `${folder}/**/*.ts`),
    outbase: root,
    outdir: join(root, 'dist'),
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    // Node only needs the lines: what maps have besides is read at every start.
    sourcesContent: false,
    logLevel: 'error',
  });
  await tap();
}

/** What our tests do not need of tap: React, and its look into every process below those that a test spawns. */
const less = {
  name: 'less',
  setup({ onLoad }) {
    onLoad({ filter: /[/]tcompare[/].*[/]react-element-to-jsx-string\.js$/ }, () => ({
      contents: 'export default String;',
    }));
    onLoad({ filter: /[/]@tapjs[/]processinfo[/].*[/]index\.js$/ }, () => ({
      contents: "import { spawn } from 'node:child_process'; export const ProcessInfo = { spawn };",
    }));
  },
};

/** tap, where tests in dist/ find it first: of hundreds of modules it is the half of what starting a test takes. */
async function tap() {
  const to = join(root, 'dist', 'node_modules', 'tap');
  await build({
    // What it tells of a failure leaves out where it passed itself.
    stdin: {
      contents: `import { addIgnoredPackage } from '@tapjs/stack'; addIgnoredPackage('tap');
        export * from 'tap'; export { default } from 'tap';`,
      resolveDir: root,
    },
    outfile: join(to, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Some of its modules are CommonJS.
    banner: { js: "import * as node from 'node:module'; const require = node.createRequire(import.meta.url);" },
    plugins: [less],
    logLevel: 'error',
  });
  writeFileSync(join(to, 'package.json'), '{ "type": "module", "exports": "./index.js" }\n');
}
