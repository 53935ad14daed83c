import { contrast, fromHex, type Oklch, toCss, withinScreen } from '#lib/branding/oklch.ts';

/** The colours that theme.css names --accent, --accent-hover, --accent-ink, --accent-wash and --ring. */
interface Accent {
  accent: Oklch;
  hover: Oklch;
  ink: Oklch;
  wash: Oklch;
  ring: Oklch;
}

// Slightly above WCAG's 4.5, because the browser rounds colours to whole steps.
const textContrast = 4.6;
const step = 0.005;
const greyChroma = 0.03;

/** The accent's tones in the light scheme: dark enough for text on a wash, and never lighter than the brand colour. */
export function lightAccent(hex: string): Accent {
  const brand = fromHex(hex);
  const wash = withinScreen({ ...brand, lightness: 0.955, chroma: Math.min(brand.chroma, 0.022) });
  const ink = { lightness: 0.99, chroma: 0.005, hue: brand.hue };

  let lightness = Math.min(brand.lightness, 0.6);
  while (contrast(withinScreen({ ...brand, lightness }), wash) < textContrast) lightness -= step;
  return tones(brand, { lightness, hover: Math.max(0, lightness - 0.05), ring: 0.62, wash, ink });
}

/** The accent's tones in the dark scheme, where the accent is light and the text on it is dark. */
export function darkAccent(hex: string): Accent {
  const brand = fromHex(hex);
  const wash = withinScreen({ ...brand, lightness: 0.275, chroma: Math.min(brand.chroma, 0.032) });
  const ink = withinScreen({ lightness: 0.2, chroma: Math.min(brand.chroma, 0.03), hue: brand.hue });

  // A grey button looks disabled, so a colour without a hue becomes nearly white.
  let lightness = Math.max(brand.lightness, brand.chroma < greyChroma ? 0.86 : 0.7);
  while (contrast(withinScreen({ ...brand, lightness }), wash) < textContrast) lightness += step;
  lightness = Math.min(lightness, 0.92);
  return tones(brand, { lightness, hover: lightness + 0.05, ring: 0.7, wash, ink });
}

function tones(brand: Oklch, at: { lightness: number; hover: number; ring: number; wash: Oklch; ink: Oklch }): Accent {
  return {
    accent: withinScreen({ ...brand, lightness: at.lightness }),
    hover: withinScreen({ ...brand, lightness: at.hover }),
    ring: withinScreen({ ...brand, lightness: at.ring }),
    ink: at.ink,
    wash: at.wash,
  };
}

/** The style sheet that replaces the built-in accent with the brand colour, in both schemes. */
export function brandCss(hex: string): string {
  const [light, dark] = [lightAccent(hex), darkAccent(hex)];
  const names = Object.keys(variables) as (keyof Accent)[];
  const declarations = names.map((name) => `${variables[name]}:light-dark(${toCss(light[name])},${toCss(dark[name])})`);
  return `:root:root{${declarations.join(';')}}\n`;
}

const variables: Record<keyof Accent, string> = {
  accent: '--accent',
  hover: '--accent-hover',
  ink: '--accent-ink',
  wash: '--accent-wash',
  ring: '--ring',
};
