// Copies the migrations into a build: `node copy-migrations.mjs FOLDER` makes FOLDER/migrations.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [target] = process.argv.slice(2);
if (!target) throw new Error('Name the folder of the build.');

const source = fileURLToPath(new URL('src/platform/db/migrations', import.meta.url));
const folder = path.resolve(target, 'migrations');
fs.rmSync(folder, { recursive: true, force: true });
// The snapshots are for db:generate alone.
fs.cpSync(source, folder, { recursive: true, filter: (file) => !file.endsWith('_snapshot.json') });
