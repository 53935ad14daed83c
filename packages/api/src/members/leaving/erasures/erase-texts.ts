import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Transaction } from '../../../platform/db/client.ts';
import { users } from '../../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../../platform/db/schema/audit.ts';
import { paymentCustomers } from '../../../platform/db/schema/billing.ts';
import { changes } from '../../../platform/db/schema/changes.ts';
import { invitations } from '../../../platform/db/schema/members.ts';
import { organisations } from '../../../platform/db/schema/organisations.ts';
import { notices } from '../../../platform/db/schema/sessions.ts';
import { isAddress, mentions, mentionsAny } from './mentions.ts';

type ErasedUser = { userId: string | null; texts: string[] };

/**
 * Removes what is left of a deleted organisation: audit entries keep their action and ids. Unread
 * changes keep their place in the feed, with the id as slug.
 */
export async function eraseOrganisationTexts(tx: Transaction, organisationId: string): Promise<void> {
  await tx
    .update(changes)
    .set({ data: sql`jsonb_build_object('slug', ${changes.organisationId}, 'name', null)` })
    .where(and(eq(changes.organisationId, organisationId), sql`${changes.data} ? 'slug'`));
  await tx
    .update(auditEvents)
    .set({ details: {} })
    .where(and(eq(auditEvents.organisationId, organisationId), hasDetails));
}

/** Removes texts of an organisation that mention the user. Texts with an address that another user has now are kept. */
export async function eraseMentions(tx: Transaction, erased: ErasedUser, organisationId: string): Promise<void> {
  const texts = await withoutTakenAddresses(tx, erased.texts);
  const { userId } = erased;
  await removeDetails(tx, { userId, texts }, eq(auditEvents.organisationId, organisationId));
  await tx
    .update(invitations)
    .set({ note: null })
    .where(and(eq(invitations.organisationId, organisationId), mentionsAny(invitations.note, texts)));
  await tx
    .update(organisations)
    .set({ declineReason: null })
    .where(and(eq(organisations.id, organisationId), mentionsAny(organisations.declineReason, texts)));

  // The job payment-contact updates the provider: an empty address differs from null, so a push is due.
  const addresses = texts.filter(isAddress);
  await tx
    .update(organisations)
    .set({ billingEmail: null })
    .where(and(eq(organisations.id, organisationId), holdsFreedAddress(organisations.billingEmail, addresses)));
  await tx
    .update(paymentCustomers)
    .set({ contactEmail: '' })
    .where(
      and(
        eq(paymentCustomers.organisationId, organisationId),
        holdsFreedAddress(paymentCustomers.contactEmail, addresses),
      ),
    );
}

/**
 * Whether a column holds one of the addresses, and no user has it. Before the deletion `except` is the erased user's
 * id.
 */
export function holdsFreedAddress(
  column: PgColumn,
  addresses: string[],
  except: string | null = null,
): SQL | undefined {
  const others = except === null ? sql`` : sql`and ${users.id} <> ${except}`;
  return and(
    inArray(column, addresses),
    sql`not exists (select from ${users} where ${users.email} = ${column} ${others})`,
  );
}

/** Removes what identifies the user where no organisation is named. */
export async function eraseOwnTexts(tx: Transaction, userId: string, texts: string[]): Promise<void> {
  const own = or(eq(auditEvents.actorId, userId), and(isNull(auditEvents.actorId), eq(auditEvents.userId, userId)));
  const hasClient = or(isNotNull(auditEvents.client), isNotNull(auditEvents.userAgent));
  await tx.update(auditEvents).set({ client: null, userAgent: null }).where(and(own, hasClient));
  await removeDetails(tx, { userId, texts }, isAbout(userId));
  await tx.delete(changes).where(isChangeOfAddress(userId));
  await tx.delete(notices).where(mentionsAny(sql`${notices.content}::text`, await withoutTakenAddresses(tx, texts)));
}

/** Returns the texts without those that are a user's address. */
async function withoutTakenAddresses(tx: Transaction, texts: string[]): Promise<string[]> {
  const taken = await tx
    .select({ email: users.email })
    .from(users)
    .where(inArray(users.email, texts.filter(isAddress)));
  const addresses = new Set(taken.map(({ email }) => email));
  return texts.filter((text) => !addresses.has(text));
}

const hasDetails = sql`${auditEvents.details} <> '{}'`;

/** Removes the details that hold personal texts. The trigger of the audit log permits removals only. */
async function removeDetails(tx: Transaction, { userId, texts }: ErasedUser, which: SQL | undefined): Promise<void> {
  const personal = or(
    userId === null ? undefined : and(eq(auditEvents.userId, userId), sql`entry.key = 'reason'`),
    ...texts.map((text) => and(isAddress(text) ? undefined : isFreeText, mentions(sql`entry.value`, text))),
  );
  const entries = sql`from jsonb_each_text(${auditEvents.details}) as entry where ${personal}`;
  await tx
    .update(auditEvents)
    .set({ details: sql`${auditEvents.details} - array(select entry.key ${entries})` })
    .where(and(which, hasDetails, sql`exists (select ${entries})`));
}

/** The details that people write. A user may be called "Admin" or "Gold", so the other details keep such words. */
const isFreeText = sql`(entry.key in ('reason', 'name')
  or (entry.key in ('from', 'to') and ${auditEvents.action} = 'organisation-renamed'))`;

/** The condition for audit entries about a user or by them. */
export function isAbout(userId: string): SQL | undefined {
  return or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId));
}

/** The condition for changes in the feed that hold an address or the name of the user. */
export function isChangeOfAddress(userId: string): SQL | undefined {
  return and(eq(changes.userId, userId), inArray(changes.type, ['user.email_changed', 'user.renamed']));
}
