// What the program is, and its verbs, each in one line: apart from them, so that the list can be shown without loading any.

/** What the program is. */
export const ABOUT =
  'A cluster scoreboard: every node reports once a second, one shared-memory board says how each of them is.';

export const EXIT_CODES = '0 done, 1 not so, 2 usage, 4 no board or stalled.';

export const VERBS = {
  demo: 'run receiver, sender, page and live status of this machine, in one terminal',
  send: 'report how this machine is, once per interval',
  receive: 'receive reports and lay them on the board',
  status: 'show how the nodes are: a table, the worst first',
  show: 'show all that is known about a node, on one page',
  events: 'print what happens on the board, as it happens',
  nodes: 'print names of nodes for scripts: those in some states',
  check: 'check whether the nodes are well, for Nagios and for prologs',
  xml: "print the board as Ganglia's gmond would",
  ganglia: "serve the board to Ganglia's gmetad and ganglia-web",
  web: 'serve a page that shows all nodes at a glance',
  prometheus: 'serve the board to Prometheus',
  metrics: 'print the board once as Prometheus would get it',
  supermon: "serve the board by Supermon's protocol, and combine several such servers",
  zoom: 'watch one node closely, up to a thousand samples a second: a chart, CSV or JSON',
  slurm: 'read what Slurm says about nodes and jobs, for the verbs that show it',
  bridge: 'drain silent nodes in Slurm, and resume them when they are live; a dry run unless --enforce is given',
  jobs: 'show jobs of Slurm beside the nodes on which they run',
  dump: "print everything in the board's file, raw, and the first thing that is wrong with it",
  describe: 'explain what a field means, and what it does not mean',
  nodeset: 'expand, fold and count host lists',
  forget: 'take nodes off the board',
  pace: 'have nodes report at another interval for a while',
  keygen: "make a cluster key, or nodes' own keys out of one",
  relay: 'publish the board by NATS, for mirrors on other machines',
  mirror: "keep a copy of a master's board on another machine, by NATS",
  load: 'simulate a cluster: many nodes that report to a master',
} as const;
