// The colours of a reading. Grey, so that nothing but trouble has a colour; or in hues: a uniform scale, computed in
// OKLCH so that equal steps of the value look equal, and each colour is lighter (on a dark page) or darker (on a light
// one) than the one before, from violet over blue and green to lime: red, orange and pink are reserved for states. Pure.

/** The number of colours: values fall into as many equal parts. */
export const STEPS = 256;

export type Rgb = readonly [red: number, green: number, blue: number];

/** One end of the scale: lightness 0..1, chroma, hue in degrees. */
type Lch = readonly [lightness: number, chroma: number, hue: number];

/** The low and high end of the scale. High values stand out from the page, low ones recede. */
const ENDS: Readonly<Record<Theme, readonly [low: Lch, high: Lch]>> = {
  dark: [
    [0.3, 0.1, 292],
    [0.9, 0.16, 118],
  ],
  light: [
    [0.93, 0.08, 118],
    [0.33, 0.13, 292],
  ],
};

export type Theme = 'dark' | 'light';

/** From linear light to a screen's values, 0..255; out of range if the screen cannot show the colour. */
function encode(linear: number): number {
  return 255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055);
}

/** OKLCH in sRGB, as Björn Ottosson defines it. */
function rgbOf([lightness, chroma, hue]: Lch): Rgb {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** The nearest colour that a screen can show: with less chroma, and the same lightness and hue. */
function oklch([lightness, chroma, hue]: Lch): Rgb {
  for (let c = chroma; ; c -= 0.002) {
    const rgb = rgbOf([lightness, Math.max(0, c), hue]);
    if (c <= 0 || rgb.every(part => part > -0.5 && part < 255.5))
      return rgb.map(part => Math.min(255, Math.max(0, Math.round(part)))) as unknown as Rgb;
  }
}

/** The colours between two, from low to high. */
export function shades(low: Rgb, high: Rgb): Rgb[] {
  const part = (step: number, i: 0 | 1 | 2) => Math.round(low[i] + ((high[i] - low[i]) * step) / (STEPS - 1));
  return Array.from({ length: STEPS }, (_, step) => [part(step, 0), part(step, 1), part(step, 2)] as const);
}

/** The hues from low to high. */
export function palette(theme: Theme): Rgb[] {
  const [low, high] = ENDS[theme];
  return Array.from({ length: STEPS }, (_, step) => {
    const t = step / (STEPS - 1);
    const at = (i: 0 | 1 | 2) => low[i] + (high[i] - low[i]) * t;
    // A screen can show less of blue green than of either end.
    return oklch([at(0), at(1) - 0.02 * Math.sin(Math.PI * t), at(2)]);
  });
}

/** The index of the colour for a cell's value, 0 to VALUE_MOST. */
export function stepOf(value: number, most: number): number {
  return Math.min(STEPS - 1, Math.floor((value * STEPS) / (most + 1)));
}

/** In the byte order of an ImageData in a little-endian word; opaque. */
export function word([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** In CSS syntax. */
export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** Parses a colour of a style sheet, `#rrggbb`; black for anything else. */
export function fromHex(text: string): Rgb {
  const [, red = '0', green = '0', blue = '0'] = /^\s*#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\s*$/i.exec(text) ?? [];
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

/** The hues of names, which are not those of trouble: consecutive ones are far apart. */
const HUES = { first: 125, count: 195, apart: 120.5 } as const;

/** The colour of a name: always the same. */
export function colourOf(name: string, theme: Theme): Rgb {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return oklch([theme === 'dark' ? 0.72 : 0.58, 0.12, HUES.first + (((hash >>> 0) * HUES.apart) % HUES.count)]);
}
