// What is installed with us at run time: the number of packages in the README, each fixed by a hash, and none with an
// install script.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../kit/places.js';

interface Package {
  version?: string;
  dev?: boolean;
  integrity?: string;
  hasInstallScript?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> };
const manifest = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
};
const NODE_MODULES = 'node_modules/';

/** The package that `from` gets for a name: the nearest one, as Node searches for it. */
function resolve(from: string, name: string): string {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf(`/${NODE_MODULES}`)))) {
    const path = `${at === '' ? '' : `${at}/`}${NODE_MODULES}${name}`;
    if (packages[path] !== undefined) return path;
    if (at === '') throw new Error(`${from} depends on ${name}, which is not in package-lock.json`);
  }
}

/**
 * All packages that the run-time dependencies lead to, found by following them: the marks in the lock file are not
 * trusted.
 */
function reached(): string[] {
  const found = new Set<string>();
  const follow = (from: string, names: string[]) => {
    for (const path of names.map(name => resolve(from, name))) {
      if (found.has(path)) continue;
      found.add(path);
      follow(path, Object.keys(packages[path]?.dependencies ?? {}));
    }
  };
  follow('', Object.keys(manifest.dependencies));
  return [...found].sort();
}

t.test('the README counts the packages that are installed at run time', async t => {
  const found = reached();
  t.comment(found.join(' '));
  const marked = Object.keys(packages).filter(path => path !== '' && packages[path]?.dev !== true);
  t.same(found, marked.sort(), 'they are those that the lock file does not mark as for development');
  const [, direct, all] =
    /^Dependencies at run time: (\d+) direct, (\d+) with transitive ones/m.exec(read('README.md')) ?? [];
  t.same([Number(direct), Number(all)], [Object.keys(manifest.dependencies).length, found.length]);
});

t.test('the lock file is complete: npm ci takes it on every platform', async t => {
  for (const [path, { dependencies, devDependencies, optionalDependencies }] of Object.entries(packages))
    for (const name of Object.keys({
      ...dependencies,
      ...(path === '' ? devDependencies : {}),
      ...optionalDependencies,
    }))
      t.doesNotThrow(() => resolve(path, name), `${path || 'we'}: ${name}`);
});

t.test('neither they nor we run anything at installation', async t => {
  for (const path of reached()) {
    const { hasInstallScript, integrity, version } = packages[path] ?? {};
    t.notOk(hasInstallScript, `${path} ${version}`);
    t.match(integrity, /^sha512-/, 'held by its hash');
  }
  t.notOk(packages['']?.hasInstallScript);
  const hooks = Object.keys(manifest.scripts).filter(name =>
    /^(pre|post)?(install|prepare|publish|uninstall)|^prepublishOnly/.test(name),
  );
  t.same(hooks, []);
});
