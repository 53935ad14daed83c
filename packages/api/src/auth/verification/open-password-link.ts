import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { accountById } from '../sessions/account.ts';
import { endEqualLinks } from './end-links.ts';
import { createOffers } from './offers.ts';
import { invalidLink, type OpenedLink, type Outcome } from './outcome.ts';

/**
 * Consumes the link of a verified account, for a lost password. Nothing else changes: the
 * outcome offers the form that sets a new one.
 *
 * @throws AppError VALIDATION if the account is closed, or has another address now.
 */
export async function openPasswordLink(
  app: App,
  tx: Transaction,
  { link, browserToken }: OpenedLink,
): Promise<Outcome> {
  const account = await accountById(tx, link.userId);
  if (account === null || account.accountStatus === 'closed' || account.user.email !== link.email) {
    throw invalidLink();
  }
  await endEqualLinks(tx, link, app.now());

  return {
    ok: true,
    kind: 'password-offered',
    awaitingApproval: account.accountStatus === 'awaiting_approval',
    email: link.email,
    offers: await createOffers(app, tx, { link, browserToken, account }),
  };
}
