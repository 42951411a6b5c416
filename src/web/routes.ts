// Maps paths to the page and the API. Decides which origins may ask; knows nothing of sockets.

import { type HttpRequest, type HttpResponse, sentence } from '../net/http.js';
import { Refusal } from '../net/requests.js';
import { Api } from './api.js';
import type { PageFiles } from './pagefiles.js';
import type { Wall } from './wall.js';

/** Headers of every answer. */
export const HEADERS = {
  'Cache-Control': 'no-store, no-transform',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

const API = '/api/v1/';

/** Answers requests under that base, a path without a slash at its end. */
export function responder(wall: Wall, page: PageFiles, base: string) {
  const api = new Api(wall);
  const nowhere = new Refusal('not_found', `there is no such page; see ${base}/`);
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { path: asked, site, isForeign } = request;
    if (base !== '' && asked === base)
      return { ...sentence(308, 'the page is at the address with a / at its end'), headers: { Location: `${base}/` } };
    if (!asked.startsWith(`${base}/`)) throw nowhere;
    const path = asked.slice(base.length);
    // Other sites may link to the page, but may use nothing else.
    if (site === 'cross-site' && path !== '/')
      throw new Refusal('other_site', 'a page of another site may not ask for this');
    const file = page.files.get(path);
    if (file !== undefined) return { status: 200, ...file };
    if (!path.startsWith(API)) throw nowhere;
    if (isForeign)
      throw new Refusal('other_site', `only the page at ${base}/ may ask for this in a browser, or a program`);
    const answer = await api.answer(path.slice(API.length), request);
    if (answer === undefined) throw nowhere;
    return answer;
  };
}
