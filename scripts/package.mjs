// Makes the packages of packaging/packages.mjs: deb, rpm, npm's with prebuilt addons, Python's, and the sender's container
// image, in build/packages, or with `--out DIR` there. Words choose formats (deb, rpm, npm, python, image), processors
// (amd64, arm64) and packages by name; without words all are made. The same commit gives the same bytes: all times are SOURCE_DATE_EPOCH, by default the commit's.
// Plain JavaScript without dependencies, because it runs before there are any.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { PACKAGES, PROCESSORS } from '../packaging/packages.mjs';
import { fail, manifest, out, root, version, words, work } from './packaging/common.mjs';
import { compile } from './packaging/compile.mjs';
import { deb } from './packaging/deb.mjs';
import { imagePackage } from './packaging/image.mjs';
import { bill, npmPackage } from './packaging/npm.mjs';
import { assemble } from './packaging/program.mjs';
import { needs as pythonNeeds, pythonPackages } from './packaging/python.mjs';
import { rpms } from './packaging/rpm.mjs';
import { begin, end } from './progress.mjs';

// ---- what is wanted ----

const FORMATS = ['deb', 'rpm', 'npm', 'python', 'image'];
const CHOICES = { format: FORMATS, processor: Object.keys(PROCESSORS), package: Object.keys(PACKAGES) };
for (const word of words)
  if (!Object.values(CHOICES).flat().includes(word))
    fail(
      `${word} is not a ${Object.entries(CHOICES)
        .map(([what, all]) => `${what} (${all.join(', ')})`)
        .join(' or ')}`,
    );
const chosen = Object.fromEntries(
  Object.entries(CHOICES).map(([what, all]) => {
    const some = all.filter(name => words.includes(name));
    return [what, some.length > 0 ? some : all];
  }),
);
const { format: formats, processor: processors, package: names } = chosen;
const system = formats.includes('deb') || formats.includes('rpm');

/** What has to be compiled: what the wanted packages use from {built}. */
const parts = new Set(
  names
    .filter(() => system)
    .flatMap(name => PACKAGES[name].files.map(([from]) => /^\{built\}\/([^/]+)/.exec(from ?? '')?.[1]))
    .filter(part => part !== undefined),
);
if (formats.includes('npm') || parts.has('program')) parts.add('addon');
if (formats.includes('image')) parts.add('beoboard-send');

// ---- what it takes ----

const own = { x64: 'amd64', arm64: 'arm64' }[process.arch];
/** Programs and files, and the Debian packages that contain them. */
const needs = [
  ['make', 'make'],
  ['gzip', 'gzip'],
  ['tar', 'tar'],
];
if (formats.includes('deb')) needs.push(['dpkg-deb', 'dpkg']);
if (formats.includes('rpm')) needs.push(['rpmbuild', 'rpm']);
if (formats.includes('python')) needs.push(...pythonNeeds);
for (const name of parts.size > 0 ? processors : []) {
  const { triplet, musl } = PROCESSORS[name];
  const cross = name === own ? '' : `-${triplet.replace('_', '-')}`;
  needs.push([`${triplet}-gcc`, `gcc${cross}`]);
  if (cross !== '') needs.push([`/usr/${triplet}/include/stdio.h`, `libc6-dev-${name}-cross`]);
  if (parts.has('addon')) needs.push([`${triplet}-g++`, `g++${cross}`]);
  if (
    ['beoboard-send', 'beoboard-gate', 'beoboard-sensor', 'beoboard-mon', 'beoboard-nodes', 'beoboard-check'].some(
      name => parts.has(name),
    )
  )
    needs.push([`/usr/lib/${musl}/musl-gcc.specs`, `musl-dev:${name}`]);
}
const folders = (process.env.PATH ?? '').split(':');
const isThere = what =>
  what.startsWith('/') ? existsSync(what) : folders.some(folder => existsSync(join(folder, what)));
const missing = needs.filter(([what]) => !isThere(what)).map(([, name]) => name);

const git = (...args) => {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};
const epoch =
  process.env.SOURCE_DATE_EPOCH ??
  git('log', '-1', '--format=%ct') ??
  fail('this is not a git clone; set SOURCE_DATE_EPOCH');
if (!/^\d{1,10}$/.test(epoch)) fail(`SOURCE_DATE_EPOCH is ${epoch}; set it to seconds since 1970`);
if (missing.length > 0) {
  const foreign = processors.filter(name => name !== own && missing.includes(`musl-dev:${name}`));
  const first = foreign.map(name => `dpkg --add-architecture ${name} && apt-get update && `).join('');
  fail(`${missing.join(', ')} missing; on Debian: ${first}apt-get install ${missing.join(' ')}`);
}

// For everything that runs from here on. What make and compilers read of the builder's own settings would be in the
// programs: with LDFLAGS alone a static program is not static.
for (const name of Object.keys(process.env))
  if (/FLAGS$|^(\w+_)?INCLUDE_PATH$|^(LIBRARY_PATH|COMPILER_PATH|CPATH|LINK)$/.test(name)) delete process.env[name];
Object.assign(process.env, { SOURCE_DATE_EPOCH: epoch, TZ: 'UTC', LC_ALL: 'C.UTF-8' });
process.umask(0o022);

// ---- making ----

for (const folder of [out, work()]) rmSync(folder, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const step = what => begin('package', what);
if (parts.has('addon')) await import('./build.mjs');
const files = [];
for (const processor of processors) {
  if (parts.size > 0) {
    step(`compiling for ${processor}`);
    await compile(processor, parts);
  }
  if (parts.has('program')) assemble(processor);
}
for (const [i, processor] of processors.entries()) {
  const each = names.filter(name => i === 0 || PACKAGES[name].each);
  for (const name of formats.includes('deb') ? each : []) {
    step(`packing ${name} for ${processor}, deb`);
    files.push(await deb(name, processor));
  }
  if (formats.includes('rpm') && each.length > 0) {
    step(`packing ${each.length} for ${processor}, rpm`);
    files.push(...(await rpms(each, processor)));
  }
}
const commit = git('rev-parse', 'HEAD') ?? null;
const hash = data => createHash('sha256').update(data).digest('hex');
if (formats.includes('npm')) {
  step("packing npm's");
  files.push(await npmPackage(processors), await bill(hash(`${commit} ${epoch}`)));
}
if (formats.includes('python')) {
  step("packing Python's");
  files.push(...(await pythonPackages()));
}
if (formats.includes('image')) {
  step('packing the image');
  files.push(await imagePackage(processors));
}
end();

/** The first line of a program's version output. */
const outputOf = (command, ...args) => {
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return stdout?.split('\n')[0] ?? null;
};
// Needed to reproduce the packages; this file is not signed.
const record = {
  name: manifest.name,
  version,
  commit,
  modified: (git('status', '--porcelain') ?? '') !== '',
  sourceDateEpoch: Number(epoch),
  tools: {
    node: process.version,
    npm: outputOf('npm', '--version'),
    gcc: Object.fromEntries(processors.map(name => [name, outputOf(`${PROCESSORS[name].triplet}-gcc`, '--version')])),
    binutils: outputOf('ld', '--version'),
    dpkg: outputOf('dpkg-deb', '--version'),
    rpm: outputOf('rpmbuild', '--version'),
  },
  files: Object.fromEntries(files.sort().map(file => [basename(file), hash(readFileSync(file))])),
};
rmSync(work(), { recursive: true, force: true });
writeFileSync(join(out, 'packages.json'), `${JSON.stringify(record, null, 2)}\n`);
for (const file of files) console.log(relative(root, file));
