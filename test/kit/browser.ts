// Debian's Chromium, one for all tests of a file, because its start costs more than most of what they look at. Each test
// has contexts of its own, which share nothing. No test of its own.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import t from 'tap';
import type { Teardown } from './places.js';

export const CHROMIUM = '/usr/bin/chromium';

/** Why there is no browser here; undefined: there is one, or this is CI, where one is required. */
export const NO_BROWSER =
  existsSync(CHROMIUM) || process.env.CI === 'true' ? undefined : 'there is no chromium (apt-get install chromium)';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Names without TLS, to which it does not say whose page asks.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
  '--force-color-profile=srgb',
];

let browser: Promise<Browser> | undefined;

/** A context of the file's browser, which starts with the first and is closed with the file; it is closed with the test. */
export async function newContext(test: Teardown, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  if (browser === undefined) {
    browser = chromium.launch({ executablePath: CHROMIUM, headless: true, args: ARGUMENTS });
    t.teardown(async () => (await browser)?.close());
  }
  const context = await (await browser).newContext(options);
  test.teardown(() => context.close());
  return context;
}
