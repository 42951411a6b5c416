// A page behind lines of several rates, directly and through the proxies of docs/web.md: see behindlines.ts.
//
// @seconds 130

import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { behindLines } from './behindlines.js';

t.test('a page behind slow lines', { skip: NO_BROWSER ?? false, timeout: 600_000 }, t =>
  behindLines(t, {
    nodes: 'rack[1-200]n[01-50]',
    rates: [20_000, 50_000, 200_000, 1_000_000],
    behindProxies: 30_000,
    seconds: 45,
  }),
);
