// beoboard keygen: both senders and the receiver accept its keys, only the owner can read them, and none is
// overwritten.

import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { keyLine, parseKeys, readClusterKeys, readKeys } from '../../src/options/keys.js';
import { DAEMON, findUser } from '../../src/options/users.js';
import { folder } from '../kit/places.js';
import { run } from '../kit/program.js';
import { verbChild } from '../kit/verbchild.js';

const runHere = verbChild(t);

/** What root is told where there is another user to whom keys may belong. */
const hasChoice = process.geteuid?.() === 0 && findUser(DAEMON) !== undefined;
const [OWNER, OF_NODES] = hasChoice ? [`; owner: ${DAEMON}`, '; owner: root'] : ['', ''];

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

t.test('a cluster key', async t => {
  const at = folder(t);
  const file = join(at, 'cluster.key');
  t.strictSame(await run(['keygen', file]), {
    code: 0,
    stdout: `made ${file}, a cluster key with number 1${OWNER}\n`,
    stderr: '',
  });
  t.equal(modeOf(file), '600');
  const [key] = readClusterKeys(file);
  t.match(key, { id: 1, node: undefined });
  t.match(readFileSync(file, 'utf8'), /^1 cluster [0-9a-f]{64}\n$/);
  const second = await run(['keygen', '--key-id', '65535', '-']);
  t.match(parseKeys(second.stdout), [{ id: 65_535, node: undefined }]);
  t.notOk(parseKeys(second.stdout)[0]?.secret.equals(key?.secret as Buffer), 'another each time');
});

t.test("nodes' own keys, one by one or many at once", async t => {
  const at = folder(t);
  const cluster = join(at, 'cluster.key');
  await runHere(['keygen', cluster]);
  const before = readFileSync(cluster, 'utf8');
  // While a key is changed there are two, and a node's file has as many.
  writeFileSync(cluster, `${(await runHere(['keygen', '--key-id', '2', '-'])).stdout}${before}`);
  const [two, one] = readClusterKeys(cluster);
  const lines = (node: string) =>
    [two, one]
      .map(key => {
        const secret = createHmac('sha256', key?.secret as Buffer)
          .update(node)
          .digest();
        return keyLine({ id: key?.id ?? -1, node, secret });
      })
      .join('');
  const derive = (nodes: string, to: string) => runHere(['keygen', '--key-file', cluster, '--nodes', nodes, to]);
  const single = join(at, 'n1.key');
  t.strictSame(await derive('n1', single), {
    code: 0,
    stdout: `made ${single}, the key of n1${OF_NODES}\n`,
    stderr: '',
  });
  t.equal(readFileSync(single, 'utf8'), lines('n1'));
  t.equal(modeOf(single), '600');
  t.equal((await derive('n1', '-')).stdout, lines('n1'));

  const many = join(at, 'keys');
  t.match(await derive('n[01-03],login', `${many}/`), {
    code: 0,
    stdout: `made the keys of 4 nodes in ${many}/${OF_NODES}\n`,
  });
  t.equal(modeOf(many), '700');
  t.strictSame(readdirSync(many).sort(), ['login.key', 'n01.key', 'n02.key', 'n03.key']);
  for (const name of ['login', 'n01', 'n02', 'n03']) {
    t.equal(modeOf(join(many, `${name}.key`)), '600');
    t.equal(readFileSync(join(many, `${name}.key`), 'utf8'), lines(name), name);
    t.equal(readKeys(join(many, `${name}.key`))[0]?.node, name);
  }
  writeFileSync(join(at, 'list'), 'n04\nn05\n');
  t.match(await derive(`@${join(at, 'list')}`, many), {
    code: 0,
    stdout: `made the keys of 2 nodes in ${many}${OF_NODES}\n`,
  });
});

t.test('nothing is overwritten, and what is wrong is one line', async t => {
  const at = folder(t);
  const path = (name: string) => join(at, name);
  await runHere(['keygen', path('c.key')]);
  const kept = readFileSync(path('c.key'), 'utf8');
  writeFileSync(
    path('own.key'),
    (await runHere(['keygen', '--key-file', path('c.key'), '--nodes', 'n1', '-'])).stdout,
    { mode: 0o600 },
  );
  writeFileSync(path('open.key'), kept, { mode: 0o644 });
  mkdirSync(path('keys'));
  writeFileSync(path('keys/n2.key'), 'mine');
  symlinkSync(path('nowhere'), path('link'));
  const derive = ['--key-file', path('c.key'), '--nodes'];
  const table: [argv: string[], code: number, what: RegExp][] = [
    [[path('c.key')], 1, /c\.key: exists, and keys are never overwritten; remove it or name another file/],
    [[path('link')], 1, /link: exists, and keys/],
    [[...derive, 'n1', path('own.key')], 1, /own\.key: exists, and keys are never/],
    [[...derive, 'n[1-3]', path('keys')], 1, /n2\.key: exists, and keys are never/],
    [[path('no/where')], 1, /no\/where: cannot be made: its directory does not exist; make it first\n$/],
    [[path('c.key/x')], 1, /its directory is a file; name another path/],
    [
      [...derive, 'n1', path('no/where/')],
      1,
      /no\/where\/: cannot be made: its directory does not exist; make it first\n$/,
    ],
    [[...derive, 'n[1-3]', path('file')], 2, /3 nodes need a directory to put their keys into; write .*file\//],
    [[...derive, 'n[1-3]', '-'], 2, /3 nodes need a directory/],
    [[...derive, 'n[1-', path('file')], 2, /--nodes: /],
    [['--nodes', 'n1', path('file')], 2, /--nodes needs the cluster key; give --key-file/],
    [['--key-file', path('c.key'), path('file')], 2, /give --nodes, too/],
    [[...derive, 'n1', '--key-id', '2', path('file')], 2, /--key-id is for a new cluster key/],
    [['--key-id', '65536', path('file')], 2, /--key-id: '65536' is out of bounds/],
    [
      ['--key-file', path('own.key'), '--nodes', 'n2', path('file')],
      2,
      /line 1 is the key of n1; give the cluster key/,
    ],
    [['--key-file', path('open.key'), '--nodes', 'n2', path('file')], 2, /can be read by others; run chmod 600/],
    [['--key-file', path('none'), '--nodes', 'n2', path('file')], 2, /none: cannot be read: no such file/],
    [[], 2, /the argument FILE is missing/],
    [[''], 2, /the file has no name; write a path/],
  ];
  for (const [argv, code, what] of table) {
    const said = await runHere(['keygen', ...argv]);
    t.match(said, { code, stdout: '', stderr: what }, argv.join(' '));
    t.equal(said.stderr.trimEnd().split('\n').length, 1, said.stderr);
  }
  t.equal(readFileSync(path('c.key'), 'utf8'), kept);
  t.strictSame(readdirSync(path('keys')), ['n2.key'], 'none was made where one is there');
  t.equal(readFileSync(path('keys/n2.key'), 'utf8'), 'mine');
});
