// The series of `beoboard prometheus` in our dashboards' queries: of the chosen clusters, of one node, of racks; and
// the variables, words and colours that several dashboards share. All names of series are in docs/prometheus.md; a test
// checks that.

import type { VariableModel } from '@grafana/schema';
import { type Colour, type Common, labelValues, type Placed, type Query, stat, typed } from './panels.js';

/**
 * The number of points for a line that is computed from all nodes: with 10,000 nodes each point takes Prometheus some
 * milliseconds.
 */
export const POINTS = 200;

const CHOSEN = 'cluster=~"$cluster"';

/** A series of the chosen clusters; `more`: further matchers. */
export function every(name: string, more = ''): string {
  return `beoboard_${name}{${CHOSEN}${more && `,${more}`}}`;
}

/** A series of the chosen node. */
export function its(name: string, more = ''): string {
  return every(`node_${name}`, `node="$node"${more && `,${more}`}`);
}

/** A series of things that the chosen node has several of: `gpu_…`, `interface_…`. */
export function itsOwn(name: string): string {
  return every(name, 'node="$node"');
}

/** The growth of a counter per second. Grafana sets the time range so that it contains four scrapes. */
export function rate(series: string): string {
  return `rate(${series}[$__rate_interval])`;
}

/**
 * The same for a counter whose label `devices` is the number of things in the sum: another number is another series.
 */
export function rateOfDevices(series: string): string {
  return `sum without (devices) (${rate(series)})`;
}

/** Nodes grouped by rack: by the part of their names that the variable selects. */
export function byRack(how: 'sum' | 'avg' | 'max' | 'count', series: string): string {
  return `${how} by (cluster, rack) (label_replace(${series}, "rack", "$1", "node", "\${rack:raw}"))`;
}

export const CLUSTER: VariableModel = labelValues(
  'cluster',
  'Cluster',
  'Names of boards. All is also those that have none.',
  'label_values(beoboard_board_up, cluster)',
  // Also matches series without the label: those of a board without a name.
  { several: true, all: '.*' },
);

export const NODE: VariableModel = labelValues(
  'node',
  'Node',
  'Where two clusters have nodes of one name, choose one cluster.',
  'label_values(beoboard_node_state{cluster=~"$cluster"}, node)',
  { several: false },
);

export const RACK: VariableModel = typed(
  'rack',
  'Rack, by node name',
  'A regular expression (RE2) that fits a whole node name; what is in its parentheses is the rack. No backslashes: write [.] and [0-9].',
  // The name without the last number, the letters before it, and the separator: the rack of rack17-node03 and
  // rack17node03 is rack17.
  '(.*?)[-_.]?[a-z]*[0-9]+',
);

/** The states of a node, from the best to the worst in the order of the bands, and their colours. */
const STATES: readonly [state: string, colour: Colour][] = [
  ['live', 'green'],
  ['uncertain', 'yellow'],
  ['silent', 'red'],
  ['left', 'blue'],
  ['never', 'purple'],
  ['unknown', 'orange'],
];
export const STATE_COLOURS: Readonly<Record<string, Colour>> = Object.fromEntries(STATES);

/** The number of a state for panels that can only show numbers, and its word. */
export const STATE_WORDS: NonNullable<Common['words']> = Object.fromEntries(
  STATES.map(([state, colour], i) => [i + 1, [state, colour] as const]),
);

/** The number of the chosen node's state. */
export const STATE_NUMBER = `sum without (state) (${STATES.map(
  ([state], i) => `${i + 1} * ${its('state', `state="${state}"`)}`,
).join(' or ')})`;

export const nodesByState: readonly Query[] = STATES.map(([state]) => ({
  expr: `sum(${every('nodes', `state="${state}"`)})`,
  legend: state,
}));

/** The state of the receiver as a number: for a board that cannot be read there are no other series. */
const RECEIVER = `(${every('board_up')} == 0) or (2 - ${every('board_stalled')})`;

/** Whether the receiver runs. */
export function receiver(description: string, width: number): Placed {
  return stat(
    {
      title: 'Receiver',
      description,
      unit: 'none',
      width,
      queries: [{ expr: RECEIVER, legend: '{{cluster}}' }],
      words: { 0: ['no board', 'red'], 1: ['stalled', 'orange'], 2: ['running', 'green'] },
      none: 'not scraped',
    },
    { background: true },
  );
}

export const POWER_BY_PART: readonly Query[] = [
  { expr: `sum(${every('node_power_watts')})`, legend: 'nodes' },
  { expr: `sum(${every('node_cpu_power_watts')})`, legend: 'CPUs' },
  { expr: `sum(${every('node_memory_power_watts')})`, legend: 'memory' },
  { expr: `sum(${every('node_gpu_power_watts')})`, legend: 'GPUs' },
];

export const YES_NO: NonNullable<Common['words']> = { 0: ['no', 'green'], 1: ['yes', 'red'] };
export const UP_DOWN: NonNullable<Common['words']> = { 0: ['down', 'red'], 1: ['up', 'green'] };

/** The target of a click on a node. */
const TO_NODE = `/d/beoboard-node?\${datasource:queryparam}&\${cluster:queryparam}&var-node=\${__data.fields.node}&\${__url_time_range}`;

/** The columns that name a node. */
export const OF_NODE = [
  { of: 'cluster', name: 'cluster' },
  { of: 'node', name: 'node', to: TO_NODE },
];

/** Thresholds for a share, a temperature and an age. */
export const FULL: NonNullable<Common['steps']> = ['green', [0.9, 'yellow'], [0.97, 'red']];
export const CPU_HEAT: NonNullable<Common['steps']> = ['green', [85, 'yellow'], [95, 'red']];
export const GPU_HEAT: NonNullable<Common['steps']> = ['green', [80, 'yellow'], [90, 'red']];
export const AIR: NonNullable<Common['steps']> = ['green', [27, 'yellow'], [35, 'red']];
export const NONE_IS_WELL: NonNullable<Common['steps']> = ['green', [1, 'red']];
