import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ariaCurrent, topLinks } from './navigation.ts';

const pages = fs
  .globSync('**/+page.svelte', { cwd: path.resolve(import.meta.dirname, '../../routes/(app)') })
  .map((file) => `/${path.dirname(file)}`.replaceAll(/\/\([^)]+\)|\/\.$/g, '') || '/');

it.each(pages)('the top bar marks one link as current on %s', (page) => {
  const marked = topLinks({ operator: true }).filter((link) => ariaCurrent(page, link) !== undefined);
  expect(marked).toHaveLength(1);
});

it('the keys and the settings of an organisation are under Members', () => {
  const members = topLinks({ operator: false }).find(({ href }) => href === '/members') ?? { href: '' };
  expect(['/members', '/organisation', '/keys', '/membership'].map((page) => ariaCurrent(page, members))).toEqual([
    'page',
    'true',
    'true',
    undefined,
  ]);
});
