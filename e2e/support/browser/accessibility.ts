import fs from 'node:fs';
import { createRequire } from 'node:module';
import { type CDPSession, expect, type Page } from '@playwright/test';
import { twoFrames } from './frames.ts';

type Axe = {
  run: (on: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

const require = createRequire(import.meta.url);
const axeFile = createRequire(require.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js');
// With ASCII characters alone half as many bytes pass through the browser to each page.
const axeSource = fs
  .readFileSync(axeFile, 'utf8')
  .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const debuggers = new WeakMap<Page, CDPSession>();
const colourRules = ['color-contrast', 'link-in-text-block'];

/** The rules of axe to run in a colour scheme: all of them, or only or all but the named ones. */
type Rules = 'all' | { only: string[] } | { without: string[] };

/** Expects no finding of axe: of all rules in light, and in dark of those that a colour can break. */
export function expectAccessible(page: Page, name: string): Promise<void> {
  return expectNoFinding(page, name, { light: 'all', dark: { only: colourRules } });
}

/** Expects no finding of axe, in light and dark, of the rules that a company's colour can break. */
export function expectReadableColours(page: Page, name: string): Promise<void> {
  return expectNoFinding(page, name, { light: { only: colourRules }, dark: { only: colourRules } });
}

/**
 * Expects no finding of axe, of the rules that a page's language can break. The colours are the same in every language:
 * every-page.spec.ts checks them.
 */
export function expectAccessibleTexts(page: Page, name: string): Promise<void> {
  return expectNoFinding(page, name, { light: { without: colourRules } });
}

/** Checks a page by the given rules in each of the given colour schemes. */
async function expectNoFinding(page: Page, name: string, rulesIn: { light: Rules; dark?: Rules }): Promise<void> {
  await loadAxe(page);
  for (const [colorScheme, rules] of Object.entries(rulesIn) as ['light' | 'dark', Rules][]) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Otherwise axe can read a text's colour of one scheme and its background of the other.
    await twoFrames(page);
    const found = await page.evaluate(async (options) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run(document, {
        iframes: false,
        resultTypes: ['violations'],
        selectors: false,
        // Style sheets, which axe would read and parse again, are for experimental rules, which do not run.
        preload: { assets: ['media'] },
        ...options,
      });
      return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    }, optionsOf(rules));
    expect.soft(found, `${name}, ${colorScheme}`).toEqual([]);
  }
}

/**
 * Evaluates axe once for both colour schemes, unlike @axe-core/playwright, and by the debugger, which the policy of a
 * page does not forbid. Unlike `page.evaluate` the debugger's own command keeps the compiled code for the next page.
 */
async function loadAxe(page: Page): Promise<void> {
  // A document that is looked at in several states keeps it.
  if (await page.evaluate(() => 'axe' in globalThis)) return;

  const session = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, session);
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: axeSource });
  if (exceptionDetails) throw new Error(`axe could not be loaded: ${exceptionDetails.text}`);
}

function optionsOf(rules: Rules): object {
  if (rules === 'all') return {};
  if ('only' in rules) return { runOnly: rules.only };
  return { rules: Object.fromEntries(rules.without.map((id) => [id, { enabled: false }])) };
}
