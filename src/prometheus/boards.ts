// Metrics about the served boards and their receivers: whether there is a board, whether its receiver is alive, its
// counters.

import { enums } from '../layout/layout.gen.js';
import { reloadFailed, sinceMs } from '../shm/header.js';
import { linkName, linkState } from '../shm/links.js';
import { countStates, STATES } from '../shm/liveness.js';
import { NoBoard, orNoBoard } from '../shm/noboard.js';
import type { NodeStates } from '../shm/nodestates.js';
import { BoardReader } from '../shm/reader.js';
import type { Small } from './exposition.js';
import { NodeNames } from './names.js';

/** One board, and what is kept about it. */
export class ScrapedBoard {
  readonly reader: BoardReader;
  /** The names of its nodes, with the label that each document uses. */
  readonly names = { node: new NodeNames('node'), instance: new NodeNames('instance') };
  /** The name of the cluster in the last look at the board; undefined: it has none. */
  cluster: string | undefined;

  /** `name`: of the cluster; by default that of the board. */
  constructor(
    public name: string | undefined,
    readonly path: string,
    owner: number | string | undefined,
  ) {
    this.reader = new BoardReader(path, owner);
    this.cluster = name;
  }

  /** From now on it has the name that it has now, whatever its board is called later. */
  keepName(): this {
    this.look();
    this.name = this.cluster;
    return this;
  }

  /** The present board and the names on it, under that label; or why there is none. */
  look(label: keyof ScrapedBoard['names'] = 'node'): NodeStates | NoBoard {
    return orNoBoard(() => {
      const nodeStates = this.reader.nodeStates();
      this.cluster = this.name ?? (nodeStates.board.header.cluster_name || undefined);
      this.names[label] = this.names[label].follow(this.reader.opened, nodeStates, this.cluster);
      return nodeStates;
    });
  }
}

/** One look at a board. */
export interface BoardScrape {
  readonly cluster: string | undefined;
  /** Of its nodes. */
  readonly names: readonly string[];
  readonly nodeStates: NodeStates | NoBoard;
}

type Labels = Readonly<Record<string, string | undefined>>;
type LabelledValues = readonly (readonly [labels: Labels, value: number])[];

const seconds = (ns: bigint) => Number(ns) / 1e9;
const flag = (is: boolean): number => (is ? 1 : 0);
const WHOLE_MS = 1000;
const toMs = (value: number) => Math.round(value * WHOLE_MS) / WHOLE_MS;

/** A family with one series for each board that exists. */
function small(name: string, help: string, tell: (nodeStates: NodeStates) => number | LabelledValues) {
  return (looks: readonly BoardScrape[]): Small => ({
    name: `beoboard_${name}`,
    help,
    samples: looks.flatMap(({ cluster, nodeStates }) => {
      if (nodeStates instanceof NoBoard) return [];
      const samples = tell(nodeStates);
      return (typeof samples === 'number' ? [[{}, samples] as const] : samples).map(
        ([labels, value]) => [{ ...labels, cluster }, value] as const,
      );
    }),
  });
}

/** The state of links is left out while the receiver is stalled: the last value would look as if all were well. */
const perLink = (
  name: string,
  help: string,
  tell: (link: NodeStates['board']['links'][number], nodeStates: NodeStates) => number | undefined,
) =>
  small(`link_${name}`, help, nodeStates =>
    !name.endsWith('_total') && nodeStates.board.stalled
      ? []
      : nodeStates.board.links.flatMap(link => {
          const value = tell(link, nodeStates);
          return value === undefined ? [] : [[{ link: linkName(link) }, value] as const];
        }),
  );

const fromHeader = (
  name: string,
  help: string,
  field: 'instance' | 'receive_buffer' | 'received' | 'accepted' | 'duplicate' | 'overflows',
) => small(name, help, ({ board }) => board.header[field] ?? 0);

