// All scenes of a master that is a node, too (mastersender.ts): within a fault, and with the same others who listen,
// nothing but the master's own row depends on where its sender reports to.
//   npm run test:long -- mastersender          about fifteen minutes

import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { noNamespaces } from '../kit/netns.js';
import { check, FAULTS, OTHERS, SENDERS, type Tale } from './mastersender.js';

t.setTimeout(7_200_000);
const skip = noNamespaces() || lacks('python3 prometheus', 'python3', 'promtool');

for (const fault of FAULTS)
  for (const others of OTHERS)
    t.test(`${fault}; ${others}`, { skip }, async t => {
      const tales = new Map<string, Tale>();
      for (const sender of SENDERS)
        await t.test(`sender: ${sender}`, async t => {
          tales.set(sender, await check(t, fault, sender, others));
        });
      for (const sender of SENDERS) {
        const base = sender === 'guest' ? 'bridged' : sender === 'bridged' ? sender : 'none';
        t.same(tales.get(sender), tales.get(base), `${sender} as ${base}`);
      }
    });
