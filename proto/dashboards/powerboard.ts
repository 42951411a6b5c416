// The dashboard of GPUs and power: totals, and the nodes that stand out.

import type { Dashboard } from '@grafana/schema';
import { bars, dashboard, lines, type Query, stat, table } from './panels.js';
import {
  AIR,
  byRack,
  CLUSTER,
  CPU_HEAT,
  every,
  GPU_HEAT,
  NONE_IS_WELL,
  OF_NODE,
  POINTS,
  POWER_BY_PART,
  RACK,
  receiver,
} from './series.js';

const MOST = 15;
const top = (series: string): Query[] => [{ expr: `topk(${MOST}, ${series})`, legend: '{{cluster}} {{node}}' }];
const spread = (series: string): Query[] => [
  { expr: `max(${series})`, legend: 'hottest node' },
  { expr: `quantile(0.9, ${series})`, legend: 'a tenth is hotter' },
  { expr: `quantile(0.5, ${series})`, legend: 'half is hotter' },
];

const USED = every('node_gpu_memory_used_bytes');
const ALL = every('node_gpu_memory_total_bytes');
/** Only nodes with GPUs: the values of others mean nothing here. */
const GPUS = `${every('node_gpus')} > 0`;
const NO_GPUS = 'No data: no live node has GPUs that report it.';

