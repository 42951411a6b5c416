// The package as it would be published: installing it runs nothing, and it explains how to build its addon.
//
// @seconds 6
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { folder, ROOT } from '../kit/places.js';

t.test('a package: what is in it, and what it says until its addon is built', t => {
  const dir = folder(t);
  const must = (command: string, argv: string[], cwd = dir) => {
    // What is compiled is not made quick, because only whether it can be made matters here.
    const env = { ...process.env, CFLAGS: '-O0', CXXFLAGS: '-O0' };
    const { status, stdout, stderr } = spawnSync(command, argv, { cwd, env, encoding: 'utf8' });
    t.equal(status, 0, `${command} ${argv[0]} ${stderr}`);
    return stdout.trim();
  };
  const packed = must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], ROOT);
  must('tar', ['xf', packed]);
  const root = join(dir, 'package');
  t.same(
    readdirSync(root).filter(name => /^(test|bench|build|node_modules|src)$/.test(name)),
    [],
    'nothing that its users have no use for',
  );
  const documents = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)];
  const links = documents
    .filter(name => name.endsWith('.md'))
    .flatMap(name =>
      [
        ...readFileSync(join(root, name), 'utf8')
          .replaceAll(/`[^`]*`/g, '')
          .matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g),
      ].map(([, to = '']) => normalize(join(name, '..', to))),
    );
  t.ok(links.length > 100);
  t.same(
    [...new Set(links)].filter(to => !existsSync(join(root, to))),
    [],
    'what its README and documents link to is there',
  );
  t.same(
    (readdirSync(root, { recursive: true }) as string[]).filter(path => /(^|\/)(test|fuzz|proof)$/.test(path)),
    [],
    'and no tests of ours',
  );
  const { bin, scripts, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    bin: { beoboard: string };
    scripts: Record<string, string>;
    dependencies: Record<string, string>;
  };
  t.same(
    Object.keys(scripts).filter(name => /install|prepare|prepublish/.test(name)),
    [],
    'nothing runs when it is installed',
  );
  t.same(readdirSync(join(root, 'dist', 'page')).sort(), ['icon.svg', 'index.html', 'page.css', 'page.js'], 'the page');
  const page = readdirSync(join(root, 'dist', 'page')).map(name => readFileSync(join(root, 'dist', 'page', name)));
  const packedPage = page.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
  t.ok(packedPage < 80 * 1024, `it is ${packedPage} bytes, packed`);
  const program = join(root, bin.beoboard);
  t.ok(statSync(program).mode & 0o111, 'the program can be run');

  // The packages that npm would install with it, but none that only the build needs.
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(root, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }

  const run = (...argv: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  t.match(must(program, ['--version']), /^\d+\.\d+\.\d+$/);
  t.same(run('nodeset', '--fold', 'n1', 'n2'), { status: 0, stdout: 'n[1-2]\n', stderr: '' });
  const build = join(root, 'scripts', 'build.mjs');
  const status = ['status', '--board', join(dir, 'none')];
  const line = (why: string) => ({ status: 72, stdout: '', stderr: `beoboard status: ${why}; run node ${build}\n` });
  t.same(run(...status), line('the addon is not built'));
  mkdirSync(join(root, 'build'));
  const addon = join(root, 'build', 'beoboard.node');
  writeFileSync(addon, 'of another machine');
  t.same(run(...status), line(`the addon cannot be loaded (${addon}: file too short)`));
  const inside = join(root, 'dist', 'bin');
  const parts = () => readdirSync(inside).sort();
  const before = parts();
  t.ok(before.length > 10);
  must(process.execPath, [build]);
  t.match(run(...status), { status: 4, stdout: '', stderr: /^beoboard status: .*none: .*\n$/ });
  t.same(parts(), before, 'and nothing comes to them where it is built and runs');
  t.end();
});
