// The dashboard of a whole cluster. The monitor is at the top: whoever sees dead nodes sees first whether the receiver
// is running.

import type { Dashboard } from '@grafana/schema';
import { bars, dashboard, lines, stat, table } from './panels.js';
import {
  byRack,
  CLUSTER,
  every,
  FULL,
  NONE_IS_WELL,
  nodesByState,
  OF_NODE,
  POINTS,
  POWER_BY_PART,
  RACK,
  rate,
  rateOfDevices,
  receiver,
  STATE_COLOURS,
} from './series.js';

const UNHEARD = `${every('node_state', 'state=~"uncertain|silent"')} == 1`;
const BUSY_CPUS = `${every('node_cpu_busy_ratio')} * ${every('node_cpus_online')}`;
/**
 * The same over time. It joins no series with another: with 10,000 nodes that is the most expensive operation in
 * Prometheus.
 */
const BUSY_OVER_TIME = `sum(${rate(every('node_cpu_seconds_total', 'mode!~"idle|iowait"'))})`;
/** Likewise: both exist for the same nodes. */
const USED_MEMORY = `sum(${every('node_memory_total_bytes')}) - sum(${every('node_memory_available_bytes')})`;

export const clusterDashboard: Dashboard = dashboard(
  {
    uid: 'beoboard-cluster',
    title: 'beoboard: cluster at a glance',
    description:
      'How many nodes are in which state, which racks are worst, which problems they have, and what all live nodes use together.',
  },
  [CLUSTER, RACK],
  [
    {
      title: 'The monitor: look here before you blame nodes',
      height: 4,
      panels: [
        receiver(
          'running: nodes are heard. stalled: the receiver does not run or hangs, and nothing is known about any node; they may all be well. no board: there is none to read. not scraped: Prometheus does not reach `beoboard prometheus`.',
          8,
        ),
        stat({
          title: 'Heartbeat',
          description:
            'How long ago the receiver had heard everything, the oldest of the chosen clusters. From 3 s on it is called stalled. The time since the scrape is not in it.',
          unit: 's',
          width: 4,
          queries: [{ expr: `max(${every('receiver_heartbeat_age_seconds')})` }],
          steps: ['green', [1, 'yellow'], [3, 'red']],
        }),
        stat({
          title: 'Reports',
          description: 'Reports that were laid on the board in a second. Most senders report once a second.',
          unit: 'cps',
          width: 4,
          queries: [{ expr: `sum(${rate(every('receiver_reports_total'))})` }],
        }),
        stat({
          title: 'Reports lost',
          description:
            'Share of the reports that were sent and did not come while the receiver listened, over the time of the rate. Those that came late are not among them, nor those of nodes that are silent: what is not sent is not lost.',
          unit: 'percentunit',
          width: 4,
          queries: [
            {
              expr: `clamp_min(sum(${rate(every('node_reports_missed_total'))}) - sum(${rate(every('node_reports_late_total'))}), 0) / (sum(${rate(every('node_reports_total'))}) + sum(${rate(every('node_reports_missed_total'))}))`,
            },
          ],
          steps: ['green', [0.001, 'yellow'], [0.01, 'red']],
        }),
        stat({
          title: 'Links dark or down',
          description:
            'Interfaces of the master by which nodes last reported, and that are down or whose nodes all fell silent together. The network or the master is then likelier at fault than the nodes.',
          unit: 'short',
          width: 4,
          queries: [
            {
              expr: `sum(clamp_max(${every('link_dark')} + (1 - ${every('link_up')}), 1) * (${every('link_nodes')} > bool 0))`,
            },
          ],
          steps: NONE_IS_WELL,
        }),
      ],
    },
    {
      title: 'States',
      height: 9,
      panels: [
        stat(
          {
            title: 'Nodes now',
            description:
              'live: reports come. uncertain: some are missing. silent: none came for long while the receiver listened; that is no proof of death. left: said goodbye. never: named, but never heard. unknown: nobody listened, so nothing can be said.',
            unit: 'short',
            decimals: 0,
            width: 8,
            queries: nodesByState,
            colours: STATE_COLOURS,
          },
          { background: true },
        ),
        lines(
          {
            title: 'Nodes by state',
            description:
              'The bands together are all nodes of the board. An orange band is a time in which the monitor stalled, not one in which nodes were unhealthy; a gap is one without scrapes or without a board.',
            unit: 'short',
            decimals: 0,
            width: 16,
            queries: nodesByState,
            colours: STATE_COLOURS,
          },
          { stacked: true, steps: true },
        ),
      ],
    },
    {
      title: 'What is wrong',
      height: 9,
      panels: [
        bars({
          title: 'Worst racks',
          description:
            'How many nodes of a rack are silent or uncertain. What a rack is says the variable above; nodes in whose names it finds none are one rack without a name. No data: all are heard.',
          unit: 'short',
          decimals: 0,
          width: 6,
          queries: [{ expr: `topk(15, ${byRack('count', UNHEARD)})`, legend: '{{cluster}} {{rack}}' }],
          min: 0,
          steps: ['orange'],
        }),
        table(
          {
            title: 'Nodes that are not heard',
            description:
              'The 200 whose last report is oldest, of those that are silent or uncertain. A node that said goodbye is not here. No data: all are heard.',
            unit: 'none',
            width: 9,
            queries: [
              {
                expr: `topk(200, max by (cluster, node) (${every('node_report_age_seconds')} and on (cluster, node) (${UNHEARD})))`,
              },
            ],
          },
          [...OF_NODE, { of: 'A', name: 'last report', unit: 's', decimals: 0 }],
          'last report',
        ),
        table(
          {
            title: 'Nodes with problems',
            description:
              'Nodes that are heard and say of themselves that something is wrong: a health check that says bad, a root file system that became read-only, memory errors, lost GPUs. No data: nothing problems any.',
            unit: 'none',
            width: 9,
            queries: [{ expr: `max by (cluster, node, problem) (${every('node_problem')} == 1)` }],
          },
          [...OF_NODE, { of: 'problem', name: 'problem' }],
        ),
      ],
    },
    {
      title: 'Over time',
      height: 8,
      panels: [
        lines(
          {
            title: 'Problems',
            description: 'How many nodes each problem has. One node can have several.',
            unit: 'short',
            decimals: 0,
            width: 12,
            queries: [{ expr: `count by (problem) (${every('node_problem')} == 1)`, legend: '{{problem}}' }],
          },
          { stacked: true, steps: true },
        ),
        lines(
          {
            title: 'Nodes of a rack that are not heard',
            description:
              'The ten worst racks at each moment. A whole rack that falls at once is a switch or a circuit breaker, seldom its nodes.',
            unit: 'short',
            decimals: 0,
            width: 12,
            queries: [{ expr: `topk(10, ${byRack('count', UNHEARD)})`, legend: '{{cluster}} {{rack}}' }],
          },
          { steps: true },
        ),
      ],
    },
    {
      title: 'Totals of the live nodes, each of those that measure it',
      height: 4,
      panels: [
        stat({
          title: 'CPUs busy',
          description: 'CPUs (hardware threads) that are neither idle nor wait for a disk, of the live nodes together.',
          unit: 'short',
          width: 4,
          queries: [{ expr: `sum(${BUSY_CPUS})` }],
        }),
        stat({
          title: 'CPUs online',
          description: 'CPUs (hardware threads) online in the live nodes: no cores, where these have two threads.',
          unit: 'short',
          width: 4,
          queries: [{ expr: `sum(${every('node_cpus_online')})` }],
        }),
        stat({
          title: 'Memory used',
          description:
            'Memory that a new program could not have: all of it less what the kernel calls available. Caches of files count as available.',
          unit: 'bytes',
          width: 4,
          queries: [{ expr: USED_MEMORY }],
        }),
        stat({
          title: 'Memory of all',
          description: 'Memory that the kernels of the live nodes manage.',
          unit: 'bytes',
          width: 4,
          queries: [{ expr: `sum(${every('node_memory_total_bytes')})` }],
        }),
        stat({
          title: 'Power',
          description:
            'Power of the live nodes that measure it. How many these are stands beside it: it is not the power of the cluster.',
          unit: 'watt',
          width: 4,
          queries: [{ expr: `sum(${every('node_power_watts')})` }],
        }),
        stat({
          title: 'Nodes that measure power',
          description: 'Of how many live nodes the power is the sum.',
          unit: 'short',
          width: 4,
          queries: [{ expr: `count(${every('node_power_watts')})` }],
        }),
      ],
    },
    {
      title: 'Totals over time',
      height: 8,
      panels: [
        lines({
          title: 'CPUs over time',
          description: 'CPUs busy and CPUs online of the live nodes. Where both fall together, nodes fell silent.',
          unit: 'short',
          width: 8,
          queries: [
            { expr: BUSY_OVER_TIME, legend: 'busy' },
            { expr: `sum(${every('node_cpus_online')})`, legend: 'online' },
          ],
        }),
        lines({
          title: 'Memory over time',
          description: 'Memory used (not available) and memory of the live nodes.',
          unit: 'bytes',
          width: 8,
          queries: [
            { expr: USED_MEMORY, legend: 'used' },
            { expr: `sum(${every('node_memory_total_bytes')})`, legend: 'all' },
          ],
        }),
        lines({
          title: 'Power over time',
          description:
            'Of the live nodes that measure it, as a whole; CPUs and memory as the processors measure themselves; and the GPUs.',
          unit: 'watt',
          width: 8,
          queries: POWER_BY_PART,
        }),
        lines({
          title: 'Network',
          description:
            'Bytes over all network interfaces of the live nodes. What goes from node to node counts on both.',
          unit: 'Bps',
          width: 8,
          queries: [
            { expr: `sum(${rate(every('node_network_receive_bytes_total'))})`, legend: 'received' },
            { expr: `sum(${rate(every('node_network_transmit_bytes_total'))})`, legend: 'sent' },
          ],
        }),
        lines({
          title: 'Fabric',
          description:
            'Bytes over all RDMA ports (InfiniBand, RoCE). On RoCE they may be in the network panel, too. No data: there are none.',
          unit: 'Bps',
          width: 8,
          queries: [
            { expr: `sum(${rate(every('node_fabric_receive_bytes_total'))})`, legend: 'received' },
            { expr: `sum(${rate(every('node_fabric_transmit_bytes_total'))})`, legend: 'sent' },
          ],
        }),
        lines({
          title: 'Disks',
          description: 'Bytes from and to the local disks of the live nodes. Network file systems are not in it.',
          unit: 'Bps',
          width: 8,
          queries: [
            { expr: `sum(${rate(every('node_disk_read_bytes_total'))})`, legend: 'read' },
            { expr: `sum(${rate(every('node_disk_written_bytes_total'))})`, legend: 'written' },
          ],
        }),
      ],
    },
    {
      title: 'By rack',
      height: 12,
      panels: [
        table(
          {
            title: 'Racks',
            description:
              'A row for each rack that the variable finds. CPU, memory and power are of its live nodes; the air is the warmest inlet. An empty field: nobody in the rack measures it.',
            unit: 'none',
            width: 24,
            queries: [
              { expr: byRack('count', `${every('node_state', 'state="live"')} >= 0`) },
              { expr: byRack('sum', every('node_state', 'state=~"uncertain|silent"')) },
              { expr: byRack('sum', every('node_unhealthy')) },
              { expr: byRack('avg', every('node_cpu_busy_ratio')) },
              {
                expr: byRack(
                  'avg',
                  `1 - ${every('node_memory_available_bytes')} / ${every('node_memory_total_bytes')}`,
                ),
              },
              { expr: byRack('sum', every('node_power_watts')) },
              { expr: byRack('max', every('node_inlet_temperature_celsius')) },
              { expr: byRack('sum', rateOfDevices(every('node_network_receive_bytes_total'))) },
            ],
          },
          [
            { of: 'cluster', name: 'cluster' },
            { of: 'rack', name: 'rack' },
            { of: 'A', name: 'nodes' },
            { of: 'B', name: 'not heard', steps: NONE_IS_WELL },
            { of: 'C', name: 'unhealthy', steps: NONE_IS_WELL },
            { of: 'D', name: 'CPU busy', unit: 'percentunit', decimals: 0 },
            { of: 'E', name: 'memory used', unit: 'percentunit', decimals: 0, steps: FULL },
            { of: 'F', name: 'power', unit: 'watt' },
            { of: 'G', name: 'air', unit: 'celsius', decimals: 1 },
            { of: 'H', name: 'received', unit: 'Bps' },
          ],
          'not heard',
        ),
      ],
    },
  ],
  POINTS,
);
