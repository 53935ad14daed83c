// Writes the generated part of 0000_initial.sql and its snapshot anew from the schema files, and keeps the part written
// by hand: `node packages/api/regenerate-initial.mjs`. For changes of the schema until 0.2.0 is released. After a merge
// conflict it needs the hand-written part resolved, and nothing else of the folder.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const marker = '-- Written by hand from here on.';
const id = '00000000-0000-4000-8000-000000000000';
const root = fileURLToPath(new URL('.', import.meta.url));
const folder = `${root}src/platform/db/migrations`;
const file = `${folder}/0000_initial.sql`;
const journal = `${folder}/meta/_journal.json`;
const snapshot = `${folder}/meta/0000_snapshot.json`;

const others = fs.readdirSync(folder).filter((name) => name.endsWith('.sql') && name !== '0000_initial.sql');
if (others.length > 0) throw new Error(`There are later migrations: ${others.join(', ')}.`);
const before = fs.readFileSync(file, 'utf8');
const byHand = before.slice(before.indexOf(marker));
if (!byHand.startsWith(marker)) throw new Error(`${file} has no line "${marker}".`);
if (/^(<<<<<<<|>>>>>>>)/m.test(byHand)) throw new Error('Resolve the conflict in the hand-written part first.');
const keptJournal = fs.readFileSync(journal, 'utf8');

const kept = `${folder}.kept`;
fs.renameSync(folder, kept);
try {
  const command = ['generate', '--name', 'initial'];
  execFileSync(`${root}node_modules/.bin/drizzle-kit`, command, { cwd: root, stdio: 'inherit' });
} catch (error) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(kept, folder);
  throw error;
}
fs.rmSync(kept, { recursive: true });
fs.appendFileSync(file, `\n--> statement-breakpoint\n${byHand}`);
// The same time and id for every change, so that two branches conflict in their tables alone.
fs.writeFileSync(journal, keptJournal);
fs.writeFileSync(snapshot, fs.readFileSync(snapshot, 'utf8').replace(/"id": "[^"]+"/, `"id": "${id}"`));
