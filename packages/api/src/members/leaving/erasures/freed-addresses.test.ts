import { eq, inArray } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../platform/db/id.ts';
import { users } from '../../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../../platform/db/schema/audit.ts';
import { paymentCustomers } from '../../../platform/db/schema/billing.ts';
import { changes } from '../../../platform/db/schema/changes.ts';
import { erasures } from '../../../platform/db/schema/leaving.ts';
import { organisations } from '../../../platform/db/schema/organisations.ts';
import { notices } from '../../../platform/db/schema/sessions.ts';
import { makeOwner, newEmail } from '../../../testing/factories.ts';
import { useBillingTest } from '../../../testing/use-billing-test.ts';
import { eraseUser } from '../erase-user.ts';
import { makeLeaver } from '../testing/make-leaver.ts';
import { finishErasures } from './finish-erasures.ts';

// No job worker runs: the tests carry out the erasures.
const test = useBillingTest({ work: false });
const command = { actorId: null };
type Owner = Awaited<ReturnType<typeof makeOwner>>;

describe('an address that another user has now', () => {
  async function billingOf({ organisationId }: Owner) {
    const { app } = test;
    const [organisation] = await app.db.select().from(organisations).where(eq(organisations.id, organisationId));
    const [customer] = await app.db
      .select()
      .from(paymentCustomers)
      .where(eq(paymentCustomers.organisationId, organisationId));
    return [organisation?.billingEmail, customer?.contactEmail];
  }

  it('is kept as billing e-mail address when its earlier user is erased', async () => {
    const { app } = test;
    const { owner, user } = await makeLeaver(test);
    const [freed, other] = [user.email, await makeOwner(test)];
    const change = { at: app.now(), type: 'user.email_changed', userId: user.userId, data: { email: freed } };
    await app.db.insert(changes).values(change);
    await app.db.update(users).set({ email: newEmail() }).where(eq(users.id, user.userId));
    await app.db.update(users).set({ email: freed }).where(eq(users.id, other.userId));

    await eraseUser(app, user, command);
    await finishErasures(app);
    expect(await billingOf(owner)).toEqual([freed, freed]);
  });

  it('is kept as billing e-mail address when another user signed up with it before the job ran', async () => {
    const { app } = test;
    const { owner, user } = await makeLeaver(test);
    await eraseUser(app, user, command);
    const other = await makeOwner(test);
    await app.db.update(users).set({ email: user.email }).where(eq(users.id, other.userId));

    await finishErasures(app);
    expect(await billingOf(owner)).toEqual([user.email, user.email]);
  });

  it('leaves the notices, notes and reasons that name its new user, and removes what is about the erased one', async () => {
    const { app } = test;
    const { owner, user } = await makeLeaver(test);
    const { organisationId } = owner;
    const at = app.now();
    await app.db.insert(auditEvents).values([
      { id: newId(at), at, action: 'organisation-declined', organisationId, details: { reason: `Ask ${user.email}.` } },
      { id: newId(at), at, action: 'person-suspended', userId: user.userId, details: { reason: `Was ${user.email}.` } },
    ]);
    await app.db.insert(notices).values({
      idHash: user.userId,
      content: { text: `${user.email} is approved.` },
      expiresAt: new Date(app.now().getTime() + 60_000),
    });
    await eraseUser(app, user, command);
    const other = await makeOwner(test);
    await app.db.update(users).set({ email: user.email }).where(eq(users.id, other.userId));

    await finishErasures(app);
    expect(await app.db.$count(notices, eq(notices.idHash, user.userId))).toBe(1);
    const reasons = await app.db
      .select({ userId: auditEvents.userId, details: auditEvents.details })
      .from(auditEvents)
      .where(inArray(auditEvents.action, ['organisation-declined', 'person-suspended']))
      .orderBy(auditEvents.action);
    expect(reasons).toEqual([
      { userId: null, details: { reason: `Ask ${user.email}.` } },
      { userId: user.userId, details: {} },
    ]);
  });

  it('adds no organisation to an erasure that the erased user did not belong to', async () => {
    const { app } = test;
    const [user, other] = [await makeOwner(test), await makeOwner(test)];
    const freed = newEmail();
    const change = { at: app.now(), type: 'user.email_changed', userId: user.userId, data: { email: freed } };
    await app.db.insert(changes).values(change);
    await app.db.update(users).set({ email: freed }).where(eq(users.id, other.userId));
    await other.api.organisations.changeBillingContact({ organisation_id: other.organisationId, email: freed });

    await eraseUser(app, user, command);
    const [erasure] = await app.db.select().from(erasures).where(eq(erasures.userId, user.userId));
    expect(erasure?.organisationIds).toEqual([user.organisationId]);
    await finishErasures(app);
  });
});
