// Flags of V8 for both processes of the sender; this one gets them when the module is loaded. The verb has to import it
// first, because memory that a compiler has touched before stays in use.

import { setFlagsFromString } from 'node:v8';

/**
 * At one report a second compiling never pays off, and V8's compilers take several MB: for their code, for their
 * threads, and for what they make. Each report leaves 1.7 KB of old objects. Without --optimize-for-size V8 had collected
 * none of them after 2,850 reports, with it after 1,450.
 */
export const V8_FLAGS = ['--no-opt', '--no-sparkplug', '--optimize-for-size'];

for (const flag of V8_FLAGS) setFlagsFromString(flag);
