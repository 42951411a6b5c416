// Slow sources of machines that others have: names that the kernel numbers otherwise, items that cannot be read among
// those that can, and more of them than a sender takes. Both senders say the same.
//
// @seconds 20

import t from 'tap';
import { type Files, ForeignTrees } from './foreigntrees.js';

const files = (...some: Files[]): Files => Object.assign({}, ...some);
/** One kind of files, for each number below `count`. */
const each = (count: number, make: (n: number) => Files): Files =>
  files(...Array.from({ length: count }, (_, n) => make(n)));

const zone = (name: string, kind: string, joules: number): Files => ({
  [`sys/class/powercap/${name}/name`]: `${kind}\n`,
  [`sys/class/powercap/${name}/energy_uj`]: `${joules}000000\n`,
  [`sys/class/powercap/${name}/max_energy_range_uj`]: '262143328850\n',
});

t.test('zones of powercap are numbered in hexadecimal', async t => {
  const trees = new ForeignTrees(t);
  trees.write(
    {},
    each(17, n =>
      files(
        zone(`intel-rapl:${n.toString(16)}`, `package-${n}`, 1000 + n),
        zone(`intel-rapl:${n.toString(16)}:${n.toString(16)}`, 'dram', 10),
      ),
    ),
  );
  t.match((await trees.ask()).report, { energy_cpu_mj: 17_136_000, energy_dram_mj: 170_000 });
  trees.write(
    {},
    files(
      zone('intel-rapl:G', 'package-99', 1),
      zone('intel-rapl:0x1', 'package-98', 1),
      zone('intel-rapl:0:', 'dram', 1),
    ),
  );
  t.match((await trees.ask()).report, { energy_cpu_mj: 17_136_000, energy_dram_mj: 170_000 }, 'nothing else is a zone');
});
