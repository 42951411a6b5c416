// A stand-in for a service manager: a socket as in NOTIFY_SOCKET, and the messages that daemons send to it. Node has no
// datagram sockets in the Unix domain, so a short Python program listens. No test of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWith } from './children.js';
import { memoryFolder } from './places.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** Prints each message and the process that sent it, which the kernel tells, as it does for systemd. */
const LISTEN = `
import json, socket, struct, sys
path = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind('\\0' + path[1:] if path[0] == '@' else path)
if path[0] != '@':
    import os; os.chmod(path, 0o777)
print('{}', flush=True)
while True:
    data, control, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(12))
    pid = struct.unpack('3i', control[0][2])[0]
    print(json.dumps({'pid': pid, 'text': data.decode()}), flush=True)
`;

interface Told {
  pid: number;
  /** The message's lines, by name. */
  lines: Record<string, string>;
}

export class Manager {
  readonly told: Told[] = [];

  private constructor(readonly path: string) {}

  /** Listens in a folder, or at an abstract name. */
  static async start(t: Teardown, path = join(memoryFolder(t), 'notify')): Promise<Manager> {
    const child = spawn('python3', ['-c', LISTEN, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    endWith(t, child);
    const manager = new Manager(path);
    const lines = createInterface(child.stdout);
    await once(lines, 'line');
    lines.on('line', line => {
      const { pid, text } = JSON.parse(line) as { pid: number; text: string };
      manager.told.push({ pid, lines: Object.fromEntries(text.split('\n').map(line => line.split(/=(.*)/s, 2))) });
    });
    return manager;
  }

  /** The environment for a daemon. */
  env(watchdogMs?: number): Record<string, string> {
    return { NOTIFY_SOCKET: this.path, ...(watchdogMs && { WATCHDOG_USEC: String(watchdogMs * 1000) }) };
  }

  /** How many watchdog messages a process has sent. */
  lives(pid: number | undefined): number {
    return this.told.filter(message => message.pid === pid && 'WATCHDOG' in message.lines).length;
  }

  /** All messages of a process except for watchdog messages. */
  of(pid: number | undefined): Record<string, string>[] {
    return this.told.filter(message => message.pid === pid && !('WATCHDOG' in message.lines)).map(({ lines }) => lines);
  }

  /** Waits for so many more watchdog messages of a process. */
  async alive(pid: number | undefined, times: number): Promise<void> {
    const from = this.lives(pid);
    await until(`it has said ${times} times that it is alive`, () => this.lives(pid) >= from + times);
  }
}
