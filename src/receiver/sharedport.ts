// Whether another process has bound a socket beside one that was passed to us: systemd binds sockets so that this is
// possible until we take the option away. Reads the kernel's list and changes nothing.

import { fstatSync, readFileSync } from 'node:fs';
import { attempt } from '../text/failure.js';

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

/** Whether the datagrams for one of two sockets at a port could be delivered to the other. */
const overlap = (a: string, b: string) => a === b || isAny(a) || isAny(b);

/** Whether datagrams for the socket with inode `inode` could be delivered to another socket. */
export function isShared(sockets: readonly Bound[], inode: string): boolean {
  const ours = sockets.find(socket => socket.inode === inode);
  return sockets.some(
    ({ address, port, inode: other }) =>
      ours !== undefined && other !== inode && port === ours.port && overlap(address, ours.address),
  );
}

/** The same for one of our descriptors. False if the kernel does not list sockets. */
export function isPortShared(fd: number): boolean {
  const read = (name: string) => parseUdp(readFileSync(`/proc/self/net/${name}`, 'latin1'));
  return attempt(() => isShared(['udp', 'udp6'].flatMap(read), String(fstatSync(fd).ino))) ?? false;
}