const FAMILIES = [
  small('board_stalled', '1 while the receiver gives no evidence: nothing is known about nodes then.', ({ board }) =>
    flag(board.stalled),
  ),
  small('board_capacity', 'Nodes for which the board has room.', ({ board }) => board.header.capacity),
  small(
    'board_uncertain_after_seconds',
    'A node is no longer live when its last report is older, or than 4.5 of its intervals.',
    ({ board }) => seconds(board.evidence.uncertainAfterNs),
  ),
  small(
    'board_silent_after_seconds',
    'A node is silent when it was not heard for longer, or than 10.5 of its intervals, while the receiver listened.',
    ({ board }) => seconds(board.evidence.silentAfterNs),
  ),
  small('nodes', 'How many nodes are in each state.', ({ states }) => {
    const counts = countStates(states);
    return STATES.map(state => [{ state }, counts[state]] as const);
  }),
  small(
    'receiver_heartbeat_age_seconds',
    'Time since the receiver had last heard all that there was.',
    ({ board: { heartbeatAgeMs } }) => (heartbeatAgeMs === undefined ? [] : toMs(Math.max(0, heartbeatAgeMs) / 1000)),
  ),
  small('receiver_listened_seconds', 'For how long the receiver has missed nothing.', ({ board }) =>
    board.stalled ? [] : toMs(board.listenedMs / 1000),
  ),
  small('receiver_start_time_seconds', 'When the receiver started, in seconds since 1970.', ({ board }) =>
    toMs(seconds(board.header.started_real_ns)),
  ),
  small(
    'receiver_reload_failed',
    '1 while the receiver goes on with old options, because it could not read them again.',
    ({ board }) => ['options', 'nodes', 'keys'].map(kind => [{ kind }, flag(kind === reloadFailed(board))] as const),
  ),
  fromHeader('receiver_starts_total', 'Starts of a receiver on this board.', 'instance'),
  fromHeader(
    'receiver_buffer_bytes',
    'What the kernel granted for the smallest of the socket buffers.',
    'receive_buffer',
  ),
  small('receiver_filtering', '1 while the kernel drops a flood of junk.', ({ board }) => flag(board.filtering)),
  fromHeader('receiver_datagrams_total', 'Datagrams taken from the sockets.', 'received'),
  fromHeader('receiver_reports_total', 'Reports laid on the board.', 'accepted'),
  fromHeader('receiver_duplicates_total', 'Reports that had come before by another way.', 'duplicate'),
  small('receiver_refused_total', 'Datagrams that were rejected, by reason.', ({ board }) =>
    enums.reason.flatMap((reason, i) =>
      reason === 'none' ? [] : [[{ reason }, board.header.refused[i] ?? 0] as const],
    ),
  ),
  small(
    'receiver_dropped_total',
    'What was dropped before the receiver could take it. overflow: a socket buffer was full. unfit: a wrong checksum, or junk that was filtered. softnet: packets of any kind that this machine dropped before it looked at them.',
    ({ board: { header } }) => [
      [{ kind: 'overflow' }, header.kernel_drops ?? 0],
      [{ kind: 'unfit' }, header.unfit_drops ?? 0],
      [{ kind: 'softnet' }, header.softnet_drops ?? 0],
    ],
  ),
  fromHeader('receiver_overflows_total', 'Times that a socket buffer was found to have overflowed.', 'overflows'),
  perLink('up', "1 while the master's interface by which reports come is up.", link => flag(linkState(link).up)),
  perLink(
    'dark',
    '1 while all nodes of the link are silent together: the network or the master is likelier at fault than they.',
    ({ darkSinceNs }) => flag(darkSinceNs !== 0n),
  ),
  perLink('nodes', 'Nodes whose last report came by the link and was no goodbye.', ({ nodes }) => nodes),
  perLink('dark_nodes', 'Nodes that fell silent together with the link.', ({ darkNodes }) => darkNodes),
  perLink('downs_total', 'Times that the link was found to be down.', ({ downs }) => downs),
  perLink('reports_total', 'Reports laid on the board that came by the link.', ({ accepted }) => accepted),
  perLink(
    'missed_packets_total',
    'Packets of any kind that the interface dropped before they were looked at.',
    ({ missed }) => missed,
  ),
  perLink(
    'heartbeat_age_seconds',
    'Time since all that came by the link had been heard.',
    ({ heartbeatNs }, { board }) => (heartbeatNs === 0n ? undefined : toMs(sinceMs(board, heartbeatNs) / 1000)),
  ),
];

const up = (looks: readonly BoardScrape[]): Small => ({
  name: 'beoboard_board_up',
  help: '1 where there is a board that can be read, else 0: nothing is known about its nodes then.',
  samples: looks.map(({ cluster, nodeStates }) => [{ cluster }, flag(!(nodeStates instanceof NoBoard))] as const),
});

/** Metrics of boards and receivers. */
export function boardFamilies(looks: readonly BoardScrape[]): Small[] {
  return [up(looks), ...FAMILIES.map(family => family(looks))];
}
