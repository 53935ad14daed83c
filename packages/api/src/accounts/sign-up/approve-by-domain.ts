import { z } from 'zod';
import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import { approveWaiting } from '../../organisations/approve.ts';
import type { Client } from '../../security/client.ts';
import { accountById } from '../../sessions/account.ts';
import { notValid, takeOneTimeToken } from '../password/one-time-token.ts';
import { isApprovedDomain } from './approved-domain.ts';

export const approveByDomainInput = z.object({ token: z.string({ error: notValid }) });

/**
 * Opens the approval gate where APPROVED_DOMAINS says so, for whoever pressed the
 * button on the page of their verification link: mail scanners open links but press
 * no buttons.
 */
export async function approveByDomain(
  app: App,
  { token }: z.output<typeof approveByDomainInput>,
  client: Client,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    const { userId } = await takeOneTimeToken(app, tx, token, ['approval']);
    const person = await accountById(tx, userId);
    if (
      person?.organisationId == null ||
      person.accountStatus === 'closed' ||
      !isApprovedDomain(app, person.user.email)
    ) {
      throw new AppError('VALIDATION', notValid);
    }
    await approveWaiting(tx, { organisationIds: [person.organisationId], actorId: null, client, now: app.now() });
  });
}
