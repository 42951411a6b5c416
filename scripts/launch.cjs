#!/usr/bin/env node
// What dist/bin/beoboard.cjs is: loads the parts of the program, which lie beside it, with what V8 made of them when they were built
// (cache.mjs). Where there is none, or it is of another Node or other flags, V8 compiles them.
'use strict';

const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

/** Its name tells its content; so do those of all parts. */
const MAIN = './main.js';

// A folder may be shared by machines with different Nodes, and two builds of one version need not be alike within.
const node = `${process.version}-${process.arch}-${statSync(process.execPath).size}`;
const cacheOf = file => `${file}.${node}.cache`;

const SUM_BYTES = 4;

/** A number for the content of a file: V8 looks at no more than its length, and the process dies of a block that a disk has lost. */
function sumOf(data) {
  const words = new Int32Array(data.buffer, data.byteOffset, data.length >> 2);
  let sum = data.length;
  // In every sector a few: all of them would take a millisecond.
  for (let i = 0; i < words.length; i += 32) sum = (Math.imul(sum, 31) + words[i]) | 0;
  return sum;
}

/** What V8 has made of a part; undefined where there is nothing that it may have. */
function readCache(file) {
  try {
    const all = readFileSync(cacheOf(file));
    const data = all.subarray(0, -SUM_BYTES);
    return sumOf(data) === all.readInt32LE(data.length) ? data : undefined;
  } catch {
    return undefined;
  }
}

const scripts = new Map();
const loaded = new Map();

function compile(file) {
  return new Script(readFileSync(file, 'utf8'), { filename: file, cachedData: readCache(file) });
}

/** As `require`: of parts here, of all else Node's own. */
function load(id) {
  if (!id.startsWith('./')) return require(id);
  if (loaded.has(id)) return loaded.get(id);
  const exported = {};
  loaded.set(id, exported);
  const file = join(__dirname, id);
  const script = compile(file);
  scripts.set(file, script);
  script.runInThisContext()(exported, load, requireFrom, specifier => import(specifier), __dirname);
  return exported;
}

/** What `createRequire` gives to a module in that folder. */
function requireFrom(folder) {
  return id => require(id.startsWith('.') ? join(__dirname, folder, id) : id);
}

if (require.main === module) load(MAIN);
else module.exports = { start: () => load(MAIN), scripts, compile, cacheOf, sumOf };
