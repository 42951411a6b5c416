// The dashboard of the monitor itself: whether the receiver is running, what it rejects and loses, its links, and the
// cost of the exporter.

import type { Dashboard } from '@grafana/schema';
import { bars, dashboard, labelValues, lines, stat, table } from './panels.js';
import { CLUSTER, every, OF_NODE, POINTS, rate, receiver, UP_DOWN, YES_NO } from './series.js';

const JOB = labelValues(
  'job',
  'Job',
  'How the scrape of `beoboard prometheus` is called in your Prometheus.',
  'label_values(beoboard_exporter_scrapes_total, job)',
  { several: true },
);
/** The exporter's own series, and Prometheus's series about its scrapes, may have no cluster. */
const ofJob = (series: string) => `${series}{job=~"$job"}`;
const LOST = (seconds: string) =>
  `clamp_min(increase(${every('node_reports_missed_total')}[${seconds}]) - increase(${every('node_reports_late_total')}[${seconds}]), 0)`;

export const monitorDashboard: Dashboard = dashboard(
  {
    uid: 'beoboard-monitor',
    title: 'beoboard: the monitor itself',
    description:
      'Whether the receiver hears its nodes, what it refuses and what is lost, by which links nodes report, and what being scraped costs.',
  },
  [CLUSTER, JOB],
  [
    {
      title: 'The receiver now',
      height: 4,
      panels: [
        receiver(
          'running, stalled (it does not run or hangs), or no board to read. not scraped: Prometheus does not reach `beoboard prometheus`.',
          4,
        ),
        stat({
          title: 'Heartbeat',
          description:
            'Age of the moment up to which everything was heard, at the scrape. From 3 s on the board counts as stalled.',
          unit: 's',
          width: 4,
          queries: [{ expr: every('receiver_heartbeat_age_seconds'), legend: '{{cluster}}' }],
          steps: ['green', [1, 'yellow'], [3, 'red']],
        }),
        stat({
          title: 'Listening for',
          description:
            'How long it has heard everything without a gap. Only a receiver that has listened for long enough can call a node silent; after an overflow it begins anew.',
          unit: 's',
          width: 4,
          queries: [{ expr: every('receiver_listened_seconds'), legend: '{{cluster}}' }],
        }),
        stat({
          title: 'Running for',
          description: 'Since the receiver was started.',
          unit: 's',
          width: 4,
          queries: [{ expr: `time() - ${every('receiver_start_time_seconds')}`, legend: '{{cluster}}' }],
        }),
        stat({
          title: 'Board used',
          description:
            'Records in use, of those that the board has. A full board refuses new nodes (full, in the panel of refusals).',
          unit: 'percentunit',
          width: 4,
          queries: [
            {
              expr: `sum by (cluster) (${every('nodes')}) / sum by (cluster) (${every('board_capacity')})`,
              legend: '{{cluster}}',
            },
          ],
          steps: ['green', [0.9, 'yellow'], [1, 'red']],
        }),
        stat({
          title: 'Filtering a flood',
          description: 'The kernel drops junk before the receiver sees it. What it drops counts as unfit.',
          unit: 'none',
          width: 4,
          queries: [{ expr: every('receiver_filtering'), legend: '{{cluster}}' }],
          words: YES_NO,
        }),
      ],
    },
    {
      title: 'What comes, and what does not',
      height: 8,
      panels: [
        lines({
          title: 'Datagrams and reports',
          description:
            'Datagrams taken from the sockets, reports written to the board, and duplicates (reports that had arrived before by another path). All others were rejected.',
          unit: 'cps',
          width: 8,
          queries: [
            { expr: `sum(${rate(every('receiver_datagrams_total'))})`, legend: 'datagrams' },
            { expr: `sum(${rate(every('receiver_reports_total'))})`, legend: 'reports' },
            { expr: `sum(${rate(every('receiver_duplicates_total'))})`, legend: 'duplicates' },
          ],
        }),
        lines({
          title: 'Refused, by reason',
          description:
            "Datagrams that were not accepted. The words are those of beoboard status: clock (the node's clock is far off), rival (two machines with one name), tag and key_id (a wrong key), and so on.",
          unit: 'cps',
          width: 8,
          queries: [{ expr: `sum by (reason) (${rate(every('receiver_refused_total'))})`, legend: '{{reason}}' }],
        }),
        lines({
          title: 'Dropped before they were heard',
          description:
            'overflow: a socket buffer was full; raise net.core.rmem_max. unfit: wrong checksum, or junk that is filtered. softnet: packets of any kind that the machine dropped; raise net.core.netdev_max_backlog.',
          unit: 'cps',
          width: 8,
          queries: [
            { expr: `sum by (kind) (${rate(every('receiver_dropped_total'))})`, legend: '{{kind}}' },
            { expr: `sum(${rate(every('receiver_overflows_total'))})`, legend: 'times that a buffer overflowed' },
          ],
        }),
        lines({
          title: 'Reports that did not come',
          description:
            'lost: sent, and not heard though the receiver listened; late: came after a newer one; unheard: sent while the receiver or the link was down. A silent node loses nothing: nobody knows whether it sends.',
          unit: 'cps',
          width: 8,
          queries: [
            {
              expr: `clamp_min(sum(${rate(every('node_reports_missed_total'))}) - sum(${rate(every('node_reports_late_total'))}), 0)`,
              legend: 'lost',
            },
            { expr: `sum(${rate(every('node_reports_late_total'))})`, legend: 'late' },
            {
              expr: `clamp_min(sum(${rate(every('node_reports_gaps_total'))}) - sum(${rate(every('node_reports_missed_total'))}), 0)`,
              legend: 'unheard',
            },
          ],
        }),
        lines({
          title: 'Heartbeat over time',
          description: 'Age at each scrape. Single peaks: the master was busy. A slope: the receiver hung.',
          unit: 's',
          width: 8,
          queries: [{ expr: every('receiver_heartbeat_age_seconds'), legend: '{{cluster}}' }],
        }),
        lines({
          title: 'Senders that began anew',
          description:
            'Starts of senders without a boot, boots of nodes, and runs that were accepted only because nothing else was heard. Many at once after an update of the sender are as they should be.',
          unit: 'cps',
          width: 8,
          queries: [
            { expr: `sum(${rate(every('node_sender_restarts_total'))})`, legend: 'sender restarts' },
            { expr: `sum(${rate(every('node_reboots_total'))})`, legend: 'reboots' },
            { expr: `sum(${rate(every('node_resets_total'))})`, legend: 'resets' },
          ],
        }),
      ],
    },
    {
      title: 'Links: the interfaces of the master by which reports come',
      height: 8,
      panels: [
        table(
          {
            title: 'Links now',
            description:
              'up: what is sent to it can be heard. dark: all of its nodes fell silent together, which is the network or this master rather than the nodes. nodes: whose last report came by it.',
            unit: 'none',
            width: 12,
            queries: [
              { expr: `max by (cluster, link) (${every('link_up')})` },
              { expr: `max by (cluster, link) (${every('link_dark')})` },
              { expr: `max by (cluster, link) (${every('link_nodes')})` },
              { expr: `max by (cluster, link) (${every('link_dark_nodes')})` },
              { expr: `max by (cluster, link) (${every('link_heartbeat_age_seconds')})` },
              { expr: `max by (cluster, link) (${every('link_downs_total')})` },
            ],
          },
          [
            { of: 'cluster', name: 'cluster' },
            { of: 'link', name: 'link' },
            { of: 'A', name: 'state', words: UP_DOWN },
            { of: 'B', name: 'dark', words: YES_NO },
            { of: 'C', name: 'nodes' },
            { of: 'D', name: 'fell with it' },
            { of: 'E', name: 'heartbeat', unit: 's' },
            { of: 'F', name: 'times down' },
          ],
        ),
        lines({
          title: 'Reports by link',
          description: 'Reports that came by each interface of the master.',
          unit: 'cps',
          width: 6,
          queries: [
            { expr: `sum by (cluster, link) (${rate(every('link_reports_total'))})`, legend: '{{cluster}} {{link}}' },
          ],
        }),
        lines({
          title: 'Packets that interfaces missed',
          description:
            'Packets of any kind for which the ring of the interface had no room (`ethtool -g`). Reports may be among them.',
          unit: 'pps',
          width: 6,
          queries: [
            {
              expr: `sum by (cluster, link) (${rate(every('link_missed_packets_total'))})`,
              legend: '{{cluster}} {{link}}',
            },
          ],
        }),
      ],
    },
    {
      title: 'Nodes that stand out',
      height: 9,
      panels: [
        bars({
          title: 'Most reports lost in an hour',
          description:
            'A few nodes: their cable or port. All of a rack: its switch. All: the master; see what was dropped.',
          unit: 'short',
          decimals: 0,
          width: 8,
          min: 0,
          queries: [{ expr: `topk(15, ${LOST('1h')} > 0)`, legend: '{{cluster}} {{node}}' }],
          steps: ['orange'],
        }),
        table(
          {
            title: 'Refused within the last hour',
            description:
              'When a report with the name of this node was last rejected, and why. A node that is silent and rejected here does report, but its reports are not accepted.',
            unit: 'none',
            width: 8,
            queries: [
              {
                expr: `topk(100, 1000 * max by (cluster, node, reason) (${every('node_last_refusal_timestamp_seconds')} > time() - 3600))`,
              },
            ],
          },
          [...OF_NODE, { of: 'reason', name: 'reason' }, { of: 'A', name: 'when', unit: 'dateTimeFromNow' }],
        ),
        bars({
          title: 'Clocks farthest off',
          description:
            "How far the clock of a node is from the master's, ahead or behind, including the time on the way. At 60 s (--clock-window) reports may be rejected.",
          unit: 's',
          width: 8,
          min: 0,
          queries: [{ expr: `topk(15, abs(${every('node_clock_skew_seconds')}))`, legend: '{{cluster}} {{node}}' }],
          steps: ['green', [0.5, 'yellow'], [30, 'red']],
        }),
      ],
    },
    {
      title: 'The exporter',
      height: 7,
      panels: [
        stat({
          title: 'Scraped',
          description:
            'Whether Prometheus reaches the exporter. Where it does not, every other panel stops, and then has no data.',
          unit: 'none',
          width: 4,
          queries: [{ expr: `min by (job) (${ofJob('up')})`, legend: '{{job}}' }],
          words: UP_DOWN,
        }),
        stat({
          title: 'Version',
          description: 'Of the exporter that answered.',
          unit: 'none',
          width: 4,
          queries: [{ expr: `count by (version) (${ofJob('beoboard_build_info')})`, legend: '{{version}}' }],
          steps: ['text'],
        }),
        lines({
          title: 'Time of a scrape',
          description:
            'As the exporter measures it, and as Prometheus does, with the way and the reading of the answer.',
          unit: 's',
          width: 8,
          queries: [
            { expr: ofJob('beoboard_exporter_scrape_seconds'), legend: '{{instance}} exporter' },
            { expr: ofJob('scrape_duration_seconds'), legend: '{{instance}} Prometheus' },
          ],
        }),
        lines({
          title: 'Samples of a scrape',
          description:
            'How many samples Prometheus took. It keeps each of them at every scrape: optional collectors and many nodes cost its disk, not the nodes.',
          unit: 'short',
          width: 8,
          queries: [{ expr: ofJob('scrape_samples_scraped'), legend: '{{instance}}' }],
        }),
        lines({
          title: 'CPU time of the exporter',
          description: 'Share of one CPU.',
          unit: 'percentunit',
          width: 8,
          queries: [{ expr: rate(ofJob('beoboard_exporter_cpu_seconds_total')), legend: '{{instance}}' }],
        }),
        lines({
          title: 'Memory of the exporter',
          description: 'Memory that it has in RAM.',
          unit: 'bytes',
          width: 8,
          queries: [{ expr: ofJob('beoboard_exporter_resident_memory_bytes'), legend: '{{instance}}' }],
        }),
        lines({
          title: 'Scrapes',
          description: 'Scrapes that were answered in a second, whoever asked.',
          unit: 'reqps',
          width: 8,
          queries: [{ expr: rate(ofJob('beoboard_exporter_scrapes_total')), legend: '{{instance}}' }],
        }),
      ],
    },
  ],
  POINTS,
);
