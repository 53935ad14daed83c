import { createGatehouse, type Gatehouse, GatehouseError } from '@gatehouse/client';
import { Hono } from 'hono';
import { createNote, maxCharacters } from './create-note.ts';
import type { Store } from './store.ts';

type ApiOptions = { gatehouse: Gatehouse; store: Store; origin: string };

/**
 * The API of notes, for the programs of a customer. They authenticate with an API key of their organisation, created
 * at /keys in Gatehouse. This service exchanges it for a token to learn its scopes, and does not store it.
 */
export function notesApi({ gatehouse, store, origin }: ApiOptions) {
  const api = new Hono<{ Variables: { organisation: string; writes: boolean } }>();

  api.use(async (c, next) => {
    const key = /^Bearer (gh_\S+)$/.exec(c.req.header('authorization') ?? '')?.[1];
    if (key === undefined) return c.json({ error: 'Send an API key of your organisation.' }, 401);
    const asKey = createGatehouse({ url: gatehouse.url, publicUrl: gatehouse.publicUrl, apiKey: key, cache: false });
    const { token } = await asKey.tokens.issueForKey({ audience: origin });
    const { organisation, scopes } = await gatehouse.tokens.verify(token, { audience: origin });
    if (organisation === null) return c.json({ error: 'This API key belongs to no organisation.' }, 403);
    c.set('organisation', organisation);
    c.set('writes', scopes.includes('WRITE'));
    await next();
  });

  api.get('/notes', (c) =>
    c.json({ notes: store.of(c.get('organisation')).map(({ id, text, at }) => ({ id, text, at })) }),
  );

  api.post('/notes', async (c) => {
    if (!c.get('writes')) return c.json({ error: 'This API key only reads.' }, 403);
    const { text } = await c.req.json<{ text?: unknown }>().catch(() => ({ text: null }));
    if (typeof text !== 'string' || text.trim() === '' || text.length > maxCharacters) {
      return c.json({ error: `A note needs a text of at most ${maxCharacters} characters.` }, 400);
    }
    const id = await createNote(gatehouse, store, { organisation: c.get('organisation'), author: null, text });
    return c.json({ id });
  });

  // Gatehouse's own sentence, code and status: a revoked key is a 401 here too, a reached limit a 403.
  api.onError((error, c) => {
    if (!(error instanceof GatehouseError)) throw error;
    const { status, code, message } = error;
    return c.json({ error: message, code }, status === 401 || status === 403 ? status : 503);
  });
  return api;
}
