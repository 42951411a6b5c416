// Maps each verb to its part of the program. Loads no part until it is needed.

import type { Verb } from './options/options.js';
import type { VERBS } from './options/verbs.js';

export interface VerbPart {
  readonly verb: Verb;
  main(argv: string[]): Promise<number>;
}

/** Loads a part only when its verb is asked for. */
export const parts: Record<keyof typeof VERBS, () => Promise<VerbPart>> = {
  demo: () => import('./demo/main.js'),
  send: () => import('./sender/main.js'),
  receive: () => import('./receiver/main.js'),
  status: () => import('./cli/status.js'),
  show: () => import('./cli/show.js'),
  odd: () => import('./cli/odd.js'),
  ack: () => import('./cli/ack.js'),
  events: () => import('./cli/events.js'),
  journal: () => import('./journal/main.js'),
  nodes: () => import('./cli/nodes.js'),
  check: () => import('./cli/check.js'),
  xml: () => import('./ganglia-xml/xml.js'),
  ganglia: () => import('./ganglia-xml/main.js'),
  web: () => import('./web/main.js'),
  prometheus: () => import('./prometheus/main.js'),
  metrics: () => import('./prometheus/print.js'),
  supermon: () => import('./supermon/main.js'),
  zoom: () => import('./zoom/main.js'),
  scheduler: () => import('./schedulers/main.js'),
  bridge: () => import('./schedulers/bridge/main.js'),
  jobs: () => import('./cli/jobs.js'),
  users: () => import('./cli/users.js'),
  dump: () => import('./cli/dump.js'),
  describe: () => import('./cli/describe.js'),
  nodeset: () => import('./cli/nodeset.js'),
  drain: () => import('./cli/drain.js'),
  resume: () => import('./cli/resume.js'),
  clear: () => import('./receiver/clear.js'),
  forget: () => import('./receiver/forget.js'),
  pace: () => import('./cli/pace.js'),
  keygen: () => import('./cli/keygen.js'),
  relay: () => import('./relay/main.js'),
  mirror: () => import('./relay/mirror.js'),
  load: () => import('./load/main.js'),
};
