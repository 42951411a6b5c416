// /proc/net/snmp: retransmitted TCP segments. Finds the column by its name, which the kernel writes in the line above.

import { type KernelCount, TextCursor } from './kerneltext.js';

const NAME = 'RetransSegs';

/** Moves after the next blank of this line. */
function toNext(at: TextCursor): boolean {
  while (!at.isBetweenWords()) if (++at.at > at.text.length) return false;
  return at.eat(' ');
}

/** Two lines `Tcp:` are required, the first of which must name RetransSegs. */
export function parseSnmp(text: string): { tcp_retrans: KernelCount } | undefined {
  const at = new TextCursor(text);
  if (!at.line('Tcp: ')) return undefined;
  const middle = text.indexOf('\n', at.at);
  let column = 0;
  while (!(at.eat(NAME) && at.isBetweenWords())) {
    if (!toNext(at)) return undefined;
    column++;
  }
  at.at = middle + 1;
  if (!at.eat('Tcp: ')) return undefined;
  for (; column > 0; column--) if (!toNext(at)) return undefined;
  const tcp_retrans = at.digits();
  return tcp_retrans === undefined || !at.isBetweenWords() || !at.isWhole ? undefined : { tcp_retrans };
}
