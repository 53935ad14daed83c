import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { assignPositions } from '../../changes/assign-positions.ts';
import { readPlan } from '../../organisations/plan.ts';
import { newId } from '../../platform/db/id.ts';
import { oneTimeTokens, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { invitations } from '../../platform/db/schema/members.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { tokenKeys } from '../../platform/db/schema/tokens.ts';
import { createPasswordLink } from '../../testing/admin-commands.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { makeInvitation, makeOwner } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { commandLine } from '../actor.ts';
import { createOperatorKey } from '../keys.ts';
import { afterRestore } from './after-restore.ts';

const test = useBillingTest();

it('after a restored backup no session, link, token, signing key, invitation or mail of before works, and all subscriptions are synced', async () => {
  const { db } = test.app;
  const owner = await makeOwner(test);
  await createPasswordLink(test.app, owner.email);
  await makeInvitation(owner);
  const { subscription } = await makeSubscriber(test);
  await db.transaction((tx) =>
    test.app.jobs.send(tx, 'verification-mail', { email: owner.email }, { afterSeconds: 3600 }),
  );
  await db.insert(tokenKeys).values({
    id: newId(test.app.now()),
    publicKey: { kty: 'OKP', crv: 'Ed25519', x: 'x' },
    privateKey: 'known to a reader of the backup',
    encryptedBy: '',
    signsFrom: test.app.now(),
  });
  const { deployment } = await assignPositions(test.app);

  const done = await afterRestore(test.app, commandLine);
  expect(done).toMatchObject({ invitations: 1, mails: expect.any(Number), subscriptions: 1 });
  expect(done.mails).toBeGreaterThan(0);
  for (const table of [sessions, verificationLinks, oneTimeTokens, invitations, tokenKeys])
    expect(await db.$count(table)).toBe(0);
  const [row] = await db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, subscription.id));
  expect(row?.needsSync).toBe(true);
  expect((await assignPositions(test.app)).deployment).not.toBe(deployment);
  expect(await afterRestore(test.app, commandLine)).toMatchObject({ sessions: 0, links: 0, invitations: 0, mails: 0 });
});

it('keys that were revoked or have expired are not counted as valid', async () => {
  const { app } = test;
  const create = () =>
    createOperatorKey(app, { organisationId: null }, { name: 'Service', scope: 'READ' }, commandLine);
  const before = (await afterRestore(app, commandLine)).validKeys;
  const [, expired, revoked] = [await create(), await create(), await create()];
  await app.db.update(apiKeys).set({ expiresAt: app.now() }).where(eq(apiKeys.id, expired.id));
  await app.db.update(apiKeys).set({ revokedAt: app.now() }).where(eq(apiKeys.id, revoked.id));

  expect((await afterRestore(app, commandLine)).validKeys).toBe(before + 1);
});

it('only mails that had not been sent are counted as dropped', async () => {
  const { app } = test;
  await afterRestore(app, commandLine);
  const send = (email: string) =>
    app.db.transaction((tx) => app.jobs.send(tx, 'verification-mail', { email }, { afterSeconds: 3600 }));
  await send('sent@company.example');
  await app.sql`update pgboss.job set state = 'completed', completed_on = now() where name = 'verification-mail'`;
  await send('waits@company.example');

  expect((await afterRestore(app, commandLine)).mails).toBe(1);
  expect(await app.sql`select from pgboss.job where name = 'verification-mail'`).toEqual([]);
});

it('after the promotion of a copy without sequences, new events and changes get numbers above all stored ones', async () => {
  const { app } = test;
  const { principal, subscription } = await makeSubscriber(test);
  const stored = await highestNumbers();
  await app.sql`select setval('payment_events_number_seq', 1), setval('changes_id_seq', 1)`;

  await afterRestore(app, commandLine);
  test.sandbox.payment.forceStatus(subscription.id, 'canceled');
  await test.settled();

  const next = await highestNumbers();
  expect(next.event).toBeGreaterThan(stored.event);
  expect(next.change).toBeGreaterThan(stored.change);
  expect((await readPlan(app, principal.organisationId)).tier).toBe('free');
});

async function highestNumbers() {
  const [row] = await test.app.sql<{ event: number; change: number }[]>`
    select (select max(number) from payment_events)::int as event, (select max(id) from changes)::int as change`;
  if (row === undefined) throw new Error('A select without a table gives one row.');
  return row;
}
