// Makes one report: the header, the sender's own readings, and the collector's sets. Sends nothing and does not
// schedule.

import { encode, REPORT_BYTES } from '../layout/codec.js';
import { clusterId } from '../layout/identity.js';
import { bits, constants, enums } from '../layout/layout.gen.js';
import { sign } from '../layout/tag.js';
import type { Key } from '../options/keys.js';
import type { HostMachine } from './world.js';

/** What is the same in all reports of a run. */
export interface Identity {
  name: string;
  cluster: string | undefined;
  intervalMs: number;
  /** major<<16 | minor<<8 | patch */
  agentVersion: number;
  bootId: bigint;
  /** CLOCK_BOOTTIME when this sender started, ns. */
  startBootNs: bigint;
  /** Signs each report; undefined: reports are not signed. */
  key?: Key | undefined;
}

/** The tick for which a report is made. */
export interface ReportTick {
  seq: number;
  realNs: bigint;
  bootNs: bigint;
  /** How late the timer fired, us. */
  lateUs: number;
  /** Whether that was more than half of the time between two ticks; the announced interval may be longer. */
  late: boolean;
  /** Ticks without a report since the sender started. */
  missed: number;
  goodbye: boolean;
  /** Whether at least one tick just before this one had no report. */
  skipped: boolean;
}

/** Fills the sets of a report; see Collector. */
export interface ReportSource {
  collect(view: DataView, nowNs: bigint): void;
}

const flag = (name: keyof typeof bits.flags, on: boolean) => (on ? 2 ** bits.flags[name] : 0);

const forms = new WeakMap<Identity, Uint8Array>();

function formOf(identity: Identity): Uint8Array {
  const { key } = identity;
  let form = forms.get(identity);
  if (form === undefined) {
    form = new Uint8Array(REPORT_BYTES);
    encode('report', new DataView(form.buffer), 0, {
      magic: constants.stat.magic,
      version: constants.stat.version,
      length: REPORT_BYTES,
      cluster_id: clusterId(identity.cluster),
      boot_id: identity.bootId,
      interval_ms: identity.intervalMs,
      valid: 1n << BigInt(bits.valid.sender),
      hostname: identity.name,
      ...(key !== undefined && {
        key_id: key.id,
        auth_alg: enums.auth_alg.indexOf(key.node === undefined ? 'cluster' : 'node'),
      }),
      agent_version: identity.agentVersion,
      start_boot_ns: identity.startBootNs,
    });
    forms.set(identity, form);
  }
  return form;
}

/** One report, in its own buffer. */
export function pack(identity: Identity, tick: ReportTick, source: ReportSource, world: HostMachine): Uint8Array {
  const report = formOf(identity).slice();
  const view = new DataView(report.buffer);
  encode('report', view, 0, {
    // The field's width: it counts modulo 2^32, because a sender can run forever.
    seq: tick.seq % 2 ** 32,
    t_real_ns: tick.realNs,
    t_boot_ns: tick.bootNs,
    flags:
      flag('first', tick.seq === 0) +
      flag('goodbye', tick.goodbye) +
      flag('late', tick.late) +
      flag('skipped', tick.skipped),
  });
  const collect_us = world.time(() => source.collect(view, tick.bootNs));
  encode('report', view, 0, {
    late_us: tick.lateUs,
    collect_us,
    agent_cpu_ms: world.cpuMs(),
    missed_ticks: tick.missed,
  });
  if (identity.key !== undefined) sign(report, identity.key);
  return report;
}
