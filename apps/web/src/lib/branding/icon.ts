import { brandFill } from '#lib/branding/brand-css.ts';
import { escapeMarkup } from '#lib/branding/escape-markup.ts';
import { toCss } from '#lib/branding/oklch.ts';

const builtIn = '#005f5d';

/** The favicon: a gatehouse in the brand colour, on a background that is visible in both schemes. */
export function iconSvg({ name, brandColor }: { name: string; brandColor: string | null }): string {
  const { fill, ink } = brandFill(brandColor ?? builtIn, 'light');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke-linecap="round" stroke-linejoin="round">
<title>${escapeMarkup(name)}</title>
<rect width="32" height="32" rx="7" fill="${toCss(fill)}"/>
<g transform="translate(4.5 4) scale(0.96)" stroke="${toCss(ink)}" stroke-width="2.4">
<path d="M3 21V11a9 9 0 0 1 18 0v10"/><path d="M8 21v-9.5a4 4 0 0 1 8 0V21"/><path d="M2 21h20"/>
</g>
</svg>
`;
}
