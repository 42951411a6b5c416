// The page's requests to its server. Each has a header that a page of another site cannot send: to a server that has a
// name and no TLS, browsers do not say whose page a request is from (net/http.ts).

/** A longer list of names does not fit into a request. */
export const LIST_MOST = 4000;

export function request(path: string, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(path, { cache: 'no-store', headers: { 'X-Beoboard-Page': '1' }, signal });
}

/** The answer; a sentence: why there is none; undefined: the server is away, which is shown elsewhere. */
export async function answerTo<T extends object>(path: string): Promise<T | string | undefined> {
  try {
    const response = await request(path);
    return response.ok ? ((await response.json()) as T) : (await response.text()).trim();
  } catch {
    return undefined;
  }
}
