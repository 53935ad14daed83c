import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newPageToken } from '../password/one-time-token.ts';
import { accountById } from '../sessions/account.ts';
import { applyAddressChange, requireFreeAddress } from './apply-address-change.ts';
import { endEqualLinks } from './end-links.ts';
import type { OpenedLink, Outcome } from './outcome.ts';

/**
 * Changes the address in a browser where the user who requested it is signed in. In any other browser nothing changes,
 * and the outcome offers a form that changes it with the account's password: the address may be that of a stranger, who
 * opens every link.
 *
 * @throws AppError VALIDATION if the account is closed, or the address belongs to another one.
 */
export async function openChangeLink(
  app: App,
  tx: Transaction,
  { link, signedInUserId, client }: OpenedLink,
): Promise<Outcome> {
  const changes = signedInUserId === link.userId;
  if (changes) {
    await applyAddressChange(app, tx, link, { kept: link.keptSessionId, client });
  } else {
    await requireFreeAddress(app, tx, link);
    await endEqualLinks(tx, link, app.now());
  }

  const awaitingApproval = (await accountById(tx, link.userId))?.accountStatus === 'awaiting_approval';
  if (changes) return { ok: true, kind: 'address-changed', awaitingApproval };
  return { ok: true, kind: 'change-offered', awaitingApproval, ...(await offerChange(app, tx, link)) };
}

/** Returns the form on the link's page: the new address and a new token. */
export async function offerChange(app: App, tx: Transaction, link: OpenedLink['link']) {
  return { email: link.email, changeToken: await newPageToken(app, tx, link, 'change-address') };
}
