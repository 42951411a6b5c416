// The places of the map's cells: groups are blocks of equal height, side by side on shelves, each with room for its
// label; cells are as large as possible. All lengths are whole device pixels, so that all cells have the same size.
// Where cells are too small to be seen, those of a block that follow one another stand together in one place. Pure.

interface Room {
  readonly width: number;
  /** Undefined: as much as needed. */
  readonly height: number | undefined;
  /** Bounds of the side of a cell. */
  readonly least: number;
  readonly most: number;
  /** The height of the label over a block, and the distance between blocks. */
  readonly label: number;
  readonly gap: number;
  /** From this side on, cells are tiles with text, and as wide as possible. */
  readonly tile: number;
}

/** A group on the map. Its places run along its rows; the last row may be short. */
export interface GroupBlock extends Member {
  /** Its number of places. */
  readonly places: number;
  readonly columns: number;
  readonly rows: number;
  readonly x: number;
  readonly y: number;
  /** The same in the picture that has one pixel per cell. */
  readonly column: number;
  readonly row: number;
}

export interface MapPlan {
  /** The height of a cell, and its width, which differs only for tiles. */
  readonly side: number;
  readonly wide: number;
  /** Whether a place has several cells. */
  readonly isGrained: boolean;
  readonly blocks: readonly GroupBlock[];
  /** The blocks of each shelf, from the top. */
  readonly shelves: readonly (readonly number[])[];
  readonly height: number;
  /** The size of the picture with one pixel per cell. */
  readonly pictureWidth: number;
  readonly pictureHeight: number;
}

/** The input of the layout: groups with the indices of their cells, of which so many stand together in one place. */
export interface Member {
  readonly group: number;
  readonly first: number;
  readonly count: number;
  readonly grain?: number;
}

const placesOf = ({ count, grain = 1 }: Member) => Math.ceil(count / grain);

/** The place of a cell in its block, and the cells of a place. */
export const placeOf = ({ first, grain = 1 }: Member, cell: number) => Math.floor((cell - first) / grain);
export function cellsAt({ first, count, grain = 1 }: Member, place: number): { first: number; count: number } {
  return { first: first + place * grain, count: Math.min(grain, count - place * grain) };
}

/** The heights of blocks, in cells, that are tried: all small ones, then in steps of a twentieth. */
function* heights(most: number): Generator<number> {
  for (let rows = 1; rows < most; rows = Math.max(rows + 1, Math.floor(rows * 1.05))) yield rows;
  yield most;
}

/** How many shelves are needed, and how wide the widest is; Infinity if a block is wider than a shelf. */
function shelve(members: readonly Member[], rows: number, side: number, room: Room) {
  let [shelves, widest, x] = [1, 0, 0];
  for (const member of members) {
    const wide = Math.ceil(placesOf(member) / rows) * side;
    if (wide > room.width) return { shelves: Number.POSITIVE_INFINITY, widest };
    if (x > 0 && x + wide > room.width) [shelves, x] = [shelves + 1, 0];
    widest = Math.max(widest, x + wide);
    x += wide + room.gap;
  }
  return { shelves, widest };
}

const heightOf = (shelves: number, rows: number, side: number, { label, gap }: Room) =>
  shelves * (label + rows * side) + (shelves - 1) * gap;

