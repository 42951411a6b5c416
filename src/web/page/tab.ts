// The title and the icon of the tab, which are seen while the page is not.

import { oneLine } from '../../text/unseen.js';
import type { Hello, WallHead } from '../wire.js';
import { set } from './dom.js';
import { count } from './formats.js';

/** A grey icon: a server that is away cannot be asked for one. */
const AWAY = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#8a8f98" d="M2 2h5v5H2zm7 0h5v5H9zM2 9h5v5H2zm7 0h5v5H9z"/></svg>')}`;

/** `life`: the state of the board, `lost` or `connecting`. */
export function tellTab(life: string, head: WallHead | undefined, hello: Hello | undefined): void {
  const silent = head?.counts.silent ?? 0;
  const name = oneLine(hello?.cluster ?? 'beoboard');
  const trouble = life === 'lost' ? 'no answer' : life === 'ok' ? silent > 0 && `${count(silent)} silent` : life;
  const title = trouble ? `${trouble} · ${name}` : name;
  if (document.title !== title) document.title = title;
  const icon = document.querySelector('link[rel=icon]');
  const href = life === 'ok' || life === 'connecting' ? 'icon.svg' : AWAY;
  if (icon !== null && icon.getAttribute('href') !== href) set(icon, { href });
}
