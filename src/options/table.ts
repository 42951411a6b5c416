// The table of all options: the meaning of each wherever it occurs, and the variants of some verbs. Reads nothing.

import { ranked } from '../layout/terms.gen.js';
import { FAULTS } from './faults.js';
import { defaultNodeName, shortHostName } from './hostname.js';
import { EVENTS } from './journalevents.js';
import { flag, later, many, type Option, one, optional, standard } from './option.js';
import * as values from './values.js';

const { called, count, file, folder, oneOf, time } = values;

const GMETAD_PORT = 8651;
/** The registered port of Supermon; and another one for beoboard-mon, so that both can run on one machine. */
const SUPERMON_PORT = 2709;
const MON_PORT = 2710;

/** A default by the name of the machine. */
const hostNamed = (name: () => string) => ({
  texts: () => [name()],
  shown: 'the host name up to its first dot, in lower case',
});
/** A folder, at this path by default. */
const folderAt = (path: string, about: string) => one(about, folder, standard(path));
const fileOf = (about: string) => optional(about, file);
const BOARD = standard('/dev/shm/beoboard/board');
const INTERVAL = time('100ms', '600s');

/** Every option, by its name on the command line and in a config file. */
export const options = {
  board: one('the board file', called('PATH', file), BOARD),
  to: many(
    'where to send reports: a name or address, [V6]:PORT, default port 8677; - writes the datagram to stdout',
    values.destination,
  ),
  listen: many(
    'where to listen, IPv4 or IPv6; [::] is IPv6 only; port 0 picks one and prints it',
    values.address(),
    standard('0.0.0.0:8677'),
  ),
  from: many(
    'another server of this protocol (default port 2709), whose nodes are served, too',
    values.address(SUPERMON_PORT),
  ),
  'gzip-listen': many('where to serve the same, compressed; port 0 picks one and prints it', values.addressWithPort),
  'gmetad-listen': many(
    'where to serve as gmetad does: the whole tree at PORT, 8651, and queries at the next port; port 0 picks both',
    values.addressOfTwo(GMETAD_PORT),
  ),
  'trusted-hosts': many(
    'clients allowed besides this machine: addresses and networks, 10.0.0.1,10.1.0.0/16',
    values.networks,
  ),
  grid: one("the grid's name", values.clusterName, standard('unspecified')),
  'cluster-name': many(
    "the name that Ganglia has for the cluster NAME, as in 'alpha=My HPC (new)'",
    values.gangliaName,
  ),
  metrics: one(
    'gmond: only the metrics of a default gmond; all: those of beoboard, too',
    called('WHICH', oneOf('all', 'gmond')),
    standard('all'),
  ),
  'allow-host': many('another host name or address by which clients may call this server', values.hostName),
  proxy: many(
    'addresses of proxies, each connection from which counts as a client of its own, as in 127.0.0.1',
    values.networks,
  ),
  base: one('the path under which a proxy serves the page, as in /cluster', values.urlPath, standard('/')),
  'show-jobs': flag('serve Slurm jobs, with users and nodes, to everybody who can connect'),
  'node-metrics': flag("serve node_exporter's metric names, too, at /node-metrics; do not scrape both for one node"),
  collect: optional('what to collect, as in cpu,gpus; docs/prometheus.md lists all', values.words),
  openmetrics: flag('OpenMetrics 1.0.0 instead of the text format 0.0.4'),
  group: many('a multicast group to join, port 8677', values.multicastGroup),
  interface: optional('the interface for multicasts, by name', values.networkInterface),
  local: many(
    'virtual machines and containers of this machine that are bridged to its network: addresses and networks, 10.0.0.5,10.1.0.0/16',
    values.hosts,
  ),
  ttl: one('multicast TTL, 0 to 255; with 1 reports stay in the local network', count(0, 255), standard('1')),
  name: one("the node's name", values.nodeName, hostNamed(defaultNodeName)),
  cluster: optional("the cluster's name", values.clusterName),
  'key-file': fileOf('the key, in a file that only its owner can read'),
  require: optional(
    'minimum authentication of a report: none, cluster, or node',
    called('WHAT', oneOf('none', 'cluster', 'node')),
    later('cluster with --key-file, else none'),
  ),
  'clock-window': one(
    'maximum clock difference when a node starts to report with a key, 100ms to 24h, or off',
    values.timeOrOff('100ms', '24h'),
    standard('60s'),
  ),
  'key-id': optional('the number of the key, 0 to 65535', count(0, 65_535), later('1')),
  interval: one('time between reports, 100ms to 600s', INTERVAL, standard('1s')),
  'pace-file': optional(
    'a file in which root can set another interval for a while: interval 10s for 1h',
    called('PATH', file),
  ),
  'pace-min': one('the shortest interval that this file may set', INTERVAL, standard('250ms')),
  'pace-max': one('the longest interval that this file may set', INTERVAL, standard('60s')),
  off: flag('remove the file: nodes return to their own interval'),
  via: one(
    'command that runs a command on nodes; the host list is appended. ssh, also after sudo and the like, is called once per node',
    values.command,
    standard('clush -S -w'),
  ),
  'dry-run': flag('print the command lines without running them'),
  once: flag('send one report, flagged as the last, and exit'),
  check: flag('send for 6 s what no master takes, tell who objected, and exit; is no report'),
  aligned: flag('send at the same wall-clock time as all nodes, instead of spread over the interval'),
  nodes: optional('the nodes as a host list, node[001-128],login1, or @FILE with a list on each line', values.nodes),
  capacity: one('records on the board, 1 to 1000000', count(1, 1_000_000), standard('10240')),
  'uncertain-after': one('a node is no longer live after', time('100ms', '24h'), standard('4.5s')),
  'silent-after': one('a node is silent after', time('100ms', '24h'), standard('10.5s')),
  'longest-interval': optional(
    'a node that reports more rarely is judged as if it reported this often, 60s to 600s; default: 60s, or 600s where every report needs a signature',
    time('60s', '600s'),
  ),
  'forget-after': optional(
    'remove nodes that were silent, or had left, for this long while the receiver listened, 24h to 1000d; default: never',
    time('24h', '1000d'),
  ),
  drain: one(
    'drain interval of the sockets above 400 reports a second, 0ms to 100ms',
    time('0ms', '100ms'),
    standard('5ms'),
  ),
  proc: many('another /proc; given twice: for the tick before, then for the report', folder, standard('/proc'), 2),
  sys: many('another /sys; given twice: for the tick before, then for the report', folder, standard('/sys'), 2),
  scratch: folderAt('/tmp', 'the local scratch file system whose space is reported; never a network file system'),
  'health-max-age': optional(
    'an older ok in the health file counts as a warning, 1s to 1000d; default: never',
    time('1s', '1000d'),
  ),
  pretend: fileOf(
    'TOML with values that are not in /proc and /sys (clocks, sequence number …), to reproduce a report exactly',
  ),
  config: fileOf('TOML with the same names; the command line takes precedence'),
  json: flag('one JSON object instead of text'),
  'slurm-dir': folderAt('/run/beoboard-slurm', 'where beoboard scheduler writes its files'),
  jobs: flag('show the state and jobs of each node in Slurm'),
  'job-id': optional(
    'only nodes of this job, or of all parts of it; needs beoboard scheduler',
    called('ID', values.remark),
  ),
  user: optional("only nodes on which this user's jobs are; needs beoboard scheduler", called('NAME', values.remark)),
  scheduler: one(
    'slurm, gridengine, or file:PATH, a file that a job of yours writes',
    values.scheduler,
    standard('slurm'),
  ),
  'slurm-bin': optional("where the scheduler's commands are; default: search PATH", folder),
  'slurm-names': fileOf('nodes with different names in Slurm and on the board: NodeName boardname on each line'),
  domain: optional(
    "hosts of this domain are nodes without it, if no node has a domain; default: this machine's own",
    values.hostName,
  ),
  'public-jobs': flag(
    'let all users of this machine read jobs; only while Slurm has neither jobs nor users in PrivateData',
  ),
  enforce: flag('drain and resume nodes; without it, only print the command lines'),
  journal: folderAt(
    '/var/lib/beoboard-bridge',
    'folder of the journal of its actions and drains; only this user may read it',
  ),
  'bridge-dir': folderAt('/run/beoboard-bridge', 'where an enforcing bridge writes what it did, for beoboard journal'),
  'journal-dir': folderAt(
    '/var/log/beoboard/default',
    "the journal's folder; jobs in it can be read by its group only",
  ),
  'journal-run': folderAt('/run/beoboard-journal', 'where journals write their state'),
  keep: one('for how long lines are kept, 1h to 3650d, in whole days', time('1h', '3650d'), standard('30d')),
  most: one(
    'the most that the journal takes of the disk, 64KiB to 1TiB; the oldest lines go first',
    values.bytes('64KiB', '1TiB'),
    standard('256MiB'),
  ),
  'kill-switch': one('do nothing while this file exists', file, standard('/etc/beoboard/bridge.off')),
  'drain-after': one(
    'how long a node is silent, or unhealthy, before it is drained',
    time('1s', '24h'),
    standard('30s'),
  ),
  'resume-after': one(
    'how long a drained node is live before it is resumed; doubled, up to 1h, each time it was resumed in the last 24 hours',
    time('1s', '24h'),
    standard('2m'),
  ),
  'drain-unhealthy': {
    ...flag('also drain live nodes on which no job should start, as with beoboard-gate --health'),
    mistaken: ['drain-ill'],
  },
  unsigned: flag('act on unsigned reports, too: then anybody who can send a datagram can have a node drained'),
  witness: one(
    'none, or slurm: drain a node with jobs only if it does not respond to Slurm either (NOT_RESPONDING)',
    called('WHO', oneOf('none', 'slurm')),
    standard('none'),
  ),
  status: flag('show what the bridge does and which drains are its own'),
  release: flag('release the brakes: accept the current number of faulty nodes'),
  'undrain-own': flag('resume all nodes that the bridge drained; stop the bridge first'),
  raw: flag('every field of the report as stored'),
  last: one(
    'begin with the last N events, 0 to 4096; or, of the journal, those of a time, as in 1h',
    values.last,
    standard('0'),
  ),
  since: optional(
    'of the journal: events that went on then or later, as in 03:00, 2026-11-27 or 1h ago',
    values.moment,
  ),
  until: optional('of the journal: events that began by then', values.moment),
  reason: optional('why, in a few words', values.remark),
  withdraw: flag('take it back'),
  do: flag('run the commands, as you'),
  wait: flag('wait until no job is on the nodes'),
  kind: {
    ...optional(
      'of the journal: events and problems, as in silent,boot,oom; docs/journal.md has all',
      values.someOf('kind of event', ...EVENTS, ...ranked.problem),
    ),
    mistaken: ['event', 'type'],
  },
  follow: flag('go on with what is written to the journal, or without one with what the board shows, until stopped'),
  'last-end': flag('how each node fell silent or was booted the last time: when, with its last words and jobs'),
  watch: flag('repeat every second until stopped'),
  owner: {
    ...optional('trust boards of this user too, by name or id', values.user),
    env: 'BEOBOARD_OWNER',
  },
  rate: optional('reports a second, as in 1000 or 100k', count(1, 100_000_000)),
  size: { ...one('how many nodes', count(1, 1_000_000), standard('1000')), mistaken: ['count'] },
  prefix: one('prefix of the node names', values.namePrefix, standard('node')),
  loss: one('percentage of reports to drop at random', values.percent, standard('0')),
  'restart-every': optional('each node restarts its sender about this often, 1s to 500h', time('1s', '500h')),
  silent: optional('nodes that fall silent, as if their switch failed: a host list, or @FILE', values.nodes),
  'silent-from': one('when they fall silent, after the start', time('0ms', '500h'), standard('10s')),
  'silent-for': optional('for how long, 1ms to 500h; default: forever', time('1ms', '500h')),
  'jobs-file': fileOf('where to tell the jobs to beoboard scheduler --scheduler file:FILE'),
  odd: optional(
    `what is wrong with one node of the first job, of the second and so on: ${FAULTS.join(', ')}`,
    called('FAULTS', values.someOf('fault', ...FAULTS)),
  ),
  alone: flag('this machine only, without simulated nodes'),
  full: optional('nodes whose root file system is full: a host list, or @FILE', values.nodes),
  seed: one('the same seed gives the same cluster, 0 to 4294967295', count(0, 4_294_967_295), standard('1')),
  nats: many('a NATS server, as in nats://10.0.0.1:4222 or tls://nats.example:4222', values.natsServer),
  site: optional('the site name in subjects: a-z 0-9 _ -', values.relayName),
  master: one(
    "this master's name in subjects",
    values.relayName,
    hostNamed(() => shortHostName('master')),
  ),
  trust: many('a master to follow, and the file with the public key of its relay', values.trustedMaster),
  relay: flag('make the two keys of a relay, FILE and FILE.pub; mirrors need the second'),
  'nats-creds': fileOf('a NATS creds file that only its owner can read'),
  'nats-nkey': fileOf('an nkey seed in a file that only its owner can read'),
  'nats-login': fileOf('one line USER:PASSWORD in a file that only its owner can read'),
  'nats-ca': fileOf('CA certificates for the servers, PEM'),
  'nats-cert': fileOf('client certificate, PEM'),
  'nats-cert-key': fileOf('key of the client certificate, in a file that only its owner can read'),
  columns: optional(
    'columns of the table: name, state, age, load … or fields listed by beoboard describe',
    values.fields,
  ),
  sort: optional('sort rows by a field or column, largest first; -FIELD: smallest first', values.field),
  by: {
    ...optional("groups of nodes: by a field, or by a part of the name as in '/^rack[0-9]+/'", values.grouping),
    mistaken: ['group', 'groups', 'group-by'],
  },
  exceptions: flag('only nodes that are not live; one line if all is well'),
  long: flag('a row for every node, and lists in full'),
  at: optional(
    "ask a beoboard-mon that listens (default port 2710), or another server of Supermon's protocol, instead of running a program",
    values.address(MON_PORT),
  ),
  record: fileOf('write every answer to a new file for --play'),
  play: fileOf('show a recording of --record instead of a node'),
  csv: flag('comma-separated values: column names, then a line for each node'),
  'csv-safe': flag("--csv for spreadsheets: a text that begins with = + - or @ gets a ' before it"),
  plain: flag('sentences instead of a table'),
  color: one('colours: auto, always or never', called('WHEN', oneOf('auto', 'always', 'never')), standard('auto')),
  fail: optional(
    'open or closed: the answer if no state is known: no board, a stalled one, a malformed list',
    called('WAY', oneOf('open', 'closed')),
  ),
  warning: one(
    'warn if more nodes than this are not live: 5, 2%, or the larger of both, 2%,5',
    values.portion,
    standard('0'),
  ),
  critical: one('critical if more nodes than this are silent or left long ago', values.portion, standard('0')),
  ignore: optional(`problems to ignore: ${ranked.problem.join(', ')}`, values.someOf('problem', ...ranked.problem)),
  recent: optional(
    'problems that warn also after they went, until their quiet time is over; none: no problem does',
    values.someOrNone('problem', ...ranked.problem),
    later('gpu_errors,hung_tasks,throttled'),
  ),
  health: one('on or off: whether unhealthy nodes count as down', called('WHEN', oneOf('on', 'off')), standard('on')),
  setup: flag('for people: each part of this master, and what to type where it is wrong'),
  healthy: flag('only live nodes without problems'),
  'with-problem': optional(
    `only nodes with one of these problems: ${ranked.problem.join(', ')}`,
    values.someOf('problem', ...ranked.problem),
  ),
  names: fileOf(
    "names are a scheduler's: as on the board but for upper case, or as in this file, NodeName boardname on each line",
  ),
  'with-state': flag('one name per line, with the state of its node behind it'),
  expand: flag('one name per line'),
  fold: flag('one host list, as in node[001-128],login1'),
  count: flag('only the number of names'),
  state: optional(
    `nodes in these states: ${ranked.node_state.join(', ')}`,
    called('STATES', values.someOf('state', ...ranked.node_state)),
  ),
  'for-at-least': optional('only nodes that have been in their state for so long, 1s to 1000d', time('1s', '1000d')),
  where: optional("nodes that match the condition, as in 'mem_avail < 1GiB && state == live'", values.condition),
  exclude: optional('a host list, or @FILE, to leave out', values.anyNodes),
  intersection: many('only names that are also in this host list, or @FILE', values.anyNodes),
  nd: flag('fold all numbers in a name, not only the last: r[1-2]n[01-48].cluster'),
  // setTimeout takes 31 bits of ms, which are 596 hours; beyond that it would fire at once.
  for: optional('for how long, 1ms to 500h; default: until stopped', time('1ms', '500h')),
};

