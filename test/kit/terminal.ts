// A pseudo terminal with a program on it, like that of a shell: its size, keys, signals, stops; and a screen with the
// program's output. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from './until.js';

/** Why there can be no terminal here; undefined: there can. */
export const NO_TERMINAL =
  spawnSync('python3', ['-c', 'import pty, termios']).status === 0 ? undefined : 'python3 is not installed';

/** Leads a session with a terminal, and runs a program in its own process group in the foreground, as a shell does. */
const LEADER = `
import fcntl, json, os, pty, signal, struct, sys, termios, threading

def say(**event):
    sys.stdout.write(json.dumps(event) + '\\n')
    sys.stdout.flush()

# As a daemon it may have been started by one who ignores them.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT): signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
if os.getsid(0) != os.getpid(): os.setsid()
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

def size(rows, columns):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

rows, columns, keys = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == 'keys'
size(rows, columns)
before = termios.tcgetattr(slave)
shell = os.getpgrp()
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(slave, os.getpid())
    for number in (signal.SIGHUP, signal.SIGTTOU): signal.signal(number, signal.SIG_DFL)
    os.dup2(slave if keys else os.open('/dev/null', os.O_RDONLY), 0)
    os.dup2(slave, 1)
    os.dup2(slave, 2)
    os.closerange(3, 64)
    os.execv(sys.argv[4], sys.argv[4:])

def read():
    while True:
        try: data = os.read(master, 65536)
        except OSError: return
        if not data: return
        say(data=data.decode('latin1'))

threading.Thread(target=read, daemon=True).start()

def wait():
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        os.tcsetpgrp(slave, shell)
        same = termios.tcgetattr(slave) == before
        if os.WIFSTOPPED(status):
            say(stopped=True, same=same)
            continue
        # Everything it wrote has been read once this line has come back.
        os.write(slave, b'\\x1b[0n')
        say(exit=os.waitstatus_to_exitcode(status), same=same)
        return

threading.Thread(target=wait, daemon=True).start()
say(pid=pid)
for line in sys.stdin:
    what = json.loads(line)
    if 'keys' in what: os.write(master, what['keys'].encode())
    if 'size' in what: size(*what['size'])
    if 'signal' in what: os.kill(pid, what['signal'])
    # As when a terminal's window is closed: it is gone, and its shell, which is us, ends.
    if 'hangup' in what: os._exit(0)
    if 'foreground' in what:
        os.tcsetpgrp(slave, pid)
        os.kill(pid, signal.SIGCONT)
try: os.kill(pid, signal.SIGKILL)
except ProcessLookupError: pass
`;

const END_OF_OUTPUT = '\x1b[0n';

/** The characters on a terminal's screen. Supports the sequences that our screens use, and throws at any other. */
export class Shown {
  #lines: string[][] = [];
  #row = 0;
  #column = 0;
  /** Whether the alternate screen is shown, and whether the cursor is. */
  alternate = false;
  cursor = true;
  #rest = '';

  /** The most columns that a line may have: those of the size before, until what is shown is cleared for this one. */
  #most: number;

  constructor(public columns: number) {
    this.#most = columns;
  }

  /** As wide from now on. What the program draws until it learns of that was made for the width before. */
  resize(columns: number): void {
    this.columns = columns;
    this.#most = Math.max(this.#most, columns);
  }

