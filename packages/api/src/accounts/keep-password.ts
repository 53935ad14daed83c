import { z } from 'zod';
import type { App } from '../app.ts';
import { Refusal } from '../errors.ts';
import { approveWaiting } from '../organisations/approve.ts';
import { isApprovedDomain } from './approved-domain.ts';
import { notValid, takeOneTimeToken } from './one-time-token.ts';
import { wantedBy } from './open-sign-up-link.ts';
import { holderOfPage } from './page-token.ts';
import { signUpOf } from './pending-sign-up.ts';
import { replacePassword } from './set-password.ts';
import { settleOrganisation } from './settle-organisation.ts';

type Client = { address: string; userAgent: string | null };

export const keepPasswordInput = z.object({ token: z.string({ error: notValid }) });

/**
 * Makes the password and the organisation's name of a sign-up valid, where another program
 * (a mail scanner) opened its link first. It takes the token of the link's page and the
 * cookie of that very sign-up: the browser proves the mailbox and that it typed the password.
 *
 * @throws Refusal VALIDATION for a dead token, another browser, or an account with a password.
 */
export async function keepPassword(
  app: App,
  { token }: z.output<typeof keepPasswordInput>,
  browserToken: string | null,
  client: Client,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    const { link, person } = await holderOfPage(tx, await takeOneTimeToken(app, tx, token, ['keep-password']));
    const signUp = await signUpOf(tx, link, browserToken);
    if (signUp === null || person.user.passwordHash !== null) throw new Refusal('VALIDATION', notValid);

    const { id: userId, email } = person.user;
    const account = { userId, email, organisationId: person.organisationId };
    const organisationId = await settleOrganisation(tx, app.now(), { ...account, wanted: wantedBy(signUp) });
    await replacePassword(app, tx, { userId, passwordHash: signUp.passwordHash, client });
    if (organisationId !== null && isApprovedDomain(app, email)) {
      await approveWaiting(tx, { organisationIds: [organisationId], actorId: null, client, now: app.now() });
    }
  });
}
