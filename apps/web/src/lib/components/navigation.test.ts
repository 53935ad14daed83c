import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ariaCurrent, topLinks } from './navigation.ts';

/** Those of the account are in the avatar's menu. */
const pages = fs
  .globSync('**/+page.svelte', { cwd: path.resolve(import.meta.dirname, '../../routes/(app)') })
  .map((file) => `/${path.dirname(file)}`.replaceAll(/\/\([^)]+\)|\/\.$/g, '') || '/')
  .filter((page) => !page.startsWith('/account'));

it.each(pages)('the top bar marks one link as current on %s', (page) => {
  const marked = topLinks({ operator: true }).filter((link) => ariaCurrent(page, link) !== undefined);
  expect(marked).toHaveLength(1);
});

it('the top bar leads to Home, Members, Billing and Settings, and operators to their console', () => {
  const names = (operator: boolean) => topLinks({ operator }).map(({ name }) => name);
  expect(names(false)).toEqual(['Home', 'Members', 'Billing', 'Settings']);
  expect(names(true)).toEqual(['Home', 'Members', 'Billing', 'Settings', 'Operator']);
});

it('the organisation and its keys are under Settings', () => {
  const settings = topLinks({ operator: false }).find(({ href }) => href === '/organisation') ?? { href: '' };
  expect(['/organisation', '/keys', '/keysets', '/account'].map((page) => ariaCurrent(page, settings))).toEqual([
    'page',
    'true',
    undefined,
    undefined,
  ]);
});
