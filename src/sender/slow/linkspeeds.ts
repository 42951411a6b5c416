// /sys/class/net: speeds of the reported interfaces, and whose traffic others count. On the slow side because the
// answer waits for the kernel's lock of all interfaces, and for drivers that ask their firmware.

import { constants } from '../../layout/layout.gen.js';
import { isStacked, readRepresentors, readSpeed, withDevice } from '../collect/netlinks.js';
import { names, source } from './source.js';

export const links = source('links', (now, { sys }) => {
  const { most } = constants;
  const all = names(`${sys}/class/net`, /./).filter(name => name !== 'lo');
  const physical = withDevice(sys, all);
  const isPhysical = physical.length > 0;
  const tooMany = () => now.tooMany(most.speeds, 'network interfaces with a speed');
  if ((isPhysical ? physical : all).length > most.links) {
    if (!isPhysical) tooMany(); // Else the sending loop complains.
    return;
  }
  const leftOut = new Set(readRepresentors(sys, physical));
  const counted = physical.filter(name => !leftOut.has(name));
  for (const name of isPhysical ? [] : all) {
    if (counted.length > most.speeds) break; // A look into a folder is dear.
    if (!isStacked(sys, name)) counted.push(name);
  }
  const isAsked = counted.length <= most.speeds;
  if (!isAsked) tooMany();
  const mbps = new Map(counted.map(name => [name, isAsked ? readSpeed(sys, name) : 0]));
  if (all.length > 0) now.detail({ mbps, ...(leftOut.size > 0 && { leftOut }) });
});
