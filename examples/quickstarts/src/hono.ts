import { createGatehouse, GatehouseError, type Session } from '@gatehouse/client';
import { requireSession } from '@gatehouse/client/hono';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const { GATEHOUSE_URL = '', GATEHOUSE_API_KEY = '', ORIGIN = '', PORT = '8080' } = process.env;
const gatehouse = createGatehouse({ url: GATEHOUSE_URL, apiKey: GATEHOUSE_API_KEY });
const app = new Hono<{ Variables: { session: Session } }>();

app.get('/sign-out', (c) => c.redirect(gatehouse.sessions.signOutUrl(ORIGIN)));
app.use(requireSession(gatehouse, { origin: ORIGIN }));

app.get('/', async (c) => {
  const { user, organisation } = c.get('session');
  const { plan } = await gatehouse.entitlements.get(organisation?.id ?? '');
  return c.json({ email: user.email, plan });
});

app.post('/searches', async (c) => {
  const organisation = c.get('session').organisation?.id ?? '';
  return c.json(await gatehouse.usage.reserve({ organisation, meter: 'api_calls' }));
});

app.onError((error, c) => {
  if (!(error instanceof GatehouseError)) throw error;
  // 403: LIMIT_REACHED, with a sentence for people. Anything else: Gatehouse is away.
  return c.json({ error: error.message, code: error.code }, error.status === 403 ? 403 : 503);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' });
