import { type Gatehouse, GatehouseError, type Session } from '@gatehouse/client';
import { requireSession } from '@gatehouse/client/hono';
import { type Context, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { notesApi } from './api.ts';
import { createNote, deleteNote, maxCharacters } from './create-note.ts';
import { notesPage } from './pages.ts';
import type { Store } from './store.ts';

type Variables = { session: Session };
type RefusedNote = NonNullable<Parameters<typeof notesPage>[0]['refused']>;

/** The product: pages for signed-in users, and an API for their programs. */
export function notesApp({ gatehouse, store, origin }: { gatehouse: Gatehouse; store: Store; origin: string }) {
  const app = new Hono<{ Variables: Variables }>();
  app.route('/api', notesApi({ gatehouse, store, origin }));
  app.use(csrf({ origin }));

  // Each request asks Gatehouse, so a removed member loses access with the next one. Without an access it is the guard
  // that answers: a redirect to sign-in, or a plain page.
  app.get('/', requireSession(gatehouse, { origin }), (c) => page(c));

  app.post('/notes', requireSession(gatehouse, { origin, scope: 'WRITE' }), async (c) => {
    const { user } = c.get('session');
    // Browsers send line breaks as two characters, and count them as one in a field's maxlength.
    const sent = String((await c.req.parseBody()).text ?? '').replaceAll('\r\n', '\n');
    const text = sent.slice(0, maxCharacters);
    if (text.trim() === '') return c.redirect('/');
    try {
      await createNote(gatehouse, store, { organisation: organisationOf(c), author: user.id, text });
      return c.redirect('/');
    } catch (error) {
      if (!(error instanceof GatehouseError)) throw error;
      if (error.code === 'LIMIT_REACHED') {
        c.status(403);
        return page(c, { sentence: error.message, allowedBy: error.body.allowed_by as string[], text });
      }
      // Without an answer nobody knows whether the plan has room: reading goes on, adding does not.
      c.status(503);
      return page(c, { sentence: 'Notes cannot be added at the moment. Try again soon.', allowedBy: [], text });
    }
  });

  app.post('/notes/:id/delete', requireSession(gatehouse, { origin, scope: 'WRITE' }), async (c) => {
    await deleteNote(gatehouse, store, organisationOf(c), c.req.param('id'));
    return c.redirect('/');
  });

  async function page(c: Context<{ Variables: Variables }>, refused?: RefusedNote) {
    const organisation = organisationOf(c);
    const entitlements = await gatehouse.entitlements.get(organisation);
    const notes = store.of(organisation);
    const session = c.get('session');
    c.header('cache-control', 'no-store');
    return c.html(
      notesPage({
        gatehouseUrl: gatehouse.publicUrl,
        signOutUrl: gatehouse.sessions.signOutUrl(origin),
        session,
        entitlements,
        notes,
        ...(refused && { refused }),
      }),
    );
  }
  return app;
}

/** A session with a scope has an organisation. */
function organisationOf(c: Context<{ Variables: Variables }>): string {
  return c.get('session').organisation?.id ?? '';
}
