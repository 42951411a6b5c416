// Expands a host list in the order in which it is written: login1,rack[1-2]n[01-48]. Reads what the server has folded
// and what users type; an invalid list is reported and never guessed. Pure.

/** No list that is useful on a page has more names. */
const MOST = 1_000_000;

/** Splits the list at the commas outside of brackets; undefined if brackets do not match. */
function parts(list: string): string[] | undefined {
  const found: string[] = [];
  let [begin, inside] = [0, false];
  for (let at = 0; at < list.length; at++) {
    const character = list[at];
    if (character === '[') {
      if (inside) return undefined;
      inside = true;
    } else if (character === ']') {
      if (!inside) return undefined;
      inside = false;
    } else if (character === ',' && !inside) {
      found.push(list.slice(begin, at));
      begin = at + 1;
    }
  }
  if (inside) return undefined;
  found.push(list.slice(begin));
  return found;
}

/** The numbers in one pair of brackets as they are written; undefined if they are invalid. */
function numbers(text: string, room: number): string[] | undefined {
  const found: string[] = [];
  for (const range of text.split(',')) {
    const [, low, high = low] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range) ?? [];
    if (low === undefined || high === undefined) return undefined;
    const [first, last] = [Number(low), Number(high)];
    if (last < first || last - first >= room) return undefined;
    for (let number = first; number <= last; number++) found.push(String(number).padStart(low.length, '0'));
  }
  return found;
}

/** The names of a host list; undefined if it is invalid. An empty text is an empty list. */
export function expand(list: string): string[] | undefined {
  const text = list.trim();
  if (text === '') return [];
  const names: string[] = [];
  for (const part of parts(text) ?? ['']) {
    if (!/^[A-Za-z0-9._[\],-]+$/.test(part)) return undefined;
    // Fixed texts at even places, the contents of brackets at odd ones.
    const pieces = part.split(/[[\]]/);
    let made = [pieces[0] as string];
    for (let i = 1; i < pieces.length; i += 2) {
      const written = numbers(pieces[i] as string, MOST);
      if (written === undefined || made.length * written.length > MOST) return undefined;
      const behind = pieces[i + 1] as string;
      made = made.flatMap(before => written.map(digits => `${before}${digits}${behind}`));
    }
    if (names.length + made.length > MOST) return undefined;
    for (const name of made) names.push(name);
  }
  return names;
}

/** The names as a host list in their order: neighbours with consecutive last numbers become a range. */
export function foldRuns(names: readonly string[]): string {
  const parts: string[] = [];
  let [prefix, width] = ['', 0];
  let ranges: [first: number, last: number][] = [];
  const write = (number: number) => String(number).padStart(width, '0');
  const close = () => {
    const texts = ranges.map(([first, last]) => (first === last ? write(first) : `${write(first)}-${write(last)}`));
    if (texts.length > 0)
      parts.push(prefix + (texts.join('') === write(ranges[0]?.[0] ?? 0) ? texts[0] : `[${texts}]`));
    ranges = [];
  };
  for (const name of names) {
    const [, before = '', digits = ''] = /^(.*?)(\d{1,15})$/.exec(name) ?? [];
    if (digits === '' || before !== prefix || digits.length !== width) close();
    if (digits === '') parts.push(name);
    else {
      [prefix, width] = [before, digits.length];
      const last = ranges.at(-1);
      if (last !== undefined && Number(digits) === last[1] + 1) last[1]++;
      else ranges.push([Number(digits), Number(digits)]);
    }
  }
  close();
  return parts.join(',');
}

/** Whether a typed text is a condition and not a host list: only conditions have comparisons. */
export function isCondition(text: string): boolean {
  return /[<>=!~&|()]/.test(text);
}
