import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { JobData } from '../../platform/jobs/registry.ts';
import { restoreUser, suspendUser } from '../../testing/admin-commands.ts';
import { addMember, makeOwner, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { eraseUser } from './erase-user.ts';

// No job worker runs, so that queued mails stay queued.
const test = useBillingTest({ work: false });
const command = { actorId: null };

describe('an organisation that sends its bills to an erased user', () => {
  async function billedTo(email: string) {
    const owner = await makeOwner(test);
    await owner.api.organisations.changeBillingContact({ organisation_id: owner.organisationId, email });
    await test.app.db.insert(paymentCustomers).values({
      organisationId: owner.organisationId,
      customerId: `cus_${owner.organisationId}`,
      createdAt: test.app.now(),
      contactEmail: email,
    });
    return owner;
  }

  it('sends none there any more, and the payment provider is told', async () => {
    const user = await makeOwner(test);
    const { organisationId } = await billedTo(user.email);
    await test.app.sql`delete from pgboss.job where name = 'payment-contact'`;
    await eraseUser(test.app, user, command);

    const [organisation] = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
    expect(organisation?.billingEmail).toBeNull();
    const queued = await test.app.sql`select data from pgboss.job where name = 'payment-contact'`;
    expect(queued).toEqual([{ data: expect.objectContaining({ organisationId }) }]);
  });

  it('keeps another address, also an earlier one of the user', async () => {
    const earlier = newEmail();
    const user = await makeOwner(test);
    const entry = { at: test.app.now(), type: 'user.email_changed', userId: user.userId, data: { email: earlier } };
    await test.app.db.insert(changes).values(entry);
    const { organisationId } = await billedTo(earlier);
    await eraseUser(test.app, user, command);

    const [organisation] = await test.app.db.select().from(organisations).where(eq(organisations.id, organisationId));
    expect(organisation?.billingEmail).toBe(earlier);
  });

  it('prevents no erasure when two of its users are erased at once', async () => {
    const [one, other] = [await makeOwner(test), await makeOwner(test)];
    for (let count = 0; count < 3; count++) {
      await billedTo(one.email);
      await billedTo(other.email);
    }
    const erased = await Promise.all([one, other].map((user) => eraseUser(test.app, user, command)));
    expect(erased).not.toContain(null);
  });
});

it('changes of name and address stay in the feed without them, and are followed by the end of the account', async () => {
  const { organisationId } = await makeOwner(test);
  const user = await addMember(test, organisationId, 'member');
  await user.api.accounts.changeName({ name: 'Mia' });
  await eraseUser(test.app, user, command);

  const told = await test.app.db.select().from(changes).where(eq(changes.userId, user.userId)).orderBy(changes.id);
  expect(told.map(({ type, data }) => [type, data])).toEqual([
    ['member.joined', { role: 'member' }],
    ['user.renamed', { name: null }],
    ['user.deleted', {}],
    ['member.left', {}],
  ]);
});

it('audit entries about a user lose the reason, and those by the user the client', async () => {
  const operator = await makeOwner(test, { operator: true });
  const user = await makeOwner(test);
  await user.api.accounts.changePassword({ current_password: testPassword, password: 'another pass phrase' });
  await operator.api.operators.suspend({ user_id: user.userId, reason: 'Mia asked for it.' });
  await restoreUser(test.app, user.email);
  await suspendUser(test.app, user.email);
  await eraseUser(test.app, user, command);

  const entries = await test.app.db.select().from(auditEvents).where(eq(auditEvents.userId, user.userId));
  expect(JSON.stringify(entries)).not.toContain('Mia');
  expect(entries.filter(({ client }) => client !== null)).toMatchObject([{ actorId: operator.userId }]);
});

describe('the mails that are queued for an erased user', () => {
  const waiting = async () => {
    const jobs = await test.app.sql<{ email: string }[]>`
      select data ->> 'email' as email from pgboss.job where name = 'verification-mail'`;
    return jobs.map(({ email }) => email).sort();
  };
  const send = (data: JobData['verification-mail']) =>
    test.app.db.transaction((tx) => test.app.jobs.send(tx, 'verification-mail', data, { afterSeconds: 3600 }));

  it('are dropped by address and by user, and no others', async () => {
    const { app } = test;
    await app.db.transaction((tx) => app.jobs.dropMails(tx));
    const [user, other] = [await makeOwner(test), await makeOwner(test)];
    const { sessionId } = user.principal;
    await send({ email: user.email });
    await send({ email: newEmail(), userId: user.userId, sessionId });
    await send({ email: user.email, userId: other.userId, sessionId });
    await send({ email: other.email });
    expect(await waiting()).toHaveLength(4);

    await eraseUser(app, user, command);
    expect(await waiting()).toEqual([other.email]);
  });

  it('are dropped by the sign-up that caused them', async () => {
    const { app } = test;
    await app.db.transaction((tx) => app.jobs.dropMails(tx));
    await signUp(app, signUpInput.parse({ email: newEmail(), password: testPassword }), testClient);
    const [{ id: userId } = { id: '' }] = await app.sql<{ id: string }[]>`
      select id from users order by created_at desc limit 1`;
    await app.sql`update users set email = ${newEmail()} where id = ${userId}`;
    expect(await waiting()).toHaveLength(1);

    await eraseUser(app, { userId }, command);
    expect(await waiting()).toEqual([]);
  });
});
