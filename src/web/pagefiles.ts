// The files of the page, as built: read once, and identified by a number that differs from build to build.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../options/version.js';
import { attempt } from '../text/failure.js';

/** Where the build puts them. */
const FOLDER = fileURLToPath(new URL('../../page/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

const UNBUILT = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>beoboard</title></head>
<body><p>The page was not built: npm run build makes it. The API is at <a href="api/v1/openapi.json">api/v1/openapi.json</a>.</p></body>
</html>
`;

interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
}

export interface PageFiles {
  /** The files by path, from `/` on. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly build: string;
}

/** Reads them; index.html is `/`. */
export function readPageFiles(folder = FOLDER): PageFiles {
  const files = new Map<string, PageFile>();
  const hash = createHash('sha256').update(VERSION);
  for (const name of attempt(() => readdirSync(folder).sort()) ?? []) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const body = readFileSync(`${folder}/${name}`);
    hash.update(name).update(body);
    files.set(name === 'index.html' ? '/' : `/${name}`, { type, body });
  }
  if (!files.has('/')) files.set('/', { type: TYPES['.html'] as string, body: Buffer.from(UNBUILT) });
  return { files, build: hash.digest('hex').slice(0, 16) };
}
