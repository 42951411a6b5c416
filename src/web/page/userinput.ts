// Keys, clicks and the pointer: what a user does becomes a change of the view. The Back button is viewstate's.

import type { Cells } from './cells.js';
import type { ChangeList } from './changes.js';
import { byId, show, write } from './dom.js';
import { type ArrowDirection, next } from './geometry.js';
import type { MapView } from './mapview.js';
import type { RiverView } from './riverview.js';
import type { SearchResult } from './search.js';
import type { Sheet } from './sheet.js';
import type { TableView } from './tableview.js';
import { type PageView, WHOLE } from './viewstate.js';

/** The parts that take input, and what is done. */
interface PageParts {
  readonly field: HTMLElement;
  readonly map: MapView;
  readonly flow: RiverView;
  readonly table: TableView;
  readonly sheet: Sheet;
  readonly cells: Cells;
  readonly changes: ChangeList;
  readonly view: () => PageView;
  readonly go: (change: Partial<{ -readonly [K in keyof PageView]: PageView[K] | undefined }>, isNew?: boolean) => void;
  /** `isAlone`: where it stands with others that part of the map is opened in which it does not. */
  readonly moveTo: (cell: number, isAlone?: boolean) => void;
  readonly openAt: (cell: number) => void;
  readonly closeSheet: () => void;
  readonly zoom: (step: 1 | -1) => void;
  readonly toggleTheme: () => void;
  /** Says something about the choice: why there is none, or what else there is. */
  readonly tell: (what: string, others?: readonly string[]) => void;
  /** What a text means that was typed into the search. */
  readonly find: (asked: string) => SearchResult;
  /** A line about a cell, and one about a place in the river. */
  readonly nodeText: (cell: number) => string;
  readonly flowText: (at: { second: number; row: number }) => string;
}

const ARROWS: Record<string, ArrowDirection> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** What a search, a click or a link chooses. */
const CHOICE = ['where', 'group', 'select', 'state', 'trouble'] as const;

function tipAt(x: number, y: number, words: string | undefined): void {
  const tip = byId('tip');
  show(tip, words !== undefined);
  if (words === undefined) return;
  write(tip, words);
  const left = Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8));
  const top = y + 22 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18;
  tip.style.transform = `translate(${left}px, ${top}px)`;
}

/** Follows the user's input from now on. */
export function listen(page: PageParts): void {
  listenToKeys(page);
  listenToControls(page);
  listenToPointer(page);
}

function listenToKeys({ field, map, sheet, changes, view, go, moveTo, openAt, closeSheet, zoom }: PageParts): void {
  field.addEventListener('keydown', event => {
    const { plan, cursor } = map;
    if (plan === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const first = plan.blocks[0];
    const last = plan.blocks.at(-1);
    if (arrow !== undefined) moveTo(cursor === undefined ? (first?.first ?? 0) : next(plan, cursor, arrow));
    else if (event.key === 'Home' && first !== undefined) moveTo(first.first);
    else if (event.key === 'End' && last !== undefined) moveTo(last.first + last.count - 1);
    else if (event.key === 'Enter' && cursor !== undefined) openAt(cursor);
    else return;
    event.preventDefault();
  });

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isTyping = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && !target.readOnly);
    if (event.key === 'Escape') {
      if (sheet.isOpen) closeSheet();
      else if (changes.hasMinute) changes.toggleMinute(undefined);
      else if (isTyping) {
        if (target instanceof HTMLInputElement) target.value = target.id === 'by' ? target.value : '';
        field.focus();
      } else if (!byId('choice').hidden || [...CHOICE].some(key => view()[key] !== undefined))
        go({ ...WHOLE, where: undefined });
      else return;
    } else if (isTyping) return;
    else if (event.key === '/') byId<HTMLInputElement>('asked').select();
    else if (event.key === 'e') byId('changedframe').focus();
    else if (event.key === '+') zoom(1);
    else if (event.key === '-') zoom(-1);
    else return;
    event.preventDefault();
  });
}

function listenToControls({ field, table, view, go, moveTo, zoom, toggleTheme, tell, find }: PageParts): void {
  byId('find').addEventListener('submit', event => {
    event.preventDefault();
    const asked = byId<HTMLInputElement>('asked').value.trim();
    const plain = { ...WHOLE, where: undefined };
    if (asked === '') go(plain);
    else {
      const meaning = find(asked);
      if ('refusal' in meaning) {
        tell(meaning.refusal);
        byId<HTMLInputElement>('asked').select();
        return;
      }
      go({ ...plain, where: view().where, ...meaning.change });
      if (meaning.cell !== undefined) moveTo(meaning.cell, meaning.change.select === undefined);
      if (meaning.said !== undefined) tell(meaning.said, meaning.others);
    }
    field.focus();
  });

  byId('reading').addEventListener('change', event => {
    const { value } = event.target as HTMLSelectElement;
    go(value.startsWith(':') ? { colour: value.slice(1) } : { reading: value, colour: undefined });
  });
  byId('by').addEventListener('change', event => {
    const by = (event.target as HTMLInputElement).value.trim();
    go({ by: by === '' ? undefined : by, group: undefined, page: undefined });
  });
  byId('larger').addEventListener('click', () => zoom(1));
  byId('smaller').addEventListener('click', () => zoom(-1));
  byId('theme').addEventListener('click', toggleTheme);
  byId('unchoose').addEventListener('click', () => go({ ...WHOLE, where: undefined }));
  byId('before').addEventListener('click', () => go({ page: table.page === 2 ? undefined : table.page - 1 }));
  byId('after').addEventListener('click', () => go({ page: table.page + 1 }));
}

function listenToPointer(page: PageParts): void {
  const { field, map, flow, changes, cells, go, moveTo, openAt, nodeText, flowText } = page;
  let lastPointer = 'mouse';
  field.addEventListener('pointermove', ({ clientX, clientY, pointerType }) => {
    if (pointerType === 'touch') return;
    const cell = map.cellAt(clientX, clientY);
    const group = cell === undefined ? map.groupAt(clientX, clientY) : undefined;
    field.classList.toggle('over', cell !== undefined || (group !== undefined && group >= 0));
    tipAt(clientX, clientY, cell === undefined ? undefined : nodeText(cell));
  });
  field.addEventListener('pointerleave', () => tipAt(0, 0, undefined));
  field.addEventListener('pointerdown', ({ pointerType }) => {
    lastPointer = pointerType;
  });
  field.addEventListener('click', ({ clientX, clientY }) => {
    const cell = map.cellAt(clientX, clientY);
    if (cell !== undefined) {
      // A first tap shows what is under the finger, a second one opens it.
      const isSecond = map.cursor === cell;
      moveTo(cell);
      if (lastPointer !== 'touch' || isSecond) openAt(cell);
      return;
    }
    const group = map.groupAt(clientX, clientY);
    if (group !== undefined && group >= 0) go({ group: cells.layout.groups[group]?.name ?? 'others', page: undefined });
  });

  byId('flow').addEventListener('pointermove', ({ clientX, clientY }) => {
    const at = flow.at(clientX, clientY);
    tipAt(clientX, clientY, at && flowText(at));
  });
  byId('flow').addEventListener('click', ({ clientX, clientY }) =>
    changes.toggleMinute(flow.at(clientX, clientY)?.second),
  );
  byId('flow').addEventListener('pointerleave', () => tipAt(0, 0, undefined));
}
