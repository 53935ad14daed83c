import os from 'node:os';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { startServed } from '../support/processes/served.ts';
import { expect, test } from '../support/service.ts';

const hasIpv6 = Object.values(os.networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

test('behind two proxies, over IPv6, the client’s address is the one that the outer proxy saw', async ({ service }) => {
  test.skip(!hasIpv6, 'This machine has no IPv6.');
  const port = await freePort('::1');
  const served = await startServed(port, {
    HOST: '::1',
    PUBLIC_BASE_URL: 'https://id.company.test',
    TRUSTED_PROXIES: '2',
    SMTP_URL: `smtp://localhost:${Number(new URL(service.sandboxUrl).port) + 1}`,
  });
  const here = `http://[::1]:${port}`;
  // What the client claims, what the outer proxy saw, what the inner one saw.
  const hops = '203.0.113.9, 2001:db8:0:1::7, 10.0.0.2';
  const forwarded = { 'x-forwarded-for': hops, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };

  try {
    const email = newEmail();
    const json = { ...forwarded, 'content-type': 'application/json', origin: 'https://id.company.test' };
    const body = JSON.stringify({ email, password: passPhrase });
    const signedUp = await fetch(`${here}/api/signup`, { method: 'POST', headers: json, body });
    expect([signedUp.status, signedUp.headers.get('strict-transport-security')]).toEqual([
      200,
      'max-age=31536000; includeSubDomains',
    ]);
    expect(signedUp.headers.getSetCookie()[0]).toMatch(/^__Host-signup=.*; Secure/);

    const link = await linkFor(service, email);
    expect(link).toMatch(/^https:\/\/id\.company\.test\/verify\?token=/);
    const [signedUpBy = ''] = (signedUp.headers.getSetCookie()[0] ?? '').split(';');
    const own = { headers: { ...forwarded, cookie: signedUpBy } };
    expect((await fetch(link.replace('https://id.company.test', here), own)).status).toBe(200);
    expect(await served.operator('approve', email)).toBe(0);

    const signedIn = await fetch(`${here}/api/login`, { method: 'POST', headers: json, body });
    const [session = ''] = signedIn.headers.getSetCookie();
    expect(session).toMatch(/^__Host-session=[\w-]+; .*Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    expect(session).not.toContain('Domain');

    const cookie = session.split(';')[0] ?? '';
    const answer = await fetch(`${here}/api/trpc/accounts.profile`, { headers: { ...forwarded, cookie } });
    const { result } = (await answer.json()) as { result: { data: { sessions: { client: string }[] } } };
    expect(result.data.sessions.map(({ client }) => client)).toEqual(['2001:db8:0:1::7']);
  } finally {
    await served.stop();
  }
});
