import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandCss, brandFill, darkAccent, lightAccent } from './brand-css.ts';
import { contrast, fromHex, toCss } from './oklch.ts';

const hex = fc.integer({ min: 0, max: 0xffffff }).map((colour) => `#${colour.toString(16).padStart(6, '0')}`);

// As in theme.css: the backgrounds of the accent.
const light = [
  { lightness: 0.979, chroma: 0.004, hue: 106 },
  { lightness: 1, chroma: 0, hue: 0 },
];
const dark = [
  { lightness: 0.185, chroma: 0.01, hue: 215 },
  { lightness: 0.222, chroma: 0.011, hue: 215 },
];

test('links and buttons are readable in both schemes with any brand colour', () => {
  fc.assert(
    fc.property(hex, (colour) => {
      for (const [tones, backgrounds] of [
        [lightAccent(colour), light],
        [darkAccent(colour), dark],
      ] as const) {
        for (const background of [...backgrounds, tones.wash]) {
          expect(contrast(tones.accent, background)).toBeGreaterThanOrEqual(4.5);
        }
        expect(contrast(tones.ink, tones.accent)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(tones.ink, tones.hover)).toBeGreaterThanOrEqual(4.5);
      }
    }),
  );
});

test('the brand colour itself is the fill, with readable ink', () => {
  fc.assert(
    fc.property(hex, fc.constantFrom('light' as const, 'dark' as const), (colour, scheme) => {
      const { fill, hover, ink } = brandFill(colour, scheme);
      expect(fill).toEqual(fromHex(colour));
      expect(contrast(ink, fill)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(ink, hover)).toBeGreaterThanOrEqual(4.5);
    }),
  );
});

test('#ffe600 stays yellow, and is darkened for text alone', () => {
  const { fill, line } = brandFill('#ffe600', 'light');
  expect(line).toEqual(fill);
  expect(brandCss('#ffe600')).toContain('--fill:light-dark(#ffe600,#ffe600)');
  expect(lightAccent('#ffe600').accent.lightness).toBeLessThan(fill.lightness - 0.2);
});

test('a fill that hardly differs from the panel has an outline', () => {
  for (const [colour, scheme] of [
    ['#fffbe6', 'light'],
    ['#0b0b10', 'dark'],
  ] as const) {
    const { fill, line } = brandFill(colour, scheme);
    expect(contrast(line, fill)).toBeGreaterThan(2);
  }
});

test('a colour that is dark enough is not changed', () => {
  expect(lightAccent('#005f5d').accent.lightness).toBeCloseTo(fromHex('#005f5d').lightness, 3);
});

test('three digits mean the same as six', () => {
  expect(brandCss('#0cc').replaceAll('#0cc', '#00cccc')).toBe(brandCss('#00cccc'));
});

test('white has the lightness 1, and its contrast with black is 21', () => {
  expect(toCss(fromHex('#ffffff'))).toMatch(/^oklch\(1\.000 0\.000 /);
  expect(contrast(fromHex('#ffffff'), fromHex('#000000'))).toBeCloseTo(21, 1);
});
