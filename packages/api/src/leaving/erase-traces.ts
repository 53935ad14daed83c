import { and, eq, inArray, isNotNull, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { stripEvents } from '../billing/events/strip-events.ts';
import type { Transaction } from '../db/client.ts';
import { users, verificationLinks } from '../db/schema/accounts.ts';
import { auditEvents } from '../db/schema/audit.ts';
import { paymentCustomers, paymentEvents } from '../db/schema/billing.ts';
import { changes } from '../db/schema/changes.ts';
import { invitations, memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { notices } from '../db/schema/sessions.ts';

/** What identifies a user, and the organisations whose rows may mention the user. */
export type Traces = { userId: string; texts: string[]; organisationIds: string[] };

/**
 * Reads, before a user is deleted, by which texts the user may be found: the address, earlier
 * addresses that the feed of changes holds, and the name. Null if there is no such user.
 */
export async function readTraces(tx: Transaction, userId: string): Promise<Traces | null> {
  const [user] = await tx.select({ email: users.email, name: users.name }).from(users).where(eq(users.id, userId));
  if (user === undefined) return null;

  const earlier = await tx.select({ data: changes.data }).from(changes).where(isChangeOfAddress(userId));
  const joined = await tx
    .select({ id: memberships.organisationId })
    .from(memberships)
    .where(eq(memberships.userId, userId));
  const recorded = await tx
    .selectDistinct({ id: auditEvents.organisationId })
    .from(auditEvents)
    .where(and(isAbout(userId), isNotNull(auditEvents.organisationId)));
  return {
    userId,
    texts: [user.email, user.name, ...earlier.map(({ data }) => data.email)].filter((text) => text != null),
    organisationIds: [...new Set([...joined, ...recorded].flatMap(({ id }) => id ?? []))],
  };
}

/**
 * Removes what is left of a deleted user: audit entries keep their action and ids, stored events
 * what decides a subscription, and texts of other people that mention the user are deleted.
 */
export async function eraseTraces(
  app: App,
  tx: Transaction,
  { userId, texts, organisationIds, deletedOrganisations }: Traces & { deletedOrganisations: string[] },
): Promise<void> {
  const mention = (column: SQLWrapper) => or(...texts.map((text) => mentions(column, text)));
  const [email = ''] = texts;

  await eraseOrganisationTraces(app, tx, deletedOrganisations);
  await anonymiseAudit(tx, { userId, organisationIds, texts });
  const ofTheirs = and(inArray(paymentEvents.organisationId, organisationIds), mention(paymentEvents.payload));
  // A name may be a word of any payload, so those of no organisation are searched for addresses alone.
  const byAddress = or(...texts.filter(isAddress).map((text) => mentions(paymentEvents.payload, text)));
  await stripEvents(app, tx, or(ofTheirs, and(isNull(paymentEvents.organisationId), byAddress)));
  await tx.delete(changes).where(isChangeOfAddress(userId));
  await tx.delete(verificationLinks).where(eq(verificationLinks.email, email));
  await tx.delete(notices).where(mention(sql`${notices.content}::text`));
  await tx
    .update(invitations)
    .set({ note: null })
    .where(and(inArray(invitations.organisationId, organisationIds), mention(invitations.note)));
  await tx
    .update(organisations)
    .set({ declineReason: null })
    .where(and(inArray(organisations.id, organisationIds), mention(organisations.declineReason)));
  await removeBillingAddress(tx, email);
  await app.jobs.dropMails(tx, { email });
}

/**
 * Removes what is left of deleted organisations: audit entries keep their action and ids, stored
 * events what decides a subscription. Unread changes keep their place in the feed, with the id as slug.
 */
export async function eraseOrganisationTraces(app: App, tx: Transaction, organisationIds: string[]): Promise<void> {
  await tx
    .update(changes)
    .set({ data: sql`jsonb_build_object('slug', ${changes.organisationId}, 'name', null)` })
    .where(and(inArray(changes.organisationId, organisationIds), sql`${changes.data} ? 'slug'`));
  await tx.update(auditEvents).set({ details: {} }).where(inArray(auditEvents.organisationId, organisationIds));
  await stripEvents(app, tx, inArray(paymentEvents.organisationId, organisationIds));
}

/** The job payment-contact updates the provider: an empty address differs from null, so a push is due. */
async function removeBillingAddress(tx: Transaction, email: string): Promise<void> {
  await tx.update(organisations).set({ billingEmail: null }).where(eq(organisations.billingEmail, email));
  await tx.update(paymentCustomers).set({ contactEmail: '' }).where(eq(paymentCustomers.contactEmail, email));
}

/** The trigger of the audit log permits to remove, and nothing else. */
async function anonymiseAudit(tx: Transaction, { userId, organisationIds, texts }: Traces): Promise<void> {
  const own = or(eq(auditEvents.actorId, userId), and(isNull(auditEvents.actorId), eq(auditEvents.userId, userId)));
  await tx.update(auditEvents).set({ client: null, userAgent: null }).where(own);

  const personal = or(
    and(eq(auditEvents.userId, userId), sql`entry.key = 'reason'`),
    ...texts.map((text) => and(isAddress(text) ? undefined : isFreeText, mentions(sql`entry.value`, text))),
  );
  const about = or(isAbout(userId), inArray(auditEvents.organisationId, organisationIds));
  await tx
    .update(auditEvents)
    .set({
      details: sql`${auditEvents.details} - array(
        select entry.key from jsonb_each_text(${auditEvents.details}) as entry where ${personal})`,
    })
    .where(and(about, sql`${auditEvents.details} <> '{}'`));
}

/** The details that people write. A user may be called "Admin" or "Gold", so the other details keep such words. */
const isFreeText = sql`(entry.key in ('reason', 'name')
  or (entry.key in ('from', 'to') and ${auditEvents.action} = 'organisation-renamed'))`;

function isAddress(text: string): boolean {
  return text.includes('@');
}

function isAbout(userId: string): SQL | undefined {
  return or(eq(auditEvents.userId, userId), eq(auditEvents.actorId, userId));
}

function isChangeOfAddress(userId: string): SQL | undefined {
  return and(eq(changes.userId, userId), eq(changes.type, 'user.email_changed'));
}

/** Whether a column contains a text as whole words, in any case, also as JSON writes it. */
function mentions(column: SQLWrapper, text: string): SQL {
  const forms = new Set([text, JSON.stringify(text).slice(1, -1), asciiJson(text)]);
  const pattern = [...forms].map((form) => form.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|');
  // mia@company.example is not anna-mia@company.example.
  const before = isAddress(text) ? '(^|[^\\w.+-])' : '(^|\\W)';
  return sql`${column} ~* ${`${before}(${pattern})(\\W|$)`}`;
}

function asciiJson(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
