// The dashboard of one node: its state, since when, and its readings.

import type { Dashboard } from '@grafana/schema';
import { dashboard, lines, type Query, stat, table, timeline } from './panels.js';
import {
  AIR,
  CLUSTER,
  CPU_HEAT,
  FULL,
  GPU_HEAT,
  its,
  itsOwn,
  NODE,
  NONE_IS_WELL,
  rate,
  rateOfDevices,
  receiver,
  STATE_NUMBER,
  STATE_WORDS,
  YES_NO,
} from './series.js';

const per = (series: string, legend: string): Query => ({ expr: rate(series), legend });
const perDevices = (series: string, legend: string): Query => ({ expr: rateOfDevices(its(series)), legend });
const now = (series: string, legend: string): Query => ({ expr: its(series), legend });

const NOT_SET = 'No data: the exporter is not asked for it, or the node does not measure it.';

export const nodeDashboard: Dashboard = dashboard(
  {
    uid: 'beoboard-node',
    title: 'beoboard: one node',
    description:
      'The state of one node over time, its readings as it reports them, and what its own health check says.',
  },
  [CLUSTER, NODE],
  [
    {
      title: 'How $node is',
      height: 4,
      panels: [
        receiver(
          'Whether anybody listens to nodes. While it is not running, nothing on this page tells how the node is.',
          4,
        ),
        stat(
          {
            title: 'State',
            description:
              'live: reports come. uncertain: some are missing. silent: none came for long; that is no proof of death. left: said goodbye. never: not heard yet. unknown: the monitor stalled.',
            unit: 'none',
            width: 4,
            queries: [{ expr: STATE_NUMBER }],
            words: STATE_WORDS,
          },
          { background: true },
        ),
        stat({
          title: 'Last report',
          description:
            'Time since its last report reached the master, as of the scrape. With reports once a second it is between 0 and 1 s of a node that is well.',
          unit: 's',
          width: 4,
          queries: [{ expr: its('report_age_seconds') }],
          steps: ['green', [4.5, 'yellow'], [10.5, 'red']],
        }),
        stat({
          title: 'Health',
          description:
            'What the health check on the node itself says, or its administrator. beoboard does not judge. No data: there is none, or the node is not live.',
          unit: 'none',
          width: 4,
          queries: [{ expr: its('health') }],
          words: { 0: ['unknown', 'text'], 1: ['ok', 'green'], 2: ['warning', 'yellow'], 3: ['bad', 'red'] },
        }),
        stat({
          title: 'Held out of service',
          description: 'Its administrator holds it back from jobs: the hold file is there.',
          unit: 'none',
          width: 4,
          queries: [{ expr: its('held') }],
          words: { 0: ['no', 'green'], 1: ['held', 'orange'] },
        }),
        stat({
          title: 'Root read-only',
          description:
            'The root file system became read-only: mostly a disk that fails. Nodes that are booted so on purpose say it, too.',
          unit: 'none',
          width: 4,
          queries: [{ expr: its('root_readonly') }],
          words: YES_NO,
        }),
      ],
    },
    {
      title: 'State and problems over time',
      height: 6,
      panels: [
        timeline({
          title: 'State over time',
          description: 'unknown is a time in which the monitor did not listen: of the node it says nothing.',
          unit: 'none',
          width: 12,
          queries: [{ expr: STATE_NUMBER, legend: 'state' }],
          words: STATE_WORDS,
        }),
        timeline({
          title: 'Problems',
          description: 'What was wrong, as the node itself said. No data: nothing was.',
          unit: 'none',
          width: 6,
          queries: [{ expr: `max by (problem) (${its('problem')})`, legend: '{{problem}}' }],
          words: { 1: ['so', 'red'] },
        }),
        lines({
          title: 'Age of the last report',
          description:
            'At each scrape. It grows while nothing comes, and falls to nearly nothing with the next report.',
          unit: 's',
          width: 6,
          queries: [now('report_age_seconds', 'age')],
        }),
      ],
    },
    {
      title: 'CPU and memory',
      height: 8,
      panels: [
        lines(
          {
            title: 'CPU time by mode',
            description:
              'Share of the time of all CPUs online. What is missing to 100 % is idle. iowait is idle time, too: a CPU that had nothing else to do while a task waited for a disk.',
            unit: 'percentunit',
            max: 1,
            width: 8,
            queries: ['user', 'nice', 'system', 'irq', 'softirq', 'steal', 'iowait'].map(mode => ({
              expr: `${rate(its('cpu_seconds_total', `mode="${mode}"`))} / ignoring (mode) ${its('cpus_online')}`,
              legend: mode,
            })),
          },
          { stacked: true },
        ),
        lines({
          title: 'Load',
          description:
            'Tasks that run or wait for a CPU, and those that wait for a disk, averaged over 1, 5 and 15 minutes. Above the number of CPUs some of them wait.',
          unit: 'short',
          width: 8,
          queries: [
            now('load1', '1 minute'),
            now('load5', '5 minutes'),
            now('load15', '15 minutes'),
            now('cpus_online', 'CPUs online'),
          ],
        }),
        lines(
          {
            title: 'Memory',
            description:
              'Memory of programs, cache of files (tmpfs and shared memory included), what else the kernel holds, and what is free. Caches are given back when programs need memory.',
            unit: 'bytes',
            width: 8,
            queries: [
              now('memory_anonymous_bytes', 'programs'),
              {
                expr: `clamp_min(${its('memory_total_bytes')} - ${its('memory_anonymous_bytes')} - ${its('memory_cached_bytes')} - ${its('memory_free_bytes')}, 0)`,
                legend: 'other',
              },
              now('memory_cached_bytes', 'cache'),
              now('memory_free_bytes', 'free'),
            ],
          },
          { stacked: true },
        ),
        lines({
          title: 'Memory in use',
          description:
            'What a new program could not have, and used swap, each as a share. Used swap alone is no harm: see swapping.',
          unit: 'percentunit',
          max: 1,
          width: 8,
          queries: [
            { expr: `1 - ${its('memory_available_bytes')} / ${its('memory_total_bytes')}`, legend: 'memory' },
            { expr: `1 - ${its('swap_free_bytes')} / (${its('swap_total_bytes')} > 0)`, legend: 'swap' },
          ],
        }),
        lines({
          title: 'Swapping',
          description: 'Pages from and to swap in a second. Where both go on, memory is short.',
          unit: 'ops',
          width: 8,
          queries: [per(its('swap_in_pages_total'), 'pages in'), per(its('swap_out_pages_total'), 'pages out')],
        }),
        lines({
          title: 'Pressure',
          description:
            'Share of the time in which some task waited for CPU, memory or I/O; stalled: all of them at once. It says what hurts, not how busy something is.',
          unit: 'percentunit',
          width: 8,
          queries: [
            { expr: rate(its('pressure_waiting_seconds_total')), legend: '{{resource}}' },
            { expr: rate(its('pressure_stalled_seconds_total')), legend: '{{resource}} stalled' },
          ],
        }),
      ],
    },
    {
      title: 'Network and disks',
      height: 8,
      panels: [
        lines({
          title: 'Network',
          description:
            'Bytes over all of its interfaces, and over all RDMA ports (fabric); these may be in the first, too.',
          unit: 'Bps',
          width: 8,
          queries: [
            perDevices('network_receive_bytes_total', 'received'),
            perDevices('network_transmit_bytes_total', 'sent'),
            perDevices('fabric_receive_bytes_total', 'fabric received'),
            perDevices('fabric_transmit_bytes_total', 'fabric sent'),
          ],
        }),
        lines({
          title: 'Packets',
          description: 'Packets over all of its interfaces.',
          unit: 'pps',
          width: 8,
          queries: [
            perDevices('network_receive_packets_total', 'received'),
            perDevices('network_transmit_packets_total', 'sent'),
          ],
        }),
        lines({
          title: 'Errors and drops',
          description:
            'Of all interfaces, both directions. Drops need be no fault: unwanted multicasts count. Errors are.',
          unit: 'pps',
          width: 8,
          queries: [
            perDevices('network_errors_total', 'errors'),
            perDevices('network_drops_total', 'drops'),
            perDevices('fabric_errors_total', 'fabric errors'),
          ],
        }),
        lines({
          title: 'Disk throughput',
          description: 'Bytes from and to all whole disks of the node. Network file systems are not in it.',
          unit: 'Bps',
          width: 8,
          queries: [perDevices('disk_read_bytes_total', 'read'), perDevices('disk_written_bytes_total', 'written')],
        }),
        lines({
          title: 'Disk operations',
          description: 'Reads and writes that the disks completed.',
          unit: 'iops',
          width: 8,
          queries: [perDevices('disk_reads_total', 'reads'), perDevices('disk_writes_total', 'writes')],
        }),
        lines({
          title: 'How full, and how busy',
          description:
            'Root, local scratch and the fullest local file system as shares; busiest disk: share of the time in which it had something to do. A busy SSD need not be near its limit.',
          unit: 'percentunit',
          max: 1,
          width: 8,
          queries: [
            { expr: `1 - ${its('root_available_bytes')} / ${its('root_total_bytes')}`, legend: 'root' },
            { expr: `1 - ${its('scratch_available_bytes')} / ${its('scratch_total_bytes')}`, legend: 'scratch' },
            now('filesystem_fullest_ratio', 'fullest'),
            now('disk_busiest_ratio', 'busiest disk'),
          ],
        }),
      ],
    },
    {
      title: 'Power, temperature, GPUs',
      height: 8,
      panels: [
        lines({
          title: 'Power',
          description:
            'Of the whole node, as its board or its BMC measures it; CPUs and memory as the processor measures itself; GPUs as their drivers say.',
          unit: 'watt',
          width: 8,
          queries: [
            now('power_watts', 'node'),
            now('cpu_power_watts', 'CPUs'),
            now('memory_power_watts', 'memory'),
            now('gpu_power_watts', 'GPUs'),
          ],
        }),
        lines({
          title: 'Temperature',
          description: 'The hottest sensor of the CPUs, the hottest GPU, and the air at the inlet.',
          unit: 'celsius',
          width: 8,
          queries: [
            now('cpu_temperature_celsius', 'CPU'),
            now('gpu_temperature_celsius', 'GPU'),
            now('inlet_temperature_celsius', 'inlet'),
          ],
        }),
        lines({
          title: 'GPUs',
          description:
            'Utilisation: the mean share of time in which something ran on a GPU. One small kernel makes 100 %. Memory: of all GPUs of the node together. No data: there are none.',
          unit: 'percentunit',
          max: 1,
          width: 8,
          queries: [
            now('gpu_utilization_ratio', 'utilisation'),
            { expr: `${its('gpu_memory_used_bytes')} / ${its('gpu_memory_total_bytes')}`, legend: 'memory' },
          ],
        }),
      ],
    },
    {
      title: 'Health, and its reports',
      height: 5,
      panels: [
        stat({
          title: 'Within the time shown',
          description:
            'What the kernel counted in the time that is chosen above: tasks killed because memory ran out, tasks that hung, memory errors, slow-downs for heat, GPU errors.',
          unit: 'short',
          decimals: 0,
          width: 12,
          queries: [
            { expr: `increase(${its('oom_kills_total')}[$__range])`, legend: 'killed for memory' },
            { expr: `increase(${its('hung_tasks_total')}[$__range])`, legend: 'hung' },
            { expr: `increase(${its('memory_errors_corrected_total')}[$__range])`, legend: 'memory errors corrected' },
            { expr: `increase(${its('memory_errors_uncorrected_total')}[$__range])`, legend: 'uncorrected' },
            { expr: `increase(${its('throttle_events_total')}[$__range])`, legend: 'slowed for heat' },
            { expr: `increase(${its('gpu_errors_total')}[$__range])`, legend: 'GPU errors' },
          ],
          steps: NONE_IS_WELL,
        }),
        stat({
          title: 'Hottest CPU sensor',
          description: 'As its driver reports it. From which temperature on a CPU slows down differs by model.',
          unit: 'celsius',
          decimals: 0,
          width: 4,
          queries: [{ expr: its('cpu_temperature_celsius') }],
          steps: CPU_HEAT,
        }),
        stat({
          title: 'Hottest GPU',
          description: 'As its driver reports it.',
          unit: 'celsius',
          decimals: 0,
          width: 4,
          queries: [{ expr: its('gpu_temperature_celsius') }],
          steps: GPU_HEAT,
        }),
        stat({
          title: 'Air at the inlet',
          description: 'Where the node has a sensor for it.',
          unit: 'celsius',
          decimals: 0,
          width: 4,
          queries: [{ expr: its('inlet_temperature_celsius') }],
          steps: AIR,
        }),
        stat({
          title: 'Fullest file system',
          description: 'The fullest of its local file systems.',
          unit: 'percentunit',
          decimals: 0,
          width: 4,
          queries: [{ expr: its('filesystem_fullest_ratio') }],
          steps: FULL,
        }),
        lines({
          title: 'Its reports',
          description:
            'Reports that came, those lost on the way (missed, and not come later), and those missed while the receiver or the link was down.',
          unit: 'cps',
          width: 10,
          queries: [
            per(its('reports_total'), 'came'),
            {
              expr: `clamp_min(${rate(its('reports_missed_total'))} - ${rate(its('reports_late_total'))}, 0)`,
              legend: 'lost',
            },
            {
              expr: `clamp_min(${rate(its('reports_gaps_total'))} - ${rate(its('reports_missed_total'))}, 0)`,
              legend: 'unheard',
            },
            per(its('reports_refused_total'), 'rejected'),
          ],
        }),
        lines({
          title: 'Its clock and its pace',
          description:
            "Its clock less the master's, time on the way included; how late it made its report: a starved node is late though it answers ping.",
          unit: 's',
          width: 10,
          queries: [now('clock_skew_seconds', 'clock'), now('report_delay_seconds', 'late')],
        }),
      ],
    },
    {
      title: 'More, where the exporter is asked for it: collectors system, meminfo, interfaces, gpus',
      height: 8,
      collapsed: true,
      panels: [
        table(
          {
            title: 'What runs on it',
            description: `Kernel, architecture, and the version of beoboard's sender. Collector system. ${NOT_SET}`,
            unit: 'none',
            width: 8,
            queries: [{ expr: its('info') }],
          },
          [
            { of: 'os_release', name: 'kernel' },
            { of: 'arch', name: 'architecture' },
            { of: 'agent_version', name: 'sender' },
          ],
        ),
        stat({
          title: 'Since boot',
          description: `How long the node has been up. Collector system. ${NOT_SET}`,
          unit: 's',
          width: 4,
          queries: [{ expr: its('uptime_seconds'), legend: 'up' }],
        }),
        stat({
          title: 'Restarts',
          description: 'Starts of its sender without a boot, and boots, since the board knows the node.',
          unit: 'short',
          decimals: 0,
          width: 4,
          queries: [
            { expr: its('sender_restarts_total'), legend: 'sender' },
            { expr: its('reboots_total'), legend: 'boots' },
          ],
        }),
        lines({
          title: 'Kernel',
          description: `Context switches, interrupts, forks and major page faults in a second. Collector system. ${NOT_SET}`,
          unit: 'ops',
          width: 8,
          queries: [
            per(its('context_switches_total'), 'context switches'),
            per(its('interrupts_total'), 'interrupts'),
            per(its('forks_total'), 'forks'),
            per(its('major_faults_total'), 'major faults'),
            per(its('tcp_retransmitted_segments_total'), 'TCP sent again'),
          ],
        }),
        lines({
          title: 'Tasks and files',
          description: `Tasks that run or wait for a CPU, those that wait for I/O, threads, open files: one look each, no averages. Collector system. ${NOT_SET}`,
          unit: 'short',
          width: 8,
          queries: [
            now('tasks_runnable', 'runnable'),
            now('tasks_blocked', 'blocked'),
            now('threads', 'threads'),
            now('files_open', 'files open'),
          ],
        }),
        lines({
          title: "The sender's own cost",
          description: `CPU time that beoboard's sender takes, of one CPU. Collector system. ${NOT_SET}`,
          unit: 'percentunit',
          width: 8,
          queries: [now('sender_cpu_ratio', 'sender')],
        }),
        lines({
          title: 'Memory of the kernel',
          description: `Collector meminfo. ${NOT_SET}`,
          unit: 'bytes',
          width: 8,
          queries: [
            now('memory_slab_reclaimable_bytes', 'slab, can be given back'),
            now('memory_slab_unreclaimable_bytes', 'slab, cannot'),
            now('memory_pagetables_bytes', 'page tables'),
            now('memory_buffers_bytes', 'buffers'),
            now('memory_shared_bytes', 'shared and tmpfs'),
            now('memory_dirty_bytes', 'to be written'),
            now('memory_unevictable_bytes', 'locked'),
            now('memory_huge_total_bytes', 'huge pages'),
          ],
        }),
        lines({
          title: 'Memory promised',
          description: `What was promised to programs, and the most that may be where overcommit is forbidden. Collector meminfo. ${NOT_SET}`,
          unit: 'bytes',
          width: 8,
          queries: [now('memory_committed_bytes', 'promised'), now('memory_commit_limit_bytes', 'limit')],
        }),
        lines({
          title: 'Interfaces',
          description: `Bytes received (first) and sent by each of its first three interfaces. Collector interfaces. ${NOT_SET}`,
          unit: 'Bps',
          width: 8,
          queries: [
            per(itsOwn('interface_receive_bytes_total'), '{{device}} received'),
            per(itsOwn('interface_transmit_bytes_total'), '{{device}} sent'),
          ],
        }),
        lines({
          title: 'Each GPU: utilisation',
          description: `Share of time in which a kernel ran on it; the eighth stands for all further ones. Collector gpus. ${NOT_SET}`,
          unit: 'percentunit',
          max: 1,
          width: 8,
          queries: [{ expr: itsOwn('gpu_utilization_ratio'), legend: 'GPU {{gpu}}' }],
        }),
        lines({
          title: 'Each GPU: temperature',
          description: `Collector gpus. ${NOT_SET}`,
          unit: 'celsius',
          width: 8,
          queries: [{ expr: itsOwn('gpu_temperature_celsius'), legend: 'GPU {{gpu}}' }],
        }),
        lines({
          title: 'Each GPU: memory',
          description: `Memory in use. Collector gpus. ${NOT_SET}`,
          unit: 'bytes',
          width: 8,
          queries: [{ expr: itsOwn('gpu_memory_used_bytes'), legend: 'GPU {{gpu}}' }],
        }),
      ],
    },
  ],
);
