// Reads the XML that Grid Engine's commands print: elements, their attributes and texts. What is not one whole document is
// no answer. Knows no element by name, and nothing of namespaces, comments and document types, which they do not print.

import { NoAnswer } from '../../schedulerfile/scheduler.js';
import { brief } from '../../text/text.js';

/** Called at the beginning and at the end of each element, inner ones first at their ends. */
interface XmlHandlers {
  readonly begin?: (name: string, attribute: (name: string) => string) => void;
  /** `text`: what stands in it, without what stands in inner ones. */
  readonly end: (name: string, text: string, attribute: (name: string) => string) => void;
}

/** A tag with its attributes, or a text. Each character belongs to one alternative only, so none is looked at twice. */
const TOKEN = /<(\/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+=(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/y;
const PROLOG = /^\s*<\?xml[^>]*\?>/;
const ATTRIBUTE = /([\w.:-]+)=(?:"([^"]*)"|'([^']*)')/g;

/** Grid Engine itself writes `%lt;` in place of one of them. */
const ENTITY = /[&%](lt|gt|amp|apos|quot);/g;
const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', apos: "'", quot: '"' };

const decoded = (text: string) =>
  /[&%]/.test(text) ? text.replace(ENTITY, (_, name: string) => CHARACTERS[name] as string) : text;

/** The value of an attribute, empty if it is missing. */
function attributesOf(text: string): (name: string) => string {
  return wanted => {
    for (const [, name, double, single] of text.matchAll(ATTRIBUTE))
      if (name === wanted) return decoded(double ?? single ?? '');
    return '';
  };
}

/** Reads a document whose outermost element is `root`; `command`: who printed it. Throws a NoAnswer. */
export function readXml(text: string, root: string, command: string, { begin, end }: XmlHandlers): void {
  const open: { name: string; text: string; attribute: ReturnType<typeof attributesOf> }[] = [];
  let isOver = false;
  const refuse = (at: number) =>
    new NoAnswer(
      `${command} did not print the whole of a <${root}> document; at character ${at}: ${brief(text.slice(at, at + 200), 60)}`,
    );
  const close = (name: string, at: number) => {
    const last = open.pop();
    if (last?.name !== name) throw refuse(at);
    isOver = open.length === 0;
    end(name, decoded(last.text), last.attribute);
  };
  TOKEN.lastIndex = PROLOG.exec(text)?.[0].length ?? 0;
  for (let at = TOKEN.lastIndex; at < text.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) throw refuse(at);
    // By their indices: iterators over so many tokens would take a fifth of the time.
    const { 0: token, 1: slash, 2: name, 3: attributes = '', 4: isEmpty } = match;
    const last = open.at(-1);
    if (name === undefined) {
      if (last !== undefined) last.text += token;
      else if (token.trim() !== '') throw refuse(at);
    } else if (slash === '/') {
      if (attributes !== '' || isEmpty === '/') throw refuse(at);
      close(name, at);
    } else {
      if (isOver || (last === undefined && name !== root)) throw refuse(at);
      const attribute = attributesOf(attributes);
      open.push({ name, text: '', attribute });
      begin?.(name, attribute);
      if (isEmpty === '/') close(name, at);
    }
  }
  if (!isOver) throw refuse(text.length);
}
