// The package as it would be published: installed it runs nothing, and says how its addon is built.

import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from './lib.js';

t.test('a package: what is in it, and what it says until its addon is built', t => {
  const dir = folder(t, tmpdir()); // shared memory may forbid programs
  const must = (command: string, argv: string[], cwd = dir) => {
    const { status, stdout, stderr } = spawnSync(command, argv, { cwd, encoding: 'utf8' });
    t.equal(status, 0, `${command} ${argv[0]} ${stderr}`);
    return stdout.trim();
  };
  const packed = must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], ROOT);
  must('tar', ['xf', packed]);
  const root = join(dir, 'package');
  t.same(
    readdirSync(root).filter(name => /^(test|bench|build|node_modules|src|docs)$/.test(name)),
    [],
    'nothing that its users have no use for',
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
  const program = join(root, bin.beoboard);
  t.ok(statSync(program).mode & 0o111, 'the program can be run');

  // What npm would install beside it, and nothing of what we build with.
  mkdirSync(join(root, 'node_modules'));
  for (const name of Object.keys(dependencies))
    symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));

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
  const caches = () => readdirSync(inside).filter(name => name.endsWith('.cache'));
  t.same(caches(), [], 'what V8 makes of it is made where it runs');
  must(process.execPath, [build]);
  const none = { status: 4, stdout: '', stderr: /^beoboard status: .*none: .*\n$/ };
  t.match(run(...status), none);

  // What V8 has made of every part, for this Node.
  const suffix = `.${process.version}-${process.arch}-${statSync(process.execPath).size}.cache`;
  const parts = readdirSync(inside).filter(name => name.endsWith('.js'));
  t.ok(parts.length > 10);
  t.same(caches(), parts.map(name => `${name}${suffix}`).sort());
  const taken = () => {
    // As the program does it: V8 says whether it took what it was given.
    const script = `const { scripts, start } = require(${JSON.stringify(program)});
      process.once('exit', () => console.log([...scripts.values()].map(script => script.cachedDataRejected).join()));
      start();`;
    const argv = ['-e', script, '--', program, ...status];
    return must('sh', ['-c', '"$@"; exit 0', 'sh', process.execPath, ...argv]);
  };
  t.match(taken(), /^false(,false){5,}$/, 'it is taken');
  const before = caches().map(name => statSync(join(inside, name)).mtimeMs);
  must(process.execPath, [join(root, 'scripts', 'cache.mjs')]);
  t.same(
    caches().map(name => statSync(join(inside, name)).mtimeMs),
    before,
    'and not made again',
  );
  for (const name of caches()) writeFileSync(join(inside, name), '');
  t.match(run(...status), none, 'empty files change nothing');
  t.match(taken(), /^(,){5,}$/, 'for V8 gets none of them');
  for (const name of caches()) {
    const data = readFileSync(join(ROOT, 'dist', 'bin', name));
    data.fill(0, data.length >> 1);
    writeFileSync(join(inside, name), data);
  }
  t.match(run(...status), none, 'nor those of which a disk has lost one half');
  for (const name of caches()) truncateSync(join(inside, name), 1000);
  t.match(run(...status), none, 'nor those that are cut short');
  for (const name of caches()) rmSync(join(inside, name));
  t.match(run(...status), none, 'and without them it is as before');
  t.end();
});
