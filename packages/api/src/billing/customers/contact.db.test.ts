import { eq } from 'drizzle-orm';
import { afterEach, expect, it } from 'vitest';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { ownedBy } from '../../testing/billing.ts';
import { addMember, makeOwner } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
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

function storedOf({ organisationId }: Owner) {
  return test.app.db
    .select({ name: organisations.name, email: organisations.billingEmail, billingName: organisations.billingName })
    .from(organisations)
    .where(eq(organisations.id, organisationId))
    .then(([row]) => row);
}

/** Changes the customer at the provider, as an employee of the company may. */
async function changeThere(owner: Owner, changes: { name?: string; email?: string }) {
  const [customer] = ownedBy(test, owner.principal).customers;
  await requirePayment(test.app).ask((provider) => provider.customers.update(customer?.id ?? '', changes));
}

it('takes over what was changed at the provider, and never the name of the organisation', async () => {
  const owner = await makeOwner(test);
  await setContact(owner, 'bills@company.example');
  await owner.api.billing.portal();
  await enqueueDue(test.app);
  await test.settled();
  const before = await storedOf(owner);
  expect(before).toMatchObject({ email: 'bills@company.example', billingName: null });

  await changeThere(owner, { name: 'Larch Ltd', email: 'Accounts@Larch.example' });
  await test.settled();
  expect(await storedOf(owner)).toEqual({
    name: before?.name,
    email: 'accounts@larch.example',
    billingName: 'Larch Ltd',
  });
  await enqueueDue(test.app);
  await test.settled();
  expect(emailsOf(owner)).toEqual(['Accounts@Larch.example']);

  await setContact(owner, 'later@company.example');
  await test.settled();
  expect(await storedOf(owner)).toMatchObject({ email: 'later@company.example', billingName: 'Larch Ltd' });
  expect(emailsOf(owner)).toEqual(['later@company.example']);
});

it('keeps an address that was changed here while the provider’s event was on its way', async () => {
  const owner = await makeOwner(test);
  await owner.api.billing.portal();
  await test.app.db
    .update(organisations)
    .set({ billingEmail: 'here@company.example' })
    .where(eq(organisations.id, owner.organisationId));
  await changeThere(owner, { email: 'there@company.example' });
  await enqueueDue(test.app);
  await test.settled();
  expect(await storedOf(owner)).toMatchObject({ email: 'here@company.example' });
  expect(emailsOf(owner)).toEqual(['here@company.example']);
});
