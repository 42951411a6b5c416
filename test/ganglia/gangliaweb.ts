// Runs Debian's ganglia-web from a copy that is patched for PHP 8, and shows its pages in a headless browser. No test
// of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { newContext } from '../kit/browser.js';
import { ORPHANED } from '../kit/gmetad.js';
import { folder, type Teardown } from '../kit/places.js';
import { until } from '../kit/until.js';

export const PACKAGE = '/usr/share/ganglia-webfrontend';
export const PHP = '/usr/bin/php';

/**
 * The patches that ganglia-web 3.7.5 needs for PHP 8.2: file, old text, new text. Each old text must be found, so that
 * we notice when a later version has fixed it.
 */
const MENDS: readonly [file: string, from: string, to: string][] = [
  // PHP 8 passes four arguments to an error handler. The new one also logs what were warnings in PHP 7.
  [
    'lib/common_api.php',
    'function ganglia_api_error_handler ($no, $str, $file, $line, $context) {\n  $context; // PHPCS\n',
    'function ganglia_api_error_handler ($no, $str, $file, $line) {\n  told($no, $str, $file, $line);\n',
  ],
  // The variable is set only if global.php was included at the outermost level.
  [
    'ganglia.php',
    'in_array($context, $SKIP_GMETAD_CONTEXTS)',
    "in_array($context, $GLOBALS['SKIP_GMETAD_CONTEXTS'] ?? [])",
  ],
  // In PHP 8, the keys of arrays become the names of arguments.
  [
    'dwoo/Dwoo/Compiler.php',
    'call_user_func_array($funcCompiler, $params)',
    'call_user_func_array($funcCompiler, array_values($params))',
  ],
  // `continue` outside of a loop is an error in PHP 8.
  [
    'functions.php',
    "if ( count($view['items']) == 0 ) {\n      continue;",
    "if ( count($view['items']) == 0 ) {\n      break;",
  ],
  // Independent of PHP 8: stacked.php quotes the arguments for the shell, and 3.7.5 then escapes the quotes as
  // entities.
  ['functions.php', 'ENT_QUOTES | ENT_HTML401', 'ENT_COMPAT | ENT_HTML401'],
];

/** Functions that PHP 8 removed and 3.7.5 uses, and the handler that logs errors. */
const BEFORE = `<?php
function each(array &$array) {
  $key = key($array);
  if ($key === null) return false;
  $value = current($array);
  next($array);
  return [$key, $value, 'key' => $key, 'value' => $value];
}
// Words without quotes were texts.
define('LOCALTIME', 'LOCALTIME');
define('VAL', 'VAL');
function told($level, $text, $file, $line) {
  // Not what @ is put before, and nothing of which PHP 7 said at most a notice.
  if (!(error_reporting() & E_WARNING) || ($level & (E_DEPRECATED | E_NOTICE))) return;
  if (preg_match('/^(Undefined |Trying to access array offset on value of type null|A non-numeric value encountered)/', $text)) return;
  error_log("PHP Warning: $text in $file:$line");
}
`;

export interface Shown {
  /** The document, in a browser after the page's scripts have run. */
  dom: string;
  /** Its text. */
  text: string;
  /** A browser's screenshot, PNG. */
  picture?: Buffer;
}

