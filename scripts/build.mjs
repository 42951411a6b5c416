// Builds what is missing: packages, the addon, and the program; in an installed package only the addon. `--modules`
// makes the files for tests and benchmarks as well, `--types` checks the types, and `--generate` makes the files again
// that come from proto/. Plain JavaScript without dependencies, because it runs before there are any.

import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { begin, end, finished } from './progress.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** In an installed package everything except the addon exists; it is built when no prebuilt one fits. */
const installed = !existsSync(join(root, 'tsconfig.json'));
const [generates, wantsTypes, wantsModules] = ['--generate', '--types', '--modules'].map(word =>
  process.argv.includes(word),
);

function fail(message) {
  end();
  console.error(`build: ${message}`);
  process.exit(1);
}

/** Runs a command; its output is shown only when it fails. */
async function run(what, command, args, hint = 'install it') {
  const { code, output, missing } = await finished(command, args, { cwd: root });
  if (missing) fail(`${command} is missing; ${hint}`);
  if (code !== 0) fail(`${what} failed:\n${output}`);
}

async function packages() {
  const lock = join(root, 'package-lock.json');
  const there = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(there) && statSync(there).mtimeMs >= statSync(lock).mtimeMs) return;
  begin('build', 'installing packages');
  await run('npm ci', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
}

async function addon() {
  const require = createRequire(import.meta.url);
  // For make a blank ends a name, so it does not get to see the path of the clone.
  const seen = path => relative(join(root, 'c'), dirname(require.resolve(path)));
  const api = seen('node-addon-api/package.json');
  const headers = join(seen('node-api-headers/package.json'), 'include');
  if (!existsSync(join(root, 'build', 'beoboard.node'))) begin('build', 'compiling the addon');
  const always = installed ? ['-B'] : ['FOR_TESTS=1'];
  const args = ['-s', '-j2', ...always, '-C', 'c', 'addon', `ADDON_API=${api}`, `NODE_API=${headers}`];
  await run('compiling the addon', 'make', args, 'on Debian: apt-get install gcc g++ make');
}

/** Every file below a folder, or the file itself. */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)],
  );
}

/** A line for each file with this ending; any change of a file changes its line. */
const seen = (paths, ending) =>
  paths
    .flatMap(path => filesOf(join(root, path)))
    .filter(path => ending.test(path))
    .map(path => {
      const { size, mtimeMs } = statSync(path);
      return `${relative(root, path)} ${size} ${mtimeMs}\n`;
    })
    .sort()
    .join('');

let bundler;

/** Makes what `from` (folders) have changed into `to`; a record in dist/ says of what the result is made. */
async function make(name, from, to, bundle) {
  const record = join(root, 'dist', `.${name}`);
  const made = () => seen(to, /\.(js|cjs|html|css|svg)$/);
  // Computed before: what changes during the build is built by the next one.
  const sources = seen([...from, 'scripts', 'tsconfig.json', 'package.json', 'package-lock.json'], /./);
  if (existsSync(record) && readFileSync(record, 'utf8') === `${sources}\n${made()}`) return;
  try {
    bundler = await import('./bundle.mjs');
    await bundle(bundler);
  } catch (error) {
    fail(`making JavaScript failed:\n${error.message}`);
  }
  writeFileSync(`${record}.${process.pid}`, `${sources}\n${made()}`);
  renameSync(`${record}.${process.pid}`, record);
}

/** What users run. */
const program = () => make('program', ['src'], ['dist/bin', 'dist/page'], ({ program }) => program());

/** What tests, benchmarks and the generator load. */
async function modules() {
  const folders = ['src', 'proto', 'test', 'bench'];
  const made = [...folders, 'node_modules'].map(folder => `dist/${folder}`);
  await make('modules', folders, made, ({ modules }) => modules(folders));
}

/** The page runs in a browser and does not know Node, so it has a project of its own. */
async function types() {
  begin('build', 'checking types');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const check = project => run('checking types', process.execPath, [tsc, '--noEmit', '-p', project]);
  await Promise.all([check(root), check(join(root, 'src', 'web', 'page'))]);
}

const [major = 0] = process.versions.node.split('.').map(Number);
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (major < 20) fail(`Node ${process.versions.node} is too old; install Node ${engines.node}`);
if (installed && process.argv.length > 2) fail(`${process.argv[2]} needs a clone of the repository`);
if (!installed) await packages();
if (generates) {
  await modules();
  await run('generating', process.execPath, [join(root, 'dist', 'proto', 'contract.js')]);
  // Manual pages and completions; they need the help of the built program.
  await Promise.all([addon(), program(), modules()]);
  await run('generating', process.execPath, [join(root, 'dist', 'proto', 'library.js')]);
}
await Promise.all([addon(), ...(installed ? [] : [program(), ...(wantsModules ? [modules()] : [])])]);
if (wantsTypes) await types();
// esbuild is a process of its own, and this one may be the demo from now on.
bundler?.stop();
end();
