import fs from 'node:fs';
import path from 'node:path';
import { generate } from './generate.ts';
import { folder, readLanguageFiles } from './read-files.ts';

/** `npm run languages`: writes `generated/` anew. */
fs.rmSync(path.join(folder, 'generated'), { recursive: true, force: true });
for (const [file, source] of generate(readLanguageFiles())) {
  const to = path.join(folder, 'generated', file);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.writeFileSync(to, source);
}
