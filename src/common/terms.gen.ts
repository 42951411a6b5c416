// Generated from the documents in proto/. Do not edit: change these and run `npm run generate`.

/** Words, each at the place of its number. */
export const terms = {
  node_state: ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'],
} as const;

/** The same in the order in which they are listed. */
export const ranked = {
  node_state: ['silent', 'unknown', 'uncertain', 'never', 'left', 'live'],
} as const;

/** What each means, in that order. */
export const meanings = {
  node_state: {
    silent: "not heard for silent_after, while the receiver listened",
    unknown: "the receiver is stalled: nothing is known about nodes",
    uncertain: "neither place work nor drain",
    never: "in the node list, no report yet",
    left: "said goodbye: stopped in good order",
    live: "heard within uncertain_after",
  },
} as const;
