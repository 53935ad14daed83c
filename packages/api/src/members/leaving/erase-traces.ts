import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { addressChanges, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { paymentCustomers, paymentEvents } from '../../platform/db/schema/billing.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';

/**
 * Removes what is stored about a deleted user outside the rows that were deleted with the user: what has the user's id,
 * and what equals the address. What other people wrote about the user stays (docs/privacy.md). To be called in the
 * transaction that deletes the user, when the deletion is recorded; the organisations that have the address as their
 * billing e-mail address are locked.
 */
export async function eraseTracesOfUser(
  app: App,
  tx: Transaction,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  await app.jobs.dropMails(tx, { userId, emails: [email] });
  await tx.delete(verificationLinks).where(eq(verificationLinks.email, email));
  await tx.delete(addressChanges).where(eq(addressChanges.email, email));
  await eraseFromAudit(tx, userId);
  // The changes stay, for readers that have not read them yet.
  await tx
    .update(changes)
    .set({
      data: sql`case ${changes.type} when 'user.renamed' then '{"name": null}' else '{"email": null}' end::jsonb`,
    })
    .where(and(eq(changes.userId, userId), sql`${changes.type} in ('user.renamed', 'user.email_changed')`));
  await eraseBillingAddress(app, tx, email);
}

/** An entry's client is that of whoever acted. A user's reason for an action is not stored, only operators' reasons are. */
async function eraseFromAudit(tx: Transaction, userId: string): Promise<void> {
  const own = or(
    eq(auditEvents.actorId, userId),
    and(isNull(auditEvents.actorId), isNull(auditEvents.keyId), eq(auditEvents.userId, userId)),
  );
  const hasClient = or(isNotNull(auditEvents.client), isNotNull(auditEvents.userAgent));
  await tx.update(auditEvents).set({ client: null, userAgent: null }).where(and(own, hasClient));
  await tx
    .update(auditEvents)
    .set({ details: sql`${auditEvents.details} - 'reason'` })
    .where(and(eq(auditEvents.userId, userId), sql`${auditEvents.details} ? 'reason'`));
}

/** Bills no longer go to the address. The job removes it at the payment provider. */
async function eraseBillingAddress(app: App, tx: Transaction, email: string): Promise<void> {
  const billed = await tx
    .update(organisations)
    .set({ billingEmail: null })
    .where(eq(organisations.billingEmail, email))
    .returning({ id: organisations.id });
  const customers = await tx
    .update(paymentCustomers)
    // An empty address differs from null, so that the job has something to do.
    .set({ contactEmail: '' })
    .where(eq(paymentCustomers.contactEmail, email))
    .returning({ id: paymentCustomers.organisationId });
  for (const organisationId of new Set([...billed, ...customers].map(({ id }) => id))) {
    await app.jobs.send(tx, 'payment-contact', { organisationId }, { key: organisationId });
  }
}

/**
 * Removes what is left of a deleted organisation: audit entries keep their action and ids, changes that are not read yet
 * their place in the feed, with the id as slug, and events of the payment provider lose their payload.
 */
export async function eraseTracesOfOrganisation(tx: Transaction, organisationId: string): Promise<void> {
  await tx
    .update(changes)
    .set({ data: sql`jsonb_build_object('slug', ${changes.organisationId}, 'name', null)` })
    .where(and(eq(changes.organisationId, organisationId), sql`${changes.data} ? 'slug'`));
  await tx
    .update(auditEvents)
    .set({ details: {} })
    .where(and(eq(auditEvents.organisationId, organisationId), sql`${auditEvents.details} <> '{}'`));
  await tx.update(paymentEvents).set({ payload: null }).where(eq(paymentEvents.organisationId, organisationId));
}
