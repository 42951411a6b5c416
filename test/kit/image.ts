// The sender's container image: its layout, what is in it by OCI's rules, and bundles for runc made of it. No test of
// its own.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ROOT } from './places.js';
import { readable } from './tree.js';

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
  annotations?: Record<string, string>;
}

interface Index {
  schemaVersion: number;
  mediaType: string;
  manifests: Descriptor[];
}

interface Manifest {
  schemaVersion: number;
  mediaType: string;
  config: Descriptor;
  layers: Descriptor[];
}

export interface Config {
  architecture: string;
  os: string;
  created?: string;
  config: { User: string; Entrypoint: string[]; StopSignal: string; Labels: Record<string, string> };
  rootfs: { type: string; diff_ids: string[] };
}

export const TYPE = 'application/vnd.oci.image';
export const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Writes the layout of an image with these programs, by processor, into a folder. */
export async function layOut(programs: Record<string, string>, layout: string, scratch: string): Promise<void> {
  const made = (await import(join(ROOT, 'scripts', 'packaging', 'image.mjs'))) as { layOut: typeof layOut };
  mkdirSync(layout, { recursive: true });
  await made.layOut(programs, layout, scratch);
}

/** The bytes of a blob; throws unless they are what its descriptor says. */
function blobOf(layout: string, { digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(join(layout, 'blobs', ...digest.split(':')));
  if (sha256(bytes) !== digest || bytes.length !== size) throw new Error(`${digest} is not its blob`);
  return bytes;
}

const jsonOf = <T>(layout: string, descriptor: Descriptor) => JSON.parse(blobOf(layout, descriptor).toString()) as T;

export interface Image {
  manifest: Manifest;
  config: Config;
  /** The layer, unpacked: a tar. */
  layer: Buffer;
}

/** What a layout has: its own index, the one of the image, and the image for each processor. */
export function readLayout(layout: string) {
  const top = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as Index;
  const [entry] = top.manifests as [Descriptor];
  const index = jsonOf<Index>(layout, entry);
  const images = new Map<string, Image>();
  for (const descriptor of index.manifests) {
    const manifest = jsonOf<Manifest>(layout, descriptor);
    const layer = gunzipSync(blobOf(layout, manifest.layers[0] as Descriptor));
    images.set(descriptor.platform?.architecture ?? '', { manifest, config: jsonOf(layout, manifest.config), layer });
  }
  return { top, index, images };
}

interface Mount {
  destination: string;
  source: string;
  options?: string[];
}

/** The mounts of a machine's root and of its /proc and /sys, as the examples have them. */
export const machineMounts = (root: string, proc = join(root, 'proc'), sys = join(root, 'sys')): Mount[] => [
  { destination: '/host', source: root, options: ['rbind', 'ro', 'rslave'] },
  { destination: '/host/proc', source: proc, options: ['rbind', 'ro'] },
  { destination: '/host/sys', source: sys, options: ['rbind', 'ro'] },
];

/** A bundle for runc in a folder: the root of the image, and a container of it with a network of its own or not. */
export function bundleOf({ config, layer }: Image, folder: string, args: string[], mounts: Mount[], network = false) {
  const root = join(folder, 'rootfs');
  mkdirSync(root, { recursive: true });
  const { status, stderr } = spawnSync('tar', ['-xf', '-', '-C', root], { input: layer });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  const [uid, gid] = config.config.User.split(':').map(Number);
  const kinds = ['pid', 'mount', 'ipc', 'uts', ...(network ? ['network'] : [])];
  const spec = {
    ociVersion: '1.0.2',
    hostname: 'container',
    process: {
      user: { uid, gid },
      args: [...config.config.Entrypoint, ...args],
      cwd: '/',
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: 'rootfs', readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      ...mounts.map(mount => ({ type: 'bind', ...mount })),
    ],
    linux: { namespaces: kinds.map(type => ({ type })) },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(spec));
  return folder;
}

/**
 * What goes before a command that makes containers: for it, and for nobody else, the machine's cgroups are read-only, so
 * that it makes none there.
 */
export const WITHOUT_CGROUPS = [
  ...['unshare', '-m', 'sh', '-ec'],
  'for at in $(findmnt -rno TARGET -t cgroup,cgroup2); do mount -o remount,bind,ro "$at"; done; exec "$@"',
  'sh',
];

/** The command that runs a bundle by runc, with its state in a folder. Only so called does runc go on without cgroups. */
export const runcOf = (bundle: string, state: string): string[] => [
  ...WITHOUT_CGROUPS,
  ...['runc', '--root', state, '--rootless', 'true', 'run', '--no-new-keyring', '--bundle', bundle],
  `beoboard-test-${process.pid}`,
];

/** What of a report is of a machine, and is not another number a moment later. */
export function factsOf(report: Uint8Array) {
  const { valid, flags, net, ...rest } = readable(report) as Record<string, unknown> & { net?: { name: string }[] };
  const { cpus_online, packages, mem_total_mib, os_release, virt, hw_hash, sw_hash } = rest;
  const names = net?.map(({ name }) => name);
  return { valid, flags, net: names, cpus_online, packages, mem_total_mib, os_release, virt, hw_hash, sw_hash };
}
