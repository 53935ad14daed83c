import { createClient, GatehouseError } from '../packages/client/src/client.ts';
import { makeOwner, passPhrase } from './people.ts';
import { expect, test } from './service.ts';

test('another service asks with the typed client who somebody is and what their plan allows', async ({
  request,
  service,
}) => {
  const gatehouse = createClient({ baseUrl: service.baseUrl });
  expect(await gatehouse.session('session=nobody')).toBeNull();
  await expect(gatehouse.subscription('session=nobody')).rejects.toMatchObject({
    status: 401,
    code: 'UNAUTHENTICATED',
  });

  const email = await makeOwner(service, request);
  const signedIn = await request.post('/api/login', { data: { email, password: passPhrase } });
  const cookie = signedIn.headers()['set-cookie']?.split(';')[0] ?? '';
  expect(await gatehouse.session(cookie)).toMatchObject({
    user: { email },
    organisation: { tier: 'free' },
    role: 'owner',
  });
  expect((await gatehouse.subscription(cookie)).plan).toMatchObject({ tier: 'free', status: 'none' });
});

test('the typed client says what was refused while a gate is shut', async ({ request, service }) => {
  const email = await makeOwner(service, request, { approved: false });
  const signedIn = await request.post('/api/login', { data: { email, password: passPhrase } });
  const cookie = signedIn.headers()['set-cookie']?.split(';')[0] ?? '';
  const refused = createClient({ baseUrl: service.baseUrl }).session(cookie);
  await expect(refused).rejects.toBeInstanceOf(GatehouseError);
  await expect(refused).rejects.toMatchObject({ status: 403, code: 'AWAITING_APPROVAL' });
});
