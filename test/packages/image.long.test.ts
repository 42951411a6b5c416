// The sender's container image as it is released: for both processors, made twice with the same bytes; loaded and run
// by Podman over runc. Podman has folders of its own, and neither sees nor writes this machine's.
//   npm run test:long -- image

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender } from '../kit/compiling.js';
import { factsOf, type Image, machineMounts, readLayout, WITHOUT_CGROUPS } from '../kit/image.js';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';
import { askC } from '../kit/twosenders.js';

t.setTimeout(1_200_000);

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const NAME = `beoboard-send-${version}.oci.tar`;
const own = folder(t);
const first = join(own, 'first');

function make(out: string, env: NodeJS.ProcessEnv): Buffer {
  const argv = [join(ROOT, 'scripts', 'package.mjs'), 'image', '--out', out];
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(stderr);
  return readFileSync(join(out, NAME));
}

const noMake = lacks(
  'gcc-aarch64-linux-gnu libc6-dev-arm64-cross musl-tools musl-dev:arm64',
  'aarch64-linux-gnu-gcc',
  'musl-gcc',
);

t.test('made twice, with years between, it has the same bytes', { skip: noMake }, async t => {
  const made = make(first, {});
  t.ok(made.equals(make(join(own, 'second'), { SOURCE_DATE_EPOCH: '86400', TZ: 'Asia/Tokyo' })));
  t.comment(`${(made.length / 1024).toFixed(0)} KiB`);
  const layout = join(own, 'layout');
  mkdirSync(layout);
  spawnSync('tar', ['-xf', join(first, NAME), '-C', layout]);
  const { images } = readLayout(layout);
  for (const [processor, machine] of [
    ['amd64', 62],
    ['arm64', 183],
  ] as const) {
    const { layer } = images.get(processor) as Image;
    const { stdout } = spawnSync('tar', ['-xOf', '-', 'usr/sbin/beoboard-send'], { input: layer, maxBuffer: 1 << 24 });
    t.equal(stdout.readUInt16LE(18), machine, `the program is for ${processor}`);
    t.notOk(stdout.includes('/lib/ld-'), 'and needs no other file');
  }
});

// ---- Podman ----

/** Podman asks a runtime to do without cgroups by an option that runc does not have. */
const RUNC = `#!/bin/sh
for word; do
  shift
  case $word in
    --cgroup-manager | disabled) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec PATH --rootless true "$@"
`;

/** Names of the list of runtimes that can do without cgroups, in older and newer versions. */
const CONFIG = `[engine]
lock_type = "file"
runtime_supports_nocgroup = ["runc"]
runtime_supports_nocgroups = ["runc"]
`;

/** Runs Podman with all of its folders below one; the machine's are out of its sight. */
function podman(dir: string, ...argv: string[]) {
  const runtime = join(dir, 'runc');
  const config = join(dir, 'containers.conf');
  mkdirSync(dir, { recursive: true });
  const { stdout: path } = spawnSync('sh', ['-c', 'command -v runc'], { encoding: 'utf8' });
  writeFileSync(runtime, RUNC.replace('PATH', path.trim()));
  chmodSync(runtime, 0o755);
  writeFileSync(config, CONFIG);
  const hidden = 'for at in /run /dev/shm /var/lib; do mount -t tmpfs none $at; done; exec "$@"';
  const places = ['--root', join(dir, 'root'), '--runroot', join(dir, 'runroot'), '--tmpdir', join(dir, 'libpod')];
  const how = ['--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs', '--events-backend', 'none'];
  const [command = '', ...rest] = [
    ...[...WITHOUT_CGROUPS, 'sh', '-ec', hidden, 'sh'],
    ...['podman', ...places, ...how, '--runtime', runtime, ...argv],
  ];
  const env = { ...process.env, CONTAINERS_CONF: config, TMPDIR: dir, HOME: dir, XDG_RUNTIME_DIR: dir };
  const { status, stdout, stderr } = spawnSync(command, rest, { env });
  if (status !== 0) throw new Error(`podman ${argv.join(' ')}: ${stderr}`);
  return stdout;
}

const noPodman =
  (process.getuid?.() !== 0 && 'Podman makes containers as root here') ||
  noMake ||
  lacks('podman runc', 'podman', 'runc');

t.test('Podman loads and runs it: it reports this machine', { skip: noPodman }, async t => {
  const dir = join(own, 'podman');
  const image = `localhost/beoboard-send:${version}`;
  t.match(podman(dir, 'load', '-q', '-i', join(first, NAME)).toString(), image);
  const [{ Config: config }] = JSON.parse(podman(dir, 'image', 'inspect', image).toString());
  t.match(config, { User: '65534:65534', Entrypoint: ['/usr/sbin/beoboard-send'], StopSignal: 'SIGTERM' });
  // What limits a container would need rights that this machine may not give.
  const limits = ['--cgroups=disabled', '--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'];
  const mounts = machineMounts('/').map(({ destination, source, options }) => {
    const more = options?.includes('rslave') ? ',rslave' : '';
    return `--volume=${source}:${destination}:ro${more}`;
  });
  const how = ['--rm', '--read-only', '--cap-drop=all', '--network=none', ...limits, ...mounts];
  const report = podman(dir, 'run', ...how, image, '--root=/host', '--once', '--to=-', '--seccomp');
  const outside = askC(compileSender(t), ['--once', '--to', '-'], { uid: 65534 });
  t.strictSame(factsOf(report), factsOf(Buffer.from(outside.report, 'hex')));
});
