// Flags of V8 for both processes of the sender, set in this one when this module is loaded. It has to be the first one
// that the verb imports: what a compiler touched before stays in memory.

import { setFlagsFromString } from 'node:v8';

/**
 * At a report a second nothing repays being compiled, and the compilers alone take several MB: their code, their
 * threads' memory, and what they make.
 */
export const THRIFT = ['--no-opt', '--no-sparkplug'];

for (const flag of THRIFT) setFlagsFromString(flag);
