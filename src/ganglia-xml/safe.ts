// Makes strings and numbers that gmetad survives. It sanitises and never escapes; it refuses to know what they mean.
//
// Escaping would be right XML and still wrong: gmetad decodes entities and sends the values on raw, so one `&amp;` from
// one node breaks the page of the whole cluster. Names become directories and files of gmetad's: a slash in a
// cluster's name ends gmetad, so names are held to much less than XML allows.

/** Names of clusters, hosts and metrics are no longer than those of nodes. */
export const NAME_MAX = 63;

/**
 * gmetad keeps all strings of one METRIC (value, type, units, name, extras), of one HOST (IP, LOCATION, TAGS) or of one
 * CLUSTER (OWNER, LATLONG, URL) in 1,572 bytes together. Three values of this length and the texts of our longest
 * metric (about 200 bytes) stay below that.
 */
export const VALUE_MAX = 255;

/** What Ganglia writes where nothing is set. */
export const UNSPECIFIED = 'unspecified';

/**
 * Any string as one that gmetad stores and sends on unharmed. A `value` keeps printable ASCII without & < > " '. A
 * `name` keeps letters, digits, dot, dash and underscore, and begins with a letter or digit, so that it is neither
 * a hidden file, nor `..`, nor gmetad's own `__SummaryInfo__`. What is not kept becomes an underscore, one for each
 * character; a name of which nothing is left becomes `unspecified`.
 */
export function safe(text: string, as: 'name' | 'value'): string {
  // Cut first: a long text costs no more than a short one. Pairs of surrogates count as one character.
  if (as === 'value') return text.slice(0, VALUE_MAX).replace(/[^ -~]|[&<>"']/gu, '_');
  const name = text.slice(0, NAME_MAX).replace(/[^A-Za-z0-9._-]/gu, '_');
  return name.replace(/^[._-]+/, '') || UNSPECIFIED;
}

/**
 * A number in plain decimal notation with so many digits after the point; undefined when it is none, or so large that
 * it cannot be a reading. `nan` would be stored as a reading, and gmetad has 128 bytes for one: a long number ends it.
 */
export function decimal(value: number, digits = 0): string | undefined {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return undefined;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text;
}
