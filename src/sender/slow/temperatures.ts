// Temperatures from hwmon: the processor's hottest sensor, and the air at the inlet. Ignores all others: reading those
// of drives stalls them, and those of boards are mostly not connected to anything.

import { basename } from 'node:path';
import { TEMPERATURE_UNKNOWN } from '../../layout/codec.js';
import { constants } from '../../layout/layout.gen.js';
import { type Cpuinfo, readCpuinfo } from '../collect/system.js';
import { type Chip, chips, parseTemperature } from './hwmon.js';
import { makePackages, type Packages } from './packages.js';
import { about, names, ReadingBuilder, type SlowSource, type SlowWorld } from './source.js';

const PROCESSORS = ['coretemp', 'k10temp', 'k8temp', 'zenpower', 'via_cputemp', 'cpu_thermal', 'cpu-thermal'];

/** After so many readings the chips are looked for again. */
const REPLAN = 12;

interface Sensor {
  path: string;
  /** Empty if it has none. */
  label: string;
}

interface SensorPlan {
  sys: string;
  hottest: string[];
  inlet: string[];
  groups: string[][];
  /** Sensors that did not answer: they are left out until the next plan. */
  silent: Set<string>;
  left: number;
}

/** Which sensors of a processor to read: only those needed to find the hottest. */
export function processorSensors(sensors: readonly Sensor[]): Sensor[] {
  // Intel's package sensor is the maximum of its cores' sensors, each of which would cost an interrupt on its core.
  const packages = sensors.filter(({ label }) => label.startsWith('Package id '));
  if (packages.length > 0) return packages;
  // AMD's Tctl is for the fan: on some models it is degrees above the die's temperature.
  const hasDie = sensors.some(({ label }) => label === 'Tdie');
  return sensors.filter(({ label }) => !(hasDie && label === 'Tctl'));
}

const INLET = /\binlet\b/i;
const AMBIENT = /\bambient\b/i;

/** The sensors that measure the inlet's air by their label, otherwise the ambient air. */
export function inletSensors(sensors: readonly Sensor[]): Sensor[] {
  const named = (word: RegExp) => sensors.filter(({ label }) => word.test(label));
  const inlet = named(INLET);
  return inlet.length > 0 ? inlet : named(AMBIENT);
}

/** A chip of a processor, with its relevant sensors. */
interface Processor {
  /** The last part of its device's path: PCI addresses and platform devices are numbered in the packages' order. */
  device: string;
  sensors: Sensor[];
}

/**
 * The sensors of each package: by labels that name packages, otherwise by the order of the chips if there are as many
 * as packages. Empty if neither tells which sensor belongs to which package.
 */
export function packageSensors(processors: readonly Processor[], ids: readonly number[]): Sensor[][] {
  const all = processors.flatMap(({ sensors }) => sensors);
  if (all.some(({ label }) => label.startsWith('Package id ')))
    return ids.map(id => all.filter(({ label }) => label === `Package id ${id}`));
  if (processors.length !== ids.length) return ids.map(() => []);
  const order = [...processors].sort((a, b) => a.device.length - b.device.length || (a.device < b.device ? -1 : 1));
  return order.map(({ sensors }) => sensors);
}

/** The same by CPU group: the last group includes all packages without a group of their own. */
function groupSensors(processors: readonly Processor[], packages: Packages | undefined): Sensor[][] {
  if (packages === undefined) return [];
  const groups = packages.groups.map((): Sensor[] => []);
  packageSensors(processors, packages.ids).forEach((sensors, i) => {
    groups[Math.min(i, groups.length - 1)]?.push(...sensors);
  });
  return groups;
}

