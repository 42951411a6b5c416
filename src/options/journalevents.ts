// The names of the events of a journal, by which they are asked for: apart from the journal's format, which only verbs
// that read or write journals load.

/** What can happen. */
export const EVENTS = [
  ...['silent', 'heard_again', 'problem', 'problem_resolved', 'boot', 'goodbye', 'restart', 'reset', 'refusal'],
  ...['clone', 'new', 'removed', 'link_down', 'link_up', 'dark', 'lit', 'overflow', 'takeover', 'forget', 'followed'],
  ...['deaf', 'clear', 'lost', 'stalled', 'resumed', 'no_board', 'board', 'clock_step', 'order', 'acknowledged'],
  ...['withdrawn', 'odd', 'odd_ended', 'begin', 'end'],
] as const;
export type EventName = (typeof EVENTS)[number];
