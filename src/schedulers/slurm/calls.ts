// The questions to Slurm, by its own commands. Only reads: no command here changes anything.

import { randomBytes } from 'node:crypto';
import { type CallOptions, outputOf } from '../command.js';
import { JOB_STATES, jobFormat } from './answers.js';

export interface Calls {
  nodes(): Promise<string>;
  jobs(nonce: string): Promise<string>;
  config(): Promise<string>;
  topology(): Promise<string>;
}

/** The beginning of each row of a list, new for each call: 128 bits that nobody can guess. */
export const newNonce = (): string => randomBytes(16).toString('hex');

/** The questions, by Slurm's commands: of this cluster alone, because in a federation others have nodes of the same names. */
export function slurmCalls(options: CallOptions = {}): Calls {
  return {
    nodes: () => outputOf('scontrol', ['--local', '-a', '-d', '-o', 'show', 'node'], options),
    // The format is in the environment, which nobody else can read: every user of this machine can see each word of a
    // command line, and could name a job after the nonce before squeue answers.
    jobs: nonce =>
      outputOf('squeue', ['--local', '-h', '-a', '-t', JOB_STATES], options, { SQUEUE_FORMAT: jobFormat(nonce) }),
    config: () => outputOf('scontrol', ['show', 'config'], options),
    topology: () => outputOf('scontrol', ['--local', '-o', 'show', 'topology'], options),
  };
}