function makePlan({ proc, sys, resolve }: SlowWorld, packages: Packages | undefined, now: ReadingBuilder): SensorPlan {
  const processors: Processor[] = [];
  const others: Sensor[] = [];
  let cpu: Cpuinfo | undefined;
  const deviceOf = ({ dir }: Chip) => basename(resolve(dir.endsWith('/device') ? dir : `${dir}/device`) ?? dir);
  for (const chip of chips(sys, now)) {
    const { dir, name } = chip;
    // The processor of a virtual machine tells no temperature, of which this driver makes its limit: 100 °C.
    if (name === 'coretemp') {
      cpu ??= readCpuinfo(proc);
      if (cpu.hypervisor) continue;
    }
    const sensors = names(dir, /^temp\d+_input$/).map(input => ({
      path: `${dir}/${input}`,
      label: now.maybe(`${dir}/${input.replace('_input', '_label')}`, text => text.trim()) ?? '',
    }));
    if (PROCESSORS.includes(name)) processors.push({ device: deviceOf(chip), sensors: processorSensors(sensors) });
    else others.push(...sensors.filter(({ label }) => INLET.test(label) || AMBIENT.test(label)));
  }
  const most = constants.most;
  const many = processors.length > most.processors || (packages?.ids.length ?? 0) > most.processors;
  if (many || processors.reduce((sum, { sensors }) => sum + sensors.length, others.length) > most.sensors) {
    if (many) now.tooMany(most.processors, 'processors with sensors');
    else now.tooMany(most.sensors, 'sensors of temperature');
    return { sys, hottest: [], inlet: [], groups: [], silent: new Set(), left: REPLAN };
  }
  const paths = (sensors: Sensor[]) => sensors.map(({ path }) => path);
  return {
    sys,
    hottest: paths(processors.flatMap(({ sensors }) => sensors)),
    inlet: paths(inletSensors(others)),
    groups: groupSensors(processors, packages).map(paths),
    silent: new Set(),
    left: REPLAN,
  };
}

/** The highest of the sensors that answer; undefined if there is none. */
function highest(paths: readonly string[], at: ReadonlyMap<string, number>): number | undefined {
  const all = paths.map(path => at.get(path)).filter(tenths => tenths !== undefined);
  return all.length > 0 ? Math.max(...all) : undefined;
}

export function makeTemperatures(): SlowSource {
  // Finding the sensors takes hundreds of small files; they change when a driver is loaded, or a CPU is switched off.
  let plan: SensorPlan | undefined;
  const readPackages = makePackages();
  const readWith = ({ hottest, inlet, groups, silent }: SensorPlan, now: ReadingBuilder) => {
    const at = new Map<string, number>();
    const zeros = new Set<string>();
    let whole = true;
    for (const path of [...hottest, ...inlet].filter(path => !silent.has(path))) {
      const tenths = now.maybe(path, text => {
        if (text === '0\n') zeros.add(path);
        return parseTemperature(text);
      });
      if (tenths !== undefined) at.set(path, tenths);
      else {
        silent.add(path);
        whole = false;
      }
    }
    // A sensor without a wire shows exactly 0.0 °C: where others show something else, that is not known.
    if (zeros.size < at.size) for (const path of zeros) at.delete(path);
    return {
      whole,
      hottest: highest(hottest, at),
      inlet: highest(inlet, at),
      groups: groups.map(paths => highest(paths, at) ?? TEMPERATURE_UNKNOWN),
    };
  };
  return {
    ...about('temperatures'),
    read(world) {
      const { sys } = world;
      let now = new ReadingBuilder();
      const old = plan;
      plan = old === undefined || old.sys !== sys || old.left <= 0 ? makePlan(world, readPackages(sys, now), now) : old;
      plan.left--;
      let read = readWith(plan, now);
      if (plan === old && !read.whole) {
        now = new ReadingBuilder();
        plan = makePlan(world, readPackages(sys, now), now);
        read = readWith(plan, now);
      }
      if (read.inlet !== undefined) now.put('temp_inlet', { temp_inlet_dc: read.inlet });
      if (read.hottest !== undefined) now.put('temp_hottest', { temp_hottest_dc: read.hottest });
      if (read.groups.length > 0) now.detail({ tempDc: read.groups });
      return now.done();
    },
  };
}
