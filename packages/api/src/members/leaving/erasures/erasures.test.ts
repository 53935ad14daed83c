import { and, eq, isNull } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { signUp, signUpInput } from '../../../auth/sign-up/sign-up.ts';
import { stripOldEvents } from '../../../billing/events/strip-events.ts';
import { eraseOnRequest } from '../../../operators/users/erase-on-request.ts';
import { paymentEvents } from '../../../platform/db/schema/billing.ts';
import { changes } from '../../../platform/db/schema/changes.ts';
import { erasures } from '../../../platform/db/schema/leaving.ts';
import { dayMilliseconds } from '../../../platform/durations.ts';
import type { JobData } from '../../../platform/jobs/registry.ts';
import { failingAt } from '../../../testing/database/failing-database.ts';
import { makeOwner, newEmail, testClient, testPassword } from '../../../testing/factories.ts';
import { makeEvent } from '../../../testing/payment/payment-events.ts';
import { useBillingTest } from '../../../testing/use-billing-test.ts';
import { eraseUser } from '../erase-user.ts';
import { foundInDatabase } from '../testing/found-in-database.ts';
import { makeLeaver } from '../testing/make-leaver.ts';
import { finishErasures } from './finish-erasures.ts';

// No job worker runs: the tests carry out the erasures.
const test = useBillingTest({ work: false });
const command = { actorId: null };
type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** Stores events of an organisation, all of one subscription and second, that name an address. Returns their ids. */
async function storeEvents({ organisationId }: Owner, email: string, count: number): Promise<string[]> {
  const customer = `cus_${organisationId}`;
  const events = Array.from({ length: count }, (_, at) =>
    makeEvent(test.app, 'invoice.paid', { id: `in_${organisationId}_${at}`, customer, customer_email: email }),
  );
  await test.app.db.insert(paymentEvents).values(
    events.map((event) => ({
      id: event.id,
      type: event.type,
      created: 1_700_000_000,
      receivedAt: test.app.now(),
      organisationId,
      customerId: customer,
      subscriptionId: `sub_${organisationId}`,
      handled: true,
      outcome: 'applied',
      payload: JSON.stringify(event),
    })),
  );
  return events.map(({ id }) => id);
}

it('an erasure that fails at any step is continued, and in the end nothing is left', async () => {
  for (let step = 1; ; step++) {
    const { owner, user } = await makeLeaver(test);
    await storeEvents(owner, user.email, 3);
    await eraseUser(test.app, user, command);
    const ended = finishErasures(failingAt(test.app, step));
    const hasFailed = await ended.then(
      () => false,
      () => true,
    );
    await finishErasures(test.app);
    expect(await foundInDatabase(test.app, user.email)).toEqual([]);
    expect(await test.app.db.$count(erasures)).toBe(0);
    if (!hasFailed) return expect(step).toBeGreaterThan(15);
  }
});

it('events are searched in steps that are kept, whatever their number', async () => {
  const { owner, user } = await makeLeaver(test);
  await storeEvents(owner, user.email, 900);
  await eraseUser(test.app, user, command);
  const left = () =>
    test.app.db.$count(
      paymentEvents,
      and(eq(paymentEvents.organisationId, owner.organisationId), isNull(paymentEvents.strippedAt)),
    );
  const counts = new Set<number>();
  // Each step begins with the erasure's row, reads a page and ends with a commit.
  for (let steps = 10; (await left()) > 0; steps += 300) {
    await finishErasures(failingAt(test.app, steps)).catch(() => {});
    counts.add(await left());
  }
  expect(counts.size).toBeGreaterThan(1);
  await finishErasures(test.app);
  expect(await foundInDatabase(test.app, user.email)).toEqual([]);
});

it('erasures and events that are applied again at the same time never deadlock', async () => {
  const { owner, user } = await makeLeaver(test);
  const ids = await storeEvents(owner, user.email, 120);
  const again = async (first: number) => {
    for (let at = first; at < ids.length; at += 4) {
      await owner.api.operators.applyAgain({ event_id: `${ids[at]}` });
    }
  };
  const results = await Promise.allSettled([
    eraseUser(test.app, user, command).then(() => finishErasures(test.app)),
    finishErasures(test.app),
    stripOldEvents({ ...test.app, now: () => new Date(Date.now() + 130 * dayMilliseconds) }),
    ...[0, 1, 2, 3].map(again),
  ]);
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(await foundInDatabase(test.app, user.email)).toEqual([]);
});

it('the admin command ends the erasure of its user, even if another erasure fails', async () => {
  const { app } = test;
  const [failing, wanted] = [await makeOwner(test), await makeOwner(test)];
  await eraseUser(app, failing, command);
  await app.sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`;
  await app.sql.unsafe(`create trigger refused before update or delete on erasures
    for each row when (old.user_id = '${failing.userId}') execute function refuse()`);

  await eraseOnRequest(app, { userId: wanted.userId, finishes: true }, command);
  const left = await app.db.select({ userId: erasures.userId }).from(erasures);
  expect(left).toEqual([{ userId: failing.userId }]);

  await app.sql`drop trigger refused on erasures`;
  await app.sql`drop function refuse`;
  await finishErasures(app);
});

describe('the mails that are queued for an erased user', () => {
  const waiting = async () => {
    const jobs = await test.app.sql<{ email: string }[]>`
      select data ->> 'email' as email from pgboss.job where name = 'verification-mail'`;
    return jobs.map(({ email }) => email).sort();
  };
  const send = (data: JobData['verification-mail']) =>
    test.app.db.transaction((tx) => test.app.jobs.send(tx, 'verification-mail', data, { afterSeconds: 3600 }));

  it('are dropped by address, by earlier address, and by user, and no others', async () => {
    const { app } = test;
    await app.db.transaction((tx) => app.jobs.dropMails(tx));
    const [user, other] = [await makeOwner(test), await makeOwner(test)];
    const [earlier, freed, wanted] = [newEmail(), newEmail(), newEmail()];
    for (const email of [earlier, freed]) {
      const entry = { at: app.now(), type: 'user.email_changed', userId: user.userId, data: { email } };
      await app.db.insert(changes).values(entry);
    }
    await app.sql`update users set email = ${freed} where id = ${other.userId}`;
    const { sessionId } = user.principal;
    await send({ email: user.email });
    await send({ email: earlier });
    await send({ email: wanted, userId: user.userId, sessionId });
    await send({ email: user.email, userId: other.userId, sessionId });
    // Another user has the address now.
    await send({ email: freed });
    expect(await waiting()).toHaveLength(5);

    await eraseUser(app, user, command);
    expect(await waiting()).toEqual([freed]);
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
