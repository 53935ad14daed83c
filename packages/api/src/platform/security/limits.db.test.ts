import { randomUUID } from 'node:crypto';
import { eq, like } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { finishSignIn, startSignIn } from '../../auth/sign-in/attempt.ts';
import { storeReturnUrl } from '../../auth/sign-in/return-url.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { inBatches, secondsToWait } from '../../testing/attempts.ts';
import { callerFor, makeOwner, makeSignUp, newEmail, testPassword } from '../../testing/factories.ts';
import { rateLimits } from '../db/schema/deployment.ts';
import type { Rule } from './throttle.ts';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({
    environment: { RATE_LIMITS: 'on', RETURN_ORIGINS: 'https://product.example', TOKEN_TTL_SECONDS: '300' },
    // Of an organisation's billing actions at once, one goes on and none waits.
    timeouts: { leaseSeconds: 0 },
  });
  signedIn = (await makeOwner(test)).principal;
});

afterAll(() => test.close());

beforeEach(() => test.app.db.delete(rateLimits));

let signedIn: Awaited<ReturnType<typeof makeOwner>>['principal'];

type Expected = {
  most: number;
  minutes: number;
  /** What is counted together: the address, the client, both, the client's network, a session, or an organisation. */
  per: 'address' | 'client' | 'pair' | 'network' | 'session' | 'organisation';
  attempt: (client: string, email: string) => Promise<unknown>;
};

const userAgent = null;

const wrongPassword = (client: string, email: string) =>
  callerFor(test, null, { client }).signIn.withPassword({ email, password: 'not the pass phrase' });

/** Every limit of the service with its number. The type requires an entry for each rule. */
const expectedRules: Record<Rule, Expected> = {
  'sign-in-pair': { most: 10, minutes: 15, per: 'pair', attempt: wrongPassword },
  'sign-in-address': { most: 100, minutes: 15, per: 'address', attempt: wrongPassword },
  'sign-in-known': {
    most: 100,
    minutes: 15,
    per: 'session',
    attempt: (client) =>
      callerFor(test, signedIn, { client }).accounts.changePassword({
        current_password: 'not the pass phrase',
        password: 'another pass phrase',
      }),
  },
  'sign-in-client': { most: 60, minutes: 15, per: 'client', attempt: wrongPassword },
  'sign-in-network': { most: 300, minutes: 15, per: 'network', attempt: wrongPassword },
  'sign-up-client': {
    most: 20,
    minutes: 60,
    per: 'client',
    attempt: (client, email) => callerFor(test, null, { client }).accounts.signUp({ email, password: 'short' }),
  },
  'resend-client': {
    most: 20,
    minutes: 60,
    per: 'client',
    attempt: (client) => callerFor(test, null, { client }).accounts.resend({ email: 'no address' }),
  },
  'idp-start-client': {
    most: 60,
    minutes: 10,
    per: 'client',
    attempt: (address) => startSignIn(test.app, { attemptCookie: null }, { address }),
  },
  'idp-callback-client': {
    most: 60,
    minutes: 10,
    per: 'client',
    attempt: (address) =>
      finishSignIn(test.app, { state: 'x', code: 'y', error: null, attemptCookie: 'unknown' }, { address, userAgent }),
  },
  'passkey-options-client': {
    most: 600,
    minutes: 10,
    per: 'client',
    attempt: (client) => callerFor(test, null, { client }).signIn.passkeyOptions(),
  },
  'verify-client': {
    most: 60,
    minutes: 10,
    per: 'client',
    attempt: (address) => verifyEmail(test.app, { token: 'unknown', browserToken: null }, { address, userAgent }),
  },
  'return-url-client': {
    most: 300,
    minutes: 10,
    per: 'client',
    attempt: (address) => storeReturnUrl(test.app, { wanted: 'https://product.example/', replaced: null }, { address }),
  },
  'shared-token-session': {
    most: 20,
    minutes: 1,
    per: 'session',
    attempt: (client) => callerFor(test, { ...signedIn, isShared: true }, { client }).tokens.issue({}),
  },
  'api-key-user': {
    most: 30,
    minutes: 60,
    per: 'session',
    attempt: (client) =>
      callerFor(test, signedIn, { client }).keys.create({
        organisation_id: signedIn.organisationId ?? '',
        name: 'Key',
      }),
  },
  'billing-user': {
    most: 100,
    minutes: 10,
    per: 'session',
    attempt: (client) => callerFor(test, signedIn, { client }).billing.cancel(),
  },
  'billing-organisation': {
    most: 200,
    minutes: 10,
    per: 'organisation',
    attempt: (client) => {
      const user = { ...signedIn.user, id: randomUUID() };
      return callerFor(test, { ...signedIn, user }, { client }).billing.cancel();
    },
  },
  'confirmation-user': {
    most: 60,
    minutes: 10,
    per: 'session',
    attempt: (client) => callerFor(test, signedIn, { client }).billing.confirm(),
  },
  'billing-contact-user': {
    most: 30,
    minutes: 60,
    per: 'session',
    attempt: (client) =>
      callerFor(test, signedIn, { client }).organisations.changeBillingContact({
        organisation_id: signedIn.organisationId ?? '',
        email: newEmail(),
      }),
  },
};

function isClients(per: Expected['per']): per is 'client' | 'pair' | 'network' {
  return per === 'client' || per === 'pair' || per === 'network';
}

let subnets = 0;

/** The addresses of an IPv6 /64 that has not counted in any limit. They are one client. */
function newSubnet(): (host: number) => string {
  subnets += 1;
  const prefix = `2001:db8:${subnets.toString(16)}:1`;
  return (host) => `${prefix}::${host.toString(16)}`;
}

