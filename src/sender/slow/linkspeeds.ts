// /sys/class/net: speeds of the reported interfaces. On the slow side because the answer waits for the kernel's lock of
// all interfaces, and for drivers that ask their firmware.

import { readSpeeds } from '../collect/netlinks.js';
import { about, names, Reading, type SlowSource } from './source.js';

export const links: SlowSource = {
  ...about('links'),
  read({ sys }) {
    const now = new Reading();
    const { mbps } = readSpeeds(sys, names(`${sys}/class/net`, /./));
    if (mbps.size > 0) now.detail({ mbps });
    return now.done();
  },
};
