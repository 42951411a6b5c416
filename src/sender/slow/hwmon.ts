// /sys/class/hwmon: the sensor chips, and where their readings are. Always leaves out chips of drives: reading the
// temperature of an NVMe drive or a disk stalls its queue for seconds.

import { existsSync } from 'node:fs';
import { names, parseInteger, type ReadingBuilder } from './source.js';

export interface Chip {
  dir: string;
  name: string;
}

const DRIVES = /^(?:nvme|drivetemp|scsi|ata)/;

/** All chips except those of drives. Only their names are read to decide that. */
export function chips(sys: string, now: ReadingBuilder): Chip[] {
  const root = `${sys}/class/hwmon`;
  return names(root, /^hwmon\d+$/).flatMap(hwmon => {
    // Old drivers have everything, including the name, on the device itself.
    const dir = existsSync(`${root}/${hwmon}/name`) ? `${root}/${hwmon}` : `${root}/${hwmon}/device`;
    const name = now.maybe(`${dir}/name`, text => /^([\x21-\x7e]{1,64})\n$/.exec(text)?.[1]);
    return name === undefined || DRIVES.test(name) ? [] : [{ dir, name }];
  });
}

/** Tenths of °C from thousandths, rounded towards zero; undefined outside the possible range, -40 to 150 °C. */
export function parseTemperature(text: string): number | undefined {
  const milli = parseInteger(text);
  // Without -0, which differs from 0 in some comparisons.
  return milli === undefined || milli < -40_000 || milli > 150_000 ? undefined : Math.trunc(milli / 100) || 0;
}

/** Whole watts from microwatts, rounded down; undefined for an impossible power: 0, or over 65,534 W. */
export function parsePower(text: string): number | undefined {
  const watts = Math.floor((parseInteger(text) ?? 0) / 1e6);
  return watts < 1 || watts > 65_534 ? undefined : watts;
}
