import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { type Account, accountById, lockUser } from '../sessions/account.ts';
import { isFreeAddress, offerChange } from './change-address.ts';
import { createOffers, type FailedOutcome, noOffers } from './link.ts';

type Link = typeof verificationLinks.$inferSelect;
type FailedLink = { tokenHash: string; browserToken: string | null; message: string };

const confirmed = { ok: false, kind: 'confirmed-already', message: 'This address is confirmed already.' } as const;

/**
 * Returns why a link did not work. A link that was used within its lifetime still offers its
 * forms, because a mail scanner may have opened it before the user. The account does not change.
 */
export async function explainLink(app: App, tx: Transaction, tried: FailedLink): Promise<FailedOutcome> {
  const link = await lockLink(tx, tried.tokenHash);
  if (link === null) return deadLink(tried.message);
  const account = await accountById(tx, link.userId);
  if (account === null || account.accountStatus === 'closed' || account.accountStatus === 'unverified') {
    return deadLink(reason(app, link, tried.message));
  }

  if (link.purpose === 'change-address') return explainChange(app, tx, { link, account, message: tried.message });
  if (account.user.email !== link.email) return deadLink(reason(app, link, tried.message));
  if (isUsedAndUnexpired(app, link)) {
    return { ...confirmed, offers: await createOffers(app, tx, { link, browserToken: tried.browserToken, account }) };
  }
  if (link.purpose === 'lost-password' && link.usedAt === null) return deadLink(reason(app, link, tried.message));
  return { ...confirmed, offers: noOffers };
}

type ChangeLink = { link: Link; account: Account; message: string };

async function explainChange(
  app: App,
  tx: Transaction,
  { link, account, message }: ChangeLink,
): Promise<FailedOutcome> {
  if (account.user.email === link.email) return { ...confirmed, offers: noOffers };
  if (!isUsedAndUnexpired(app, link) || !(await isFreeAddress(app, tx, link)))
    return deadLink(reason(app, link, message));
  return {
    ok: false,
    kind: 'change-offered',
    message: 'This link has been used already.',
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

function reason(app: App, { usedAt, expiresAt }: Link, message: string): string {
  if (usedAt !== null) return 'This link has been used already.';
  return expiresAt > app.now() ? message : 'This link has expired.';
}

function deadLink(message: string): FailedOutcome {
  return { ok: false, kind: 'dead', message };
}
