// The C files of a program, as its makefile lists them. No test of its own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './places.js';

/** The C files of the board's writer in c/, as listed for make. */
export function writerSources(): string[] {
  const [, names = ''] = /^WRITER = ((?:.*\\\n)*.*)$/m.exec(readFileSync(join(ROOT, 'c', 'rooms.mk'), 'utf8')) ?? [];
  return names.split(/[\s\\]+/).map(name => `${name}.c`);
}
