// A flood of incomplete IP fragments. No test of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Namespace } from '../kit/netns.js';

/** Sends the first fragments of datagrams, and never the rest, until its input ends. */
const FLOOD = `
import select, socket, struct, sys
source, to = sys.argv[1], sys.argv[2]
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
more_fragments = 0x2000
udp = struct.pack('!HHHH', 40000, 9000, 1224, 0) + bytes(1000)
address = socket.inet_aton(source), socket.inet_aton(to)
number = 0
while not select.select([sys.stdin], [], [], 0.02)[0]:
    for i in range(50):
        number = number % 65535 + 1
        s.sendto(struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), number, more_fragments, 64, 17, 0, *address) + udp, (to, 0))
`;

/** Incomplete ones are kept for as long as a test takes, and there is little memory for them. */
export const LITTLE_ROOM =
  'cd /proc/sys/net/ipv4; echo 600 >ipfrag_time; echo 131072 >ipfrag_low_thresh; echo 262144 >ipfrag_high_thresh';

/** Begins a flood from a namespace, between two addresses; returns what ends it. */
export function flood(
  t: { teardown(end: () => void | Promise<void>): void },
  from: Namespace,
  source: string,
  to: string,
): () => Promise<unknown> {
  const [command = '', ...args] = [...from.prefix, 'python3', '-c', FLOOD, source, to];
  const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = once(child, 'close');
  const end = () => {
    child.stdin.end();
    return ended;
  };
  t.teardown(async () => {
    await end();
  });
  return end;
}
