// docs/tour.md: every command is run, in the terminal of its prompt and in the order of the page; and every screen is
// what the program prints, except its numbers. A comment before the screen has numbers that matter: `<!-- until PATTERN
// -->` waits for them. `node dist/test/project/tour.test.js --write` writes the screens anew.
//
// @seconds 42
// @waits
// @rest
// @days 3

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { lacks } from '../kit/lacking.js';
import { INSIDE } from '../kit/network.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { until } from '../kit/until.js';
import { writeVerbScript } from '../kit/verbscript.js';

t.setTimeout(600_000);
const PAGE = join(ROOT, 'docs', 'tour.md');
const WRITES = process.argv.includes('--write') || process.env.TOUR_WRITES === 'yes';

interface Step {
  readonly line: number;
  readonly terminal: string;
  /** A command, or a key that is pressed with Ctrl: `C`, `Z`. */
  readonly command?: string;
  readonly key?: string;
  /** The output is complete when this matches. */
  readonly until: RegExp | undefined;
  /** What the page shows. */
  readonly shown: string[];
}

/** The steps of the page, in order. */
function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let inside = false;
  let wanted: RegExp | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const [, pattern] = /^<!-- until (.*) -->$/.exec(line) ?? [];
    if (pattern !== undefined) wanted = new RegExp(pattern);
    if (line.startsWith('```')) inside = line === '```console';
    else if (inside) {
      const [, terminal, , command, key] = /^([a-z0-9]+)(\$ (.*)|\^([CZ]))$/.exec(line) ?? [];
      if (terminal === undefined) steps.at(-1)?.shown.push(line);
      else {
        const does = command === undefined ? { key: key as string } : { command };
        steps.push({ line: i + 1, terminal, ...does, until: wanted, shown: [] });
        wanted = undefined;
      }
    }
  }
  return steps;
}

