import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { Refusal } from '../errors.ts';
import { personById } from '../sessions/person.ts';
import { endEqualLinks } from './end-links.ts';
import { makeOffers } from './offers.ts';
import type { Opening } from './opening.ts';
import type { Outcome } from './outcome.ts';

/**
 * Consumes the link of a verified account, for a lost password. Nothing else changes: the
 * outcome offers the form that sets a new one.
 *
 * @throws Refusal VALIDATION where the account is closed, or has another address by now.
 */
export async function openPasswordLink(app: App, tx: Transaction, { link, browserToken }: Opening): Promise<Outcome> {
  const person = await personById(tx, link.userId);
  if (person === null || person.standing === 'closed' || person.user.email !== link.email) {
    throw new Refusal('VALIDATION', 'This link is not valid.');
  }
  await endEqualLinks(tx, link, app.now());

  return {
    ok: true,
    kind: 'password-offered',
    awaitingApproval: person.standing === 'awaiting_approval',
    email: link.email,
    offers: await makeOffers(app, tx, { link, browserToken, person }),
  };
}
