// Every command in README.md, CONTRIBUTING.md and docs/, exactly as written and in the written order, run in its own
// machine. Commands that cannot be run are in a table, with the reason. A new command must be one or the other.
//
// That machine is this one, in namespaces: with its own network and host name, and an empty /dev/shm and /run. Files
// written to this clone, /etc, /usr and /tmp are in overlays in memory, which go with the namespaces.
//
// @seconds 35
// @rest

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { type Followed, follow } from '../kit/children.js';
import { builds, INSTALLED, MATRIX, type Make, makeIn } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import { INSIDE } from '../kit/network.js';
import { ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';
import { type Answer, verbChild } from '../kit/verbchild.js';
import { choosesNothing, notThere } from './testnames.js';

t.setTimeout(1_800_000);

// ---- which commands there are ----

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
    .sort(),
];

interface Command {
  line: number;
  text: string;
}

/**
 * When words in a sentence are a command: the program, and how many words must follow. `beoboard status` is the name of
 * a verb, `beoboard status -x` a command. A heading has no commands.
 */
const INLINE: Record<string, number> = {
  beoboard: 2,
  'beoboard-send': 1,
  'beoboard-gpu': 1,
  'beoboard-gate': 1,
  'beoboard-mon': 1,
  'beoboard-nodes': 1,
  'beoboard-check': 1,
  npm: 1,
  node: 1,
  make: 1,
  bash: 1,
  'apt-get': 1,
  sbatch: 1,
  systemctl: 2,
  journalctl: 1,
  ip: 2,
};

function commandsOf(text: string): Command[] {
  const found: Command[] = [];
  let fence: string | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const add = (text: string) => found.push({ line: i + 1, text });
    const [, language] = /^\s*```(\w*)/.exec(line) ?? [];
    if (language !== undefined) fence = fence === undefined ? language : undefined;
    else if (fence === 'sh') {
      const command = line.replace(/(^|\s+)#\s.*$/, '').trim();
      if (command !== '') add(command);
    } else if (fence === undefined && !line.startsWith('#'))
      for (const [, span = ''] of line.matchAll(/`([^`]+)`/g)) {
        const [program = '', ...words] = span.split(' ');
        const least = Object.hasOwn(INLINE, program) ? INLINE[program] : undefined;
        if (least !== undefined && words.length >= least) add(span);
      }
  }
  return found;
}

// ---- which of them are not run ----

/** Builds that no other test needs: everything is compiled for them alone. */
const ONLY_IN_MATRIX: [what: RegExp, why: string][] = [
  [/^make .*(CC=gcc|LINK=musl-gcc)/, 'it compiles another sender; `npm run test:long -- matrix` runs it'],
];

const NOT_RUN: [what: RegExp, why: string][] = [
  [/^make -C c( check| help)?$/, 'project/cbuild runs it, with a PATH of little more than a compiler'],
  [/^apt-get install /, 'it needs the network; .ci/run installs what tests need'],
  [/^bash \.ci\/run$/, 'it runs the tests'],
  [/^npm (test|run (test:\w+|bench))$/, 'it runs all tests, or what takes hours'],
  [/^npm run torture/, 'it takes minutes; `torture/torture` runs it in its short form'],
  [/^npm run mutants/, 'it takes minutes; `project/mutants` holds that its rows apply'],
  [/^npm run package\b/, 'it takes minutes; `packages/packages` makes two of them, and its long form all'],
  [/^node bench\/pictures\.mjs/, 'it takes minutes, and makes the pictures of the documents anew'],
  [/^npm diff /, 'it needs the registry'],
  [/^npm install --global \.\/FILE\.tgz$/, 'it needs the registry; `packages/npmpackage` installs what npm pack makes'],
  [
    /^npm install --global --prefix \/usr\/local FILE$/,
    'it needs the registry; `packages/npmpackage` installs what npm pack makes',
  ],
  [/\bsysctl -p\b/, 'it sets what belongs to the whole machine, and no namespace'],
  [/\b(systemctl|journalctl) /, 'it needs systemd as process 1; `service/units` holds the units against systemd'],
  [
    /^(runuser -u slurm -- )?beoboard bridge (.* )?--(release|undrain-own)/,
    'it needs a Slurm, and the folder of its user; `slurm/bridge` runs it',
  ],
  [/^amtool silence /, 'it needs an Alertmanager that runs'],
  [/^beoboard zoom (node|--play)/, 'it needs a node to log in to; `zoom/zoom` runs it by what stands for ssh'],
  [/^usermod /, 'anna is nobody here'],
  [/^(setup_(node|master)\b|for .* setup_node )/, 'it needs hosts that answer; `packages/firstday` runs it'],
  ...(process.env[MATRIX] === undefined ? ONLY_IN_MATRIX : []),
  [/^node (FILE|-e 0)$/, 'it is a way to call a program, and no command of ours'],
];

