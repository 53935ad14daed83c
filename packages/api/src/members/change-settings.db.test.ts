import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, makeOwner, signInAs } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => error.cause.code,
  );
}

function entriesOf({ organisationId }: Owner, action: string) {
  const which = and(eq(auditEvents.organisationId, organisationId), eq(auditEvents.action, action));
  return test.app.db.select().from(auditEvents).where(which);
}

it('renames the organisation for owners and admins, keeps the slug, and records the names', async () => {
  const owner = await makeOwner(test, { name: 'Larch & Sons' });
  const { organisationId: organisation_id } = owner;
  const slug = owner.principal.organisation?.slug;
  await owner.api.organisations.rename({ organisation_id, name: ' Larch Group ' });
  const admin = await addMember(test, organisation_id, 'admin');
  expect(await admin.api.organisations.read()).toMatchObject({ name: 'Larch Group', slug });
  await admin.api.organisations.rename({ organisation_id, name: 'Larch' });
  expect((await signInAs(test, owner.email)).principal.organisation).toEqual({
    id: organisation_id,
    slug,
    name: 'Larch',
  });
  expect((await entriesOf(owner, 'organisation-renamed')).map(({ actorId, details }) => [actorId, details])).toEqual([
    [owner.userId, { from: 'Larch & Sons', to: 'Larch Group' }],
    [admin.userId, { from: 'Larch Group', to: 'Larch' }],
  ]);
});

it('refuses names that sign-up refuses, and an empty one', async () => {
  const { api, organisationId: organisation_id } = await makeOwner(test);
  for (const name of ['', '  ', 'x'.repeat(101), 'a\u202eb', 'a\u0000b', 'a\nb']) {
    await expect(api.organisations.rename({ organisation_id, name })).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { name: expect.any(String) } },
    });
  }
});

it('does not overwrite a change that the form did not show: of two at once one is saved', async () => {
  const owner = await makeOwner(test, { name: 'Before' });
  const { organisationId: organisation_id } = owner;
  const admin = await addMember(test, organisation_id, 'admin');
  const renamed = await Promise.all([
    codeOf(owner.api.organisations.rename({ organisation_id, name: 'One', shown: 'Before' })),
    codeOf(admin.api.organisations.rename({ organisation_id, name: 'Other', shown: 'Before' })),
  ]);
  expect(renamed.sort()).toEqual(['VALIDATION', 'done']);
  const named = await Promise.all([
    codeOf(owner.api.organisations.changeBillingContact({ organisation_id, email: 'a@bills.example', shown: '' })),
    codeOf(admin.api.organisations.changeBillingContact({ organisation_id, email: 'b@bills.example', shown: '' })),
  ]);
  expect(named.sort()).toEqual(['VALIDATION', 'done']);
});

it('refuses an administrator who was demoted meanwhile', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  const admin = await addMember(test, organisation_id, 'admin');
  await owner.api.members.changeRole({ organisation_id, user_id: admin.userId, role: 'member' });
  expect(await codeOf(admin.api.organisations.rename({ organisation_id, name: 'Mine' }))).toBe('FORBIDDEN');
  expect(await codeOf(admin.api.organisations.changeBillingContact({ organisation_id, email: '' }))).toBe('FORBIDDEN');
});

it('shows the billing e-mail address to administrators only, and records its change without an address', async () => {
  const owner = await makeOwner(test);
  const { organisationId: organisation_id } = owner;
  await owner.api.organisations.changeBillingContact({ organisation_id, email: 'Bills@Company.example' });
  expect(await owner.api.organisations.read()).toMatchObject({ billing_email: 'bills@company.example' });
  const member = await addMember(test, organisation_id, 'member');
  expect(await member.api.organisations.read()).toMatchObject({ billing_email: null });
  expect(await entriesOf(owner, 'billing-contact-changed')).toMatchObject([{ actorId: owner.userId, details: {} }]);
  await owner.api.organisations.changeBillingContact({ organisation_id, email: '' });
  expect(await owner.api.organisations.read()).toMatchObject({ billing_email: null });
  expect(await codeOf(owner.api.organisations.changeBillingContact({ organisation_id, email: 'nobody' }))).toBe(
    'VALIDATION',
  );
});