/** A copy with the patches, for any number of `GangliaWeb`; returns the folder that they serve. */
export function mended(t: Teardown): string {
  const root = folder(t);
  const pages = join(root, 'ganglia');
  cpSync(PACKAGE, pages, { recursive: true, dereference: true });
  symlinkSync('/usr/share/javascript', join(root, 'javascript'));
  for (const [file, from, to] of MENDS) {
    const path = join(pages, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${path}: not found, mend it otherwise: ${from}`);
    writeFileSync(path, text.replaceAll(from, to));
  }
  const conf = join(pages, 'conf.php');
  writeFileSync(conf, `${readFileSync(conf, 'utf8')}<?php\nrequire getenv('SETTINGS');\n`);
  return root;
}

interface Options {
  /** What `mended` has made. */
  pages: string;
  port: number;
  queryPort: number;
  rrds: string;
}

export class GangliaWeb {
  /** The URL of its pages. */
  readonly url: string;
  readonly #child: ChildProcess;
  #log = '';
  #page: Page | undefined;

  /** Starts ganglia-web on a port of 127.0.0.1; it queries `queryPort` and draws from `rrds`. Ended with the test. */
  static async start(t: Teardown, options: Options): Promise<GangliaWeb> {
    const web = new GangliaWeb(t, options);
    await until('ganglia-web listens', () => web.#log.includes('Development Server'));
    return web;
  }

  private constructor(t: Teardown, { pages, port, queryPort, rrds }: Options) {
    const dir = folder(t);
    const conf = join(dir, 'conf');
    cpSync('/var/lib/ganglia-web/conf', conf, { recursive: true });
    const settings: Record<string, string> = {
      ganglia_port: String(queryPort),
      rrds,
      dwoo_compiled_dir: join(dir, 'compiled'),
      dwoo_cache_dir: join(dir, 'cache'),
      views_dir: conf,
      conf_dir: conf,
      cachefile: join(conf, 'metrics.cache'),
      nagios_cache_file: join(conf, 'nagios.cache'),
    };
    for (const name of ['compiled', 'cache']) mkdirSync(join(dir, name));
    const lines = Object.entries(settings).map(([name, value]) => `$conf['${name}'] = '${value}';\n`);
    const file = join(dir, 'settings.php');
    writeFileSync(file, `<?php\n${lines.join('')}`);
    const before = join(dir, 'before.php');
    writeFileSync(before, BEFORE);
    const settingsOfPhp = [
      `auto_prepend_file=${before}`,
      'display_errors=1',
      'log_errors=1',
      'error_log=',
      // All errors except deprecations, which code from 2019 cannot avoid.
      'error_reporting=24575',
    ];
    this.#child = spawn(
      'setpriv',
      [...ORPHANED, PHP, ...settingsOfPhp.flatMap(setting => ['-d', setting]), '-S', `127.0.0.1:${port}`, '-t', pages],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SETTINGS: file } },
    );
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (data: Buffer) => {
        this.#log += data.toString('latin1');
      });
    t.teardown(async () => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
      this.#child.kill('SIGKILL');
      await once(this.#child, 'exit');
    });
    this.url = `http://127.0.0.1:${port}/ganglia/`;
  }

  /**
   * Log lines about errors, missing pages, and errors of rrdtool, except for a file that gmetad was writing: neither
   * program waits for the other's lock.
   */
  complaints(): string[] {
    return this.#log
      .split('\n')
      .filter(line => /PHP (?!\d)|ERROR|\[[45]\d\d\]: /.test(line))
      .filter(line => !line.includes('/favicon.ico') && !line.includes('could not lock RRD'));
  }

  /** The response for a page or picture. It is requested again if it is empty, which happens when a file was locked. */
  async fetch(page: string): Promise<{ status: number; type: string; body: Buffer }> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(this.url + page);
      const body = Buffer.from(await response.arrayBuffer());
      if (body.length > 0 || tries === 20)
        return { status: response.status, type: response.headers.get('content-type') ?? '', body };
    }
  }

  /** A page as it is served. */
  async serve(page: string): Promise<Shown> {
    const dom = (await this.fetch(page)).body.toString();
    return { dom, text: textOf(dom) };
  }

  /**
   * A page as a browser shows it, when all that its scripts ask for is there. Without the graphs: each takes a PHP, a
   * shell and an rrdtool, and tests fetch them themselves.
   */
  async show(t: Teardown, page: string): Promise<Shown> {
    this.#page ??= await this.#tab(t);
    await this.#page.goto(this.url + page, { waitUntil: 'networkidle', timeout: 60_000 });
    const [dom, picture] = [await this.#page.content(), await this.#page.screenshot()];
    return { dom, text: textOf(dom), picture };
  }

  async #tab(t: Teardown): Promise<Page> {
    const context = await newContext(t, { viewport: { width: 1400, height: 1200 } });
    await context.route(/\/(graph|stacked)\.php/, route => route.abort());
    return context.newPage();
  }
}

/** The text of a document, without its scripts and with single blanks. */
function textOf(dom: string): string {
  return dom
    .replace(/<(script|style)\b.*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&gt;', '>')
    .replace(/\s+/g, ' ');
}

/** The sources of a document's pictures. */
export function picturesOf(dom: string): string[] {
  return [...dom.matchAll(/<img\b[^>]*?\bsrc="([^"]*)"/g)].map(([, src]) => src!.replaceAll('&amp;', '&'));
}

/** Width and height of a PNG in px; undefined if it is not a valid one. */
export function sizeOfPng(bytes: Buffer): [width: number, height: number] | undefined {
  const whole = bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')) && bytes.includes('IEND');
  return whole ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : undefined;
}
