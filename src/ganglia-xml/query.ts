// Parses queries to gmetad's query port: one line, plain or as HTTP. Does not know what exists.

/** The requested part of the tree: everything if nothing is named. */
export interface GangliaQuery {
  readonly cluster?: string | undefined;
  readonly host?: string | undefined;
  readonly metric?: string | undefined;
  /** The status of the server, and no tree. */
  readonly status: boolean;
  readonly summary: boolean;
  /** Whether the query came by HTTP and is answered by HTTP. */
  readonly http: boolean;
}

export const EVERYTHING: GangliaQuery = { status: false, summary: false, http: false };

/** gmetad reads no longer line. */
export const LINE_MAX = 2048;

const FORBIDDEN = /[>!@#$%`;|"\\'<]/;

/** The bytes of a part of a URL: names of clusters may have blanks. */
function decoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
}

/**
 * Reads `/`, `/CLUSTER`, `/CLUSTER/HOST` or `/CLUSTER/HOST/METRIC`, each with `?filter=summary` or without, bare or as
 * `GET PATH HTTP/1.x`. `/status` is the server's own. Undefined for what is none of these.
 */
export function parseQuery(line: string): GangliaQuery | undefined {
  const get = /^GET (\S+)(?: HTTP\/1\.[01])?$/.exec(line);
  const target = get?.[1] === undefined ? line : decoded(get[1]);
  if (!target.startsWith('/') || FORBIDDEN.test(target) || line.length > LINE_MAX) return undefined;
  const [path = '', search = ''] = target.split('?', 2);
  const [cluster, host, metric, ...more] = path.split('/').filter(part => part !== '');
  if (more.length > 0) return undefined;
  // As in gmetad: an unknown filter is ignored.
  const summary = /^filter=summary\/?$/i.test(search);
  return { cluster, host, metric, status: path === '/status', summary, http: get !== null };
}
