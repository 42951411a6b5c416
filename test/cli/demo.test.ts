// `npm start` and `beoboard demo`: what they show, with and without a terminal, and that nothing is left behind, however
// they end.
//
// @seconds 21
// @waits
// @rest

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { shellWord } from '../../src/text/text.js';
import { follow, must } from '../kit/children.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { NO_SHELL, onShell } from '../kit/shell.js';
import { NO_TERMINAL, onTerminal } from '../kit/terminal.js';
import { until } from '../kit/until.js';

const [NPM, ENV] = ['npm', 'env'].map(spawnable);
const DEMO = [process.execPath, PROGRAM, 'demo'];
const ALONE = [...DEMO, '--alone'];
// A rack falls silent soon, but not before a busy machine has shown all nodes, and for seconds longer than a look at it.
const SOON = [...DEMO, '--silent-from', '6s', '--silent-for', '15s'];
// On a busy machine npm shows by signs of its own that it is still there.
const START = [NPM ?? '', 'start', '--no-progress', '--prefix', ROOT, '--', '--alone'];
/** Without what npm adds. */
const SHELL_ENV = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: '/' };
const ADDRESS = /in a browser: (http:\/\/127\.0\.0\.1:\d+\/)/;

/** Where a command is. */
function spawnable(name: string): string | undefined {
  return process.env.PATH?.split(':')
    .map(folder => join(folder, name))
    .find(existsSync);
}

/** A demo by all its processes: they inherit an environment that no other process has. */
class Marked {
  readonly #mark = `BEOBOARD_TEST_MARK=${randomUUID()}`;
  #folder = '';

