// What a client prefers, by its header Accept (RFC 9110, 12.5.1).

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The quality value that a client gives to a media type, or to a range as `text/*`; undefined: it names it nowhere. */
export function qualityOf(
  accept: string,
  type: string,
  version: (text: string | undefined) => boolean = () => true,
): number | undefined {
  let best: number | undefined;
  for (const part of accept.split(',')) {
    const [media = '', ...parameters] = part.split(';').map(text => text.replace(/\s/g, '').toLowerCase());
    if (media !== type) continue;
    const value = (name: string) => parameters.find(text => text.startsWith(`${name}=`))?.slice(name.length + 1);
    const given = value('q') ?? '1';
    // What is no quality value says nothing.
    if (QUALITY.test(given) && version(value('version'))) best = Math.max(best ?? 0, Number(given));
  }
  return best;
}

/** Whether a client asks for JSON, and likes text no better; who accepts anything does not ask for it. */
export function wantsJson(accept: string): boolean {
  const best = (...ranges: string[]) => ranges.map(range => qualityOf(accept, range)).find(q => q !== undefined) ?? 0;
  const json = best('application/json', 'application/*');
  return json > 0 && json >= best('text/plain', 'text/*', '*/*');
}
