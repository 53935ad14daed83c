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

/** What theme.css names --fill, --fill-hover, --fill-ink and --fill-line: of primary buttons and finished steps. */
interface Fill {
  fill: Oklch;
  hover: Oklch;
  /** Black or white, whichever is readable on both. */
  ink: Oklch;
  /** An outline where the brand colour hardly differs from the panel behind it; the fill itself elsewhere. */
  line: Oklch;
}

/** Below this contrast with the panel a fill needs an outline. #ffe600 has 1.26 on white. */
const visibleContrast = 1.15;
const panels = { light: { lightness: 1, chroma: 0, hue: 0 }, dark: { lightness: 0.222, chroma: 0.011, hue: 215 } };

/** The brand colour as it is, with readable ink: only text and links are darkened, or lightened, to be readable. */
export function brandFill(hex: string, scheme: 'light' | 'dark'): Fill {
  const fill = fromHex(hex);
  const [black, white] = [0, 1].map((lightness) => ({ lightness, chroma: 0, hue: 0 })) as [Oklch, Oklch];
  const ink = contrast(fill, black) >= contrast(fill, white) ? black : white;
  const away = ink === black ? 0.05 : -0.05;
  const hover = withinScreen({ ...fill, lightness: Math.min(1, Math.max(0, fill.lightness + away)) });
  const accent = scheme === 'light' ? lightAccent(hex) : darkAccent(hex);
  const line = contrast(fill, panels[scheme]) < visibleContrast ? accent.accent : fill;
  return { fill, hover, ink, line };
}

/** The style sheet that replaces the built-in accent with the brand colour, in both schemes. */
export function brandCss(hex: string): string {
  const [light, dark] = [lightAccent(hex), darkAccent(hex)];
  const names = Object.keys(variables) as (keyof Accent)[];
  const declarations = names.map((name) => `${variables[name]}:light-dark(${toCss(light[name])},${toCss(dark[name])})`);
  const [lightFill, darkFill] = [brandFill(hex, 'light'), brandFill(hex, 'dark')];
  // The fill is written as it was given: rounded, it would differ from the logo beside it.
  const written = (of: Fill, name: keyof Fill) => (of[name] === of.fill ? hex : toCss(of[name]));
  const fills = (Object.keys(fillVariables) as (keyof Fill)[]).map(
    (name) => `${fillVariables[name]}:light-dark(${written(lightFill, name)},${written(darkFill, name)})`,
  );
  return `:root:root{${[...declarations, ...fills].join(';')}}\n`;
}

const fillVariables: Record<keyof Fill, string> = {
  fill: '--fill',
  hover: '--fill-hover',
  ink: '--fill-ink',
  line: '--fill-line',
};

const variables: Record<keyof Accent, string> = {
  accent: '--accent',
  hover: '--accent-hover',
  ink: '--accent-ink',
  wash: '--accent-wash',
  ring: '--ring',
};
