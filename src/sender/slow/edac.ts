// /sys/devices/system/edac: memory errors, the sum over all controllers that answer.

import { add, type KernelCount, modulo32 } from '../collect/kerneltext.js';
import { names, parseCount, source } from './source.js';

export const edac = source('edac', (now, { sys }) => {
  const dir = `${sys}/devices/system/edac/mc`;
  const counts = names(dir, /^mc\d+$/).flatMap(mc => {
    const ce = now.parse(`${dir}/${mc}/ce_count`, parseCount);
    const ue = ce === undefined ? undefined : now.parse(`${dir}/${mc}/ue_count`, parseCount);
    return ce === undefined || ue === undefined ? [] : [{ ce, ue }];
  });
  const sum = (leaf: 'ce' | 'ue') => modulo32(counts.reduce<KernelCount>((total, one) => add(total, one[leaf]), 0));
  if (counts.length > 0) now.put('edac', { edac_ce: sum('ce'), edac_ue: sum('ue') });
});
