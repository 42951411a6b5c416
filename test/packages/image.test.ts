// The sender's container image: its layout by OCI's rules, made twice with the same bytes; what it reports where runc
// runs it: the machine and not the container; the examples for Kubernetes and compose. image.long.test.ts has Podman.
//
// @seconds 5
// @rest
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { compileSender, NO_MUSL } from '../kit/compiling.js';
import {
  bundleOf,
  factsOf,
  type Image,
  layOut,
  machineMounts,
  readLayout,
  runcOf,
  sha256,
  TYPE,
} from '../kit/image.js';
import { lacks } from '../kit/lacking.js';
import { Namespace, noNamespaces } from '../kit/netns.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { startIn } from '../kit/sampler.js';
import { prepare, readable, seenFromInside } from '../kit/tree.js';
import { askC } from '../kit/twosenders.js';
import { until } from '../kit/until.js';

const NOBODY = 65534;
const OWN = process.arch === 'arm64' ? 'arm64' : 'amd64';
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

const own = folder(t);
const sender = compileSender(t);
const other = join(own, 'other');
writeFileSync(other, 'of another processor');
const layout = join(own, 'layout');
const programs = { [OWN]: sender, [OWN === 'amd64' ? 'arm64' : 'amd64']: other };
await layOut(programs, layout, join(own, 'scratch'));

/** Every file below a folder, by its path, as the hash of what is in it. */
const hashes = (path: string) =>
  Object.fromEntries(
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map(file => [file.slice(path.length), sha256(readFileSync(file))]),
  );

t.test("the layout, by OCI's rules", async t => {
  const { top, index, images } = readLayout(layout);
  t.same(JSON.parse(readFileSync(join(layout, 'oci-layout'), 'utf8')), { imageLayoutVersion: '1.0.0' });
  t.match(top, { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: { length: 1 } });
  t.match(top.manifests[0], {
    mediaType: `${TYPE}.index.v1+json`,
    annotations: {
      'org.opencontainers.image.ref.name': version,
      'io.containerd.image.name': `localhost/beoboard-send:${version}`,
    },
  });
  t.match(index, { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests: { length: 2 } });
  for (const [architecture, { manifest, config, layer }] of images) {
    t.match(manifest, {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: { mediaType: `${TYPE}.config.v1+json` },
      layers: [{ mediaType: `${TYPE}.layer.v1.tar+gzip` }],
    });
    t.equal(manifest.layers.length, 1);
    t.strictSame(config.rootfs, { type: 'layers', diff_ids: [sha256(layer)] });
    t.match(config, {
      architecture,
      os: 'linux',
      config: {
        User: '65534:65534',
        Entrypoint: ['/usr/sbin/beoboard-send'],
        StopSignal: 'SIGTERM',
        Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'MIT' },
      },
    });
    t.notOk('created' in config, 'no time');
  }
  // Nothing lies there that nothing names.
  const named = [top, index, ...[...images.values()].map(({ manifest }) => manifest)].flatMap(part =>
    [...JSON.stringify(part).matchAll(/"digest":"sha256:([0-9a-f]{64})"/g)].map(([, hex]) => hex),
  );
  t.strictSame(readdirSync(join(layout, 'blobs', 'sha256')).sort(), named.sort());
  t.strictSame(readdirSync(layout).sort(), ['blobs', 'index.json', 'oci-layout']);
});

t.test('the layer has the program and its licences, of root, without times', async t => {
  const { layer } = readLayout(layout).images.get(OWN) as Image;
  const { stdout } = spawnSync('tar', ['-tvf', '-', '--numeric-owner', '--utc'], { input: layer, encoding: 'utf8' });
  const rows = stdout.trim().split('\n');
  t.strictSame(
    rows.map(row => row.replace(/^(\S+ 0\/0) +\d+ (1970-01-01 00:00) /, '$1 $2 ')),
    [
      'drwxr-xr-x 0/0 1970-01-01 00:00 usr/',
      'drwxr-xr-x 0/0 1970-01-01 00:00 usr/sbin/',
      '-rwxr-xr-x 0/0 1970-01-01 00:00 usr/sbin/beoboard-send',
      'drwxr-xr-x 0/0 1970-01-01 00:00 usr/share/',
      'drwxr-xr-x 0/0 1970-01-01 00:00 usr/share/licenses/',
      'drwxr-xr-x 0/0 1970-01-01 00:00 usr/share/licenses/beoboard-send/',
      '-rw-r--r-- 0/0 1970-01-01 00:00 usr/share/licenses/beoboard-send/LICENSE',
      '-rw-r--r-- 0/0 1970-01-01 00:00 usr/share/licenses/beoboard-send/LICENSE.musl',
    ],
  );
  t.ok(layer.includes(readFileSync(sender)), 'the program, byte for byte');
});

t.test('made again, elsewhere and at another time, it has the same bytes', async t => {
  const again = folder(t);
  utimesSync(sender, 1, 1);
  chmodSync(sender, 0o700);
  const umask = process.umask(0o077);
  await layOut(programs, join(again, 'layout'), join(again, 'scratch'));
  process.umask(umask);
  chmodSync(sender, 0o755);
  t.strictSame(hashes(join(again, 'layout')), hashes(layout));
});

// ---- in a container ----

