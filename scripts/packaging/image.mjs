// The container image of the sender: an OCI image layout with an index of all processors, in one tar. Made of the
// static program and its licences alone, without times: the same program gives the same bytes.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MUSL_NOTICE, PACKAGES, PROJECT } from '../../packaging/packages.mjs';
import { gzip, out, put, root, tar, version, work, write } from './common.mjs';
import { settle } from './stage.mjs';

const NAME = 'beoboard-send';
const TYPE = 'application/vnd.oci.image';

const digestOf = bytes => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Writes a blob into a layout, and returns its descriptor. */
function blob(layout, mediaType, content) {
  const bytes = typeof content === 'object' && !Buffer.isBuffer(content) ? JSON.stringify(content) : content;
  const digest = digestOf(bytes);
  write(join(layout, 'blobs', ...digest.split(':')), bytes);
  return { mediaType, digest, size: Buffer.byteLength(bytes) };
}

/** The only layer, as a tar: a root with the program and its licences. */
async function layerOf(program, scratch) {
  const into = join(scratch, 'root');
  rmSync(into, { recursive: true, force: true });
  put(program, join(into, 'usr', 'sbin', NAME));
  write(join(into, 'usr', 'share', 'licenses', NAME, 'LICENSE'), readFileSync(join(root, 'LICENSE')));
  write(join(into, 'usr', 'share', 'licenses', NAME, 'LICENSE.musl'), MUSL_NOTICE);
  settle(into, /^\/usr\/sbin\//, 0);
  const file = join(scratch, 'layer.tar');
  await tar(file, into, ['usr'], 0);
  return readFileSync(file);
}

/** It runs as nobody: it has to read what every user may read. */
const configOf = (architecture, layer) => ({
  architecture,
  os: 'linux',
  config: {
    User: '65534:65534',
    Entrypoint: [`/usr/sbin/${NAME}`],
    StopSignal: 'SIGTERM',
    Labels: {
      'org.opencontainers.image.title': NAME,
      'org.opencontainers.image.description': `${PROJECT.summary}: ${PACKAGES[NAME].summary}`,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': PROJECT.licence,
    },
  },
  rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
});

/**
 * Writes the layout into a folder. `programs` are the static senders by their processors, as Debian and OCI call them;
 * `scratch` is a folder for intermediate files.
 */
export async function layOut(programs, layout, scratch) {
  const manifests = [];
  for (const [architecture, program] of Object.entries(programs)) {
    const layer = await layerOf(program, scratch);
    const parts = {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: blob(layout, `${TYPE}.config.v1+json`, configOf(architecture, layer)),
      layers: [blob(layout, `${TYPE}.layer.v1.tar+gzip`, gzip(layer))],
    };
    manifests.push({ ...blob(layout, parts.mediaType, parts), platform: { architecture, os: 'linux' } });
  }
  const mediaType = `${TYPE}.index.v1+json`;
  const all = blob(layout, mediaType, { schemaVersion: 2, mediaType, manifests });
  // The first for Podman and Skopeo, the second for containerd, which wants a whole name.
  const annotations = {
    'org.opencontainers.image.ref.name': version,
    'io.containerd.image.name': `localhost/${NAME}:${version}`,
  };
  write(
    join(layout, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType, manifests: [{ ...all, annotations }] }),
  );
  write(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}

/** Makes the image in the output folder, of the programs that were compiled for these processors. */
export async function imagePackage(processors) {
  const layout = work('image', 'layout');
  mkdirSync(layout, { recursive: true });
  await layOut(Object.fromEntries(processors.map(name => [name, work(name, NAME)])), layout, work('image'));
  settle(layout, /^$/, 0);
  const file = join(out, `${NAME}-${version}.oci.tar`);
  await tar(file, layout, ['blobs', 'index.json', 'oci-layout'], 0);
  rmSync(work('image'), { recursive: true });
  return file;
}
