// /sys/devices/system/edac: memory errors, the sum over all controllers. Refuses a sum that lacks one of them.

import { add, type Count, modulo32 } from '../collect/kerneltext.js';
import { about, names, parseCount, Reading, type SlowSource, whole } from './source.js';

export const edac: SlowSource = {
  ...about('edac'),
  read({ sys }) {
    const now = new Reading();
    const dir = `${sys}/devices/system/edac/mc`;
    const controllers = names(dir, /^mc\d+$/);
    const sum = (leaf: string) =>
      whole(controllers.map(mc => now.parse(`${dir}/${mc}/${leaf}`, parseCount)))?.reduce<Count>(add, 0);
    if (controllers.length > 0) {
      const ce = sum('ce_count');
      const ue = sum('ue_count');
      if (ce !== undefined && ue !== undefined) now.put('edac', { edac_ce: modulo32(ce), edac_ue: modulo32(ue) });
    }
    return now.done();
  },
};