  /** The command that starts it with this environment. */
  command(argv: readonly string[]): string[] {
    return [ENV ?? '', this.#mark, ...argv];
  }

  /** The command lines of its processes by their numbers. */
  processes(): Map<number, string> {
    const found = new Map<number, string>();
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
      try {
        const of = (what: string) => readFileSync(join('/proc', pid, what), 'latin1');
        // One that has ended, but has nobody who asks how, has neither.
        if (of('environ').includes(this.#mark)) found.set(Number(pid), of('cmdline'));
      } catch {
        // It has ended, or is somebody else's.
      }
    for (const command of found.values()) this.#folder ||= /\/dev\/shm\/beoboard-demo[^/]+/.exec(command)?.[0] ?? '';
    return found;
  }

  /** The process with this in its command line. */
  pid(of: string): number {
    const [pid] = [...this.processes()].find(([, command]) => command.includes(of)) ?? [];
    if (pid === undefined) throw new Error(`no process has ${of}`);
    return pid;
  }

  /** The folder of its board. */
  get folder(): string {
    this.processes();
    return this.#folder;
  }

  /** Waits until all its processes have ended. */
  async ended(): Promise<void> {
    await until('all processes have ended', () => this.processes().size === 0);
  }
}

interface Started {
  readonly marked: Marked;
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly exit: Promise<number | string>;
  stdout(): string;
  stderr(): string;
}

/** Starts one without a terminal, in a process group of its own. */
function started(t: Test, argv: readonly string[]): Started {
  const marked = new Marked();
  const [program = '', ...rest] = marked.command(argv);
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = follow(child);
  t.teardown(() => {
    for (const pid of marked.processes().keys()) process.kill(pid, 'SIGKILL');
  });
  return { marked, child, exit: said.exit, stdout: () => said.stdout, stderr: () => said.stderr };
}

/** Waits until it has something to show; returns the folder of its board. */
async function showing({ marked, stdout }: Started): Promise<string> {
  await until('it shows this machine', () => /\S+ +live [\s\S]*watching 1 node/.test(stdout()));
  if (!existsSync(marked.folder)) throw new Error('its board is not there');
  return marked.folder;
}

/** Holds that nothing of it is left. */
async function nothingLeft(t: Test, marked: Marked, folder: string): Promise<void> {
  await marked.ended();
  t.notOk(existsSync(folder), 'its board is gone');
}

// They mostly wait, so two of them run at the same time.
t.jobs = 2;
t.setTimeout(600_000);
t.test(
  'without a terminal: the page, the status once, what to do next, and the rack that dies',
  { buffered: true },
  async t => {
    const demo = started(t, SOON);
    await until('it follows', () => /watching \d+ nodes: /.test(demo.stdout()));
    const { folder } = demo.marked;
    const first = demo.stdout();
    t.match(demo.stderr(), /receive: ready: .*\n[\s\S]*: ready: .*\n[\s\S]*: ready: /);
    const [, url = ''] = ADDRESS.exec(first) ?? [];
    t.match(
      first,
      new RegExp(`^in a browser: ${url}\ndemo-with-480-simulated-nodes: 481 nodes: 481 live, 2 unhealthy now; `),
    );
    t.notMatch(first, /not known to/, 'no complaint about this machine');
    t.match(
      first,
      /\ncritical .* sim-r01n11: a GPU has fallen off the bus; job 4712\s+\(anna\)\n[\s\S]*\nlive +481 {2}sim-r01n\[01-48\],/,
    );
    t.match(
      first,
      /\nrack sim-r07 falls silent 6s after the start, for 15s\n\n[^\n]* watching 481 nodes: 481 live[^\n]*\n/,
    );
    t.ok(first.split('\n').length < 30, 'on one page');
    t.match(await (await fetch(url)).text(), /<html/);

    const [, commands = ''] = /\nnext, in a shell while this runs:\n([\s\S]*?)\n\n/.exec(first) ?? [];
    const answers = commands.split('\n').map(command => must('sh', ['-c', command], { cwd: '/', env: SHELL_ENV }));
    t.equal(answers.length, 3);
    t.match(answers[0], /\nsim-r10 +48 +(0 +)*48 /, 'beside columns of the states that others are in');
    t.match(answers[1], /^sim-r01n11: live, /);
    // Later than it did on a quiet machine it finds others that are slowed down by heat, too.
    t.match(answers[2], /^sim-r01n11,(\S+,)?sim-r10n33\n$/);

    await until('the rack is back', () => /sim-r07.* silent -> live\n/.test(demo.stdout()));
    const after = demo.stdout().slice(first.length);
    t.match(
      after,
      /sim-r07n\S* \(\d+ nodes\) live -> uncertain, [\s\S]*sim-r07n\S* \(\d+ nodes\) uncertain -> silent, /,
    );
    t.ok((after.match(/sim-r07/g)?.length ?? 0) < 48, 'not a line for each of its nodes at each change');

    for (const pid of demo.marked.processes().keys()) if (pid !== demo.child.pid) process.kill(pid, 'SIGSTOP');
    demo.child.kill('SIGTERM');
    await nothingLeft(t, demo.marked, folder);
    t.equal(await demo.exit, 0);
    t.match(demo.stderr(), /web: clean shutdown; [\s\S]*said goodbye/, 'stopped ones end as others do');
    t.notMatch(demo.stderr(), /the board stays/, 'it is removed');
  },
);

t.test('what a killed one left is removed by the next one; nothing else is', { buffered: true }, async t => {
  const first = started(t, ALONE);
  const left = await showing(first);
  first.child.kill('SIGKILL');
  await first.marked.ended();
  t.ok(existsSync(left), 'a killed one cannot remove its board');

  const gone = spawn('true');
  await once(gone, 'close');
  const [, uid = '', namespace = ''] = /beoboard-demo\.(\d+)\.(\d+)\./.exec(left) ?? [];
  t.equal(`pid:[${namespace}]`, readlinkSync('/proc/self/ns/pid'));
  const called = (...parts: (string | number | undefined)[]) =>
    `/dev/shm/beoboard-demo.${parts.join('.')}.${randomUUID()}`;
  const [running, elsewhere, link, other] = [
    called(uid, namespace, process.pid),
    called(uid, 1, gone.pid),
    called(uid, namespace, gone.pid),
    called(uid, namespace, gone.pid),
  ];
  const mine = [running, elsewhere, ...(uid === '0' ? [other] : [])];
  t.teardown(() => {
    for (const path of [...mine, link]) rmSync(path, { recursive: true, force: true });
  });
  for (const path of mine) mkdirSync(path);
  // Only root can make what another user would have made.
  if (uid === '0') chownSync(other, 12345, 12345);
  symlinkSync(running, link);
  writeFileSync(join(running, 'board'), '');

  const next = started(t, [...ALONE, '--for', '100ms', '--interval', '200ms']);
  await next.marked.ended();
  t.equal(await next.exit, 0);
  t.match(next.stderr(), /said goodbye/);
  t.notOk(existsSync(left));
  for (const path of [...mine, link, join(running, 'board')]) t.ok(existsSync(path), path);
});

/** What the page's server says, as far as it is read here. */
interface Told {
  readonly board: { readonly cluster: string };
  readonly nodes: readonly { readonly name: string }[];
}

/** What a terminal shows above the nodes when all of them have been heard. */
const BESIDE = /^in a browser: http:\/\/127\.0\.0\.1:\d+\/\ndemo-with-480-simulated-nodes: 481 nodes: 481 live/;

t.test(
  'a terminal shows a simulated cluster, and nothing of it is left',
  { skip: NO_TERMINAL ?? false, buffered: true },
  async t => {
    const marked = new Marked();
    const terminal = await onTerminal(t, marked.command(SOON), { columns: 200, rows: 50 });
    t.teardown(() => {
      for (const pid of marked.processes().keys()) process.kill(pid, 'SIGKILL');
    });
    await terminal.shows(BESIDE);
    const { folder } = marked;
    const [, url = ''] = ADDRESS.exec(terminal.screen.text()) ?? [];
    const told = (await (await fetch(`${url}api/v1/nodes`)).json()) as Told;
    t.equal(told.board.cluster, 'demo-with-480-simulated-nodes', 'so the title of the page says it, too');
    t.equal(told.nodes.filter(({ name }) => !/^sim-r\d\dn\d\d$/.test(name)).length, 1, 'all others have the mark');
    await terminal.shows(/! +sim-r01n11 +a GPU has fallen off the bus .* 4712 anna/);
    await terminal.shows(/\* +sim-r10n33 +its root file system is nearly full/);
    await terminal.shows(/\. +sim-r01n03 +differs from the other 7 nodes of job 4711: fabric speed /);
    await terminal.shows(/! +48 sim-r07n\[01-48\] +fell silent together/);
    const pid = marked.pid('\0demo');
    process.kill(pid, 'SIGKILL');
    await marked.ended();
    await until('the terminal has asked how it ended', () => !existsSync(`/proc/${pid}`));
    const next = started(t, [...ALONE, '--for', '100ms']);
    t.equal(await next.exit, 0);
    await next.marked.ended();
    t.notOk(existsSync(folder), 'with its jobs');
  },
);

t.test('the demo takes keys', { skip: NO_TERMINAL ?? false, buffered: true }, async t => {
  const terminal = await onTerminal(t, ALONE, { columns: 200 });
  await terminal.shows(/^in a browser: http:\/\/127\.0\.0\.1:\d+\/\n1 node: 1 live/);
  terminal.send({ keys: '?' });
  await terminal.shows(/\nKeys +\d\d:\d\d:\d\d\n/);
  terminal.send({ keys: ' \r' });
  await terminal.shows(/\nIdentity {2}/);
  t.match(terminal.screen.text(), ADDRESS, 'the address stays');
  terminal.send({ keys: 'qq' });
  t.same(await terminal.exit, { exit: 0, same: true });
  t.match(terminal.output(), /\x1b\[\?1049l[\s\S]*said goodbye/, 'the daemons are told of behind the screen');
  t.notMatch(terminal.output(), /the board stays/);
});

t.test(
  'npm start without a terminal',
  { skip: NPM === undefined && 'npm is not installed', buffered: true },
  async t => {
    for (const [what, end] of [
      ['SIGTERM to npm', ({ child }: Started) => child.kill('SIGTERM')],
      [
        'Ctrl-C, twice',
        async ({ child, stderr }: Started) => {
          const group = -(child.pid as number);
          process.kill(group, 'SIGINT');
          await until('it is ending', () => stderr().includes('clean shutdown') || child.exitCode !== null);
          try {
            process.kill(group, 'SIGINT');
          } catch (error) {
            // All of it may have ended meanwhile.
            if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
          }
        },
      ],
    ] as const)
      await t.test(what, async t => {
        const demo = started(t, START);
        const folder = await showing(demo);
        await end(demo);
        await nothingLeft(t, demo.marked, folder);
        await demo.exit; // The end of its processes is not the end of their output.
        t.match(demo.stderr(), /said goodbye/);
        t.notMatch(demo.stderr(), /the board stays/);
      });
  },
);

t.test(
  'npm start on a terminal',
  { skip: NO_TERMINAL ?? (NPM === undefined && 'npm is not installed'), buffered: true },
  async t => {
    for (const [what, end, leaves] of [
      ['the terminal is closed', { hangup: true }, false],
      ['kill -9 of npm', { signal: 9 }, true],
    ] as const)
      await t.test(what, async t => {
        const marked = new Marked();
        const terminal = await onTerminal(t, marked.command(START));
        await terminal.shows(/^in a browser: .*\n1 node: 1 live/);
        const { folder } = marked;
        t.ok(existsSync(folder));
        terminal.send(end);
        await nothingLeft(t, marked, folder);
        if (leaves) await until('the screen that was there before is back', () => !terminal.screen.alternate);
      });
  },
);

const ENTERED = '\x1b[?1049h';

/** A demo's command line in a shell. */
function typed(t: Test, argv: readonly string[]): { marked: Marked; line: string } {
  const marked = new Marked();
  t.teardown(() => {
    for (const pid of marked.processes().keys()) process.kill(pid, 'SIGKILL');
  });
  return { marked, line: marked.command(argv).map(shellWord).join(' ') };
}

/** Whether a process is stopped. */
const isStopped = (pid: number) => /^\d+ \(.*\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

t.test('as a job of a shell', { skip: NO_SHELL, buffered: true }, async t => {
  const SEEN = /\x1b\[\?1049h[\s\S]*1 node: 1 live/;

  await t.test('Ctrl-Z, fg, Ctrl-Z, bg, fg; Ctrl-Z, bg, kill', { skip: NPM === undefined && 'no npm' }, async t => {
    const shell = await onShell(t);
    const modes = await shell.run('stty -g');
    const { marked, line } = typed(t, START);
    const stop = async () => {
      shell.type('\x1a');
      await shell.shows(/\x1b\[\?1049l[\s\S]*Stopped[\s\S]*<ready>/);
      t.equal(await shell.run('stty -g'), modes, 'the shell has its terminal');
      t.ok(isStopped(marked.pid('\0status\0')));
      t.notOk(isStopped(marked.pid('\0receive\0')), 'daemons go on');
    };
    const follows = async () => {
      await shell.run('bg');
      await until('it goes on', () => !isStopped(marked.pid('\0status\0')) && !isStopped(marked.pid('/start.mjs')));
    };
    shell.type(`${line}\r`);
    await shell.shows(SEEN);
    const { folder } = marked;
    await stop();
    shell.type('fg\r');
    await shell.shows(SEEN);
    await stop();
    await follows();
    // It neither takes the shell's keys nor draws.
    for (const word of ['one', 'two']) t.equal(await shell.run(`echo ${word}`), `echo ${word}\r\n${word}\r\n<ready>`);
    t.notOk(isStopped(marked.pid('\0status\0')));
    shell.type('fg\r');
    await shell.shows(SEEN);
    await stop();
    await follows();
    await shell.run('kill %1');
    await nothingLeft(t, marked, folder);
    t.match(await shell.run('wait; jobs; echo done'), /^[\s\S]*done\r\n<ready>$/);
  });

  await t.test('&, and the shell ends', async t => {
    const shell = await onShell(t);
    const { marked, line } = typed(t, ALONE);
    shell.type(`${line} &\r`);
    await shell.shows(/watching 1 node: 1 live/);
    t.notOk(shell.shown().includes(ENTERED));
    const { folder } = marked;
    t.match(await shell.run('jobs'), /Running/);
    shell.type('exit\r');
    await nothingLeft(t, marked, folder);
  });

  await t.test('timeout in a script', async t => {
    const shell = await onShell(t);
    const { marked, line } = typed(t, ['timeout', '3600', ...ALONE]);
    shell.type(`sh -c ${shellWord(`${line}; true`)}\r`);
    await shell.shows(/watching 1 node: 1 live/);
    t.notOk(shell.shown().includes(ENTERED));
    const { folder } = marked;
    process.kill(marked.pid('timeout\0'), 'SIGTERM');
    await shell.shows(/said goodbye[\s\S]*<ready>/);
    await nothingLeft(t, marked, folder);
  });

  await t.test('the window is closed: it ends, and Node.js does not abort', async t => {
    const shell = await onShell(t);
    const { marked, line } = typed(t, ALONE);
    const code = join(folder(t), 'code');
    shell.type(`sh -c ${shellWord(`trap '' HUP; ${line}; echo $? >${shellWord(code)}`)}\r`);
    await shell.shows(SEEN);
    const { folder: left } = marked;
    shell.close();
    await nothingLeft(t, marked, left);
    await until('its end is known', () => existsSync(code) && readFileSync(code, 'utf8') !== '');
    t.equal(readFileSync(code, 'utf8'), '0\n');
  });
});

t.test('without stdin and stdout', { buffered: true }, async t => {
  const marked = new Marked();
  const child = spawn('sh', ['-c', 'exec "$@" <&- >&-', '-', ...marked.command(ALONE)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = follow(child, t, ['stderr']);
  await until('it is there', () => said.stderr.includes('send: ready'));
  const { folder } = marked;
  child.kill('SIGTERM');
  await nothingLeft(t, marked, folder);
  t.equal(await said.exit, 0);
});
