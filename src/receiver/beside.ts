// Whether somebody else has bound a socket beside one that we were passed: systemd binds so that others can, until we
// take that away. Reads what the kernel lists, and changes nothing.

import { fstatSync, readFileSync } from 'node:fs';

interface Bound {
  address: string;
  port: string;
  inode: string;
}

/** The lines of /proc/self/net/udp: number, ADDRESS:PORT in hex, …, the tenth the inode. */
export function parseUdp(text: string): Bound[] {
  return text
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields.length >= 10)
    .map(([, local = '', , , , , , , , inode = '']) => {
      const [address = '', port = ''] = local.split(':');
      return { address, port, inode };
    });
}

const isAny = (address: string) => /^0+$/.test(address);

/** Whether of two sockets at one port each could be given what is sent to the other. */
const overlap = (a: string, b: string) => a === b || isAny(a) || isAny(b);

/** Whether another socket could be given what is sent to that of inode `inode`. */
export function isShared(sockets: readonly Bound[], inode: string): boolean {
  const ours = sockets.find(socket => socket.inode === inode);
  return sockets.some(
    ({ address, port, inode: other }) =>
      ours !== undefined && other !== inode && port === ours.port && overlap(address, ours.address),
  );
}

/** The same of a descriptor of ours. False where the kernel does not list sockets. */
export function hasNeighbour(fd: number): boolean {
  try {
    const sockets = ['udp', 'udp6'].flatMap(name => parseUdp(readFileSync(`/proc/self/net/${name}`, 'latin1')));
    return isShared(sockets, String(fstatSync(fd).ino));
  } catch {
    return false;
  }
}
