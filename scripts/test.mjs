// Builds and runs the tests; the last line is the true count. Arguments choose test files by a part of their name;
// --long runs those of test/long instead, one after the other, and shows their figures.
// Plain JavaScript without dependencies: it runs before there are any.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const long = process.argv.includes('--long');
const folder = long ? join('test', 'long') : 'test';
const tests = join(root, 'dist', folder);
const report = join(root, 'build', 'test.tap');

function run(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

if (run(process.execPath, [join(root, 'scripts', 'build.mjs')]) !== 0) process.exit(1);
if (run(join(root, 'node_modules', '.bin', 'biome'), ['check', '.']) !== 0) process.exit(1);

// Only what has its source: a test that was deleted may still lie in dist/.
const sources = new Set(readdirSync(join(root, folder)).map(name => name.replace(/\.ts$/, '.js')));
const wanted = process.argv.slice(2).filter(word => word !== '--long');
const files = readdirSync(tests)
  .filter(name => name.endsWith('.test.js') && sources.has(name))
  .filter(name => wanted.length === 0 || wanted.some(part => name.includes(part)))
  .map(name => join('dist', folder, name));
if (files.length === 0) {
  console.error(`test: no test is called ${wanted.join(' or ')}`);
  process.exit(2);
}
mkdirSync(dirname(report), { recursive: true });
const status = run(join(root, 'node_modules', '.bin', 'tap'), [
  'run',
  '--disable-coverage',
  ...(long ? ['--jobs=1', '--timeout=100000'] : ['--jobs=2', '--timeout=600']),
  '--reporter=terse',
  `--output-file=${report}`,
  ...files,
]);

const told = readFileSync(report, 'utf8');
if (long) for (const [, figures] of told.matchAll(/^ *# (?!Subtest|No coverage|\{|time=)(.*)$/gm)) console.log(figures);
// Again at the end, by name: of a long log often only the end is kept.
for (const [, name] of told.matchAll(/^ *not ok \d+ - (?!should |dist\/)(.*?)(?: # time=\S+)?$/gm))
  console.log(`failed: ${name}`);
// tap's own totals close its report: # { total: 95, pass: 93, fail: 1, skip: 1 }
const totals = told.match(/^# \{ total: .*\}$/gm)?.at(-1) ?? '';
const count = what => Number(new RegExp(`${what}: (\\d+)`).exec(totals)?.[1] ?? 0);
const [passed, failed, skipped] = [count('pass'), count('fail'), count('skip') + count('todo')];
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(status !== 0 || failed > 0 || passed === 0 ? 1 : 0);