const reasonNot = (text: string) => NOT_RUN.find(([what]) => what.test(text))?.[1];

// ---- how the others are run ----

/** What is put in for a placeholder. MASTER and DIR can stay as they are. */
const NAMES: Record<string, string> = { VERB: 'status', FIELD: 'cpu_iowait_pm', NODE: 'node001', IF: 'eth0' };

/** What the document tells its reader to do by hand before a command. */
const BEFORE: [command: string, what: string][] = [
  [
    `sed -i 's/^listen = .*/listen = ["0.0.0.0"]/' /etc/beoboard/receive.toml`,
    'install -D -m 644 packaging/config/receive.toml /etc/beoboard/receive.toml',
  ],
  [
    'install -m 600 -o beoboard-send -g beoboard-send /etc/beoboard/keys/node001.key /etc/beoboard/send.key',
    'install -d -m 755 /etc/beoboard/keys && beoboard keygen /etc/beoboard/cluster.key && beoboard keygen /etc/beoboard/keys/node001.key',
  ],
  ['install -D -m 600 -o beoboard node.key /etc/beoboard/node.key', 'beoboard keygen node.key'],
  ['beoboard keygen --relay /etc/beoboard/relay.key', 'install -d -m 755 /etc/beoboard'],
  ['beoboard send --once --to - --name node1 --pretend p.toml', ': >p.toml; ln -s / A; ln -s / B'],
];

