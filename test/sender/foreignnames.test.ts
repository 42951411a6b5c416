// Names of machines: a host name that is an address gives none, in every program that makes a node's name of it; and
// only ASCII's letters have a lower case.
//
// @whole

import { spawn, spawnSync } from 'node:child_process';
import t from 'tap';
import { shortHostName } from '../../src/options/hostname.js';
import { match } from '../../src/schedulerfile/matching.js';
import { lowerCase } from '../../src/text/text.js';
import { follow } from '../kit/children.js';
import { compileMon, compileSender, SANITIZED } from '../kit/compiling.js';
import { boardPath } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE } from '../kit/whole.js';

t.test('the default of a name', async t => {
  const name = (host: string) => {
    try {
      return shortHostName('name', host);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const refused = (host: string) =>
    `the default of --name: the host name '${host}' is an address; give this machine a name, or write --name NAME`;
  for (const host of ['10.1.2.3', '192.168.0.1', '10.1', '10.1.2.3.']) t.equal(name(host), refused(host));
  const names = {
    'N1.rack': 'n1',
    n1: 'n1',
    '10': '10',
    '10a.1': '10a',
    'ip-10-1.2': 'ip-10-1',
    '\u212a1.x': '\u212a1',
    '.': '',
    '..': '',
  };
  for (const [host, short] of Object.entries(names)) t.equal(name(host), short, host);
});

const needs = spawnSync('unshare', ['-u', 'hostname', 'alpha'], { encoding: 'utf8' });
const skip = needs.status !== 0 && process.env.CI !== 'true' && `no namespace here: ${needs.stderr || needs.error}`;

t.test('every program that makes a name of the host name', { skip }, async t => {
  const sender = compileSender(t, SANITIZED);
  const programs = [
    [sender, '--once', '--to', '-'],
    [process.execPath, PROGRAM, 'send', '--once', '--to', '-'],
    [compileMon(t), '--stdio'],
    [process.execPath, PROGRAM, 'relay', '--board', boardPath(t), '--nats', 'nats://127.0.0.1:1'],
  ];
  for (const [i, command] of programs.entries()) {
    const { status, stderr } = spawnSync(
      'unshare',
      ['-u', 'sh', '-c', 'hostname 10.1.2.3; exec "$@"', '-', ...command],
      { encoding: 'utf8', input: '' },
    );
    const option = i === 3 ? 'master' : 'name';
    const why = `the default of --${option}: the host name '10.1.2.3' is an address; give this machine a name, or write --${option} NAME`;
    t.match(stderr, why, command.slice(0, 3).join(' '));
    t.not(status, 0);
  }
  const { stdout, status } = spawnSync('unshare', [
    ...['-u', 'sh', '-c', 'hostname 10.1.2.3; exec "$@"', '-', sender, '--name', 'n1', '--once', '--to', '-'],
  ]);
  t.strictSame([stdout.length, status], [1216, 0], 'with a name it reports');
});

t.test(
  'a machine without a name of its own tells no other machine that it is localhost',
  { skip: NOT_WHOLE || skip },
  async t => {
    const senders = [[compileSender(t, SANITIZED)], [process.execPath, PROGRAM, 'send']];
    const named = (host: string, command: readonly string[]) =>
      [
        'unshare',
        ['-un', 'sh', '-c', 'printf %s "$0" >/proc/sys/kernel/hostname; exec "$@"', host, ...command],
      ] as const;
    for (const sender of senders) {
      const once = (host: string, ...more: string[]) => {
        const [program, argv] = named(host, [...sender, '--once', ...more]);
        return spawnSync(program, argv, { encoding: 'utf8' });
      };
      for (const host of ['localhost', 'localhost.localdomain', 'localhost4.localdomain4', '(none)', 'LOCALHOST']) {
        const { status, stderr } = once(host, '--to', '10.1.2.3', '--to', '-');
        t.match(
          stderr,
          /^beoboard[ -]send: this machine has no host name yet, .*; set one, or write --name NAME\n$/,
          host,
        );
        t.equal(status, 1);
        t.ok(once(host, '--to', '-').stdout.includes('localhost\0'), 'to itself it is');
      }
      for (const to of ['127.0.0.1', '127.1.2.3', 'localhost', '[::1]', '[::ffff:127.0.0.1]'])
        t.notMatch(once('localhost', '--to', to).stderr, 'has no host name', to);
      t.notMatch(once('localhost', '--to', '10.1.2.3', '--name', 'localhost').stderr, 'has no host name', 'as wanted');
      t.notMatch(once('localhosts', '--to', '10.1.2.3').stderr, 'has no host name', 'another name');

      const [program, argv] = named('localhost', [...sender, '--to', '10.1.2.3', '--interval', '100ms']);
      const child = spawn(program, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
      const said = follow(child, t);
      await until('it waits', () => said.stderr.includes('has no host name yet'));
      t.match(said.stderr, /; waits for that\n$/);
      spawnSync('nsenter', [`--uts=/proc/${child.pid}/ns/uts`, 'hostname', 'node042.example']);
      await until('it reports', () => said.stderr.includes('ready: node042 reports'));
      spawnSync('nsenter', [`--uts=/proc/${child.pid}/ns/uts`, 'hostname', 'localhost']);
      child.kill('SIGHUP');
      await until('it keeps its name', () => /SIGHUP: this machine has no host name yet, .*changed/.test(said.stderr));
      child.kill('SIGTERM');
      t.equal(await said.exit, 0);

      const waiting = spawn(program, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
      const last = follow(waiting, t);
      await until('it waits', () => last.stderr.includes('has no host name yet'));
      waiting.kill('SIGHUP');
      waiting.kill('SIGTERM');
      t.equal(await last.exit, 0, 'it can be ended meanwhile');
    }
  },
);

t.test("only ASCII's letters have a lower case", async t => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const lower = code >= 65 && code <= 90 ? String.fromCharCode(code + 32) : character;
    if (lowerCase(character) !== lower) t.fail(`U+${code.toString(16)}`);
  }
  t.equal(lowerCase('NODE\u212a-ſ'), 'node\u212a-ſ');
  const { boardName } = match([{ name: 'node\u212a' }, { name: 'NODE1', host: '\u212a1' }], ['nodek', 'k1', 'node1']);
  t.strictSame([...boardName], [['NODE1', 'node1']]);
});
