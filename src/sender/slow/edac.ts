// /sys/devices/system/edac: memory errors, the sum over all controllers.

import { constants } from '../../layout/layout.gen.js';
import { modulo32 } from '../collect/kerneltext.js';
import { MemberSum } from '../collect/membersum.js';
import { readOnce } from '../kernelfile.js';
import { bootMs, endMembers, keeping, names, parseCount, type SlowSource } from './source.js';

/** What a controller is: drivers number anew when they are loaded again. */
function idOf(dir: string, mc: string): string {
  const parts = names(`${dir}/${mc}`, /^(?:csrow|dimm|rank)\d+$/);
  return [mc, readOnce(`${dir}/${mc}/mc_name`), readOnce(`${dir}/${mc}/size_mb`), ...parts].join('/');
}

export function makeEdac(): SlowSource {
  const sum = new MemberSum(['ce', 'ue'], { room: constants.most.members, isTally: true });
  return keeping('edac', [sum.kept], (now, world) => {
    const dir = `${world.sys}/devices/system/edac/mc`;
    const all = names(dir, /^mc\d+$/).map(mc => {
      const id = idOf(dir, mc);
      const ce = now.parse(`${dir}/${mc}/ce_count`, parseCount);
      const ue = ce === undefined ? undefined : now.parse(`${dir}/${mc}/ue_count`, parseCount);
      return { id, counts: ce === undefined || ue === undefined ? undefined : { ce, ue } };
    });
    const total = endMembers(now, sum, all, bootMs(world), 'memory controllers');
    now.put('edac', total && { edac_ce: modulo32(total.ce), edac_ue: modulo32(total.ue) });
  });
}
