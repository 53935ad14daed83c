import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPassword } from '../auth/password/set-password.ts';
import { deleteSession, readSession, startSession } from '../auth/sessions/session.ts';
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

/** Creates an owner with an invitation from each of two browsers, and another owner with one invitation. */
async function makeInviters() {
  const kept = await makeOwner(test);
  await givePlan(test, kept.organisationId, 'gold');
  const other = await signInAs(test, kept.email);
  const colleague = await addMember(test, kept.organisationId, 'admin');
  for (const each of [kept, other, colleague]) await makeInvitation({ ...each, organisationId: kept.organisationId });
  return { kept, other, colleague };
}

async function madeIn({ organisationId }: { organisationId: string }): Promise<(string | null)[]> {
  const rows = await test.app.db.select().from(invitations).where(eq(invitations.organisationId, organisationId));
  return rows.map(({ sessionId }) => sessionId).sort();
}

describe('the unused invitations of a session', () => {
  it('end with it when the password is changed; those of the kept session and of other users stay', async () => {
    const { kept, colleague } = await makeInviters();
    await kept.api.accounts.changePassword({ current_password: testPassword, password: next });
    expect(await madeIn(kept)).toEqual([kept.principal.sessionId, colleague.principal.sessionId].sort());
  });

  it('end with a change of the password, also if the session had ended before', async () => {
    const kept = await makeOwner(test);
    const session = { userId: kept.userId, organisationId: kept.organisationId, client: testClient };
    const id = await startSession(test.app, session);
    const principal = await readSession(test.app, id);
    await makeInvitation({ api: callerFor(test, principal), organisationId: kept.organisationId });
    await deleteSession(test.app, id);
    expect(await madeIn(kept)).toHaveLength(1);
    await kept.api.accounts.changePassword({ current_password: testPassword, password: next });
    expect(await madeIn(kept)).toEqual([]);
  });

  it('all end when a password link sets the password', async () => {
    const { kept, colleague } = await makeInviters();
    const url = new URL(await createPasswordLink(test.app, kept.email));
    await setPassword(
      test.app,
      { token: url.searchParams.get('token') ?? '', password: normalisePassword(next) },
      testClient,
    );
    expect(await madeIn(kept)).toEqual([colleague.principal.sessionId]);
  });

  it('end with a change of the address, except those of the session that requested it', async () => {
    const { kept, colleague } = await makeInviters();
    const email = newEmail();
    await kept.api.accounts.changeAddress({ email, password: testPassword });
    const { text } = await test.sandbox.mailbox.waitFor(email);
    const outcome = await verifyEmail(test.app, { token: tokenIn(text), browserToken: null }, testClient);
    const token = outcome.kind === 'change-offered' ? outcome.changeToken : '';
    await callerFor(test, null).accounts.confirmChange({ token });
    expect(await madeIn(kept)).toEqual([kept.principal.sessionId, colleague.principal.sessionId].sort());
  });

  it('are not made by a session that has ended', async () => {
    const { kept, other } = await makeInviters();
    await kept.api.accounts.changePassword({ current_password: testPassword, password: next });
    await expect(makeInvitation(other)).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
  });

  it('are not left by requests that are concurrent with a change of the password', async () => {
    const { kept, other } = await makeInviters();
    const made = Array.from({ length: 8 }, () => makeInvitation(other).catch(() => null));
    await kept.api.accounts.changePassword({ current_password: testPassword, password: next });
    await Promise.all(made);
    expect(await madeIn(kept)).not.toContain(other.principal.sessionId);
  });
});
