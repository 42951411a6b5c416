// Whether the sender runs in a container, by what /proc shows to every user. Does not trust files in the root like
// /.dockerenv: images made from containers keep them on metal.

import { readlinkSync } from 'node:fs';
import { attempt } from '../../text/failure.js';
import { MOST_BYTES } from '../kernelfile.js';
import { mountOf, parseMounts } from './mounts.js';
import { source } from './source.js';

/** The kernel's constant for the first PID namespace, PROC_PID_INIT_INO. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** The names that runtimes give to the cgroups of containers; a service called docker is not one. */
const CGROUPS =
  /\/(?:kubepods(?:[.-]|\/|$)|lxc(?:\.payload\.|\/)|(?:docker|libpod|cri-containerd|crio|containerd)[-/][0-9a-f]{64})/m;

/** Where runtimes keep the layers of a container's root. */
const LAYERS = /\/(?:docker|containers|containerd|io\.containerd\.[a-z0-9.-]{1,40}|buildkit)\//;

/** Whether a link like /proc/self/ns/pid names another namespace than the machine's. */
export function foreignNamespace(link: string | undefined): boolean {
  return /^pid:\[\d{1,10}\]$/.test(link ?? '') && link !== FIRST_NAMESPACE;
}

export const containerCgroup = (text: string): boolean => CGROUPS.test(text);

/** Whether the root consists of a container's layers. A root on an overlay is not enough: diskless nodes have one. */
export function containerRoot(text: string): boolean | undefined {
  const mounts = parseMounts(text);
  if (mounts === undefined) return undefined;
  const root = mountOf(mounts, '/');
  return root?.type === 'overlay' && LAYERS.test(root.options);
}

export const container = source('container', (now, { proc }) => {
  const container =
    foreignNamespace(attempt(() => readlinkSync(`${proc}/self/ns/pid`))) ||
    now.maybe(`${proc}/1/cgroup`, containerCgroup) === true ||
    now.maybe(`${proc}/self/cgroup`, containerCgroup) === true ||
    now.maybe(`${proc}/self/mountinfo`, containerRoot, MOST_BYTES) === true;
  now.flag('container', container);
  if (container) now.detail({ container });
});
