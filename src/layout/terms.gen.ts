// Generated from the documents in proto/. Do not edit: change these and run `npm run generate`.

/** Words, each at the place of its number. */
export const terms = {
  node_state: ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'],
  problem: ['held', 'bad_health', 'root_readonly', 'memory_errors', 'gpu_lost', 'gpu_errors', 'root_full', 'scratch_full', 'health_warning', 'oom', 'hung_tasks', 'throttled', 'ecc'],
  last_words: ['memory_errors', 'kernel_fault', 'root_readonly', 'root_full', 'memory_low', 'oom', 'memory_stalled', 'io_stalled', 'no_carrier', 'throttled', 'late'],
} as const;

/** The same in the order in which they are listed. */
export const ranked = {
  node_state: ['silent', 'unknown', 'uncertain', 'never', 'left', 'live'],
  problem: ['held', 'bad_health', 'root_readonly', 'memory_errors', 'gpu_lost', 'gpu_errors', 'root_full', 'scratch_full', 'health_warning', 'oom', 'hung_tasks', 'throttled', 'ecc'],
  last_words: ['memory_errors', 'kernel_fault', 'root_readonly', 'root_full', 'memory_low', 'oom', 'memory_stalled', 'io_stalled', 'no_carrier', 'throttled', 'late'],
} as const;

/** What each means, in that order. */
export const meanings = {
  node_state: {
    silent: "not heard for silent_after, while the receiver listened",
    unknown: "the receiver is stalled: nothing is known about nodes",
    uncertain: "place no new work, but do not drain",
    never: "in the node list, no report yet",
    left: "said goodbye: shut down cleanly",
    live: "heard within uncertain_after",
  },
  problem: {
    held: "put on hold by its administrator",
    bad_health: "its health check failed",
    root_readonly: "its root file system is read-only",
    memory_errors: "memory errors that were not corrected",
    gpu_lost: "a GPU has fallen off the bus",
    gpu_errors: "GPU errors",
    root_full: "its root file system is nearly full",
    scratch_full: "its scratch is nearly full",
    health_warning: "its health check warns",
    oom: "programs were killed, memory ran out",
    hung_tasks: "tasks were stuck for over two minutes",
    throttled: "it is slowed down by heat or power supply",
    ecc: "memory errors that were corrected",
  },
  last_words: {
    memory_errors: "memory errors that were not corrected",
    kernel_fault: "a fault of its kernel",
    root_readonly: "its root file system was read-only",
    root_full: "its root file system was nearly full",
    memory_low: "hardly any memory was available",
    oom: "programs were killed, memory ran out",
    memory_stalled: "all its programs waited for memory",
    io_stalled: "all its programs waited for disks",
    no_carrier: "a network interface lost its carrier",
    throttled: "it was slowed down by heat or power supply",
    late: "its sender was late",
  },
} as const;
