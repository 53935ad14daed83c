import { createGatehouse } from '@gatehouse/client';
import { serve } from '@hono/node-server';
import { notesApp } from './app.ts';
import { correctMeters } from './create-note.ts';
import { followDeletions } from './follow-changes.ts';
import { openStore } from './store.ts';

const { GATEHOUSE_URL = 'http://localhost:3000', GATEHOUSE_API_KEY = '', NOTES_FILE = 'notes.json' } = process.env;
// Where browsers reach Gatehouse, if GATEHOUSE_URL is an address of the internal network.
const { GATEHOUSE_PUBLIC_URL = GATEHOUSE_URL } = process.env;
const port = Number(process.env.NOTES_PORT ?? 3003);
const origin = process.env.NOTES_ORIGIN ?? `http://localhost:${port}`;

const gatehouse = createGatehouse({
  url: GATEHOUSE_URL,
  publicUrl: GATEHOUSE_PUBLIC_URL,
  apiKey: GATEHOUSE_API_KEY,
  // While Gatehouse is away, notes can be read: by who was signed in, for the five minutes of a token.
  failOpen: { sessionAudience: origin, entitlementsMilliseconds: 3_600_000 },
});
const store = openStore(NOTES_FILE);
// In the background, because Gatehouse may be away.
correctMeters(gatehouse, store).catch((error: Error) => console.error('Meters could not be corrected:', error.message));
const following = followDeletions(gatehouse, store);
const server = serve({ fetch: notesApp({ gatehouse, store, origin }).fetch, port, hostname: '127.0.0.1' }, () =>
  console.log(`Notes is up: ${origin}`),
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    server.close();
    await Promise.all([following.close(), gatehouse.close()]);
    process.exit(0);
  });
}
