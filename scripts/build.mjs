// Builds what is missing: packages, the addon, and the JavaScript; in an installed package only the addon. `--generate`
// makes the files again that come from proto/. Plain JavaScript without dependencies, because it runs before there are
// any.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** In an installed package everything except the addon exists; it is built when no prebuilt one fits. */
const installed = !existsSync(join(root, 'tsconfig.json'));

function fail(message) {
  console.error(`build: ${message}`);
  process.exit(1);
}

/** Runs a command; its output is shown only when it fails. */
function run(what, command, args, hint = '') {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error?.code === 'ENOENT') fail(`${command} is missing; ${hint || 'install it'}`);
  if (error || status !== 0) fail(`${what} failed:\n${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
}

function packages() {
  const lock = join(root, 'package-lock.json');
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.error('build: installing packages …');
  run('npm ci', 'npm', ['ci', '--no-audit', '--no-fund']);
}

function addon() {
  const require = createRequire(import.meta.url);
  const api = dirname(require.resolve('node-addon-api/package.json'));
  const headers = join(dirname(require.resolve('node-api-headers/package.json')), 'include');
  if (!existsSync(join(root, 'build', 'beoboard.node'))) console.error('build: compiling the addon …');
  const compilers = 'on Debian: apt-get install gcc g++ make';
  run(
    'compiling the addon',
    'make',
    ['-s', '-j2', ...(installed ? ['-B'] : []), '-C', 'c', 'addon', `ADDON_API=${api}`, `NODE_API=${headers}`],
    compilers,
  );
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
/** What the JavaScript is made of, and the result. */
const sources = () =>
  seen(['src', 'proto', 'test', 'bench'], /\.ts$/) +
  seen(['src/web/page'], /\.(html|css|svg|json)$/) +
  seen(['scripts', 'tsconfig.json', 'package.json', 'package-lock.json'], /\.(mjs|cjs|json)$/);
const made = () => seen(['dist'], /\.(js|cjs)$/) + seen(['dist/page'], /\.(html|css|svg)$/);

function javascript() {
  const record = join(root, 'dist', '.built');
  // Computed before: what changes during the build is built by the next one.
  const before = sources();
  if (existsSync(record) && readFileSync(record, 'utf8') === `${before}\n${made()}`) return;
  const main = join(root, 'dist', 'src', 'main.js');
  if (!existsSync(main)) console.error('build: compiling TypeScript …');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // The page runs in a browser and does not know Node.
  for (const project of [root, join(root, 'src', 'web', 'page')])
    run('compiling TypeScript', process.execPath, [tsc, '-p', project]);
  run('bundling', process.execPath, [join(root, 'scripts', 'bundle.mjs')]);
  writeFileSync(`${record}.${process.pid}`, `${before}\n${made()}`);
  renameSync(`${record}.${process.pid}`, record);
}

const [major = 0] = process.versions.node.split('.').map(Number);
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (major < 20) fail(`Node ${process.versions.node} is too old; install Node ${engines.node}`);
const generates = process.argv.includes('--generate');
if (installed && generates) fail('--generate needs a clone of the repository');
if (!installed) packages();
if (generates) {
  javascript();
  run('generating', process.execPath, [join(root, 'dist', 'proto', 'contract.js')]);
  // Manual pages and completions; they need the help of the built program.
  addon();
  javascript();
  run('generating', process.execPath, [join(root, 'dist', 'proto', 'library.js')]);
}
addon();
if (!installed) javascript();