/** The clients of an IPv6 /48 that has not counted in any limit. */
function newSite(): (subnet: number) => string {
  subnets += 1;
  const prefix = `2001:db8:${subnets.toString(16)}`;
  return (subnet) => `${prefix}:${subnet.toString(16)}::1`;
}

async function stored(rule: Rule) {
  return test.app.db
    .select()
    .from(rateLimits)
    .where(like(rateLimits.key, `${rule}:%`));
}

describe.each(Object.entries(expectedRules) as [Rule, Expected][])('%s', (rule, { most, minutes, per, attempt }) => {
  const one = newEmail();
  const subnet = newSubnet();
  const site = newSite();
  const clientOf = { client: subnet, pair: subnet, network: site };
  /** Performs the nth attempt with the same key of this limit, and new values for everything else. */
  const nth = (n: number) =>
    attempt(
      isClients(per) ? clientOf[per](n) : newSubnet()(n),
      per === 'client' || per === 'network' ? newEmail() : one,
    );

  it(`allows ${most} attempts in ${minutes} minutes, refuses more, and allows them again after that`, async () => {
    const began = Date.now();
    const waits = await inBatches(most, (n) => secondsToWait(nth(n)));
    const ended = Date.now();
    expect(waits.filter((seconds) => seconds !== null)).toEqual([]);

    for (let more = 0; more < 3; more++) {
      const seconds = await secondsToWait(nth(most + more));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(minutes * 60);
    }
    const [row, ...others] = await stored(rule);
    // Refused attempts do not count.
    expect([row?.points, others]).toEqual([most, []]);
    expect(row?.expire).toBeGreaterThanOrEqual(began + minutes * 60_000);
    expect(row?.expire).toBeLessThanOrEqual(ended + minutes * 60_000);

    // Other clients and addresses are not limited.
    if (isClients(per)) expect(await secondsToWait(attempt(newSubnet()(1), one))).toBeNull();
    if (per === 'address' || per === 'pair') expect(await secondsToWait(attempt(subnet(1), newEmail()))).toBeNull();

    await test.app.db
      .update(rateLimits)
      .set({ expire: 1 })
      .where(eq(rateLimits.key, row?.key ?? ''));
    expect(await secondsToWait(nth(0))).toBeNull();
  });
});

it('counts two subnets as two clients, and a mapped IPv4 address as the IPv4 address', async () => {
  const ask = (client: string) => callerFor(test, null, { client }).accounts.resend({ email: 'no address' });
  for (let asked = 0; asked < 20; asked++) await secondsToWait(ask(asked % 2 ? '192.0.2.1' : '::ffff:192.0.2.1'));
  expect(await secondsToWait(ask('192.0.2.1'))).not.toBeNull();
  expect(await secondsToWait(ask('192.0.2.2'))).toBeNull();
});

it('counts a new passkey that is refused as a failure of sign-in', async () => {
  const text = Buffer.from('none').toString('base64url');
  const response = { clientDataJSON: text, attestationObject: text };
  const passkey = { id: text, rawId: text, type: 'public-key' as const, response };
  const add = () => callerFor(test, signedIn, { client: '192.0.2.30' }).factors.addPasskey({ name: 'Laptop', passkey });
  await expect(add()).rejects.toThrow('That passkey was not accepted.');
  await inBatches(59, () => secondsToWait(add()));
  expect(await secondsToWait(add())).not.toBeNull();
});

it('gives no point back into a later window, where it would be credit', async () => {
  const points = { 'sign-up-client': newSubnet()(1) };
  const stored = async () => (await test.app.db.select().from(rateLimits)).map((row) => row.points);
  const taken = await test.app.throttle.take(points);
  const past = taken.map((each) => ({ ...each, windowEnd: each.windowEnd - 60 * 60_000 }));
  await test.app.throttle.giveBack(past);
  expect(await stored()).toEqual([1]);
  await test.app.throttle.giveBack(taken);
  expect(await stored()).toEqual([0]);
  await test.app.db.delete(rateLimits);
  await test.app.throttle.giveBack(taken);
  expect(await stored()).toEqual([]);
});

it('gives back the points of a successful sign-in, in every rule', async () => {
  const { email } = await makeOwner(test);
  await test.app.db.delete(rateLimits);
  const client = newSubnet()(1);
  await callerFor(test, null, { client }).signIn.withPassword({ email, password: testPassword });
  const rows = await test.app.db.select().from(rateLimits);
  expect(rows.map(({ key, points }) => [key.split(':')[0], points]).sort()).toEqual([
    ['sign-in-address', 0],
    ['sign-in-client', 0],
    ['sign-in-network', 0],
    ['sign-in-pair', 0],
  ]);
});

it('does not count valid links, and opens none for a client over its limit', async () => {
  const client = { address: newSubnet()(1), userAgent };
  const open = (token: string, from = client) => verifyEmail(test.app, { token, browserToken: null }, from);
  const [first, second] = [await makeSignUp(test), await makeSignUp(test)];
  for (let dead = 0; dead < 59; dead++) await open('unknown');
  expect(await open(first.token)).toMatchObject({ ok: true });
  expect(await stored('verify-client')).toMatchObject([{ points: 59 }]);

  await open('unknown');
  await expect(open(second.token)).rejects.toMatchObject({ code: 'TOO_MANY' });
  expect(await open(second.token, { address: newSubnet()(1), userAgent })).toMatchObject({ ok: true });
});
