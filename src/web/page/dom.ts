// Creates the page's elements one by one: texts are texts, never markup, and what could not be seen in them is written
// out.

import { oneLine as shown } from '../../text/unseen.js';
import { inZone } from './formats.js';

/** A text as it is shown: its moments in the page's zone. */
export const oneLine = (text: string): string => shown(inZone(text));

type Props = Readonly<Record<string, string | number | boolean | undefined>>;

/** An element with attributes (false and undefined: left out; true: empty) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, props);
  element.append(...children.map(child => (typeof child === 'string' ? oneLine(child) : child)));
  return element;
}

/** A button, and what a click on it does. */
export function button(text: string, click: () => void, props: Props = {}): HTMLButtonElement {
  const element = make('button', { type: 'button', ...props }, text);
  element.addEventListener('click', click);
  return element;
}

/** Gives an element so many children: new ones are made, and the others stay. */
export function fill<T extends Element>(parent: Element, count: number, add: (place: number) => Element): T[] {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(add(parent.children.length));
  return [...parent.children] as T[];
}

/**
 * Writes the rows of a table, each with a button in its first cell and in those of `pressed`; `choose` is called with the
 * places of the row and of the cell whose button is clicked.
 */
export function writeRows(
  body: HTMLTableSectionElement,
  rows: readonly (readonly string[])[],
  choose: (row: number, cell: number) => void,
  pressed: readonly number[] = [],
): HTMLTableRowElement[] {
  const elements = fill<HTMLTableRowElement>(body, rows.length, () => make('tr'));
  for (const [i, texts] of rows.entries()) {
    const row = elements[i] as HTMLTableRowElement;
    const cells = fill(row, texts.length, at => {
      const cell = at === 0 ? make('th', { scope: 'row' }) : make('td');
      if (at === 0 || pressed.includes(at)) cell.append(button('', () => choose([...body.rows].indexOf(row), at)));
      return cell;
    });
    for (const [at, text] of texts.entries()) {
      const cell = cells[at] as HTMLElement;
      const inner = cell.querySelector('button');
      write(inner ?? cell, text);
      if (inner !== null) show(inner, text !== '');
    }
  }
  return elements;
}

const SVG = 'http://www.w3.org/2000/svg';

/** The same in SVG. */
export function draw(tag: string, props: Props = {}, ...children: readonly Node[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  set(element, props);
  element.append(...children);
  return element;
}

export function set(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props))
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : oneLine(String(value)));
}

/** The element of index.html with that id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no #${id}`);
  return element as T;
}

/** Writes a text only if it has changed: an unchanged page needs no new layout. */
export function write(element: Element, text: string): void {
  const said = oneLine(text);
  if (element.textContent !== said) element.textContent = said;
}

export function show(element: HTMLElement, isShown: boolean): void {
  if (element.hidden === isShown) element.hidden = !isShown;
}

/** The drawing context of a canvas. */
export function surface(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  return context;
}

/** Calls `told` whenever an element comes into sight or goes out of it. */
export function watchSight(element: Element, told: (isInSight: boolean) => void): void {
  new IntersectionObserver(entries => told(entries.at(-1)?.isIntersecting === true)).observe(element);
}

/** Whether the keyboard, or a pointer that can rest, is in one of these: what they show stays where it is. */
export function isHeld(...ids: readonly string[]): boolean {
  const here = matchMedia('(hover: hover)').matches ? ':is(:hover, :focus-within)' : ':focus-within';
  return ids.some(id => byId(id).matches(here));
}

/** A function that requests a drawing with the next frame, once, however often it is called before. */
export function oncePerFrame(draw: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
}
