// The node's power: from the ACPI power meter, otherwise from the file of a tool that asks the BMC. Refuses sensors
// that measure less than the whole node, and does not guess among several.

import type { FieldsOf } from '../../layout/codec.js';
import { enums } from '../../layout/layout.gen.js';
import { readExternalFile } from './externalfile.js';
import { chips, parsePower } from './hwmon.js';
import { type ReadingBuilder, source } from './source.js';

const TOO_OLD_S = 60;

/** What the BMC file holds: one line, whole watts. */
export function parseWatts(text: string): number | undefined {
  const watts = Number(/^(\d{1,5})\n?$/.exec(text)?.[1] ?? 0);
  return watts < 1 || watts > 65_534 ? undefined : watts;
}

const field = (watts: number, source: (typeof enums.power_src)[number]): FieldsOf<'power'> => ({
  power_node_w: watts,
  power_src: enums.power_src.indexOf(source),
});

/** The reading of the only power meter; if there are several, each measures a part, and none says which. */
function readMeter(sys: string, now: ReadingBuilder): number | undefined {
  const [meter, ...more] = chips(sys, now).filter(({ name }) => name === 'power_meter');
  if (meter === undefined || more.length > 0) return undefined;
  return now.maybe(`${meter.dir}/power1_average`, parsePower) ?? now.maybe(`${meter.dir}/power1_input`, parsePower);
}

export const power = source('power', (now, world) => {
  const metered = readMeter(world.sys, now);
  const measured =
    metered === undefined ? readExternalFile(world, 'power', now, parseWatts, TOO_OLD_S).value : undefined;
  if (metered !== undefined) now.put('power', field(metered, 'hwmon'));
  else if (measured !== undefined) now.put('power', field(measured, 'bmc'));
});
