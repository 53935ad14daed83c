import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the README's code blocks in a language. */
export function readmeBlocks(language: string): string[] {
  const readme = fs.readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8');
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, block]) => block ?? '',
  );
  if (blocks.length === 0) throw new Error(`The README has no block of ${language}.`);
  return blocks;
}
