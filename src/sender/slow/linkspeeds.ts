// /sys/class/net: speeds of the reported interfaces, and which of them stand for others. On the slow side because the
// answer waits for the kernel's lock of all interfaces, and for drivers that ask their firmware.

import { constants } from '../../layout/layout.gen.js';
import { readRepresentors, readSpeeds } from '../collect/netlinks.js';
import { about, names, Reading, type SlowSource } from './source.js';

export const links: SlowSource = {
  ...about('links'),
  read({ sys }) {
    const now = new Reading();
    const { mbps, physical } = readSpeeds(sys, names(`${sys}/class/net`, /./));
    const representors = physical ? readRepresentors(sys, [...mbps.keys()]) : [];
    const most = constants.most.speeds;
    if (mbps.size > most) now.tooMany(most, 'network interfaces with a speed');
    else if (mbps.size > 0) now.detail({ mbps, ...(representors.length > 0 && { representors }) });
    return now.done();
  },
};
