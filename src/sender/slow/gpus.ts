// The source of the GPU sets: the GPU file if it exists, otherwise AMD's cards. Never mixes the two, and loads no
// vendor library: those hang.

import { readExternalFile } from './externalfile.js';
import { errorFields, gpuFields } from './gpu.js';
import { readAmd } from './gpuamd.js';
import { parseGpuFile } from './gpufile.js';
import { source } from './source.js';

const TOO_OLD_S = 10;

export const gpus = source('gpu', (now, world) => {
  // An existing file decides alone, even if it is invalid or too old: a node whose helper died must not seem to have
  // another number of GPUs because its processor contains a small one.
  const file = readExternalFile(world, 'gpu', now, parseGpuFile, TOO_OLD_S);
  const { vendor, gpus } = file.there
    ? (file.value ?? { vendor: 'none', gpus: undefined })
    : { vendor: 'amd' as const, gpus: readAmd(world.sys, now) };
  if (gpus === undefined || (gpus.length === 0 && !file.there)) return;
  now.put('gpu', gpuFields(vendor, gpus));
  now.put('gpu_errors', errorFields(gpus));
});
