// The sums of a report whose members come and go: the files that show them, and what is told of them. No test.

import type { bits } from '../../src/layout/layout.gen.js';

export type Files = Readonly<Record<string, string>>;

/** What there is of a member: its count; nothing; what cannot be read; one that is switched off; another of its name. */
export type State = number | 'gone' | 'unread' | 'off' | { other: number };
export const [gone, unread, off] = ['gone', 'unread', 'off'] as const;
/** The count of a member that is switched off. */
const STILL = 50;
export const other = (count: number): State => ({ other: count });

/** A sum: the files of its members, and what a report says of it; undefined: it is not known. */
interface Sum {
  files(members: readonly State[]): Files;
  told(report: Readonly<Record<string, unknown>>): unknown;
  set: keyof typeof bits.valid;
  isTally?: true;
  /** It needs all of its members. */
  isOfAll?: true;
}

const countOf = (state: State) =>
  typeof state === 'object' ? state.other : state === unread ? 'x' : state === off ? STILL : state;
const isOther = (state: State) => typeof state === 'object';
const each = (members: readonly State[], files: (state: State, i: number) => Files): Files =>
  Object.assign({}, ...members.map((state, i) => (state === gone ? {} : files(state, i))));

const entry = (report: Readonly<Record<string, unknown>>, name: string) =>
  Number((report[name] as Record<string, unknown>).rx_packets);

export const sums: Readonly<Record<string, Sum>> = {
  disks: {
    set: 'disk',
    told: report => Number(report.disk_reads),
    files: members => ({
      'proc/diskstats': members
        .map(
          (state, i) => `8 ${i * 16} sd${'abcdefg'[i]} ${state === gone ? 50 : countOf(state)} 0 0 0 0 0 0 0 0 0 0\n`,
        )
        .join(''),
      ...Object.assign(
        {},
        ...members.map((state, i) => ({
          [`sys/block/sd${'abcdefg'[i]}/size`]: state === gone ? '0\n' : '8\n',
          [`sys/block/sd${'abcdefg'[i]}/diskseq`]: isOther(state) ? '9\n' : `${i}\n`,
        })),
      ),
    }),
  },
  throttle: {
    set: 'throttle',
    isTally: true,
    told: report => report.throttle_events,
    files: members => {
      const cpu = (state: State, i: number) => (isOther(state) ? i + 8 : i);
      const online = members.flatMap((state, i) => (state === gone ? [] : [cpu(state, i)]));
      const at = 'sys/devices/system/cpu';
      return {
        [`${at}/online`]: `${online.sort((a, b) => a - b).join()}\n`,
        [`${at}/cpu0/thermal_throttle/package_throttle_count`]: '1\n',
        ...each(members, (state, i) => ({
          [`${at}/cpu${cpu(state, i)}/topology/physical_package_id`]: `${cpu(state, i)}\n`,
          [`${at}/cpu${cpu(state, i)}/thermal_throttle/package_throttle_count`]: `${countOf(state)}\n`,
        })),
      };
    },
  },
  edac: {
    set: 'edac',
    isTally: true,
    told: report => report.edac_ce,
    files: members =>
      each(members, (state, i) => ({
        [`sys/devices/system/edac/mc/mc${i}/ce_count`]: `${countOf(state)}\n`,
        [`sys/devices/system/edac/mc/mc${i}/ue_count`]: '0\n',
        [`sys/devices/system/edac/mc/mc${i}/csrow${isOther(state) ? 7 : 0}/size_mb`]: '1\n',
      })),
  },
  energy: {
    set: 'energy_cpu',
    isOfAll: true,
    told: report => Number(report.energy_cpu_mj) / 1000,
    files: members =>
      each(members, (state, i) => ({
        [`sys/class/powercap/intel-rapl:${i}/name`]: `package-${isOther(state) ? 7 : i}\n`,
        [`sys/class/powercap/intel-rapl:${i}/max_energy_range_uj`]: '1000000000\n',
        [`sys/class/powercap/intel-rapl:${i}/energy_uj`]: state === unread ? 'x\n' : `${countOf(state)}000000\n`,
        ...(state === off && { [`sys/class/powercap/intel-rapl:${i}/enabled`]: '0\n' }),
      })),
  },
  fabric: {
    set: 'fabric',
    told: report => entry(report, 'fabric'),
    files: members =>
      each(members, (state, i) =>
        Object.fromEntries(
          ['port_rcv_data', 'port_xmit_data', 'port_rcv_packets', 'port_xmit_packets'].map(leaf => [
            `sys/class/infiniband/mlx5_${isOther(state) ? i + 8 : i}/ports/1/counters/${leaf}`,
            `${countOf(state)}\n`,
          ]),
        ),
      ),
  },
  'interfaces beyond three': {
    set: 'net',
    told: report => entry(report, 'net_rest'),
    files: members => {
      const all: readonly State[] = [1, 1, 1, ...members];
      const line = (state: State, i: number) =>
        `eth${i}: ${countOf(state)} ${countOf(state)} 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n`;
      const lines = all.map((state, i) => (state === gone ? '' : line(state, i)));
      return {
        'proc/net/dev': `Inter-|\n face |\n${lines.join('')}`,
        ...each(all, (state, i) => ({
          [`sys/class/net/eth${i}/device/x`]: '',
          [`sys/class/net/eth${i}/ifindex`]: `${i + 2}\n`,
          [`sys/class/net/eth${i}/address`]: `02:00:00:00:0${isOther(state) ? 1 : 0}:0${i}\n`,
        })),
      };
    },
  },
};
