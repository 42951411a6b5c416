// What a client prefers, by its header Accept (RFC 9110, 12.5.1).

/** The quality value that a client gives to a media type; 0: it does not accept it. */
export function qualityOf(
  accept: string,
  type: string,
  version: (text: string | undefined) => boolean = () => true,
): number {
  let best = 0;
  for (const part of accept.split(',')) {
    const [media = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase());
    if (media !== type) continue;
    const value = (name: string) => parameters.find(text => text.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(value('q') ?? 1);
    if (version(value('version')) && quality > best) best = quality;
  }
  return best;
}
