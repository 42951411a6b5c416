// Builds what is missing: packages, the addon, and the JavaScript; in an installed package the addon alone. `--generate` makes the files
// again that come from proto/.
// Plain JavaScript without dependencies: it runs before there are any.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** In an installed package all but the addon is there; whoever asks for that again has one that does not fit. */
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

function javascript() {
  const main = join(root, 'dist', 'src', 'main.js');
  if (!existsSync(main)) console.error('build: compiling TypeScript …');
  run('compiling TypeScript', process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root]);
  run('bundling', process.execPath, [join(root, 'scripts', 'bundle.mjs')]);
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
  // Manual pages and completions; these ask the built program for its help.
  addon();
  javascript();
  run('generating', process.execPath, [join(root, 'dist', 'proto', 'library.js')]);
}
addon();
if (!installed) javascript();