export type OptionName = keyof typeof options;

export const OPTION_NAMES = Object.keys(options) as readonly OptionName[];

/** Options with variants. */
export type OptionForms = { readonly [N in OptionName]?: Option<unknown> };

/** Where a server listens: by default on this machine only. */
const serving = (how: string, port: number, host = '127.0.0.1') =>
  many(
    `where to serve${how}, port ${port}; port 0 picks one and prints it`,
    values.address(port),
    standard(`${host}:${port}`),
  );

const UNTIL = optional('until when it holds: 18:00, +8h, or a day and time', values.moment);

const BOARDS = many('a board file, and the cluster name to show for it', values.namedBoard, BOARD);

/**
 * Variants of options for some verbs: another default, other bounds, several values, other words in the help. The
 * meaning and the kind of value stay the same.
 */
export const forms = {
  ganglia: {
    board: BOARDS,
    listen: serving(' as gmond does', 8649, '0.0.0.0'),
  },
  prometheus: {
    board: BOARDS,
    listen: serving(' over HTTP', 9678),
  },
  supermon: {
    board: BOARDS,
    listen: serving('', SUPERMON_PORT),
  },
  demo: {
    'silent-from': one('when rack sim-r07 falls silent', time('0ms', '500h'), standard('30s')),
    'silent-for': one('for how long, 1ms to 500h', time('1ms', '500h'), standard('90s')),
  },
  events: {
    json: flag('a JSON object in each line: for an event, and of the board for each of its nodes'),
    'journal-dir': many("a journal's folder", folder, standard('/var/log/beoboard/default')),
    for: optional('for how long, to 500h; 0: no longer than it takes; default: until stopped', time('0ms', '500h')),
  },
  zoom: {
    rate: one('samples a second, 1 to 1000', count(1, 1000), standard('100')),
    via: one(
      'command that runs a program on the node; node name and program are appended',
      values.command,
      standard('ssh'),
    ),
    csv: flag('comma-separated values: column names, then a line for each sample'),
    json: flag('a JSON object for each sample, one per line'),
  },
  web: {
    listen: serving(' over HTTP', 8678),
  },
  metrics: {
    board: BOARDS,
    'node-metrics': flag("use node_exporter's metric names"),
  },
  scheduler: {
    interval: one('time between queries, 100ms to 60s', time('100ms', '60s'), standard('5s')),
  },
  ack: { until: UNTIL },
  drain: { until: UNTIL },
  journal: {
    name: one("the board's name in the journal", values.nodeName, standard('default')),
  },
  bridge: {
    interval: one('time between checks, 1s to 10s', time('1s', '10s'), standard('5s')),
    by: optional(
      "groups of nodes with their own brakes, by a part of the name, as in '/^rack[0-9]+/'",
      called('/PATTERN/', values.grouping),
    ),
  },
  /** The settings of senders: the interval without a default, and the path on the node. */
  pace: {
    interval: optional('time between reports, 100ms to 600s', INTERVAL),
    for: optional('for how long, 1s to 744h', time('1s', '744h')),
    'pace-file': one('the file on the nodes', values.remoteFile, standard('/run/beoboard/pace')),
  },
  /** The only option names with another meaning: how many jobs, and nodes instead of a duration. */
  load: {
    jobs: optional('so many simulated jobs on the nodes, 1 to 10000', count(1, 10_000)),
  },
  nodes: {
    nodes: optional(
      'the nodes as a host list, node[001-128],login1, or @FILE with a list on each line',
      values.nodesOrScheduler,
    ),
    for: optional(
      'slurm: NodeNames of nodes that Slurm knows; needs beoboard scheduler',
      called('WHOM', oneOf('slurm')),
    ),
  },
  relay: {
    'key-file': fileOf('secret key of the relay, in a file that only its owner can read'),
  },
  mirror: {
    cluster: optional('the cluster name in subjects: a-z 0-9 _ -', values.relayName),
    'key-file': fileOf(
      'also verify the signature of each report, with the cluster key, in a file that only its owner can read',
    ),
    name: one(
      "the mirror's name in subjects; each mirror has its own",
      values.nodeName,
      hostNamed(() => shortHostName('name')),
    ),
  },
  keygen: {
    nodes: optional('nodes to make keys for, as a host list or @FILE', values.nodes),
    owner: optional('the user to whom the files belong, by name or id; only root can give them away', values.user),
  },
} satisfies Record<string, OptionForms>;

/** Arguments of verbs, by the word for them in their help. */
export const argumentKinds = {
  file: 'file',
  list: 'nodes',
  lists: 'nodes',
  node: 'nodes',
  field: 'field',
  keys: 'text',
} as const satisfies Record<string, values.ValueKind>;
