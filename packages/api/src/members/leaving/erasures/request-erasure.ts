import { and, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import type { Transaction } from '../../../platform/db/client.ts';
import { newId } from '../../../platform/db/id.ts';
import { users, verificationLinks } from '../../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../../platform/db/schema/audit.ts';
import { paymentCustomers } from '../../../platform/db/schema/billing.ts';
import { changes } from '../../../platform/db/schema/changes.ts';
import { erasures } from '../../../platform/db/schema/leaving.ts';
import { memberships } from '../../../platform/db/schema/members.ts';
import { organisations } from '../../../platform/db/schema/organisations.ts';
import { holdsFreedAddress, isAbout, isChangeOfAddress } from './erase-texts.ts';
import { isAddress } from './mentions.ts';

/** What identifies a user, and the organisations whose rows may mention the user. */
type Identifiers = { userId: string; texts: string[]; organisationIds: string[] };

/**
 * Reads, before a user is deleted, by which texts the user may be found: the address, earlier
 * addresses that the feed of changes holds, and the name. Null if there is no such user.
 */
export async function readIdentifiers(tx: Transaction, userId: string): Promise<Identifiers | null> {
  const [user] = await tx.select({ email: users.email, name: users.name }).from(users).where(eq(users.id, userId));
  if (user === undefined) return null;

  const earlier = await tx.select({ data: changes.data }).from(changes).where(isChangeOfAddress(userId));
  const texts = [user.email, user.name, ...earlier.map(({ data }) => data.email)].filter((text) => text != null);
  const found = await Promise.all([
    tx.select({ id: memberships.organisationId }).from(memberships).where(eq(memberships.userId, userId)),
    tx
      .selectDistinct({ id: auditEvents.organisationId })
      .from(auditEvents)
      .where(and(isAbout(userId), isNotNull(auditEvents.organisationId))),
    ...billedTo(tx, userId, texts.filter(isAddress)),
  ]);
  return { userId, texts, organisationIds: [...new Set(found.flat().flatMap(({ id }) => id ?? []))] };
}

/**
 * Returns the organisations whose billing e-mail address, or whose customer's address, is one of these. An
 * earlier address that another user has now leads to none.
 */
function billedTo(tx: Transaction, userId: string, addresses: string[]) {
  return [
    tx
      .select({ id: organisations.id })
      .from(organisations)
      .where(holdsFreedAddress(organisations.billingEmail, addresses, userId)),
    tx
      .select({ id: paymentCustomers.organisationId })
      .from(paymentCustomers)
      .where(holdsFreedAddress(paymentCustomers.contactEmail, addresses, userId)),
  ];
}

/**
 * Drops the mails that wait for a user, and the links that were mailed to the address. To be called before the user is
 * deleted.
 */
export async function dropMailsOf(app: App, tx: Transaction, { userId, texts }: Identifiers): Promise<void> {
  const [email = ''] = texts;
  await app.jobs.dropMails(tx, { userId, emails: texts.filter(isAddress) });
  await tx.delete(verificationLinks).where(eq(verificationLinks.email, email));
}

/**
 * Requests that what is left of a deleted user, and of deleted organisations, is removed by the job
 * `erasure`. To be called in the transaction that deletes them. The caller wakes the job after the commit. Returns
 * the erasure's id.
 */
export async function requestErasure(
  app: App,
  tx: Transaction,
  { identifiers, deleted }: { identifiers?: Identifiers; deleted: string[] },
): Promise<string> {
  const now = app.now();
  const id = newId(now);
  await tx.insert(erasures).values({
    id,
    userId: identifiers?.userId ?? null,
    texts: identifiers?.texts ?? [],
    organisationIds: [...new Set([...deleted, ...(identifiers?.organisationIds ?? [])])],
    deletedIds: deleted,
    requestedAt: now,
  });
  await app.jobs.send(tx, 'erasure', {});
  return id;
}
