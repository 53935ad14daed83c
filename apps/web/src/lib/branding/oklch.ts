// Only this module imports culori: `culori/fn` registers only the colour spaces that are used.
import {
  clampChroma,
  clampRgb,
  converter,
  modeLrgb,
  modeOklch,
  modeRgb,
  parseHex,
  type Rgb,
  useMode,
  wcagContrast,
} from 'culori/fn';

export interface Oklch {
  lightness: number;
  chroma: number;
  /** degrees */
  hue: number;
}

for (const mode of [modeRgb, modeLrgb, modeOklch]) useMode(mode);
const toOklch = converter('oklch');
const toRgb = converter('rgb');

/** Reads "#0a6c6c" or "#0cc". The hue of a grey is 0. */
export function fromHex(hex: string): Oklch {
  const { l, c, h } = toOklch(parseHex(hex) ?? { mode: 'rgb', r: 0, g: 0, b: 0 });
  return { lightness: l, chroma: c, hue: h ?? 0 };
}

/** Returns the same colour with its chroma reduced to what sRGB can show. */
export function withinScreen(colour: Oklch): Oklch {
  return { ...colour, chroma: clampChroma(culoriColour(colour), 'oklch').c };
}

/** Returns WCAG's contrast ratio, 1 to 21, of the colours as a screen shows them. */
export function contrast(one: Oklch, other: Oklch): number {
  return wcagContrast(onScreen(one), onScreen(other));
}

export function toCss({ lightness, chroma, hue }: Oklch): string {
  return `oklch(${lightness.toFixed(3)} ${chroma.toFixed(3)} ${hue.toFixed(1)})`;
}

function culoriColour({ lightness, chroma, hue }: Oklch) {
  return { mode: 'oklch' as const, l: lightness, c: chroma, h: hue };
}

function onScreen(colour: Oklch): Rgb {
  return clampRgb(toRgb(culoriColour(colour)));
}
