import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import { approveWaiting } from '../../organisations/approve.ts';
import type { Client } from '../../security/client.ts';
import { notValid, takeOneTimeToken } from '../password/one-time-token.ts';
import { replacePassword } from '../password/set-password.ts';
import { isApprovedDomain } from '../sign-up/approved-domain.ts';
import { signUpOf } from '../sign-up/pending-sign-up.ts';
import { provisionOrganisation } from '../sign-up/provision-organisation.ts';
import { wantedBy } from './open-sign-up-link.ts';
import { holderOfPage } from './page-token.ts';

export const keepPasswordInput = z.object({ token: z.string({ error: notValid }) });

/**
 * Makes the password and the organisation's name of a sign-up valid, where another program
 * (a mail scanner) opened its link first. It takes the token of the link's page and the
 * cookie of that very sign-up: the browser proves the mailbox and that it typed the password.
 *
 * @throws AppError VALIDATION for a dead token, another browser, or an account with a password.
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
    if (signUp === null || person.user.passwordHash !== null) throw new AppError('VALIDATION', notValid);

    const { id: userId, email } = person.user;
    const account = { userId, email, organisationId: person.organisationId };
    const organisationId = await provisionOrganisation(tx, app.now(), { ...account, wanted: wantedBy(signUp) });
    await replacePassword(app, tx, { userId, passwordHash: signUp.passwordHash, client });
    if (organisationId !== null && isApprovedDomain(app, email)) {
      await approveWaiting(tx, { organisationIds: [organisationId], actorId: null, client, now: app.now() });
    }
  });
}
