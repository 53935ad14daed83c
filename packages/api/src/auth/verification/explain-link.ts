import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';
import type { Text } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { type Account, accountById, lockUser } from '../sessions/account.ts';
import { isFreeAddress, offerChange } from './change-address.ts';
import { createOffers, type FailedOutcome, noOffers } from './link.ts';

type Link = typeof verificationLinks.$inferSelect;
type FailedLink = { tokenHash: string; browserToken: string | null; text: Text };

const confirmed = { ok: false, kind: 'confirmed-already', text: message('address_confirmed_already') } as const;

/**
 * Returns why a link did not work. A link that was used within its lifetime still offers its
 * forms, because a mail scanner may have opened it before the user. The account does not change.
 */
export async function explainLink(app: App, tx: Transaction, tried: FailedLink): Promise<FailedOutcome> {
  const link = await lockLink(tx, tried.tokenHash);
  if (link === null) return deadLink(tried.text);
  const account = await accountById(tx, link.userId);
  if (account === null || account.accountStatus === 'closed' || account.accountStatus === 'unverified') {
    return deadLink(reason(app, link, tried.text));
  }

  if (link.purpose === 'change-address') return explainChange(app, tx, { link, account, text: tried.text });
  if (account.user.email !== link.email) return deadLink(reason(app, link, tried.text));
  if (isUsedAndUnexpired(app, link)) {
    return { ...confirmed, offers: await createOffers(app, tx, { link, browserToken: tried.browserToken, account }) };
  }
  if (link.purpose === 'lost-password' && link.usedAt === null) return deadLink(reason(app, link, tried.text));
  return { ...confirmed, offers: noOffers };
}

type ChangeLink = { link: Link; account: Account; text: Text };

async function explainChange(app: App, tx: Transaction, { link, account, text }: ChangeLink): Promise<FailedOutcome> {
  if (account.user.email === link.email) return { ...confirmed, offers: noOffers };
  if (!isUsedAndUnexpired(app, link) || !(await isFreeAddress(app, tx, link))) return deadLink(reason(app, link, text));
  return {
    ok: false,
    kind: 'change-offered',
    text: message('link_used'),
    ...(await offerChange(app, tx, link)),
  };
}

/** Reads the link after the user's row is locked, so that the outcome takes a concurrent new password into account. */
async function lockLink(tx: Transaction, tokenHash: string): Promise<Link | null> {
  const read = () => tx.select().from(verificationLinks).where(eq(verificationLinks.tokenHash, tokenHash));
  const [known] = await read();
  if (known === undefined) return null;
  await lockUser(tx, known.userId);
  const [link] = await read();
  return link ?? null;
}

function isUsedAndUnexpired(app: App, { usedAt, expiresAt }: Link): boolean {
  return usedAt !== null && expiresAt > app.now();
}

function reason(app: App, { usedAt, expiresAt }: Link, text: Text): Text {
  if (usedAt !== null) return message('link_used');
  return expiresAt > app.now() ? text : message('link_expired');
}

function deadLink(text: Text): FailedOutcome {
  return { ok: false, kind: 'dead', text };
}
