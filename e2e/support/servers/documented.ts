import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the code blocks of docs/proxies.md in a language, in their order, so that the stories run what is documented. */
export function documentedBlocks(language: string): string[] {
  const page = fs.readFileSync(fileURLToPath(new URL('../../../docs/proxies.md', import.meta.url)), 'utf8');
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, block]) => block ?? '',
  );
  if (blocks.length === 0) throw new Error(`docs/proxies.md has no block of ${language}.`);
  return blocks;
}