export const powerDashboard: Dashboard = dashboard(
  {
    uid: 'beoboard-power',
    title: 'beoboard: GPUs and power',
    description:
      'Use, memory, temperature and errors of GPUs; power and temperature of nodes; which of them stand out.',
  },
  [CLUSTER, RACK],
  [
    {
      title: 'GPUs of the live nodes',
      height: 4,
      panels: [
        receiver('Whether anybody listens to nodes. While it is not running, nothing on this page is new.', 4),
        stat({
          title: 'GPUs',
          description: `GPUs in live nodes, those that do not work included. ${NO_GPUS}`,
          unit: 'short',
          width: 4,
          queries: [{ expr: `sum(${every('node_gpus')})` }],
        }),
        stat({
          title: 'GPUs in use',
          description: `GPUs on which something runs or of which a program holds memory, as the driver reports it. In use need not be busy. ${NO_GPUS}`,
          unit: 'short',
          width: 4,
          queries: [{ expr: `sum(${every('node_gpus_busy')})` }],
        }),
        stat({
          title: 'Utilisation',
          description: `Mean over all GPUs of the share of time in which something ran. One small kernel makes 100 % of a GPU: it is not a measure of how well it is used. ${NO_GPUS}`,
          unit: 'percentunit',
          decimals: 1,
          width: 4,
          queries: [
            {
              expr: `sum(${every('node_gpu_utilization_ratio')} * ${every('node_gpus')}) / sum(${every('node_gpus')} and ${every('node_gpu_utilization_ratio')})`,
            },
          ],
        }),
        stat({
          title: 'GPU memory used',
          description: `Share of the memory of all GPUs that programs hold. ${NO_GPUS}`,
          unit: 'percentunit',
          decimals: 1,
          width: 4,
          queries: [{ expr: `sum(${USED}) / sum(${ALL})` }],
        }),
        stat({
          title: 'Nodes with new GPU errors',
          description: `Nodes whose drivers reported an error in the last hour (Xid, RAS). ${NO_GPUS}`,
          unit: 'short',
          decimals: 0,
          width: 4,
          queries: [{ expr: `sum(increase(${every('node_gpu_errors_total')}[1h]) > bool 0)` }],
          steps: NONE_IS_WELL,
        }),
      ],
    },
    {
      title: 'GPUs over time',
      height: 8,
      panels: [
        lines({
          title: 'GPUs in use over time',
          description: `GPUs in use and all GPUs of the live nodes. Where both fall together, nodes fell silent. ${NO_GPUS}`,
          unit: 'short',
          width: 8,
          queries: [
            { expr: `sum(${every('node_gpus_busy')})`, legend: 'in use' },
            { expr: `sum(${every('node_gpus')})`, legend: 'all' },
          ],
        }),
        lines({
          title: 'GPU memory',
          description: `Memory that programs hold, and all of it. ${NO_GPUS}`,
          unit: 'bytes',
          width: 8,
          queries: [
            { expr: `sum(${USED})`, legend: 'used' },
            { expr: `sum(${ALL})`, legend: 'all' },
          ],
        }),
        lines({
          title: 'GPU temperature',
          description: `Of the hottest GPU of each node: the hottest node, and how the others lie below it. ${NO_GPUS}`,
          unit: 'celsius',
          width: 8,
          queries: spread(every('node_gpu_temperature_celsius')),
        }),
      ],
    },
    {
      title: `GPUs: the ${MOST} nodes that stand out`,
      height: 10,
      panels: [
        bars({
          title: 'Hottest',
          description: `Temperature of the hottest GPU of a node. ${NO_GPUS}`,
          unit: 'celsius',
          decimals: 0,
          width: 6,
          min: 0,
          queries: top(every('node_gpu_temperature_celsius')),
          steps: GPU_HEAT,
        }),
        bars({
          title: 'Fullest memory',
          description: `Share of the memory of all GPUs of a node that programs hold. ${NO_GPUS}`,
          unit: 'percentunit',
          decimals: 0,
          width: 6,
          min: 0,
          max: 1,
          queries: top(`${USED} / ${ALL}`),
          steps: ['blue'],
        }),
        bars({
          title: 'In use, and least utilised',
          description: `Nodes all of whose GPUs are in use, and that do least: jobs that hold GPUs and wait. No data: there is no such node.`,
          unit: 'percentunit',
          decimals: 0,
          width: 6,
          min: 0,
          max: 1,
          queries: [
            {
              expr: `bottomk(${MOST}, ${every('node_gpu_utilization_ratio')} and ${every('node_gpus_busy')} == ${every('node_gpus')} and ${GPUS})`,
              legend: '{{cluster}} {{node}}',
            },
          ],
          steps: ['blue'],
        }),
        table(
          {
            title: 'GPU errors',
            description:
              'Errors that the drivers reported in the last hour, and uncorrected memory errors since the node was booted. A counter that begins anew with the driver loses what was before. No data: there are none.',
            unit: 'short',
            width: 6,
            queries: [
              { expr: `max by (cluster, node) (increase(${every('node_gpu_errors_total')}[1h])) > 0` },
              { expr: `max by (cluster, node) (${every('node_gpu_uncorrected_errors_total')}) > 0` },
            ],
          },
          [...OF_NODE, { of: 'A', name: 'last hour', decimals: 0 }, { of: 'B', name: 'uncorrected', decimals: 0 }],
          'last hour',
        ),
      ],
    },
    {
      title: 'Power and temperature',
      height: 8,
      panels: [
        lines(
          {
            title: 'Power by rack',
            description:
              'Sum of the nodes that measure it, the 20 racks that take most. Switches, pumps and nodes that do not measure are not in it.',
            unit: 'watt',
            width: 8,
            queries: [
              { expr: `topk(20, ${byRack('sum', every('node_power_watts'))})`, legend: '{{cluster}} {{rack}}' },
            ],
          },
          { stacked: true },
        ),
        lines({
          title: 'Power by part',
          description:
            'Whole nodes, and of these CPUs, memory and GPUs as they measure themselves. Each is the sum of the nodes that measure it, and these need not be the same.',
          unit: 'watt',
          width: 8,
          queries: POWER_BY_PART,
        }),
        lines({
          title: 'Air at the inlets',
          description:
            'The warmest inlet, and how the others lie below it. One that rises with its neighbours is the room, one alone is a fan or a blank that is missing.',
          unit: 'celsius',
          width: 8,
          queries: spread(every('node_inlet_temperature_celsius')),
        }),
      ],
    },
    {
      title: `Power and temperature: the ${MOST} nodes that stand out`,
      height: 10,
      panels: [
        bars({
          title: 'Most power',
          description: 'Power of whole nodes. No data: none measures it.',
          unit: 'watt',
          decimals: 0,
          width: 6,
          min: 0,
          queries: top(every('node_power_watts')),
          steps: ['blue'],
        }),
        bars({
          title: 'Most GPU power',
          description: `Power of all GPUs of a node together. ${NO_GPUS}`,
          unit: 'watt',
          decimals: 0,
          width: 6,
          min: 0,
          queries: top(every('node_gpu_power_watts')),
          steps: ['blue'],
        }),
        bars({
          title: 'Hottest CPUs',
          description: 'The hottest CPU sensor of a node. No data: none reports it.',
          unit: 'celsius',
          decimals: 0,
          width: 6,
          min: 0,
          queries: top(every('node_cpu_temperature_celsius')),
          steps: CPU_HEAT,
        }),
        bars({
          title: 'Warmest inlets',
          description: 'Air at the inlet of a node. No data: none measures it.',
          unit: 'celsius',
          decimals: 1,
          width: 6,
          min: 0,
          queries: top(every('node_inlet_temperature_celsius')),
          steps: AIR,
        }),
      ],
    },
  ],
  POINTS,
);
