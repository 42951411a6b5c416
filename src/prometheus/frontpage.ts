// The page for a person who opens the exporter in a browser: where the metrics are, and the state of the boards. One
// page that loads nothing else.

import { NoBoard } from '../shm/noboard.js';
import { counted, oneLine } from '../text/text.js';
import type { ScrapedBoard } from './boards.js';
import { COLLECTORS, DEFAULT_COLLECTORS } from './families.js';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const safe = (text: string) => oneLine(text).replace(/[&<>"]/g, character => ESCAPES[character] as string);

/** A link that proves where it stands (HttpServer). */
const linker = (token: string) => (path: string, about: string) =>
  `<li><a href="${safe(`${path.slice(1)}${path.includes('?') ? '&' : '?'}token=${token}`)}">${safe(path)}</a> ${safe(about)}</li>`;

function boardLine(board: ScrapedBoard): string {
  const nodeStates = board.look();
  const name = board.cluster ?? 'board';
  if (nodeStates instanceof NoBoard) return `${name}: ${nodeStates.message}`;
  return `${name}: ${counted(nodeStates.count, 'node')}${nodeStates.board.stalled ? ', the receiver is stalled: nothing is known about them' : ''}`;
}

/** The page; `token` of the server. */
export function frontPage(boards: readonly ScrapedBoard[], nodeMetrics: boolean, token: string): string {
  const link = linker(token);
  const more = COLLECTORS.filter(name => !DEFAULT_COLLECTORS.includes(name));
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>beoboard for Prometheus</title></head>
<body>
<h1>beoboard for Prometheus</h1>
<ul>
${boards.map(board => `<li>${safe(boardLine(board))}</li>`).join('\n')}
</ul>
<ul>
${link('/metrics', `collects ${DEFAULT_COLLECTORS.join(', ')}`)}
${more.map(name => link(`/metrics?collect[]=${name}`, 'only when it is asked for')).join('\n')}
${nodeMetrics ? link('/node-metrics', "the same under node_exporter's names; never scrape it where node_exporter runs") : ''}
${link('/sd?of=4', 'four shards as targets, for http_sd_configs')}
${link('/-/healthy', 'whether this server answers')}
</ul>
</body>
</html>
`;
}
