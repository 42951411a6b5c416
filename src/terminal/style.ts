// Colours for terminals that support them. They stand beside words and never replace them. NO_COLOR turns them off.

import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const STATE: Record<string, Style> = {
  silent: ['red', 'bold'],
  unknown: ['magenta', 'bold'],
  uncertain: 'yellow',
  never: 'yellow',
  left: 'dim',
  live: 'green',
  unhealthy: 'yellow',
};

const TROUBLE: Record<string, Style> = { critical: ['red', 'bold'], warning: 'yellow', dim: 'dim' };

export interface Painter {
  state(state: string, text: string): string;
  title(text: string): string;
  odd(text: string): string;
  /** A line of trouble, by its severity or `dim`. */
  trouble(severity: string, text: string): string;
}

const PLAIN: Painter = { state: (_, text) => text, title: text => text, odd: text => text, trouble: (_, text) => text };

// styleText must not decide again: it looks at other variables than those that were checked here.
const paint = (style: Style, text: string) => styleText(style, text, { validateStream: false });

const COLOURED: Painter = {
  state: (state, text) => paint(STATE[state] ?? 'reset', text),
  title: text => paint('bold', text),
  odd: text => paint('yellow', text),
  trouble: (severity, text) => (TROUBLE[severity] === undefined ? text : paint(TROUBLE[severity], text)),
};

/** Paints if it is told to always, or if stdout is a terminal with colours and nobody has turned them off. */
export function painter(when: 'auto' | 'always' | 'never', stdout = process.stdout, env = process.env): Painter {
  const wanted = stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  return when === 'always' || (when === 'auto' && wanted) ? COLOURED : PLAIN;
}
