import { fileURLToPath } from 'node:url';
import { EdgeVM } from '@edge-runtime/vm';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { serviceUrl, startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveEndpoints } from '../testing/serve-endpoints.ts';

const entry = fileURLToPath(new URL('../../../../../packages/client/src/client.ts', import.meta.url));

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let script: string;
beforeAll(async () => {
  test = await startTestApp({ environment: { TOKEN_TTL_SECONDS: '300' } });
  served = await serveEndpoints(test.app);
  const lib = { entry, formats: ['iife' as const], name: 'client' };
  const built = await build({ configFile: false, logLevel: 'silent', build: { write: false, lib, minify: false } });
  const [output] = [built].flat();
  script = output !== undefined && 'output' in output ? output.output[0].code : '';
});
afterAll(async () => {
  await served.close();
  await test.close();
});

/** Runs code in an edge runtime, which has the interfaces of browsers and none of Node. Returns its answer. */
async function inEdgeRuntime(code: string, given: Record<string, string>): Promise<unknown> {
  const runtime = new EdgeVM();
  expect(runtime.evaluate('typeof process + typeof require + typeof Buffer')).toBe('undefinedundefinedundefined');
  runtime.evaluate(`${script}; globalThis.client = client;`);
  const answer = runtime.evaluate<Promise<string>>(`(async (given) => {
    const { createGatehouse, GatehouseError, guardRequest } = client;
    ${code}
  })(${JSON.stringify(given)}).then(JSON.stringify)`);
  return JSON.parse(await answer);
}

it('the client verifies sessions, guards, reserves, reads entitlements and verifies tokens in an edge runtime', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  const { key } = await makeKey(test);
  const given = { url: served.url, key, organisationId, cookie: `session=${session}`, issuer: serviceUrl };

  const answer = await inEdgeRuntime(
    `const gatehouse = createGatehouse({ url: given.url, apiKey: given.key, cache: { follow: false } });
     const request = new Request('https://app.example/notes', { headers: { cookie: given.cookie } });
     const guarded = await guardRequest(gatehouse, request);
     const stranger = await guardRequest(gatehouse, new Request('https://app.example/notes'));
     const organisation = given.organisationId;
     const { used } = await gatehouse.usage.reserve({ organisation, meter: 'projects' });
     const refused = await gatehouse.usage.reserve({ organisation, meter: 'projects', amount: 1000 })
       .catch((error) => error instanceof GatehouseError && error.code);
     const { usage } = await gatehouse.entitlements.get(organisation);
     const { token } = await gatehouse.tokens.issueForSession(request);
     const claims = await gatehouse.tokens.verify(token, { audience: given.issuer, issuer: given.issuer });
     const forged = await gatehouse.tokens.verify(token.slice(0, -4) + 'AAAA', { issuer: given.issuer })
       .catch(({ code }) => code);
     await gatehouse.close();
     return {
       user: guarded.user.id, stranger: stranger.status, used, refused, sub: claims.sub, forged,
       projects: usage.find(({ meter }) => meter === 'projects').used,
     };`,
    given,
  );
  expect(answer).toEqual({
    user: userId,
    stranger: 401,
    used: 1,
    refused: 'LIMIT_REACHED',
    projects: 1,
    sub: userId,
    forged: 'UNAUTHENTICATED',
  });
});