/** A screen without its numbers, and without the widths that depend on them. */
function shape(text: string): string {
  return (
    text
      .replace(/(\d+(\.\d+)?(ms|us|s|m|h|d))+\b/g, 'T')
      .replace(/[-+]?\d[\d.,:]*/g, '#')
      .replace(/\b[kMGT]?(i?B|W|bit)(\/s)?\b/g, 'B')
      .replace(/#[kMGT]\b/g, '#')
      .replace(/\(r[^)]*\)/g, '(nodes)')
      .replace(/(once|# times in T), (the last )?T ago/g, 'times')
      // Only root is told.
      .replace(/; owner: \S+/g, '')
      // On a busy machine the receiver stands still more often than the page's was made to, or one link longer.
      .replace(/, on lo for T/g, '')
      .replace(
        /(notice +# the receiver did not listen; ended #\s+)+/g,
        'notice # the receiver did not listen; ended # ',
      )
      .replace(/\s+/g, ' ')
      // The first columns that a table leaves out where its cells are wide.
      .replace(/ SINCE AGE /g, ' SINCE ')
      .replace(/ live # T /g, ' live # ')
      .replace(/ UP SKEW /g, ' UP ')
      .replace(/io T [-+]T/g, 'io T')
      .trim()
  );
}

/** A terminal in which a program runs until a key ends it. */
interface Terminal {
  child: ChildProcess;
  exit: Promise<unknown[]>;
  told: string;
}

class Tour {
  readonly #terminals = new Map<string, Terminal>();

  constructor(
    readonly home: string,
    readonly environment: NodeJS.ProcessEnv,
    /** That of the terminal `you`, in which everything ends by itself. */
    readonly yours: NodeJS.ProcessEnv,
  ) {}

  /** Does a step, and returns the screen after it. */
  async do(t: Test, step: Step): Promise<string> {
    const { terminal, command, key } = step;
    if (key !== undefined) return this.#press(t, terminal, key);
    if (command === 'fg') {
      this.#terminals.get(terminal)?.child.kill('SIGCONT');
      return 'beoboard receive --cluster tour';
    }
    return terminal === 'you' ? this.#run(step) : this.#start(terminal, command as string);
  }

  async #start(name: string, command: string): Promise<string> {
    if (this.#terminals.has(name)) throw new Error(`something runs in the terminal ${name}`);
    const child = spawn('bash', ['-c', `exec ${command}`], { cwd: this.home, env: this.environment });
    const terminal: Terminal = { child, exit: once(child, 'close'), told: '' };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', text => {
        terminal.told += text;
      });
    this.#terminals.set(name, terminal);
    // A command whose output is redirected shows nothing, so the next command has to wait for it.
    if (!command.includes('>'))
      await until(`${command} is ready`, () => / ready: .*\n/.test(terminal.told) || child.exitCode !== null);
    return terminal.told;
  }

  async #press(t: Test, name: string, key: string): Promise<string> {
    const terminal = this.#terminals.get(name);
    if (terminal === undefined) throw new Error(`nothing runs in the terminal ${name}`);
    const { child, exit } = terminal;
    terminal.told = '';
    if (key === 'Z') {
      child.kill('SIGSTOP');
      return '';
    }
    child.kill('SIGINT');
    const [code] = await exit;
    this.#terminals.delete(name);
    t.equal(code, 0, `${name}: Ctrl-C ends it with 0`);
    return terminal.told;
  }

  /** Runs a command again and again until its output has the shape of the page, which tells its reader to wait. */
  async #run({ command, until: wanted, shown }: Step): Promise<string> {
    let text = '';
    // Asynchronous, so that the output of the other terminals is read meanwhile.
    const look = async () => {
      const child = spawn('bash', ['-c', `{ ${command}; } 2>&1`], { cwd: this.home, env: this.yours });
      text = '';
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      await once(child, 'close');
    };
    const isThere = () => wanted === undefined || wanted.test(text);
    const isRight = () => isThere() && (WRITES || shape(text) === shape(shown.join('\n')));
    await until(
      String(wanted),
      async () => {
        await look();
        return isRight();
      },
      200,
    ).catch(() => undefined);
    return text;
  }

  end(): void {
    for (const { child } of this.#terminals.values()) child.kill('SIGKILL');
  }
}

if (INSIDE)
  t.test('the tour', async t => {
    const home = folder(t);
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'beoboard'), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, { mode: 0o755 });
    // The folder looks like a clone, and the real clone is not written to.
    symlinkSync(join(ROOT, 'packaging'), join(home, 'packaging'));
    const environment = { ...process.env, HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}` };
    process.chdir(home);
    const quick = folder(t);
    await writeVerbScript(t, quick, environment);
    const tour = new Tour(home, environment, { ...environment, PATH: `${quick}${delimiter}${environment.PATH}` });
    t.teardown(() => tour.end());
    const text = readFileSync(PAGE, 'utf8');
    const lines = text.split('\n');
    let moved = 0;
    for (const step of stepsOf(text)) {
      const what = step.command ?? `Ctrl-${step.key}`;
      const shown = (await tour.do(t, step)).replace(/\n$/, '');
      const name = `${step.line}: ${step.terminal}: ${what}`;
      if (step.until !== undefined) t.match(shown, step.until, name);
      if (WRITES) {
        const screen = shown === '' ? [] : shown.split('\n');
        lines.splice(step.line + moved, step.shown.length, ...screen);
        moved += screen.length - step.shown.length;
      } else t.equal(shape(shown), shape(step.shown.join('\n')), name);
    }
    if (WRITES) writeFileSync(PAGE, lines.join('\n'));
  });
else {
  t.test('steps and the shapes of screens', async t => {
    t.match(
      stepsOf('```console\na$ b --c\n1 d\n```\n<!-- until x+ -->\n```console\nyou$ e\na^C\n```\n```sh\nf$ g\n```'),
      [
        { line: 2, terminal: 'a', command: 'b --c', until: undefined, shown: ['1 d'] },
        { line: 7, terminal: 'you', command: 'e', until: /x+/, shown: [] },
        { line: 8, terminal: 'a', key: 'C', shown: [] },
      ],
    );
    t.equal(shape('41.1 of 108 TiB used;\n  25.7 GB/s for 1m02s'), shape('9 of 1 GiB used; 250 kB/s for 53.1s'));
    t.not(shape('48 silent'), shape('48 live'));
  });
  const setup = 'mount -t tmpfs -o mode=1777 none /dev/shm && ip link set lo up';
  const unshare = ['--mount', '--propagation', 'private', '--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const needed = lacks('prometheus curl iproute2', 'prometheus', 'promtool', 'curl', 'ip');
  const tried = spawnSync('unshare', [...unshare, 'sh', '-c', setup], { encoding: 'utf8' });
  if (tried.status !== 0 && process.env.CI !== 'true')
    t.pass('skipped', { skip: `no namespaces here: ${tried.stderr || tried.error}` });
  else if (needed !== false) t.pass('skipped', { skip: needed });
  else {
    const command = [...unshare, 'sh', '-c', `${setup} && exec "$0" "$1"`, process.execPath];
    const env = { ...process.env, BEOBOARD_TEST_NAMESPACE: 'yes', ...(WRITES && { TOUR_WRITES: 'yes' }) };
    t.spawn('unshare', [...command, fileURLToPath(import.meta.url)], { env }, 'docs/tour.md');
  }
}