/** The largest side at which blocks with so many rows fit; 0: none. */
function largestSide(members: readonly Member[], rows: number, room: Room): number {
  const fits = (side: number) => {
    const { shelves } = shelve(members, rows, side, room);
    return shelves < Number.POSITIVE_INFINITY && heightOf(shelves, rows, side, room) <= (room.height as number);
  };
  let [low, high] = [0, room.most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The largest ratio of a tile's width to its height. */
const WIDEST = 2.2;

/** The preferred ratio of a block's width to its height. */
const ASPECT = 1.5;
/** By how much cells may be smaller for blocks of a better shape. */
const SLACK = 0.92;

function choose(members: readonly Member[], room: Room): { rows: number; side: number } {
  const places = members.map(placesOf);
  const largest = Math.max(1, ...places);
  const all = places.reduce((sum, count) => sum + count, 0);
  const tried = [...heights(largest)].map(rows => ({
    rows,
    side: room.height === undefined ? room.least : largestSide(members, rows, room),
  }));
  const best = Math.max(...tried.map(({ side }) => side));
  if (best < room.least) return choose(members, { ...room, height: undefined });
  let chosen = { rows: 1, side: room.least };
  let least = Number.POSITIVE_INFINITY;
  for (const { rows, side } of tried) {
    if (side < best * SLACK) continue;
    const { shelves, widest } = shelve(members, rows, side, room);
    if (shelves === Number.POSITIVE_INFINITY) continue;
    const empty = places.reduce((sum, count) => sum + Math.ceil(count / rows) * rows - count, 0) / all;
    const shape = Math.abs(Math.log(Math.ceil(largest / rows) / rows / ASPECT));
    const tall = room.height === undefined ? heightOf(shelves, rows, side, room) / room.width : 0;
    const unused = side >= room.tile ? 0 : 1 - widest / room.width;
    const cost = empty + 0.2 * shape + 2 * (1 - side / best) + tall + unused;
    if (cost < least) [chosen, least] = [{ rows, side }, cost];
  }
  return chosen;
}

/** Lays groups out in the room; if even the smallest cells do not fit, the map is higher than the room. */
export function plan(members: readonly Member[], room: Room): MapPlan {
  const shownMembers = members.filter(({ count }) => count > 0);
  const { rows, side } = choose(shownMembers, room);
  const most = Math.max(1, Math.floor(room.width / side));
  // A block that is too wide at this height gets more rows.
  const columnsOf = (member: Member) => Math.min(most, Math.ceil(placesOf(member) / rows));
  const shelves: number[][] = [[]];
  const columnsIn = [0];
  let x = 0;
  for (const [index, member] of shownMembers.entries()) {
    const columns = columnsOf(member);
    if (x > 0 && x + columns * side > room.width) {
      shelves.push([]);
      columnsIn.push(0);
      x = 0;
    }
    shelves.at(-1)?.push(index);
    columnsIn[shelves.length - 1] = (columnsIn.at(-1) as number) + columns;
    x += columns * side + room.gap;
  }
  const wides = shelves.map((shelf, i) =>
    Math.floor((room.width - (shelf.length - 1) * room.gap) / Math.max(1, columnsIn[i] as number)),
  );
  const wide = side < room.tile ? side : Math.max(side, Math.min(Math.floor(side * WIDEST), ...wides));
  const blocks: GroupBlock[] = [];
  let pictureWidth = 1;
  for (const [shelf, indices] of shelves.entries()) {
    let column = 0;
    x = 0;
    const y = room.label + shelf * (room.label + rows * side + room.gap);
    for (const index of indices) {
      const member = shownMembers[index] as Member;
      const [columns, places] = [columnsOf(member), placesOf(member)];
      blocks.push({ ...member, places, columns, rows: Math.ceil(places / columns), x, y, column, row: shelf * rows });
      column += columns;
      x += columns * wide + room.gap;
    }
    pictureWidth = Math.max(pictureWidth, column);
  }
  const bottom = Math.max(0, ...blocks.map(block => block.y + block.rows * side));
  const pictureHeight = Math.max(1, ...blocks.map(block => block.row + block.rows));
  const isGrained = blocks.some(({ count, places }) => places < count);
  return { side, wide, isGrained, blocks, shelves, height: bottom, pictureWidth, pictureHeight };
}

/**
 * The same where a cell would be smaller than `least`: then a place has a whole group, or as many as leave it `wanted`.
 * Groups that are too many even so have nothing between them, and the rest of them is below.
 */
export function planSeen(members: readonly Member[], room: Room, least: number, wanted: number): MapPlan {
  const fine = plan(members, room);
  if (fine.side >= least) return fine;
  const grained = (most: number) =>
    members.map(member => ({ ...member, grain: Math.max(1, Math.min(most, member.count)) }));
  const groups = grained(Number.POSITIVE_INFINITY);
  const whole = plan(groups, room);
  if (whole.side < wanted) return plan(groups, { ...room, label: 0, gap: 0, least: least + 1 });
  if (whole.side <= 2 * wanted) return whole;
  for (let grain = Math.ceil((wanted / fine.side) ** 2 / 2); ; grain = Math.ceil(grain * 1.2)) {
    const made = plan(grained(grain), room);
    if (made.side >= wanted) return made;
  }
}

/** The height of the bar for that share of a place's nodes: at least 3 CSS pixels, and as many as make it 36 large. */
export const barOf = (wide: number, high: number, share: number, unit: number) =>
  Math.min(high, Math.ceil(Math.max(3 * unit, (36 * unit * unit) / wide, high * share)));

/** The block of a cell: blocks are in the order of their cells. */
export function blockOf({ blocks }: MapPlan, cell: number): GroupBlock | undefined {
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((blocks[middle] as GroupBlock).first <= cell) low = middle;
    else high = middle - 1;
  }
  const block = blocks[low];
  return block !== undefined && cell >= block.first && cell < block.first + block.count ? block : undefined;
}

/** The upper left corner of a cell. */
export function cornerOf({ side, wide }: MapPlan, block: GroupBlock, cell: number): { x: number; y: number } {
  const { columns, x, y } = block;
  const k = placeOf(block, cell);
  return { x: x + (k % columns) * wide, y: y + Math.floor(k / columns) * side };
}

/** The cell at a point of the map, of several the first; undefined if there is none. */
export function cellAt({ blocks, side, wide }: MapPlan, x: number, y: number): number | undefined {
  for (const block of blocks) {
    const [column, row] = [Math.floor((x - block.x) / wide), Math.floor((y - block.y) / side)];
    if (column < 0 || row < 0 || column >= block.columns || row >= block.rows) continue;
    const k = row * block.columns + column;
    return k < block.places ? cellsAt(block, k).first : undefined;
  }
  return undefined;
}

/** The group whose label or cells are at a point; undefined if there is none. */
export function blockAt({ blocks, side, wide }: MapPlan, x: number, y: number, label: number): GroupBlock | undefined {
  return blocks.find(
    block =>
      x >= block.x &&
      x < block.x + Math.max(block.columns * wide, label * 3) &&
      y >= block.y - label &&
      y < block.y + block.rows * side,
  );
}

export type ArrowDirection = 'left' | 'right' | 'up' | 'down';

/** The cell that an arrow key leads to, the first of its place; the same cell at the edge of the map. */
export function next(map: MapPlan, cell: number, direction: ArrowDirection): number {
  const block = blockOf(map, cell);
  if (block === undefined) return map.blocks[0]?.first ?? cell;
  const place = placeOf(block, cell);
  if (direction === 'left' || direction === 'right') {
    const to = place + (direction === 'left' ? -1 : 1);
    if (to >= 0 && to < block.places) return cellsAt(block, to).first;
    const other = map.blocks[map.blocks.indexOf(block) + (direction === 'left' ? -1 : 1)];
    if (other === undefined) return cell;
    return direction === 'left' ? cellsAt(other, other.places - 1).first : other.first;
  }
  const to = place + (direction === 'up' ? -block.columns : block.columns);
  if (to >= 0 && to < block.places) return cellsAt(block, to).first;
  // The nearest cell on the shelf above or below.
  const at = map.shelves.findIndex(shelf => shelf.some(index => map.blocks[index] === block));
  const shelf = map.shelves[at + (direction === 'up' ? -1 : 1)];
  if (shelf === undefined) {
    // Below a short last row there is nothing; its end is nearest.
    const isShort = Math.floor(place / block.columns) < block.rows - 1;
    return direction === 'down' && isShort ? cellsAt(block, block.places - 1).first : cell;
  }
  const middle = cornerOf(map, block, cell).x + map.wide / 2;
  const off = ({ x, columns }: GroupBlock) => Math.max(x - middle, middle - x - columns * map.wide, 0);
  const nearest = shelf.map(index => map.blocks[index] as GroupBlock).reduce((a, b) => (off(b) < off(a) ? b : a));
  const column = Math.min(nearest.columns - 1, Math.max(0, Math.floor((middle - nearest.x) / map.wide)));
  const row = direction === 'up' ? nearest.rows - 1 : 0;
  return cellsAt(nearest, Math.min(nearest.places - 1, row * nearest.columns + column)).first;
}
