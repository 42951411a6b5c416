// Compiles the packaged programs for one processor. Without debugging information, and so without the names of folders;
// shared objects need no newer symbols than their limit.

import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FLOORS, PROCESSORS } from '../../packaging/packages.mjs';
import { fail, root, run, work } from './common.mjs';

const LINK = '-s -Wl,-z,relro,-z,now';
const HARD = '-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong';
const FLOORED = `${HARD} -include ${join(root, 'packaging', 'floor.h')}`;

/** Whether a symbol version is later than another: 2.34 than 2.4. */
function isLater(a, b) {
  const [x, y] = [a, b].map(text => text.split('.').map(Number));
  const at = x.findIndex((part, i) => part !== (y[i] ?? 0));
  return at >= 0 && x[at] > (y[at] ?? 0);
}

/** Refuses a file that needs newer symbols than its limit. */
async function holdFloor(file, floor, triplet) {
  const symbols = await run(`${triplet}-objdump`, ['-T', file]);
  for (const [, library, wanted, symbol] of symbols.matchAll(/ \(?(GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)? +(\S+)$/gm))
    if (floor[library] === undefined || isLater(wanted, floor[library]))
      fail(
        `${relative(root, file)} wants ${symbol} of ${library}_${wanted}, and may have ${floor[library] ?? 'none'}; see packaging/floor.h`,
      );
}

/**
 * Compiles for a processor what `parts` names: beoboard-send, beoboard-gate, beoboard-sensor, beoboard-mon, beoboard-nodes, beoboard-check, beoboard-gpu, lib, addon. The files come to a folder of
 * their processor, those of the library to lib/ there.
 */
export async function compile(processor, parts) {
  const { triplet, musl } = PROCESSORS[processor];
  const into = work(processor);
  const on = join(into, 'objects');
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const cc = `CC=${triplet}-gcc`;
  const make = (folder, ...args) => run('make', ['-s', '-j2', '-C', folder, ...args]);

  for (const [name, folder] of [
    ['beoboard-send', 'sender'],
    ['beoboard-gate', 'gate'],
    ['beoboard-sensor', 'sensor'],
    ['beoboard-mon', 'mon'],
    ['beoboard-nodes', 'verbs'],
    ['beoboard-check', 'verbs'],
  ]) {
    if (!parts.has(name)) continue;
    const file = join(on, folder, 'stripped', name);
    // Static, with musl: it resolves names on every system, which a static glibc cannot.
    await make(
      `c/${folder}`,
      file,
      `NAME=${name}`,
      `OUT=${join(on, folder)}`,
      `${cc} -specs /usr/lib/${musl}/musl-gcc.specs`,
    );
    renameSync(file, join(into, name));
  }
  if (parts.has('beoboard-gpu')) {
    await make('c/gpu', `OUT=${into}`, cc, `CFLAGS=${FLOORED} -fPIE -pie`, `LDFLAGS=${LINK}`);
    await holdFloor(join(into, 'beoboard-gpu'), FLOORS['beoboard-gpu'], triplet);
  }
  if (parts.has('lib')) {
    const lib = join(on, 'lib');
    await make('c', 'lib', `OUT=${lib}`, cc, `AR=${triplet}-ar`, `CFLAGS=${FLOORED}`, `LDFLAGS=${LINK}`);
    for (const [format, folder] of [
      ['deb', `lib/${triplet}`],
      ['rpm', 'lib64'],
    ]) {
      await make('c', join(lib, 'beoboard.pc'), `OUT=${lib}`, 'PREFIX=/usr', `LIBDIR=\${prefix}/${folder}`);
      mkdirSync(join(into, 'lib', format), { recursive: true });
      renameSync(join(lib, 'beoboard.pc'), join(into, 'lib', format, 'beoboard.pc'));
    }
    for (const name of readdirSync(lib))
      if (name.startsWith('libbeoboard.')) renameSync(join(lib, name), join(into, 'lib', name));
    await holdFloor(realpathSync(join(into, 'lib', 'libbeoboard.so')), FLOORS['libbeoboard.so'], triplet);
  }
  if (parts.has('addon')) {
    const modules = join(root, 'node_modules');
    await make(
      ...['c', 'addon', `OUT=${on}/addon`, cc, `CXX=${triplet}-g++`, `CFLAGS=${FLOORED}`, `CXXFLAGS=${FLOORED}`],
      ...[`LDFLAGS=${LINK}`, `ADDON_API=${modules}/node-addon-api`, `NODE_API=${modules}/node-api-headers/include`],
    );
    renameSync(join(on, 'addon', 'beoboard.node'), join(into, 'beoboard.node'));
    await holdFloor(join(into, 'beoboard.node'), FLOORS['beoboard.node'], triplet);
  }
  rmSync(on, { recursive: true, force: true });
}
