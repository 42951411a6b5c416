// Makes keys: one for a cluster out of the kernel's random numbers, and out of that the nodes' own. Never overwrites a file, and
// shows no key unless it was asked to write one to stdout.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure, usable } from '../common/failure.js';
import { type Key, keyLine, nodeKey, readClusterKeys, relayKeyLines } from '../common/keys.js';
import { defineVerb, forms, parseVerb, UsageError } from '../common/options.js';
import { print } from '../common/output.js';
import { oneLine } from '../common/text.js';
import { VERBS } from '../common/verbs.js';

export const verb = defineVerb({
  name: 'keygen',
  summary: VERBS.keygen,
  options: ['key-id', 'key-file', 'nodes', 'relay'],
  forms: forms.keygen,
  arguments: ['<file>'],
  examples: [
    'beoboard keygen /etc/beoboard/cluster.key',
    'beoboard keygen --key-file cluster.key --nodes node001 node001.key',
    "beoboard keygen --key-file cluster.key --nodes 'node[001-128]' keys/",
    'beoboard keygen --key-id 2 next.key',
    'beoboard keygen --relay /etc/beoboard/relay.key',
  ],
  notes:
    "Files are made with mode 0600; existing files are never overwritten. With --nodes and a directory, each node's key goes to NODE.key in it; several nodes need a directory, which is created if missing. - writes to stdout. Whoever has the cluster key can send reports for every node. With node keys it stays on the master, where receivers derive the node keys from it. Exit codes: 0 made, 1 not made.",
});

const SECRET_BYTES = 32;

function isDirectory(path: string): boolean {
  return path.endsWith('/') || (existsSync(path) && lstatSync(path).isDirectory());
}

/** Throws a Failure when something lies there. */
function refuseExisting(path: string): void {
  let lies = false;
  try {
    lies = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Making it says why.
  }
  if (lies) throw new Failure(`${path}: exists, and keys are never overwritten; remove it or name another file`, 1);
}

const WHY: Record<string, string> = {
  ENOENT: 'its directory does not exist; make it first',
  ENOTDIR: 'its directory is a file; name another path',
  EACCES: 'this user may not write there; run as root, or name another path',
  EPERM: 'this user may not write there; run as root, or name another path',
  EROFS: 'the file system is read-only; name another path',
  ENOSPC: 'the disk is full; make room',
};

function whyNotMade({ code = '' }: NodeJS.ErrnoException): string {
  return `cannot be made: ${WHY[code] ?? code}`;
}

/** Writes a file that was not there, by default for its owner alone. */
function make(path: string, text: string, mode = 0o600): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  try {
    fchmodSync(fd, mode); // whatever the umask took
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes these files, or none when one of them is there. */
function makeAll(files: readonly (readonly [path: string, text: string, mode?: number])[]): void {
  for (const [path] of files) refuseExisting(path);
  for (const [i, [path, text, mode]] of files.entries())
    try {
      make(path, text, mode);
    } catch (error) {
      const made = i > 0 ? `; ${i} of ${files.length} files were made` : '';
      throw new Failure(`${path}: ${whyNotMade(error as NodeJS.ErrnoException)}${made}`, 1);
    }
}

/** What is asked for: the keys, each with the lines of its file. */
function read(argv: string[]) {
  const { values, args } = parseVerb(verb, argv);
  const { keyFile, keyId } = values;
  const file = args[0] ?? '';
  const usage = (wrong: string) => new UsageError(verb.name, wrong);
  if (values.relay) {
    if (values.nodes !== undefined || keyFile !== undefined || keyId !== undefined)
      throw usage(
        '--relay makes the two keys of a relay, which depend on no other key; leave out --nodes, --key-file and --key-id',
      );
    if (file === '-') throw usage('--relay makes two files; name the first of them');
    return { file, relay: relayKeyLines(randomBytes(SECRET_BYTES)) };
  }
  if (values.nodes === undefined) {
    if (keyFile !== undefined) throw usage('--key-file is the key from which node keys are derived; give --nodes, too');
    return { file, key: { id: keyId ?? 1, node: undefined, secret: randomBytes(SECRET_BYTES) } as Key };
  }
  if (keyFile === undefined) throw usage('--nodes needs the cluster key; give --key-file');
  if (keyId !== undefined)
    throw usage('--key-id is for a new cluster key; a node key has the number of its cluster key; leave it out');
  const nodes = [...new Set(values.nodes)];
  if (nodes.length > 1 && !isDirectory(file))
    throw usage(`${nodes.length} nodes need a directory to put their keys into; write ${oneLine(file)}/`);
  return { file, nodes, keys: usable(verb.name, () => readClusterKeys(keyFile)) };
}

export async function main(argv: string[]): Promise<number> {
  const asked = read(argv);
  const { file } = asked;
  if (file === '') throw new UsageError(verb.name, 'the file has no name; write a path');
  if (asked.relay !== undefined) {
    const { secret, shown } = asked.relay;
    makeAll([
      [file, secret],
      [`${file}.pub`, shown, 0o644],
    ]);
    await print([`made ${oneLine(file)}, which stays with the relay, and ${oneLine(file)}.pub, for mirrors\n`]);
    return 0;
  }
  const linesOf = (node: string) => (asked.keys ?? []).map(key => keyLine(nodeKey(key, node))).join('');
  if (file === '-') {
    await print([asked.key !== undefined ? keyLine(asked.key) : linesOf(asked.nodes?.[0] ?? '')]);
    return 0;
  }
  if (asked.key !== undefined) {
    makeAll([[file, keyLine(asked.key)]]);
    await print([`made ${oneLine(file)}, a cluster key with number ${asked.key.id}\n`]);
    return 0;
  }
  const { nodes } = asked;
  if (!isDirectory(file)) {
    makeAll([[file, linesOf(nodes[0] ?? '')]]);
    await print([`made ${oneLine(file)}, the key of ${nodes[0]}\n`]);
    return 0;
  }
  try {
    mkdirSync(file, { mode: 0o700 });
  } catch (error) {
    const failed = error as NodeJS.ErrnoException;
    if (failed.code !== 'EEXIST') throw new Failure(`${file}: ${whyNotMade(failed)}`, 1);
  }
  makeAll(nodes.map(node => [join(file, `${node}.key`), linesOf(node)] as const));
  await print([`made the keys of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} in ${oneLine(file)}\n`]);
  return 0;
}
