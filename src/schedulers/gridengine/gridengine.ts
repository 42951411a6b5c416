// Grid Engine as one of the schedulers, by qhost and qstat. Only reads: no command here changes anything.

import { type About, LeftOut, type Scheduler } from '../../schedulerfile/scheduler.js';
import { type CallOptions, outputOf } from '../command.js';
import { parseHosts, parseJobs, parseProduct } from './answers.js';

/** Those of which it is known that they show all hosts and jobs to everybody: Sun's 6, and Son of Grid Engine. */
const HIDES_NOTHING = /^S?GE [68]\./;

function aboutGridEngine(product: string): About {
  const isOpen = HIDES_NOTHING.test(product);
  const { SGE_CLUSTER_NAME, SGE_CELL = 'default' } = process.env;
  return {
    ...{ name: 'Grid Engine', daemon: 'sge_execd', cluster: SGE_CLUSTER_NAME ?? SGE_CELL },
    version: product.replace(/^S?GE /, ''),
    hides: isOpen ? [] : undefined,
    hidden: () => undefined,
    closed: isOpen ? undefined : `it is not known what ${product || 'this Grid Engine'} hides from whom`,
    power_saving: false,
  };
}

export function gridEngine(options: CallOptions = {}): Scheduler {
  return {
    nodes: async () => {
      const leftOut = new LeftOut();
      return { list: parseHosts(await outputOf('qhost', ['-q', '-xml'], options), leftOut), leftOut };
    },
    // One row for each queue of a job, however many slots it has there, also where a file of defaults wants one for each.
    jobs: async () => {
      const leftOut = new LeftOut();
      const argv = ['-f', '-ne', '-g', 'd', '-s', 'rs', '-u', '*', '-xml'];
      return { list: parseJobs(await outputOf('qstat', argv, options), leftOut), leftOut };
    },
    about: async () => aboutGridEngine(parseProduct(await outputOf('qhost', ['-help'], options))),
    unasked: aboutGridEngine(''),
  };
}
