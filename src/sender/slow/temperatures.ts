// Temperatures from hwmon: the processor's hottest sensor, and the air at the inlet. Refuses all others: those of drives
// stall, and those of boards are mostly not wired to anything.

import { chips, parseTemperature } from './hwmon.js';
import { names, Reading, type SlowSource, whole } from './source.js';

const PROCESSORS = ['coretemp', 'k10temp', 'k8temp', 'zenpower', 'via_cputemp', 'cpu_thermal', 'cpu-thermal'];

/** Readings after which the chips are looked for again. */
const REPLAN = 12;

interface Sensor {
  path: string;
  /** Empty when it has none. */
  label: string;
}

interface Plan {
  sys: string;
  hottest: string[];
  inlet: string[];
  left: number;
}

/** Which sensors of a processor to read: no more than it takes to know the hottest. */
export function processorSensors(sensors: readonly Sensor[]): Sensor[] {
  // Intel's package sensor is the highest of its cores', each of which would cost an interrupt on that core.
  const packages = sensors.filter(({ label }) => label.startsWith('Package id '));
  if (packages.length > 0) return packages;
  // AMD's Tctl is for the fan: on some models it lies degrees above the die.
  const hasDie = sensors.some(({ label }) => label === 'Tdie');
  return sensors.filter(({ label }) => !(hasDie && label === 'Tctl'));
}

/** The sensors that by their label measure the inlet's air, or else the ambient air. */
export function inletSensors(sensors: readonly Sensor[]): Sensor[] {
  const named = (word: RegExp) => sensors.filter(({ label }) => word.test(label));
  const inlet = named(/\binlet\b/i);
  return inlet.length > 0 ? inlet : named(/\bambient\b/i);
}

function makePlan(sys: string, now: Reading): Plan {
  const hottest: Sensor[] = [];
  const others: Sensor[] = [];
  for (const { dir, name } of chips(sys, now)) {
    const sensors = names(dir, /^temp\d+_input$/).map(input => ({
      path: `${dir}/${input}`,
      label: now.maybe(`${dir}/${input.replace('_input', '_label')}`, text => text.trim()) ?? '',
    }));
    if (PROCESSORS.includes(name)) hottest.push(...processorSensors(sensors));
    else others.push(...sensors);
  }
  const paths = (sensors: Sensor[]) => sensors.map(({ path }) => path);
  return { sys, hottest: paths(hottest), inlet: paths(inletSensors(others)), left: REPLAN };
}

/** The highest of the sensors; undefined when there is none, or one does not answer: it might be the highest. */
function highest(paths: readonly string[], now: Reading): number | undefined {
  const all = whole(paths.map(path => now.maybe(path, parseTemperature)));
  return all?.length ? Math.max(...all) : undefined;
}

export function makeTemperatures(): SlowSource {
  // Hundreds of small files tell which are the sensors; they change when a driver is loaded, or a CPU switched off.
  let plan: Plan | undefined;
  const readWith = ({ hottest, inlet }: Plan, now: Reading) => ({
    hottest: highest(hottest, now),
    inlet: highest(inlet, now),
  });
  return {
    name: 'temperatures',
    periodMs: 5000,
    sets: ['temp_inlet', 'temp_hottest'],
    read({ sys }) {
      let now = new Reading();
      const old = plan;
      plan = old === undefined || old.sys !== sys || old.left <= 0 ? makePlan(sys, now) : old;
      plan.left--;
      let read = readWith(plan, now);
      const lost =
        (read.hottest === undefined && plan.hottest.length > 0) || (read.inlet === undefined && plan.inlet.length > 0);
      if (plan === old && lost) {
        now = new Reading();
        plan = makePlan(sys, now);
        read = readWith(plan, now);
      }
      if (read.inlet !== undefined) now.put('temp_inlet', { temp_inlet_dc: read.inlet });
      if (read.hottest !== undefined) now.put('temp_hottest', { temp_hottest_dc: read.hottest });
      return now.done();
    },
  };
}
