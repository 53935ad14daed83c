// Opens the embedded database in the folder of its first argument, for tests that end this process in different ways.
import { openEmbedded } from '../embedded-postgres.ts';

const database = await openEmbedded(process.argv[2] ?? '');
database.onExit(() => console.log('gone'));
process.on('SIGTERM', async () => {
  await database.stop();
  process.exit(0);
});
setInterval(() => {}, 60_000);
console.log(`open ${JSON.stringify({ url: database.url, started: database.started })}`);