const cannotRun =
  (process.getuid?.() !== 0 && 'runc makes containers as root') || NO_MUSL || lacks('runc', 'runc') || noNamespaces();

t.test('a machine that was made up, to a receiver', { skip: cannotRun }, async t => {
  const dir = folder(t);
  prepare('two-sockets', dir);
  const machine = join(dir, 'now');
  const trees = ['--proc', join(machine, 'proc'), '--sys', join(machine, 'sys')];
  const outside = askC(sender, ['--once', '--to', '-', ...trees]);
  seenFromInside(machine);
  const network = await Namespace.make(t);
  const board = boardPath(t);
  const surroundings = { prefix: network.prefix };
  const { ready } = startIn(t, surroundings, ['receive', '--board', board, '--listen', '127.0.0.1:0']);
  const { listening = [] } = await ready;

  const bundle = join(dir, 'bundle');
  const args = ['--root=/host', '--name=made-up', `--to=${listening[0]}`, '--seccomp'];
  bundleOf(readLayout(layout).images.get(OWN) as Image, bundle, args, machineMounts(machine));
  const [command = '', ...rest] = [...network.prefix, ...runcOf(bundle, join(dir, 'state'))];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = follow(child, t);
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const look = () => [...reader.snapshot().nodes()].find(({ name }) => name === 'made-up');
  const inner = await until('it reports all', () => {
    if (child.exitCode !== null) throw new Error(said.all);
    const node = look();
    if (node?.reportAt === undefined) return false;
    const { view } = node.snapshot;
    const facts = factsOf(new Uint8Array(view.buffer, view.byteOffset + node.reportAt, REPORT_BYTES));
    return facts.hw_hash !== undefined && facts;
  });
  const outer = factsOf(Buffer.from(outside.report, 'hex'));
  t.match(inner, { net: ['eno1np0', 'eno2np1', 'ens3f0np0'], cpus_online: 128, mem_total_mib: 515584 });
  for (const name of ['net', 'packages', 'os_release', 'virt', 'hw_hash'] as const)
    t.strictSame(inner[name], outer[name], name);
  child.kill('SIGTERM');
  t.equal(await said.exit, 0, said.all);
  await until('it has left', () => look()?.state === 'left');
});

t.test('this machine, from a container with another network', { skip: cannotRun }, async t => {
  const image = readLayout(layout).images.get(OWN) as Image;
  const answer = (...args: string[]) => {
    const dir = folder(t);
    const mounts = machineMounts('/');
    const bundle = bundleOf(image, join(dir, 'bundle'), ['--once', '--to=-', ...args], mounts, true);
    const [command = '', ...rest] = runcOf(bundle, join(dir, 'state'));
    const { status, stdout, stderr } = spawnSync(command, rest);
    t.equal(status, 0, stderr.toString());
    return stdout;
  };
  const outside = askC(sender, ['--once', '--to', '-'], { uid: NOBODY });
  const wanted = factsOf(Buffer.from(outside.report, 'hex'));
  const inside = answer('--root=/host', '--seccomp');
  t.strictSame(factsOf(inside), wanted);
  for (const name of ['root_total_mib', 'fs_total_mib'])
    t.equal(readable(inside)[name], readable(Buffer.from(outside.report, 'hex'))[name], name);
  const without = factsOf(answer());
  t.match(without.flags, /container/, 'without --root it is the container that is reported');
  t.notSame(without.net, wanted.net);
});

// ---- the examples ----

const YAML = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))';
const noYaml =
  lacks('python3', 'python3') ||
  (spawnSync('python3', ['-c', 'import yaml']).status !== 0 && !process.env.CI && 'apt-get install python3-yaml');

t.test(
  'the examples: the image, options that there are, and mounts that cannot be written',
  { skip: noYaml },
  async t => {
    const read = (name: string) => {
      const input = readFileSync(join(ROOT, 'examples', 'containers', name));
      const { stdout, stderr } = spawnSync('python3', ['-c', YAML], { input, encoding: 'utf8' });
      t.equal(stderr, '', name);
      return JSON.parse(stdout)[0];
    };
    const { spec } = read('daemonset.yaml').spec.template;
    const [container] = spec.containers;
    const service = read('compose.yaml').services['beoboard-send'];
    const image = `localhost/beoboard-send:${version}`;
    const help = Buffer.from(askC(sender, ['--help']).report, 'hex').toString();
    for (const [options, name] of [
      [container.args, container.image],
      [service.command, service.image],
    ]) {
      t.equal(name, image);
      for (const option of options) t.match(help, new RegExp(`^  ${option.replace(/=.*/, '')}\\b`, 'm'), option);
    }
    const places = ['/host', '/host/proc', '/host/sys'];
    t.strictSame(
      container.volumeMounts.map((mount: { mountPath: string }) => mount.mountPath),
      places,
    );
    t.ok(container.volumeMounts.every(({ readOnly }: { readOnly: boolean }) => readOnly));
    t.strictSame(
      container.volumeMounts.map(({ name }: { name: string }) => name),
      spec.volumes.map(({ name }: { name: string }) => name),
    );
    t.strictSame(
      service.volumes.map(({ target }: { target: string }) => target),
      places,
    );
    t.ok(service.volumes.every((mount: { read_only: boolean }) => mount.read_only));
    t.match(container.securityContext, { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
  },
);
