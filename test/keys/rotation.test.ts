// The commands about keys in docs/security.md and docs/sites.md, as they stand there, run by root in a machine of its own
// (namespaces): a receiver and senders as the user beoboard, whose files they make. And what happens when a key file has
// the wrong owner.
//
// @seconds 5
// @waits
// @rest

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { readingOf } from '../../src/readings/readings.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { compileSender } from '../kit/compiling.js';
import { INSIDE } from '../kit/network.js';
import { ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
const BEOBOARD = 990;
const RELAY = BEOBOARD + 2;
const NODES = ['node001', 'node002', 'node129'];

/** Programs of a site: nodes are folders under /run/nodes, which lie at /etc/beoboard for what runs there. */
const PROGRAMS = {
  beoboard: 'exec "$NODE" "$ROOT/dist/bin/beoboard.cjs" "$@"',
  ssh: 'node=$1; shift; [ -d /run/nodes/$node ] || { cat >/dev/null; exit 0; }; exec unshare -m at-node $node sh -c "$*"',
  'at-node': 'mount --bind /run/nodes/$1 /etc/beoboard && export AT=$1 && shift && exec "$@"',
  // Of a node, or of the master.
  systemctl: 'kill -HUP $(cat /run/$2$AT.pid)',
  daemon: 'echo $$ >/run/$1$AT.pid; shift; exec as beoboard "$@"',
  as: 'user=$1; shift; exec setpriv --reuid=$user --regid=$user --clear-groups "$@"',
};
const SETUP = `
mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && mkdir /run/bin /run/nodes /run/etc /run/etc.work
mount -t overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/etc.work none /etc
sed -i -E '/^beoboard(-send|-relay)?:/d' /etc/passwd /etc/group
echo beoboard:x:${BEOBOARD}:${BEOBOARD}::/:/bin/sh >>/etc/passwd && echo beoboard:x:${BEOBOARD}: >>/etc/group
echo beoboard-send:x:${BEOBOARD + 1}:${BEOBOARD + 1}::/:/bin/sh >>/etc/passwd && echo beoboard-send:x:${BEOBOARD + 1}: >>/etc/group
echo beoboard-relay:x:${RELAY}:${RELAY}::/:/bin/sh >>/etc/passwd && echo beoboard-relay:x:${RELAY}: >>/etc/group
rm -rf /etc/beoboard && install -d -o beoboard /dev/shm/beoboard
for node in ${NODES.join(' ')}; do mkdir /run/nodes/$node; done
ip link set lo up
`;

const run = (text: string, PATH = `/run/bin:${process.env.PATH}`) =>
  spawnSync('bash', ['-c', text], {
    encoding: 'utf8',
    cwd: '/run',
    env: { ...process.env, PATH, ROOT, NODE: process.execPath },
  });

/** The commands of a document's fences that hold this text. */
function fence(document: string, holds: string): string[] {
  const fences = readFileSync(join(ROOT, 'docs', document), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  const [, text = ''] = [...fences].find(([, text]) => text?.includes(holds)) ?? [];
  return text
    .split('\n')
    .map(line => line.replace(/\s+#\s.*$/, ''))
    .filter(line => line !== '');
}

function start(t: Test, name: string, command: string): { child: ChildProcess; said: () => string } {
  const env = { ...process.env, PATH: `/run/bin:${process.env.PATH}`, ROOT, NODE: process.execPath };
  const child = spawn('bash', ['-c', `exec ${command}`], { cwd: '/run', env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child, t);
  return { child, said: () => `${name}: ${said.stderr}` };
}

if (!INSIDE) {
  const unshare = ['--mount', '--propagation', 'private', '--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const tried = spawnSync('unshare', [...unshare, 'sh', '-ec', SETUP], { encoding: 'utf8' });
  if (tried.status !== 0 && process.env.CI !== 'true')
    t.pass('skipped', { skip: `no namespaces here: ${tried.stderr || tried.error}` });
  else
    t.spawn(
      'unshare',
      [...unshare, 'sh', '-ec', `${SETUP}\nexec "$0" "$1"`, process.execPath, fileURLToPath(import.meta.url)],
      { env: { ...process.env, BEOBOARD_TEST_NAMESPACE: 'yes' } },
      'as root in a machine of its own',
    );
} else
  t.test('keys are made, given to nodes, and changed, by the commands of the documents', async t => {
    const sender = '/run/bin/beoboard-send';
    copyFileSync(compileSender(t), sender);
    chmodSync(sender, 0o755);
    for (const [name, text] of Object.entries(PROGRAMS))
      writeFileSync(`/run/bin/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const reader = new BoardReader('/dev/shm/beoboard/board');
    t.teardown(() => reader.close());
    /** What each node has proved, or why there is no board. */
    const look = () => {
      try {
        const snapshot = reader.snapshot();
        return {
          keys: (snapshot.header.accepted_keys ?? []).filter(Boolean),
          failed: snapshot.header.reload_failed_at,
        };
      } catch (error) {
        if (!(error instanceof NoBoard)) throw error;
        return undefined;
      }
    };
    const perform = (command: string) => {
      const { status, stderr, stdout } = run(command);
      t.equal(status, 0, `${command}: ${stderr}`);
      return stdout;
    };
    const accepts = (...ids: number[]) =>
      until(`keys ${ids}`, () => look()?.keys.join() === ids.map(id => id + 1).join());
    const proved = () =>
      [...reader.snapshot().nodes()].map(node => `${node.name},${readingOf('key')?.value(node)}`).sort();
    const provedBy = (...rows: string[]) => until(rows.join(), () => proved().join() === rows.join());
    const ownerOf = (path: string) => statSync(path).uid;

    // Setting it up.
    const made = fence('start.md', 'beoboard keygen /etc/beoboard/cluster.key').filter(command =>
      /beoboard\/nodes$|keygen/.test(command),
    );
    const said = ['install -d -m 755 /etc/beoboard', ...made].map(perform).join('');
    t.match(said, /cluster\.key, a cluster key with number 1; owner: beoboard\n.*128 nodes in \S+; owner: root\n/);
    const give = (node: string) =>
      perform(
        `ssh ${node} install -D -m 600 -o beoboard /dev/stdin /etc/beoboard/node.key </etc/beoboard/keys/${node}.key`,
      );
    for (const node of ['node001', 'node002']) give(node);
    const receive = 'beoboard receive --key-file /etc/beoboard/cluster.key --require node';
    t.equal(ownerOf('/etc/beoboard/cluster.key'), BEOBOARD);
    t.equal(ownerOf('/etc/beoboard/keys/node001.key'), 0);
    t.equal(ownerOf('/run/nodes/node001/node.key'), BEOBOARD);
    const receiving = () => start(t, 'receive', `daemon beoboard-receive ${receive}`);
    const send = (node: string, env = '') =>
      start(
        t,
        node,
        `env ${env} unshare -m at-node ${node} daemon beoboard-send ${sender} --to 127.0.0.1 --name ${node} --interval 100ms --key-file /etc/beoboard/node.key`,
      );
    let receiver = receiving();
    await accepts(1);
    const [one, two] = [send('node001'), send('node002')];
    await provedBy('node001,node:1', 'node002,node:1');

    // A node more.
    for (const command of fence('start.md', '--nodes node129')) if (/keygen/.test(command)) perform(command);
    perform(
      'ssh node129 install -D -m 600 -o beoboard /dev/stdin /etc/beoboard/node.key </etc/beoboard/keys/node129.key',
    );
    const three = send('node129');
    await provedBy('node001,node:1', 'node002,node:1', 'node129,node:1');
    three.child.kill('SIGTERM');
    await once(three.child, 'exit');
    perform('beoboard forget node129');

    // Another key.
    const accepted = [[1, 2], [2]];
    for (const command of fence('security.md', '--key-id 2')) {
      if (/^beoboard nodes /.test(command))
        await until('all prove it', () => perform(`${command} || [ $? = 1 ]`) === '');
      else perform(command);
      if (command === 'systemctl reload beoboard-receive') await accepts(...(accepted.shift() ?? []));
    }
    t.same(accepted, []);
    t.strictSame(proved(), ['node001,node:2', 'node002,node:2']);
    t.match(perform('beoboard check'), /^BEOBOARD OK: 2 nodes, 2 live \|/);
    t.match(perform('beoboard status'), / KEY *\n *node001 .* node:2\n/);
    t.equal(ownerOf('/etc/beoboard/cluster.key'), BEOBOARD);

    // A key file of root, which the user beoboard may not read: the old key stays, everybody is told, and what is said mends it.
    perform(
      'beoboard keygen --owner root --key-id 3 /etc/beoboard/root.key && mv /etc/beoboard/root.key /etc/beoboard/cluster.key',
    );
    perform('systemctl reload beoboard-receive');
    await until('it is on the board', () => look()?.failed === 3);
    const WHAT =
      /the receiver could not read its key file again since \d\d:\d\d:\d\d \([\d.]+m?s\): key 2 is still accepted; its log says why/;
    const check = run('beoboard check');
    t.match(check, { status: 1, stdout: WHAT });
    t.match(perform('beoboard status --long').replaceAll('\n  ', ' '), WHAT);
    const { board } = JSON.parse(perform('beoboard status --json'));
    t.match(board, { keys: [2], reload_failed: { what: 'keys' } });
    t.match(perform('beoboard metrics'), /^beoboard_receiver_reload_failed\{.*kind="keys"\} 1$/m);
    t.strictSame(proved(), ['node001,node:2', 'node002,node:2']);
    /** What the log says that mends it. */
    const mend = async () =>
      perform(
        await until(
          'it says what mends it',
          () => /permission denied; run (chown beoboard: \S+cluster\.key)/.exec(receiver.said())?.[1],
        ),
      );
    await mend();
    await accepts(3);
    t.equal(look()?.failed, 0, 'it has tried again by itself');

    // The same at the start: no receiver without its keys, and none that ends for good.
    receiver.child.kill('SIGTERM');
    await once(receiver.child, 'exit');
    perform('chown root: /etc/beoboard/cluster.key');
    receiver = receiving();
    await until('it says why', () => /permission denied/.test(receiver.said()));
    t.notMatch(receiver.said(), /ready/);
    await mend();
    await until('it is ready', () => receiver.said().includes('ready'));

    // A sender keeps its key likewise; one that starts without it ends, to be started again.
    perform('chown root: /run/nodes/node001/node.key && AT=node001 systemctl reload beoboard-send');
    await until('it says so', () =>
      /run chown beoboard: \S+node\.key; nothing has changed, tries again/.test(one.said()),
    );
    perform('chown beoboard: /run/nodes/node001/node.key');
    await until('it has tried again', () => one.said().includes('read its options again'));
    perform('chown root: /run/nodes/node002/node.key');
    two.child.kill('SIGTERM');
    await once(two.child, 'exit');
    t.same(await once(send('node002', 'NOTIFY_SOCKET=/run/none').child, 'exit'), [1, null]);

    // Relay and NATS.
    for (const holds of ['keygen --relay', 'mirror-login1'])
      for (const command of fence('sites.md', holds)) if (!/^apt-get/.test(command)) perform(command);
    for (const [name, uid, mode] of [
      ['relay.key', RELAY, 0o100600],
      ['relay.key.pub', 0, 0o100644],
      ['relay.login', RELAY, 0o100600],
      ['mirror.login', BEOBOARD, 0o100600],
    ] as const)
      t.match(statSync(`/etc/beoboard/${name}`), { uid, mode }, name);

    perform('chown root: /etc/beoboard/relay.key');
    const relay = start(
      t,
      'relay',
      'env NOTIFY_SOCKET=/run/none as beoboard-relay beoboard relay --nats nats://127.0.0.1 --site home --key-file /etc/beoboard/relay.key',
    );
    t.same(await once(relay.child, 'exit'), [1, null]);
    t.match(relay.said(), /permission denied; run chown beoboard-relay: /);
    perform('chown beoboard-relay: /etc/beoboard/relay.key');
    const { stderr: byRoot } = run(
      'beoboard relay --nats nats://127.0.0.1 --site home --key-file /etc/beoboard/relay.key --nats-login /etc/beoboard/relay.login',
    );
    t.match(byRoot, /the board's cluster "" is not a name for a subject/, 'root may read the files of the relay');

    // What root does not write into.
    perform('mkdir -m 777 /run/open && install -d -o nobody /run/theirs && ln -s /etc/beoboard /run/link');
    for (const [path, why] of [
      ['open', 'can be written by others'],
      ['theirs', 'belongs to nobody'],
      ['link', 'is a link; name the folder itself'],
    ] as const) {
      t.match(run(`beoboard keygen /run/${path}/x.key`), { status: 1, stderr: new RegExp(why) });
    }
  });
