// Makes keys: one for a cluster out of the kernel's random numbers, and out of that the nodes' own. Never overwrites a file, and
// shows no key unless it was asked to write one to stdout.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Key, keyLine, nodeKey, readClusterKeys, relayKeyLines } from '../options/keys.js';
import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { DAEMON, findUser, RELAY, type User, userName } from '../options/users.js';
import { attempt, Failure, usable } from '../text/failure.js';
import { print } from '../text/output.js';
import { counted, oneLine } from '../text/text.js';

export const verb = defineVerb({
  name: 'keygen',
  options: ['key-id', 'key-file', 'nodes', 'relay', 'owner'],
  arguments: ['<file>'],
  examples: [
    'beoboard keygen /etc/beoboard/cluster.key',
    'beoboard keygen --key-file cluster.key --nodes node001 node001.key',
    "beoboard keygen --key-file cluster.key --nodes 'node[001-128]' keys/",
    'beoboard keygen --key-id 2 next.key',
    'beoboard keygen --relay /etc/beoboard/relay.key',
  ],
  notes:
    "Files are made with mode 0600; existing files are never overwritten. As root, the cluster's key belongs to the user beoboard and a relay's to beoboard-relay, if there are such users, and keys of --nodes to root; --owner names another. Root makes no file in a folder of another user, or that others can write. With --nodes and a directory, each node's key goes to NODE.key in it; several nodes need a directory, which is created if missing. - writes to stdout. Whoever has the cluster key can send reports for every node. With node keys it stays on the master, where receivers derive the node keys from it. Exit codes: 0 made, 1 not made.",
});

const SECRET_BYTES = 32;
const SECRET_MODE = 0o600;
const ROOT: User = { name: 'root', uid: 0, gid: 0 };

function isDirectory(path: string): boolean {
  return path.endsWith('/') || (existsSync(path) && lstatSync(path).isDirectory());
}

/** Throws a Failure when something lies there. */
function refuseExisting(path: string): void {
  // Where that cannot be told, making it says why.
  if (attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined)
    throw new Failure(`${path}: exists, and keys are never overwritten; remove it or name another file`, 1);
}

const WHY: Record<string, string> = {
  ENOENT: 'its directory does not exist; make it first',
  ENOTDIR: 'its directory is a file; name another path',
  EACCES: 'this user may not write there; run as root, or name another path',
  EPERM: 'this user may not write there; run as root, or name another path',
  EROFS: 'the file system is read-only; name another path',
  ENOSPC: 'the disk is full; make room',
  EEXIST: 'it exists by now, and keys are never overwritten; name another file',
};

function whyNotMade({ code = '' }: NodeJS.ErrnoException): string {
  return `cannot be made: ${WHY[code] ?? code}`;
}

/** The mode bits of a file or a folder that others than its owner can write. */
const OTHERS_WRITE = 0o022;

/**
 * A folder for keys, open, so that everything is done in this one whatever its path means by then. Root takes no link,
 * and no folder that belongs to another than root or the owner of the keys, or that others can write: they could put
 * a file of their own in the key's place.
 */
function openFolder(path: string, owner: User | undefined): number {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  if (owner === undefined) return openSync(path, flags);
  if (lstatSync(path).isSymbolicLink()) throw new Failure(`${oneLine(path)}: is a link; name the folder itself`, 1);
  const fd = openSync(path, flags | constants.O_NOFOLLOW);
  const { uid, mode } = fstatSync(fd);
  const isTheirs = uid !== 0 && uid !== owner.uid;
  if (!isTheirs && (mode & OTHERS_WRITE) === 0) return fd;
  closeSync(fd);
  const why = isTheirs ? `belongs to ${userName(uid)}` : 'can be written by others';
  throw new Failure(`${oneLine(path)}: ${why}; name a folder that only root or ${owner.name} can write`, 1);
}

/** Writes a file that was not there, by default for its owner alone: under another name until it is whole. */
function make(path: string, text: string, owner: User | undefined, mode = SECRET_MODE): void {
  const folder = openFolder(dirname(path), owner);
  const at = (name: string) => `/proc/self/fd/${folder}/${name}`;
  const made = at(`.${basename(path).slice(0, 200)}.${randomBytes(8).toString('hex')}`);
  try {
    const fd = openSync(
      made,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      SECRET_MODE,
    );
    try {
      // Whoever trusts a public half trusts root's.
      const { uid, gid } = mode === SECRET_MODE ? (owner ?? ROOT) : ROOT;
      if (owner !== undefined) fchownSync(fd, uid, gid);
      writeSync(fd, text);
      fchmodSync(fd, mode); // whatever the umask took
      fsyncSync(fd);
      // Unlike a rename, a link never takes another file's place.
      linkSync(made, at(basename(path)));
    } finally {
      closeSync(fd);
      rmSync(made, { force: true });
    }
    fsyncSync(folder); // the name outlives a power failure, too
  } finally {
    closeSync(folder);
  }
}

