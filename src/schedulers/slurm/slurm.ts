// Slurm as one of the schedulers: its answers, and what it says of itself, in the words of all.

import { type About, LeftOut, NoAnswer, type Scheduler } from '../../schedulerfile/scheduler.js';
import { oneLine } from '../../text/text.js';
import { parseConfig, parseJobs, parseNodes, parseTopology, type SlurmConfig } from './answers.js';
import { type Calls, newNonce } from './calls.js';

function aboutSlurm({ cluster, version, private_data, power_saving, resume_timeout_s }: SlurmConfig): About {
  const hides = private_data.split(',');
  return {
    ...{ name: 'Slurm', daemon: 'slurmd', cluster, version, power_saving, resume_timeout_s },
    hidden: user =>
      hides.includes('jobs')
        ? `Slurm hides the jobs of others (PrivateData=jobs): only the reader's own are shown, unless its user ${oneLine(user)} is an operator in Slurm`
        : undefined,
    hides: private_data === 'unknown' ? undefined : hides,
    closed: ['jobs', 'users', 'unknown'].some(word => hides.includes(word))
      ? `Slurm has PrivateData=${private_data}`
      : undefined,
    // It shows cloud nodes that are powered down to nobody, unless it is told to.
    unshown:
      power_saving && !hides.includes('cloud') ? 'powered down and not shown by it (PrivateData=cloud)' : undefined,
  };
}

/** What it says of switches; undefined: it does not answer. */
async function topologyOf(calls: Calls): Promise<string | undefined> {
  try {
    return await calls.topology();
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

export function slurm(calls: Calls): Scheduler {
  let switches: ReadonlyMap<string, string> = new Map();
  /** An answer that was not looked at yet. */
  let topology: string | undefined;
  return {
    nodes: async () => {
      const leftOut = new LeftOut();
      const list = parseNodes(await calls.nodes(), leftOut);
      if (topology !== undefined) switches = parseTopology(topology, new Set(list.map(({ name }) => name))) ?? switches;
      topology = undefined;
      if (switches.size === 0) return { list, leftOut };
      return { list: list.map(node => ({ ...node, switch: switches.get(node.name) })), leftOut };
    },
    jobs: async () => {
      const [nonce, leftOut] = [newNonce(), new LeftOut()];
      return { list: parseJobs(await calls.jobs(nonce), nonce, leftOut), leftOut };
    },
    // The switches change as rarely as the configuration, and the nodes need not wait for them.
    about: async () => {
      const config = parseConfig(await calls.config());
      topology = config.hasTopology ? await topologyOf(calls) : '';
      return aboutSlurm(config);
    },
    unasked: aboutSlurm(parseConfig('')),
  };
}
