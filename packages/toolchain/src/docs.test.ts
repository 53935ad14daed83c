import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const pages = fs.globSync(['*.md', 'docs/**/*.md', '{packages,apps,examples}/*/*.md', '.github/**/*.md'], {
  cwd: root,
});

it.each(pages)('every link of %s leads to a file, and to a heading of it', (page) => {
  const text = fs.readFileSync(path.join(root, page), 'utf8').replace(/```.*?```/gs, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !/^(https?|mailto):/.test(link) && !leadsSomewhere(page, link))).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [file, heading] = link.split('#');
  const target = path.join(root, file ? path.join(path.dirname(page), file) : page);
  if (!fs.existsSync(target)) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/** Returns what GitHub names the headings of a page. */
function headingsOf(file: string): string[] {
  const headings = fs.readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
