// /sys/class/hwmon: the sensor chips, and where their readings are. Refuses chips of drives, whatever is asked: reading
// an NVMe's or a disk's temperature stalls its queue, for seconds.

import { existsSync } from 'node:fs';
import { names, parseInteger, type Reading } from './source.js';

export interface Chip {
  /** Where its readings are. */
  dir: string;
  name: string;
}

const DRIVES = /^(?:nvme|drivetemp|scsi|ata)/;

/** All chips but those of drives. Only their names are read for that. */
export function chips(sys: string, now: Reading): Chip[] {
  const root = `${sys}/class/hwmon`;
  return names(root, /^hwmon\d+$/).flatMap(hwmon => {
    // Old drivers have all, the name too, on the device itself.
    const dir = existsSync(`${root}/${hwmon}/name`) ? `${root}/${hwmon}` : `${root}/${hwmon}/device`;
    const name = now.maybe(`${dir}/name`, text => /^([\x21-\x7e]{1,64})\n$/.exec(text)?.[1]);
    return name === undefined || DRIVES.test(name) ? [] : [{ dir, name }];
  });
}

/** Tenths of °C from thousandths, rounded towards zero; undefined beyond what a machine can be, -40 to 150 °C. */
export function parseTemperature(text: string): number | undefined {
  const milli = parseInteger(text);
  // Not -0, which is another zero to those who compare.
  return milli === undefined || milli < -40_000 || milli > 150_000 ? undefined : Math.trunc(milli / 100) || 0;
}

/** Whole watts from microwatts, rounded down; undefined beyond what a machine can draw: nothing, or over 65,534 W. */
export function parsePower(text: string): number | undefined {
  const watts = Math.floor((parseInteger(text) ?? 0) / 1e6);
  return watts < 1 || watts > 65_534 ? undefined : watts;
}