  write(text: string): void {
    const parts = /\x1b\[(\??[\d;]*)([A-Za-z])|(\r\n|\r|\n)|(\x1b(?:\[[\d;?]*)?$)|([^\x1b])/gsu;
    const all = this.#rest + text;
    this.#rest = '';
    let end = 0;
    for (const match of all.matchAll(parts)) {
      if (match.index !== end) throw new Error(`not understood: ${JSON.stringify(all.slice(end, end + 20))}`);
      end += match[0].length;
      const [, numbers = '', last, newline, begun, character] = match;
      if (begun !== undefined) this.#rest = begun;
      else if (newline !== undefined) [this.#row, this.#column] = [this.#row + (newline === '\r' ? 0 : 1), 0];
      else if (character !== undefined) {
        if (this.alternate && this.#column >= this.#most)
          throw new Error(`line ${this.#row + 1} is wider than the screen`);
        this.#lines[this.#row] ??= [];
        (this.#lines[this.#row] as string[])[this.#column++] = character;
      } else this.#control(numbers, last ?? '');
    }
    if (end !== all.length) throw new Error(`not understood: ${JSON.stringify(all.slice(end, end + 20))}`);
  }

  #control(numbers: string, last: string): void {
    if (last === 'm' || (last === 'n' && numbers === '0')) return;
    if (last === 'H') {
      const [row = 1, column = 1] = numbers === '' ? [] : numbers.split(';').map(Number);
      [this.#row, this.#column] = [row - 1, column - 1];
    } else if (last === 'J' && numbers === '2') [this.#lines, this.#most] = [[], this.columns];
    else if (last === 'K' && numbers === '') this.#lines[this.#row]?.splice(this.#column);
    else if (numbers === '?1049') {
      this.alternate = last === 'h';
      this.#lines = [];
    } else if (numbers === '?25') this.cursor = last === 'h';
    else throw new Error(`not understood: ESC [ ${numbers} ${last}`);
  }

  /** The screen's lines, without blanks at their ends. */
  lines(): string[] {
    return Array.from(this.#lines, line =>
      Array.from(line ?? [], character => character ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  text(): string {
    return this.lines().join('\n');
  }
}

interface Event {
  pid?: number;
  data?: string;
  stopped?: boolean;
  same?: boolean;
  exit?: number;
}

interface Terminal {
  readonly pid: number;
  readonly screen: Shown;
  /** All output so far, and how often the program has stopped. */
  output(): string;
  stops(): number;
  send(what: {
    keys?: string;
    size?: [rows: number, columns: number];
    signal?: number;
    foreground?: true;
    hangup?: true;
  }): void;
  /** Waits until the screen matches; returns the match. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  /** Its exit code (negative: a signal's number), and whether the terminal's modes were restored. */
  readonly exit: Promise<{ exit: number; same: boolean }>;
  /** Whether the modes were restored when it last stopped. */
  same(): boolean | undefined;
}

/** Runs a program on its own terminal; `keys`: its stdin is the terminal as well, otherwise it is empty. */
export async function onTerminal(
  t: { teardown(end: () => Promise<void>): void },
  command: readonly string[],
  { rows = 24, columns = 80, keys = true, env = {} as Record<string, string> } = {},
): Promise<Terminal> {
  const leader: ChildProcess = spawn(
    'python3',
    ['-c', LEADER, String(rows), String(columns), keys ? 'keys' : 'none', ...command],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', ...env },
      detached: true,
    },
  );
  const screen = new Shown(columns);
  let [output, stops] = ['', 0];
  let same: boolean | undefined;
  let pid = 0;
  let ended: { exit: number; same: boolean } | undefined;
  const utf8 = new TextDecoder();
  let wrong: unknown;
  createInterface({ input: leader.stdout as NodeJS.ReadableStream }).on('line', line => {
    const event = JSON.parse(line) as Event;
    pid = event.pid ?? pid;
    same = event.same ?? same;
    if (event.stopped) stops++;
    if (event.exit !== undefined) ended = { exit: event.exit, same: event.same === true };
    if (event.data === undefined) return;
    const text = utf8.decode(Buffer.from(event.data, 'latin1'), { stream: true });
    output += text;
    try {
      screen.write(text);
    } catch (error) {
      wrong ??= error;
    }
  });
  const gone = once(leader, 'close');
  t.teardown(async () => {
    leader.stdin?.end();
    await gone;
  });
  await until('the program is started', () => pid > 0);
  const seen = <T>(what: string, look: () => T | undefined | false) =>
    until(what, () => {
      if (wrong !== undefined) throw wrong;
      return look();
    });
  return {
    pid,
    screen,
    output: () => output,
    stops: () => stops,
    same: () => same,
    send(what) {
      if (what.size) screen.resize(what.size[1]);
      leader.stdin?.write(`${JSON.stringify(what)}\n`);
    },
    shows: what =>
      seen(`the screen shows ${what}`, () => what.exec(screen.text()) ?? undefined).catch(error => {
        throw new Error(`${(error as Error).message}; it shows\n${screen.text()}`);
      }),
    get exit() {
      return seen('the program has ended', () => output.endsWith(END_OF_OUTPUT) && ended);
    },
  };
}