/** The programs that a command needs besides Node and a compiler; without them it is skipped, but never in CI. */
const NEEDS: [what: RegExp, packages: string, ...programs: string[]][] = [
  [/CC=aarch64-linux-gnu-gcc/, 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross', 'aarch64-linux-gnu-gcc'],
  [/CC="?clang/, 'clang', 'clang'],
  [/\| nc /, 'netcat-openbsd', 'nc'],
  [/\| jq /, 'jq', 'jq'],
  [/^promtool /, 'prometheus', 'promtool'],
  [/^amtool /, 'prometheus-alertmanager', 'amtool'],
  [/\/etc\/prometheus\//, 'prometheus', 'promtool'],
  [/=musl-gcc/, 'musl-tools', 'musl-gcc'],
  [/systemd-sysusers|systemd-tmpfiles|beoboard: |-o beoboard/, 'systemd', 'systemd-sysusers', 'systemd-tmpfiles'],
];

/** What must succeed after a command. */
const AFTER: [command: string, what: string][] = [
  ['npm install --global --prefix ~/.local .', '~/.local/bin/beoboard --version'],
  ['npm install --global --prefix /usr/local .', '/usr/local/bin/beoboard --version'],
  ['make -C c install PREFIX=/usr/local', 'PKG_CONFIG_PATH=/usr/local/lib/pkgconfig pkg-config --exists beoboard'],
];

/** Commands for which an exit code other than 0 is correct. */
const ANSWERS: [command: RegExp, code: number, why: string][] = [
  [/^beoboard forget node(\[|129)/, 1, 'of most of these nodes there is no record'],
  [/^beoboard clear /, 1, 'all problems of this node are measured'],
  [/^beoboard check --setup$/, 1, 'no other machine reports here'],
  [/^beoboard (nodes .*--for slurm|jobs( 4711)?)$/, 1, 'nobody reads Slurm here'],
  [/^beoboard (drain|resume) /, 1, 'nobody reads Slurm here, whose commands are there'],
  [/^beoboard bridge --status$/, 1, 'none runs here'],
  [/^beoboard events --(since|last|last-end) /, 4, 'there is no journal here'],
  [/^beoboard-gpu --(once|forget|release) /, 1, 'there is no NVIDIA GPU here'],
  [/^node dist\/bin\/beoboard\.cjs$/, 2, 'it is the program without a verb'],
];

/** Programs of a site, replaced by scripts that do nothing and exit with 0. */
const STAND_INS = ['sbatch', 'clush', 'pdsh', 'scp', 'ssh'];

/** The folder for this test's programs and for the overlays: in the namespaces' own memory. */
const OVER = '/dev/shm/.over';
const BIN = `${OVER}/bin`;

/** Tools that `npm test` runs over all files by itself (scripts/test.mjs). Here it only counts that they are called so. */
const CHECKERS = ['typescript/bin/tsc', '@biomejs/biome/bin/biome'];
const CALLED = `${OVER}/called`;
const CALLS = [...['.', 'src/web/page'].map(path => `tsc --noEmit -p ${resolve(ROOT, path)}`), 'biome check --write .'];
const CHECKER = `#!/usr/bin/env node
const [, name, ...args] = process.argv;
// As either kind of module: one of their packages says that its files are ES modules.
import('node:fs').then(({ appendFileSync }) =>
  appendFileSync('${CALLED}', [name.split('/').pop(), ...args].join(' ') + '\\n'));
`;

const SETUP = `
mount -t tmpfs -o mode=1777 none /dev/shm
mount -t tmpfs -o mode=755 none /run
mkdir -p ${OVER}/home ${BIN}
over() {
  mkdir -p "$3" ${OVER}/$1 ${OVER}/$1.work
  mount -t overlay -o "lowerdir=$2,upperdir=${OVER}/$1,workdir=${OVER}/$1.work" none "$3"
}
over usr /usr /usr
over etc /etc /etc
case "$PREFIX" in /usr | /usr/*) ;; *) over prefix "$PREFIX" "$PREFIX" ;; esac
over clone.up "$ROOT" ${OVER}/clone
# The clone may lie there.
mount -t tmpfs -o mode=1777 none /tmp
mkdir -p "$ROOT"
mount --bind ${OVER}/clone "$ROOT"
hostname node001
ip link set lo up
ip link add eth0 type veth peer name eth0far
ip address add 10.86.0.1/24 dev eth0
ip link set eth0far up
printf '127.0.0.1 localhost node001 MASTER master\\n' >/etc/hosts
for name in ${STAND_INS.join(' ')}; do printf '#!/bin/sh\\nexit 0\\n' >${BIN}/$name; done
printf '#!/bin/sh\\nexec "%s" "%s" "$@"\\n' "$NODE" "$ROOT/dist/bin/beoboard.cjs" >${BIN}/beoboard
printf '%s' "$CHECKER" >${OVER}/checker
chmod 755 ${BIN}/* ${OVER}/checker
for name in ${CHECKERS.join(' ')}; do mount --bind ${OVER}/checker "$ROOT/node_modules/$name"; done
`;

/** Before each document: removes what the last one made. */
const CLEAN = `
rm -rf /etc/beoboard /dev/shm/beoboard /run/beoboard *.key A B p.toml DIR
ip link set eth0 up
ip route replace 224.0.0.0/4 dev eth0
`;

/** A command that keeps running beside the commands that follow. */
const DAEMON =
  /^(?:beoboard (receive|send|ganglia|prometheus|supermon|web|load|bridge)|beoboard-(send|mon))\b(?!.* --(once|help|version|status|check)\b)/;
/** A command that needs a board with a live node, or its receiver. */
const READER =
  /\bbeoboard[ -](status|show|events|nodes|check|metrics|xml|dump|forget|jobs)\b(?! --help)|beoboard-send --check/;
/** One that leaves nothing behind that others could need. */
const ONLY_READS =
  /^beoboard (describe|help|events|status|show|nodes|nodeset|check|metrics|xml|dump|jobs)\b[^>|&;]*$|--help$/;
const ON_TERMINAL = /^(npm start( \| cat)?|beoboard status --watch|beoboard events\b(?! --(since|last|last-end) ).*)$/;

const environment = {
  ...process.env,
  PATH: `${BIN}:/usr/local/sbin:/usr/local/bin:${process.env.PATH}`,
  HOME: `${OVER}/home`,
  SLURM_JOB_NODELIST: 'node001',
  MAKEFLAGS: '-j2',
  npm_config_update_notifier: 'false',
  npm_config_fetch_retries: '0',
};

/** For what is only compiled to be there: half the work of a compiler is to make the result fast. */
const QUICKLY = { CFLAGS: '-O0' };

/** Where other tests have what a command compiles, and how; undefined for one that compiles what they have not. */
function elsewhere(text: string): Make | undefined {
  const [, room, words = ''] = /^make -C c\/(sender|verbs|gate|mon)\b(.*)/.exec(text) ?? [];
  if (room === undefined) return undefined;
  const [, , CC] = /\bCC=("?)(.*?)(\1)( |$)/.exec(words) ?? [];
  if (CC === undefined) return { OUT: makeIn(room, INSTALLED) };
  const [, LINK] = /\bLINK=(\S+)/.exec(words) ?? [];
  // As other tests make it, if one does.
  const alike = builds(['aarch64']).find(({ how }) => how.CC === CC && how.LINK === LINK);
  const how = alike?.how ?? { CC, ...(LINK !== undefined && { LINK }) };
  return { ...how, OUT: makeIn(room, how) };
}

const bash = (text: string, more: NodeJS.ProcessEnv = {}) =>
  spawnSync('bash', ['-c', text], {
    cwd: ROOT,
    env: { ...environment, ...more },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });

/** A `beoboard` with nothing but its arguments. */
const isPlain = (text: string) => /^beoboard [^|&;<>$`()]*$/.test(text.replace(/'[^']*'|"[^"$`]*"/g, ''));

/** Runs a command; `beoboard` in a process that is there already, with the words that the shell makes of the line. */
async function runs(text: string, beoboard: ReturnType<typeof verbChild>): Promise<Answer> {
  if (isPlain(text)) {
    const { stdout } = bash(`beoboard() { printf '%s\\0' "$@"; }\n${text}`);
    return beoboard(stdout.split('\0').slice(0, -1), environment);
  }
  const made = elsewhere(text);
  const more = made ?? (text.startsWith('make -C c') ? QUICKLY : {});
  const { status, stdout, stderr } = bash(made === undefined ? text : text.replace('OUT=DIR', `OUT=${made.OUT}`), more);
  return { code: status ?? '', stdout, stderr };
}

const BOARD = new BoardReader('/dev/shm/beoboard/board');

class Daemons {
  readonly #running = new Map<
    string,
    { text: string; child: ChildProcess; exit: Followed['exit']; told: () => string }
  >();

  /** Starts a daemon, after ending another one of its kind, and waits until it is ready. */
  async start(t: Test, kind: string, text: string): Promise<void> {
    await this.end(t, kind);
    const child = spawn('bash', ['-c', `exec ${text}`], {
      cwd: ROOT,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = follow(child);
    this.#running.set(kind, { text, child, exit: said.exit, told: () => said.stderr });
    await until(`${text} is ready`, () => said.stderr.includes(' ready: ') || child.exitCode !== null);
    t.match(said.stderr, / ready: /, text);
  }

  /** The commands of those that run now. */
  get commands(): string {
    return [...this.#running.values()].map(({ text }) => text).join('\n');
  }

  /** Kills all of them, when the test has failed. */
  kill(): void {
    for (const { child } of this.#running.values()) child.kill('SIGKILL');
  }

  /** Starts a receiver and a sender, unless the document has started them. */
  async cluster(t: Test): Promise<void> {
    // If the folder belongs to a special user, the receiver runs as that user, as in its unit.
    const { stdout: user } = bash('stat -c %U /dev/shm/beoboard 2>/dev/null || echo root');
    const become = `setpriv --reuid=${user.trim()} --regid=${user.trim()} --clear-groups`;
    if (!this.#running.has('receive')) await this.start(t, 'receive', `${become} beoboard receive`);
    // The sender in C starts in less time.
    const sender = join(makeIn('sender', INSTALLED), 'beoboard-send');
    if (!this.#running.has('send')) await this.start(t, 'send', `${sender} --to MASTER`);
    // Also where a document has started its receiver after its sender. Of the file that is there now: for three seconds
    // one that was removed shows the nodes that it had.
    BOARD.close();
    await until('the node is live', () => [...BOARD.snapshot().nodes()].some(({ state }) => state === 'live'));
  }

  /** Ends one daemon, or all of them. */
  async end(t: Test, kind?: string): Promise<void> {
    for (const [name, { child, exit, told }] of [...this.#running].filter(([name]) => (kind ?? name) === name)) {
      this.#running.delete(name);
      child.kill('SIGTERM');
      const code = await exit;
      t.equal(code, 0, `${name} ends cleanly: ${told().slice(-500)}`);
    }
  }
}

/** Waits until the command shows a live node, then ends it as a person would, with Ctrl-C. */
async function onTerminal(t: Test, name: string, text: string): Promise<void> {
  const child = spawn('script', ['-qfec', text, '/dev/null'], { cwd: ROOT, env: { ...environment, TERM: 'xterm' } });
  const said = follow(child);
  await until(`${name} shows a live node`, () => /1 live/.test(said.stdout) || child.exitCode !== null);
  t.match(said.stdout, /1 live/, name);
  child.stdin.write('\x03');
  await said.exit;
}

/** Why a command cannot be run here; false if it can. */
function lacking(text: string): string | false {
  const needs = NEEDS.filter(([what]) => what.test(text));
  return needs.map(([, packages, ...programs]) => lacks(packages, ...programs)).find(skip => skip !== false) ?? false;
}

async function perform(
  t: Test,
  daemons: Daemons,
  beoboard: ReturnType<typeof verbChild>,
  command: Command,
  where: string,
): Promise<void> {
  const text = command.text.replace(/\b[A-Z]+\b/g, word =>
    Object.hasOwn(NAMES, word) ? (NAMES[word] as string) : word,
  );
  const name = `${where}:${command.line}: ${command.text}`;
  const skip = lacking(text);
  if (skip !== false) return void t.pass(name, { skip });
  for (const [, what] of BEFORE.filter(([start]) => text.startsWith(start))) {
    const { status, stderr } = bash(what);
    t.equal(status, 0, `${name}: before it, ${what}: ${stderr}`);
  }
  const kind = DAEMON.exec(text);
  if (kind !== null) return daemons.start(t, kind[1] ?? kind[2] ?? '', text);
  if (READER.test(text)) await daemons.cluster(t);
  if (ON_TERMINAL.test(text)) return onTerminal(t, name, text);
  const { code, stdout, stderr } = await runs(text, beoboard);
  const answer = ANSWERS.find(([what]) => what.test(text))?.[1];
  t.ok(code === 0 || code === answer, `${name}: exit code ${code}: ${(stderr || stdout).slice(-1000)}`);
  for (const [, what] of AFTER.filter(([whole]) => whole === text)) {
    const after = bash(what);
    t.equal(after.status, 0, `${name}: after it, ${what}: ${after.stderr}`);
  }
}

// ---- the tests ----

if (INSIDE)
  t.test('the documents, read from the first to the last', async t => {
    const daemons = new Daemons();
    const beoboard = verbChild(t);
    t.teardown(() => daemons.kill());
    const done = new Set<string>();
    const took: [ms: number, text: string][] = [];
    for (const path of DOCUMENTS) {
      const commands = commandsOf(readFileSync(join(ROOT, path), 'utf8'));
      bash(CLEAN);
      for (const command of commands) {
        if (reasonNot(command.text) !== undefined || choosesNothing(command.text) !== undefined) continue;
        // Builds are run once, and what only reads once beside the same daemons. Others are run again in each document,
        // because those after them may need them.
        const reads = ONLY_READS.test(command.text);
        const key = reads ? `${command.text}\n${daemons.commands}` : command.text;
        if ((reads || /^(make|npm) /.test(command.text)) && done.has(key)) continue;
        done.add(key);
        const began = performance.now();
        await perform(t, daemons, beoboard, command, path);
        took.push([performance.now() - began, command.text]);
      }
      await daemons.end(t);
    }
    for (const [ms, text] of took.sort(([a], [b]) => b - a).slice(0, 8))
      t.comment(`${(ms / 1000).toFixed(1)} s: ${text}`);
    t.same(
      [...new Set(readFileSync(CALLED, 'utf8').trim().split('\n'))].sort(),
      [...CALLS].sort(),
      'checkers are called',
    );
    t.ok(done.size > 40, `${done.size} commands were run`);
  });
else {
  t.test('commands are found in fences and sentences', async t => {
    const text =
      'As `beoboard status` has it, `beoboard status -x`.\n```sh\na b   # why\n# no\n```\n```toml\nx = 1\n```\n`c d`';
    t.same(commandsOf(text), [
      { line: 1, text: 'beoboard status -x' },
      { line: 3, text: 'a b' },
    ]);
  });

  t.test('every reason for not running a command is still needed', async t => {
    const all = DOCUMENTS.flatMap(path => commandsOf(readFileSync(join(ROOT, path), 'utf8')).map(({ text }) => text));
    for (const [what, why] of NOT_RUN) {
      t.ok(
        all.some(text => what.test(text)),
        `${what}: ${why}`,
      );
      t.same(notThere(why), [], 'the test that shows it instead is there');
    }
    for (const text of new Set(all)) t.strictSame(choosesNothing(text) ?? [], [], `${text} chooses what there is`);
    t.strictSame(choosesNothing('npm test -- order nothing'), ['nothing']);
  });

  // Here, because what is compiled in the namespaces goes with them.
  for (const path of DOCUMENTS)
    for (const { text } of commandsOf(readFileSync(join(ROOT, path), 'utf8')))
      if (reasonNot(text) === undefined && lacking(text) === false) elsewhere(text);

  const unshare = [
    ...['--mount', '--propagation', 'private', '--net', '--uts', '--pid', '--fork', '--mount-proc', '--kill-child'],
  ];
  const env = {
    ...process.env,
    ROOT: ROOT.replace(/\/$/, ''),
    NODE: process.execPath,
    PREFIX: dirname(dirname(process.execPath)),
    CHECKER,
    BEOBOARD_TEST_NAMESPACE: 'yes',
  };
  const tried = spawnSync('unshare', [...unshare, 'sh', '-ec', SETUP], { env, encoding: 'utf8' });
  if (tried.status !== 0 && process.env.CI !== 'true')
    t.pass('skipped', { skip: `no namespaces here: ${tried.stderr || tried.error}` });
  else
    t.spawn(
      'unshare',
      [...unshare, 'sh', '-ec', `${SETUP}\ncd "$ROOT"\nexec "$NODE" "$0"`, fileURLToPath(import.meta.url)],
      { env },
      'the documents',
    );
}
