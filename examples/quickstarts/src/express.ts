import { createGatehouse, GatehouseError } from '@gatehouse/client';
import { requireSession } from '@gatehouse/client/express';
import express, { type NextFunction, type Request, type Response } from 'express';

const { GATEHOUSE_URL = '', GATEHOUSE_API_KEY = '', ORIGIN = '', PORT = '8080' } = process.env;
const gatehouse = createGatehouse({ url: GATEHOUSE_URL, apiKey: GATEHOUSE_API_KEY });
const app = express();

app.get('/sign-out', (_, response) => response.redirect(gatehouse.sessions.signOutUrl(ORIGIN)));
app.use(requireSession(gatehouse, { origin: ORIGIN }));

app.get('/', async (_, response) => {
  const { user, organisation } = response.locals.session;
  const { plan } = await gatehouse.entitlements.get(organisation?.id ?? '');
  response.json({ email: user.email, plan });
});

app.post('/searches', async (_, response) => {
  const organisation = response.locals.session.organisation?.id ?? '';
  response.json(await gatehouse.usage.reserve({ organisation, meter: 'api_calls' }));
});

app.use((error: unknown, _: Request, response: Response, next: NextFunction) => {
  if (!(error instanceof GatehouseError)) return next(error);
  // 403: LIMIT_REACHED, with a sentence for people. Anything else: Gatehouse is away.
  response.status(error.status === 403 ? 403 : 503).json({ error: error.message, code: error.code });
});

app.listen(Number(PORT), '127.0.0.1');
