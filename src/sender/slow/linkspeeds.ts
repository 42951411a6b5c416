// /sys/class/net: speeds of the reported interfaces, and whose traffic others count. On the slow side because the
// answer waits for the kernel's lock of all interfaces, and for drivers that ask their firmware.

import { constants } from '../../layout/layout.gen.js';
import { isStacked, readRepresentors, readSpeed, withDevice } from '../collect/netlinks.js';
import { about, names, Reading, type SlowSource } from './source.js';

export const links: SlowSource = {
  ...about('links'),
  read({ sys }) {
    const now = new Reading();
    const { most } = constants;
    const all = names(`${sys}/class/net`, /./);
    const physical = withDevice(sys, all);
    const wanted = physical.length > 0 ? physical : all.filter(name => name !== 'lo');
    const tooMany = () => now.tooMany(most.speeds, 'network interfaces with a speed');
    if (wanted.length > most.links) {
      if (physical.length === 0) tooMany(); // Else the sending loop complains.
      return now.done();
    }
    const leftOut = new Set(
      physical.length > 0 ? readRepresentors(sys, wanted) : wanted.filter(name => isStacked(sys, name)),
    );
    const counted = wanted.filter(name => !leftOut.has(name));
    const isAsked = counted.length <= most.speeds;
    if (!isAsked) tooMany();
    const mbps = new Map(counted.map(name => [name, isAsked ? readSpeed(sys, name) : 0]));
    if (wanted.length > 0) now.detail({ mbps, ...(leftOut.size > 0 && { leftOut }) });
    return now.done();
  },
};
