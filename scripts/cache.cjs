// Leaves beside the parts of the program what V8 has made of them, so that it need not compile them again whenever a command starts.
// For the Node that runs this; another one compiles for itself.
//   node scripts/cache.cjs                       all parts, as they are
//   node scripts/cache.cjs VERB [ARGUMENT…]      those that this verb loads, with what it has called until it ends
//   node scripts/cache.cjs --check               exit code 1 unless V8 takes what there is of every part
'use strict';

const {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { cacheOf, compile, scripts, start, sumOf } = require('../dist/bin/beoboard.cjs');

const folder = join(__dirname, '..', 'dist', 'bin');
const parts = readdirSync(folder)
  .filter(name => name.endsWith('.js'))
  .map(name => join(folder, name));

function write(script, file) {
  const cache = cacheOf(file);
  const data = script.createCachedData();
  // What others have called of it is in it, too: it only grows.
  if (existsSync(cache) && script.cachedDataRejected === false && statSync(cache).size >= data.length) return;
  const sum = Buffer.alloc(4);
  sum.writeInt32LE(sumOf(data));
  // At once, and only when it is on the disk.
  const made = join(dirname(folder), `${basename(file)}.${process.pid}`);
  const fd = openSync(made, 'wx', 0o644);
  writeFileSync(fd, Buffer.concat([data, sum]));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(made, cache);
}

if (process.argv[2] === '--check') {
  process.exitCode = parts.every(file => compile(file).cachedDataRejected === false) ? 0 : 1;
} else if (process.argv.length > 2) {
  process.once('exit', () => scripts.forEach(write));
  start();
} else for (const file of parts) write(compile(file), file);
