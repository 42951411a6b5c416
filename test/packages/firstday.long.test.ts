// docs/start.md, run command by command as written, in a cluster of Debian 13 with its own Node.js: two masters and four
// nodes, each a system of its own that begins with nothing but Debian and the packages' files, and whose root has a umask
// that lets nobody else read. Then each verb that root runs, there and on Debian 12.

import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { VERBS } from '../../src/options/verbs.js';
import { must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';
import { HOST_NEEDS, type Host, hosts } from './hosts.js';
import { debian, debOfNode, diskFolder, nodeFrom, within } from './virtual.js';

t.setTimeout(3_600_000);

const missing = lacks('mmdebstrap musl-tools openssh-client', 'mmdebstrap', 'musl-gcc', 'ssh-keygen');
const own = diskFolder(t);

/** The page is about 128 nodes; here are three, and a fourth that comes and goes. */
const COUNTS: readonly [RegExp, string][] = [
  [/node\[001-128\]/g, 'node[001-003]'],
  [/node\[001-129\]/g, 'node[001-004]'],
  [/\bnode129\b/g, 'node004'],
  [/\b128\b/g, '3'],
  [/\b129\b/g, '4'],
];
const here = (text: string) => COUNTS.reduce((so, [what, by]) => so.replace(what, by), text);

interface Step {
  readonly commands: readonly string[];
  /** What the last one must show. */
  readonly shows: readonly string[];
}

/** The steps of the page: a fence of commands, and the sentence behind it. */
function stepsOf(page: string): Step[] {
  const found = page.matchAll(/^```sh\n(.*?)^```\n\n(It shows .*?)(?=\n\n|\n$)/gms);
  return [...found].map(([, fence = '', says = '']) => ({
    commands: here(fence).trimEnd().split('\n'),
    shows: [...here(says).matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replace(/\s+/g, ' ')),
  }));
}

/** Runs a daemon until it says that it is ready, or whom it waits for, and ends it. */
const FOR_A_WHILE =
  'end() { : >said; beoboard "$@" 2>said & for i in $(seq 300); do grep -q "ready\\|writes" said && break; sleep 0.1; done; cat said >&2; kill $!; wait $!; }; end';

/** What root may type on a master, by verb, and how it ends. NODE is a node of it. */
const ROOT_TYPES: Readonly<Record<string, readonly [command: string, code: number][]>> = {
  demo: [['beoboard demo --alone --for 3s', 0]],
  send: [['beoboard send --once --to 127.0.0.1 --cluster alpha --name NODE', 0]],
  receive: [[`${FOR_A_WHILE} receive --board /run/other/board --listen 127.0.0.1:0`, 0]],
  status: [['beoboard status', 0]],
  show: [['beoboard show NODE', 0]],
  odd: [['beoboard odd', 0]],
  ack: [
    ['beoboard ack bad_health --until +1h', 0],
    ['beoboard ack', 0],
    ['beoboard ack bad_health --withdraw', 0],
  ],
  events: [['beoboard events -n 5 --for 0', 0]],
  journal: [[`${FOR_A_WHILE} journal --journal-dir /root/journal`, 0]],
  nodes: [['beoboard nodes', 0]],
  check: [
    ['beoboard check', 1],
    ['beoboard check --setup', 1],
  ],
  xml: [['beoboard xml', 0]],
  ganglia: [[`${FOR_A_WHILE} ganglia`, 0]],
  web: [[`${FOR_A_WHILE} web`, 0]],
  prometheus: [[`${FOR_A_WHILE} prometheus`, 0]],
  metrics: [['beoboard metrics', 0]],
  supermon: [[`${FOR_A_WHILE} supermon`, 0]],
  zoom: [['beoboard zoom --help', 0]],
  scheduler: [[`${FOR_A_WHILE} scheduler`, 0]],
  bridge: [['beoboard bridge --status', 1]],
  jobs: [['beoboard jobs', 1]],
  users: [['beoboard users', 1]],
  dump: [['beoboard dump', 0]],
  describe: [['beoboard describe load', 0]],
  nodeset: [['beoboard nodeset --count NODE', 0]],
  drain: [['beoboard drain -w NODE --reason test', 1]],
  resume: [['beoboard resume -w NODE', 1]],
  pace: [['beoboard pace -w NODE --interval 2s --for 1m --via ssh', 0]],
  keygen: [
    ['beoboard keygen --key-id 3 /etc/beoboard/next.key', 0],
    ['beoboard keygen --relay /etc/beoboard/relay.key', 0],
  ],
  relay: [[`${FOR_A_WHILE} relay --nats nats://127.0.0.1 --site s --key-file /etc/beoboard/relay.key`, 0]],
  mirror: [
    [
      `${FOR_A_WHILE} mirror --nats nats://127.0.0.1 --site s --cluster alpha --trust m1=/etc/beoboard/relay.key.pub --board /run/mirror/board`,
      0,
    ],
  ],
  load: [['beoboard load --to 127.0.0.1:9 --nodes x[1-3] --for 1s', 0]],
  clear: [['beoboard clear -w NODE', 1]],
  forget: [['beoboard forget NODE', 0]],
};

/** What no answer to root says: an internal error of Node.js, or that root should be root. */
const FAILS = /CVE-|setegid|seteuid|as root|node:internal|\n {4}at /;

/** Root types all that, on a host whose board has a node with a failed health check, with and without a receiver. */
async function rootTypes(t: Test, host: Host, node: string): Promise<void> {
  const told = (command: string, code: number, what = '') => {
    const { status, stdout, stderr } = host.sh(command.replaceAll('NODE', node));
    t.equal(status, code, `${what}${command}: ${status} ${stdout.slice(-600)}${stderr}`);
    t.notMatch(stdout + stderr, FAILS, `${what}${command}`);
  };
  t.same(Object.keys(ROOT_TYPES).sort(), Object.keys(VERBS).sort(), 'each verb has a row');
  const hasTrouble = () => host.sh('beoboard nodes --with-problem bad_health').stdout !== '';
  await until('its health check has failed', hasTrouble);
  for (const [verb, rows] of Object.entries(ROOT_TYPES)) {
    // A report that was sent in its name had another health.
    if (verb === 'ack') await until('its health check has failed again', hasTrouble);
    for (const [command, code] of rows) told(command, code);
  }
  t.same(host.sh('find /dev/shm/beoboard ! -user beoboard').stdout, '', 'all there belongs to beoboard');

  await until('it is back', hasTrouble);
  host.sh('systemctl stop beoboard-receive');
  const alone = ['beoboard ack bad_health --until +1h', 'beoboard ack bad_health --withdraw'];
  for (const command of alone) told(command, 0, 'without a receiver: ');
  // What somebody who is beoboard lays in the way.
  host.sh('echo precious >/dev/shm/precious');
  const precious = () => host.sh('cat /dev/shm/precious; stat -c "%a %u %s" /dev/shm/precious').stdout;
  const before = precious();
  t.match(before, /precious/);
  const places = ['.board.acks.lock', '.board.acks.new', 'board.acks', 'board.ctl', '.board.lock', 'board.lock'];
  for (const lay of ['ln -s', 'ln'])
    for (const name of places) {
      const path = `/dev/shm/beoboard/${name}`;
      host.sh(`mv ${path} /dev/shm/aside; ${lay} /dev/shm/precious ${path}; chown -h beoboard: /dev/shm/beoboard/*`);
      for (const command of [...alone, 'beoboard forget nobody', 'beoboard clear -w nobody']) {
        const { stdout, stderr } = host.sh(command);
        t.notMatch(stdout + stderr, FAILS, `${lay} ${name}: ${command}`);
      }
      host.sh(`chown root: /dev/shm/precious`);
      t.equal(precious(), before, `${lay} ${name}: what it leads to stays`);
      host.sh(`rm -f ${path}; mv /dev/shm/aside ${path}`);
    }
  told('beoboard forget NODE', 0, 'without a receiver: ');
  t.same(host.sh('find /dev/shm/beoboard ! -user beoboard').stdout, '', 'all there belongs to beoboard still');
}

t.test('the systems', { skip: missing }, async t => {
  const { DEBS } = process.env;
  const debs = DEBS ?? join(own, 'debs');
  if (DEBS === undefined)
    must('nice', [
      ...[process.execPath, join(ROOT, 'scripts', 'package.mjs'), 'deb', 'amd64', 'beoboard-common', 'beoboard-send'],
      ...['beoboard', 'beoboard-tools', 'beoboard-supermon', '--out', debs],
    ]);
  const files = readdirSync(debs)
    .filter(name => name.endsWith('.deb'))
    .map(name => join(debs, name));
  const system = (suite: string, packages: string[]) => debian(join(own, suite), suite, [...HOST_NEEDS, ...packages]);
  const trixie = system('trixie', ['nodejs']);
  const bare = system('bookworm', []);
  // Debian 12 has Node.js 18, which is too old, so one from npm is installed.
  const nodejs = join(own, 'nodejs.deb');
  debOfNode(nodeFrom(own, 'x64', 22), nodejs);
  cpSync(nodejs, join(bare, 'root', 'nodejs.deb'));
  t.match(within(bare, 'dpkg', '-i', '/root/nodejs.deb'), { status: 0 });

  const cluster = hosts(t, own, {
    m1: trixie,
    m2: trixie,
    node001: trixie,
    node002: trixie,
    node003: trixie,
    node004: trixie,
    old: bare,
  });
  const m1 = await cluster.put('m1', files);
  for (const name of ['m2', 'node001', 'node002', 'node003', 'node004']) await cluster.put(name);

  await t.test('docs/start.md', async t => {
    const page = readFileSync(join(ROOT, 'docs', 'start.md'), 'utf8');
    const steps = stepsOf(page);
    t.equal(steps.length, page.match(/^```sh$/gm)?.length, 'each fence says what it shows');
    // One shell, as an administrator has: functions stay, and a umask.
    let functions = 'umask 077\n';
    const fresh = new Set(['m2', 'node004']);
    for (const { commands, shows } of steps)
      for (const command of commands) {
        if (/^(\w+\(\) \{|umask )/.test(command)) {
          functions += `${command}\n`;
          continue;
        }
        // Whoever is set up again is another machine.
        const [, name] = /^setup_\w+ (\w+)$/.exec(command) ?? [];
        if (name !== undefined && !fresh.delete(name)) await cluster.put(name);
        const isLast = command === commands.at(-1);
        let said = m1.sh(functions + command);
        const all = () => `${said.stdout}${said.stderr}`.replace(/\s+/g, ' ');
        const isShown = () => shows.every(text => all().includes(text));
        if (isLast && /^(ssh m2 )?beoboard (status|check)/.test(command))
          await until(`${command} shows it`, () => {
            if (!isShown()) said = m1.sh(command);
            return isShown();
          }).catch(() => undefined);
        t.ok(said.status === 0 || /check --setup$/.test(command), `${command}: ${said.status} ${all()}`);
        if (isLast) for (const text of shows) t.ok(all().includes(text), `${command} shows ${text}, in: ${all()}`);
      }
    // What was rejected is told for a minute.
    const setup = m1.sh('for i in $(seq 40); do beoboard check --setup >said && break; sleep 2; done; cat said');
    t.notMatch(setup.stdout, /^!!/m, 'and nothing is wrong on the first master');
    t.match(setup.stdout, /^ok {2}receiver/m);
  });

  await t.test('a node has a key that its masters do not have, until they get it', async t => {
    const type = (command: string) => {
      const { status, stdout, stderr } = m1.sh(command);
      t.equal(status, 0, `${command}: ${stdout}${stderr}`);
    };
    const shows = (what: RegExp, command: string) =>
      until(`${command} shows ${what}`, () => what.test(m1.sh(command).stdout.replace(/\s+/g, ' ')));
    type('beoboard keygen --key-id 2 newer.key');
    type('beoboard keygen --key-file newer.key --nodes node002 newer/');
    type(
      "ssh node002 'install -m 600 -o beoboard /dev/stdin /etc/beoboard/node.key && systemctl restart beoboard-send' <newer/node002.key",
    );
    for (const at of ['', 'ssh m2 ']) {
      await shows(
        /reports from 10\.87\.0\.4 as node002 are rejected: key_id \(signed with a key that the receiver does not have\)/,
        `${at}beoboard status`,
      );
      await shows(
        /10\.87\.0\.4 sends .* under the name node002.* or a new one that this master's key file lacks/,
        `${at}beoboard check --setup`,
      );
    }
    await shows(/key_id/, 'cat /var/log/beoboard-receive.log');
    type('cat newer.key >>/etc/beoboard/cluster.key && systemctl reload beoboard-receive');
    // The step of docs/security.md.
    const step =
      /^ssh m2 .*cluster\.key(?= {3})/m.exec(readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8'))?.[0] ?? '';
    type(step);
    for (const at of ['', 'ssh m2 ']) await shows(/node002 live .* node:2/, `${at}beoboard status`);
  });

  await t.test('a key file that is missing is waited for', async t => {
    const m2 = (command: string) => m1.sh(`ssh m2 '${command}'`);
    const shows = (what: RegExp) =>
      until(`status shows ${what}`, () => {
        const { stdout, stderr } = m2('beoboard status');
        return what.test((stdout + stderr).replace(/\s+/g, ' '));
      });
    m2('cd /etc/beoboard && mv cluster.key aside.key && systemctl restart beoboard-receive');
    await shows(/waits for its key file: .*cluster\.key: cannot be read: no such file .*; beoboard keygen makes one/);
    m2('cd /etc/beoboard && mv aside.key cluster.key');
    await shows(/3 live/);
    // A node's sender is begun again by systemd, which its exit code asks for.
    const send = 'NOTIFY_SOCKET=/none beoboard-send --to m1 --key-file /nowhere';
    t.match(m1.sh(`ssh node001 ${send}`), { status: 1, stderr: /no such file .*; beoboard keygen makes one/ });
  });

  await t.test('Debian 13: what root types', async t => {
    t.match(m1.sh('dpkg -i beoboard-supermon_*.deb beoboard-tools_*.deb'), { status: 0 });
    t.match(m1.sh(`ssh node003 'echo bad disk broken >/run/beoboard/health'`), { status: 0 });
    await rootTypes(t, m1, 'node003');
  });

  await t.test('Debian 12: what root types', async t => {
    const old = await cluster.put('old', files);
    const setup = [
      'dpkg -i beoboard*.deb',
      `echo 'cluster = "alpha"' >>/etc/beoboard/receive.toml && systemctl restart beoboard-receive`,
      `printf 'to = ["127.0.0.1"]\\ncluster = "alpha"\\n' >/etc/beoboard/send.toml && systemctl restart beoboard-send`,
      'echo bad disk broken >/run/beoboard/health',
    ];
    for (const command of setup) {
      const { status, stdout, stderr } = old.sh(command);
      t.equal(status, 0, `${command}: ${stdout}${stderr}`);
    }
    await rootTypes(t, old, 'old');
  });
});
