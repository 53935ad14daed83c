import { expect, it } from 'vitest';
import { iconSvg } from './icon.ts';

it('names the service, escaped', () => {
  const svg = iconSvg({ name: 'Larch & <script>alert(1)</script>', brandColor: null });
  expect(svg).toContain('<title>Larch &amp; &lt;script&gt;alert(1)&lt;/script&gt;</title>');
});

it.each(['#fff6c2', '#0b0b10', '#f0f'])('is in the colour %s, and another one for another colour', (brandColor) => {
  const svg = iconSvg({ name: 'Larch', brandColor });
  expect(svg).toMatch(/fill="oklch\([\d. ]+\)"/);
  expect(svg).not.toBe(iconSvg({ name: 'Larch', brandColor: null }));
});
