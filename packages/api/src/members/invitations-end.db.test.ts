import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPassword } from '../auth/password/set-password.ts';
import { verifyEmail } from '../auth/verification/verify-email.ts';
import { invitations } from '../platform/db/schema/members.ts';
import { normalisePassword } from '../platform/security/password-rules.ts';
import { createPasswordLink } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  addMember,
  callerFor,
  givePlan,
  makeInvitation,
  makeOwner,
  newEmail,
  signInAs,
  testClient,
  testPassword,
  tokenIn,
} from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const next = 'another long pass phrase';

/** Creates an owner with an invitation from each of two browsers, and another administrator with one invitation. */
async function makeInviters() {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'gold');
  const other = await signInAs(test, owner.email);
  const colleague = await addMember(test, owner.organisationId, 'admin');
  for (const each of [owner, other, colleague]) await makeInvitation({ ...each, organisationId: owner.organisationId });
  return { owner, other, colleague };
}

async function makersIn({ organisationId }: { organisationId: string }): Promise<(string | null)[]> {
  const rows = await test.app.db.select().from(invitations).where(eq(invitations.organisationId, organisationId));
  return rows.map(({ createdBy }) => createdBy);
}

describe('the unused invitations of a user', () => {
  it('end with a change of the password, in whichever session they were made; those of other users stay', async () => {
    const { owner, colleague } = await makeInviters();
    const { ended } = await owner.api.accounts.changePassword({ current_password: testPassword, password: next });
    expect(ended).toMatchObject({ invitations: 2 });
    expect(await makersIn(owner)).toEqual([colleague.userId]);
  });

  it('end when a password link sets the password', async () => {
    const { owner, colleague } = await makeInviters();
    const url = new URL(await createPasswordLink(test.app, owner.email));
    await setPassword(
      test.app,
      { token: url.searchParams.get('token') ?? '', password: normalisePassword(next) },
      testClient,
    );
    expect(await makersIn(owner)).toEqual([colleague.userId]);
  });

  it('end with a change of the address', async () => {
    const { owner, colleague } = await makeInviters();
    const email = newEmail();
    await owner.api.accounts.changeAddress({ email, password: testPassword });
    const { text } = await test.sandbox.mailbox.waitFor(email);
    const outcome = await verifyEmail(test.app, { token: tokenIn(text), browserToken: null }, testClient);
    const token = outcome.kind === 'change-offered' ? outcome.changeToken : '';
    await callerFor(test, null).accounts.confirmChange({ token, password: testPassword });
    expect(await makersIn(owner)).toEqual([colleague.userId]);
  });

  it('are not made by a session that has ended', async () => {
    const { owner, other } = await makeInviters();
    await owner.api.accounts.changePassword({ current_password: testPassword, password: next });
    await expect(makeInvitation(other)).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
  });

  it('are not left by requests that are concurrent with a change of the password', async () => {
    const { owner, other, colleague } = await makeInviters();
    const made = Array.from({ length: 8 }, () => makeInvitation(other).catch(() => null));
    await owner.api.accounts.changePassword({ current_password: testPassword, password: next });
    await Promise.all(made);
    expect(await makersIn(owner)).toEqual([colleague.userId]);
  });
});