function makeFolder(path: string, owner: User | undefined): void {
  if (existsSync(path)) return;
  const whole = resolve(path);
  try {
    const parent = openFolder(dirname(whole), owner);
    try {
      const made = `/proc/self/fd/${parent}/${basename(whole)}`;
      mkdirSync(made, { mode: 0o700 });
      if (owner !== undefined) lchownSync(made, owner.uid, owner.gid);
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${path}: ${whyNotMade(error as NodeJS.ErrnoException)}`, 1);
  }
}

/** Makes these files, or none when one of them is there. */
function makeAll(
  files: readonly (readonly [path: string, text: string, mode?: number])[],
  owner: User | undefined,
): void {
  for (const [path] of files) refuseExisting(path);
  for (const [i, [path, text, mode]] of files.entries())
    try {
      make(path, text, owner, mode);
    } catch (error) {
      const made = i > 0 ? `; ${i} of ${files.length} files were made` : '';
      if (error instanceof Failure) throw new Failure(`${error.message}${made}`, 1);
      throw new Failure(`${path}: ${whyNotMade(error as NodeJS.ErrnoException)}${made}`, 1);
    }
}

const isRoot = () => process.geteuid?.() === 0;

/**
 * To whom the files belong; undefined: to us, who are not root. By default they belong to the first of these users that
 * there is, who reads them, or to root.
 */
function ownerOf(given: number | string | undefined, readers: readonly string[]): User | undefined {
  if (given === undefined) return isRoot() ? (readers.map(findUser).find(Boolean) ?? ROOT) : undefined;
  const id = Number(given);
  const user = Number.isInteger(id)
    ? (findUser(userName(id)) ?? { name: String(id), uid: id, gid: id })
    : findUser(String(given));
  if (user === undefined)
    throw new UsageError(
      `--owner: there is no user ${oneLine(String(given))} in /etc/passwd; name one that is there, or write an id`,
    );
  if (isRoot()) return user;
  if (user.uid === process.geteuid?.()) return undefined;
  throw new UsageError('--owner: only root can give files to another user; leave it out');
}

/** What is asked for: the keys, each with the lines of its file. */
function read(argv: string[]) {
  const { values, args } = parseVerb(verb, argv);
  const { keyFile, keyId, owner } = values;
  const file = args[0] ?? '';
  const usage = (wrong: string) => new UsageError(wrong);
  if (values.relay) {
    if (values.nodes !== undefined || keyFile !== undefined || keyId !== undefined)
      throw usage(
        '--relay makes the two keys of a relay, which depend on no other key; leave out --nodes, --key-file and --key-id',
      );
    if (file === '-') throw usage('--relay makes two files; name the first of them');
    return { file, owner, relay: relayKeyLines(randomBytes(SECRET_BYTES)) };
  }
  if (values.nodes === undefined) {
    if (keyFile !== undefined) throw usage('--key-file is the key from which node keys are derived; give --nodes, too');
    return { file, owner, key: { id: keyId ?? 1, node: undefined, secret: randomBytes(SECRET_BYTES) } as Key };
  }
  if (keyFile === undefined) throw usage('--nodes needs the cluster key; give --key-file');
  if (keyId !== undefined)
    throw usage('--key-id is for a new cluster key; a node key has the number of its cluster key; leave it out');
  const nodes = [...new Set(values.nodes)];
  if (nodes.length > 1 && !isDirectory(file))
    throw usage(`${nodes.length} nodes need a directory to put their keys into; write ${oneLine(file)}/`);
  return { file, owner, nodes, keys: usable(() => readClusterKeys(keyFile, ownerOf(owner, [])?.uid)) };
}

export async function main(argv: string[]): Promise<number> {
  const asked = read(argv);
  const { file } = asked;
  if (file === '') throw new UsageError('the file has no name; write a path');
  // Keys of nodes are only copied from here.
  const readers = asked.nodes !== undefined ? [] : asked.relay !== undefined ? [RELAY, DAEMON] : [DAEMON];
  const owner = file === '-' ? undefined : ownerOf(asked.owner, readers);
  // Without a user beoboard and without --owner the file belongs to whoever made it, which need not be said.
  const isChosen = asked.owner !== undefined || findUser(DAEMON) !== undefined;
  const whose = owner !== undefined && isChosen ? `; owner: ${owner.name}` : '';
  const done = async (what: string) => {
    await print([`made ${what}${whose}\n`]);
    return 0;
  };
  if (asked.relay !== undefined) {
    const { secret, shown } = asked.relay;
    makeAll(
      [
        [file, secret],
        [`${file}.pub`, shown, 0o644],
      ],
      owner,
    );
    return done(`${oneLine(file)}, which stays with the relay, and ${oneLine(file)}.pub, for mirrors`);
  }
  const linesOf = (node: string) => (asked.keys ?? []).map(key => keyLine(nodeKey(key, node))).join('');
  if (file === '-') {
    await print([asked.key !== undefined ? keyLine(asked.key) : linesOf(asked.nodes?.[0] ?? '')]);
    return 0;
  }
  if (asked.key !== undefined) {
    makeAll([[file, keyLine(asked.key)]], owner);
    return done(`${oneLine(file)}, a cluster key with number ${asked.key.id}`);
  }
  const { nodes } = asked;
  if (!isDirectory(file)) {
    makeAll([[file, linesOf(nodes[0] ?? '')]], owner);
    return done(`${oneLine(file)}, the key of ${nodes[0]}`);
  }
  makeFolder(file, owner);
  makeAll(
    nodes.map(node => [join(file, `${node}.key`), linesOf(node)] as const),
    owner,
  );
  return done(`the keys of ${counted(nodes.length, 'node')} in ${oneLine(file)}`);
}
