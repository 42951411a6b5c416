// What the program is, and its verbs, each in one line: apart from them, so that the list can be shown without loading any.

/** What the program is. */
export const ABOUT =
  'A cluster scoreboard: every node reports once a second, one shared-memory board says how each of them is.';

export const EXIT_CODES = '0 done, 1 not so, 2 usage, 4 no board or stalled.';

export const VERBS = {
  demo: 'receiver, sender, page and live status of this machine, in one terminal',
  send: 'report how this machine is, once per interval',
  receive: 'receive reports and lay them on the board',
  status: 'how the nodes are: a table, worst first',
  show: 'all that is known of a node, on one page',
  events: 'what happens on the board, as it happens',
  nodes: 'names of nodes for scripts: those in some states',
  check: 'whether the nodes are well, for Nagios and for prologs',
  xml: "print the board as Ganglia's gmond would",
  ganglia: "serve the board to Ganglia's gmetad and ganglia-web",
  web: 'serve a page that shows all nodes at a glance',
  prometheus: 'serve the board to Prometheus',
  metrics: 'print the board once as Prometheus would get it',
  supermon: "serve the board by Supermon's protocol, and combine several such servers",
  zoom: 'watch one node closely, up to a thousand samples a second: a chart, CSV or JSON',
  slurm: 'read what Slurm says of nodes and jobs, for those who show it',
  bridge: 'drain in Slurm what the board calls silent, and give back what is live: a dry run unless told',
  jobs: 'jobs of Slurm beside the nodes that they run on',
  dump: "everything in the board's file, raw, and the first thing wrong with it",
  describe: 'what a field means, and what it does not',
  nodeset: 'expand, fold and count host lists',
  forget: 'take nodes off the board',
  pace: 'have nodes report at another interval for a time',
  keygen: "make a cluster key, or nodes' own keys out of one",
  relay: 'publish the board by NATS, for mirrors elsewhere',
  mirror: "keep a board that is a mirror of a master's, by NATS",
  load: 'simulate a cluster: many nodes that report to a master',
} as const;
