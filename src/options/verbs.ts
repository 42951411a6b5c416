// What the program is, and its verbs, each in one line: apart from them, so that the list can be shown without loading any.

/** What the program is. */
export const ABOUT =
  'A cluster scoreboard: every node reports once a second, one shared-memory board shows the state of all.';

export const EXIT_CODES = '0 done, 1 failed or not found, 2 usage, 4 no board or stalled.';

export const VERBS = {
  demo: 'show this machine beside simulated nodes: receiver, page and live status, in one terminal',
  send: 'report the state of this machine, once per interval',
  receive: 'receive reports and write them to the board',
  status: 'show the state of the nodes in a table, the worst first',
  show: 'show all that is known about a node on one page',
  odd: 'show which nodes of a family differ from its others, in kernel, memory, interval …',
  ack: 'acknowledge lines of the trouble list, until a time',
  events: 'print changes and events of the board as they happen',
  journal: 'write what happens to the nodes into files that outlive the board',
  nodes: 'print the names of nodes in given states, for scripts',
  check: 'check whether nodes are well, for Nagios and for job prologs',
  xml: "print the board as XML, as Ganglia's gmond does",
  ganglia: "serve the board to Ganglia's gmetad and ganglia-web",
  web: 'serve a page that shows all nodes at a glance',
  prometheus: 'serve the board to Prometheus',
  metrics: 'print the board once, as Prometheus would read it',
  supermon: "serve the board over Supermon's protocol, and combine several such servers",
  zoom: 'watch one node closely, up to a thousand samples a second: a chart, CSV or JSON',
  scheduler: 'read the state of nodes and jobs from Slurm, Grid Engine or a file, for the verbs that show it',
  bridge: 'drain silent nodes in Slurm and resume them when live again; a dry run unless --enforce is given',
  jobs: 'show Slurm jobs and the state of their nodes',
  users: 'show whose jobs run on which nodes, how much of them is in use, and which are in trouble',
  dump: 'print everything in the board file, raw, and the first error in it',
  describe: 'explain what a field means and what it does not mean',
  nodeset: 'expand, fold and count host lists',
  drain: 'take nodes out of service, by the scheduler, with a reason that all see',
  resume: 'give back nodes that drain took out',
  clear: 'end problems that nothing measures any more',
  forget: 'remove nodes from the board',
  pace: 'change the report interval of nodes for a while',
  keygen: 'make a cluster key, or derive node keys from it',
  relay: 'publish the board over NATS, for mirrors on other machines',
  mirror: "keep a copy of a master's board on another machine, over NATS",
  load: 'simulate a cluster of many nodes that report to a master',
} as const;

/** Earlier names of verbs, which mean the same throughout 1.x. */
export const EARLIER: Readonly<Record<string, string>> = { slurm: 'scheduler' };
