import { eq } from 'drizzle-orm';
import { afterEach, expect, it } from 'vitest';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { ownedBy } from '../../testing/billing.ts';
import { addMember, makeOwner } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { enqueueDue } from '../sync/jobs.ts';
import { syncContact } from './contact.ts';

const test = useBillingTest();
afterEach(() => test.sandbox.payment.resetSwitches());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

function emailsOf({ principal }: Owner) {
  return ownedBy(test, principal).customers.map(({ email }) => email ?? null);
}

function setContact({ api, organisationId: organisation_id }: Owner, email: string) {
  return api.organisations.changeBillingContact({ organisation_id, email });
}

it('sets the billing e-mail address at the provider, replaces it and removes it', async () => {
  const owner = await makeOwner(test);
  await owner.api.billing.portal();
  expect(emailsOf(owner)).toEqual([null]);
  for (const email of ['bills@company.example', 'accounts@company.example', '']) {
    await setContact(owner, email);
    await test.settled();
    expect(emailsOf(owner)).toEqual([email || null]);
  }
});

it('sets the address at a customer that is created later', async () => {
  const owner = await makeOwner(test);
  await setContact(owner, 'bills@company.example');
  await test.settled();
  expect(emailsOf(owner)).toEqual([]);
  await owner.api.billing.portal();
  await enqueueDue(test.app);
  await test.settled();
  expect(emailsOf(owner)).toEqual(['bills@company.example']);
});

it('sets the address once the provider answers again', async () => {
  const owner = await makeOwner(test);
  await owner.api.billing.portal();
  test.sandbox.payment.set({ api_failure: 500 });
  await test.app.db
    .update(organisations)
    .set({ billingEmail: 'bills@company.example' })
    .where(eq(organisations.id, owner.organisationId));
  await expect(syncContact(test.app, owner.organisationId)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(emailsOf(owner)).toEqual([null]);
  test.sandbox.payment.set({ api_failure: null });
  await enqueueDue(test.app);
  await test.settled();
  expect(emailsOf(owner)).toEqual(['bills@company.example']);
});

it('ends with the newest of many parallel changes', async () => {
  const owner = await makeOwner(test);
  const admin = await addMember(test, owner.organisationId, 'admin');
  await owner.api.billing.portal();
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      setContact(index % 2 === 0 ? owner : admin, `bills${index}@company.example`),
    ),
  );
  await test.settled();
  const { billing_email: stored } = await owner.api.organisations.read();
  expect(stored).not.toBeNull();
  expect(emailsOf(owner)).toEqual([stored]);
});
