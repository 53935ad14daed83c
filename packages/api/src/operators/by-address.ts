import { desc, eq } from 'drizzle-orm';
import { newOneTimeToken } from '../accounts/one-time-token.ts';
import type { App } from '../app.ts';
import { type AuditAction, record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { oneTimeTokens, organisations, sessions, users } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { passwordLink } from '../links.ts';
import { approveOrganisations, declineOrganisations, endSessionsIn, endTokensIn } from '../organisations/approve.ts';
import { personById } from '../sessions/person.ts';
import { findOrganisation, findOwnedOrganisations, findPerson } from './find.ts';

/** Who does it, and from where: an operator in the console, or by default the command line. */
type By = { actorId: string | null; client?: { address: string; userAgent: string | null } };

const commandLine: By = { actorId: null };

/** What operators do from the command line. Each is one transaction, and says in a sentence what became true. */

export function approveOwner(app: App, email: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const owned = await findOwnedOrganisations(tx, await findPerson(tx, email));
    const changed = await approveOrganisations(tx, { ...decided(app), organisationIds: owned.map(({ id }) => id) });
    if (changed.length === 0) return `${slugs(owned)} was approved already.`;
    return `Approved ${slugs(owned)}.`;
  });
}

export function declineOwner(app: App, email: string, reason: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const owned = await findOwnedOrganisations(tx, await findPerson(tx, email));
    const changed = await declineOrganisations(tx, {
      ...decided(app),
      organisationIds: owned.map(({ id }) => id),
      reason,
    });
    if (changed.length === 0) throw new Refusal('VALIDATION', `${slugs(owned)} is not waiting for a decision.`);
    return `Declined ${slugs(owned)}.`;
  });
}

/** Makes a person an operator, and approves the organisations that they own. */
export function grantOperator(app: App, email: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const found = await findPerson(tx, email);
    const person = await personById(tx, found.id);
    if (person?.standing === 'closed') throw new Refusal('VALIDATION', `The account of ${found.email} is closed.`);
    if (person?.standing === 'unverified') {
      throw new Refusal('VALIDATION', `${found.email} has not confirmed the address yet.`);
    }

    await tx.update(users).set({ operator: true }).where(eq(users.id, found.id));
    const owned = await findOwnedOrganisations(tx, found).catch(() => []);
    if (owned.length > 0)
      await approveOrganisations(tx, { ...decided(app), organisationIds: owned.map(({ id }) => id) });
    await record(tx, app.now(), { action: 'operator-granted', userId: found.id });
    return `${found.email} is an operator.`;
  });
}

export function revokeOperator(app: App, email: string): Promise<string> {
  const change = { operator: false };
  return changePerson(
    app,
    email,
    { action: 'operator-revoked', by: commandLine, change },
    (address) => `${address} is no operator any more.`,
  );
}

/** Closes a person's account: sessions end at once, and nothing lets them in. */
export function suspendPerson(app: App, email: string, by = commandLine): Promise<string> {
  const change = { suspendedAt: app.now() };
  return changePerson(app, email, { action: 'person-suspended', by, change }, (address) => `Suspended ${address}.`);
}

export function restorePerson(app: App, email: string, by = commandLine): Promise<string> {
  const change = { suspendedAt: null };
  return changePerson(app, email, { action: 'person-restored', by, change }, (address) => `Restored ${address}.`);
}

export function suspendOrganisation(app: App, slug: string): Promise<string> {
  return changeOrganisation(app, slug, 'organisation-suspended', app.now(), `Suspended ${slug}.`);
}

/** Brings back the state before the suspension: what was declined stays declined. */
export function restoreOrganisation(app: App, slug: string): Promise<string> {
  return changeOrganisation(app, slug, 'organisation-restored', null, `Restored ${slug}.`);
}

/** An address that sets a password, once, within the hour. It is shown to whoever made it and kept nowhere. */
export function makePasswordLink(app: App, email: string, by = commandLine): Promise<string> {
  return app.db.transaction(async (tx) => {
    const found = await findPerson(tx, email);
    const person = await personById(tx, found.id);
    if (person?.standing === 'closed') throw new Refusal('VALIDATION', `The account of ${found.email} is closed.`);
    if (person?.standing === 'unverified') {
      throw new Refusal('VALIDATION', `${found.email} has not confirmed the address yet.`);
    }

    const token = await newOneTimeToken(app, tx, found.id, 'password-link', by.actorId);
    await record(tx, app.now(), { action: 'password-link-made', ...by, userId: found.id });
    return passwordLink(app.config, token);
  });
}

export async function listOperators(app: App): Promise<string> {
  const operators = await app.db
    .select({ email: users.email })
    .from(users)
    .where(eq(users.operator, true))
    .orderBy(desc(users.createdAt));
  return operators.map(({ email }) => email).join('\n') || 'There are no operators.';
}

function decided(app: App) {
  return { ...commandLine, now: app.now() };
}

function slugs(owned: { slug: string }[]): string {
  return owned.map(({ slug }) => slug).join(', ');
}

type Change = { action: AuditAction; by: By; change: Partial<typeof users.$inferInsert> };

function changePerson(
  app: App,
  email: string,
  { action, by, change }: Change,
  say: (address: string) => string,
): Promise<string> {
  return app.db.transaction(async (tx) => {
    const found = await findPerson(tx, email);
    await tx.update(users).set(change).where(eq(users.id, found.id));
    if (change.suspendedAt) await endSessionsOf(tx, found.id);
    await record(tx, app.now(), { action, ...by, userId: found.id });
    return say(found.email);
  });
}

/** And the one-time links: what was handed over before must not work again once the account is restored. */
async function endSessionsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
  await tx.delete(sessions).where(eq(sessions.userId, userId));
}

function changeOrganisation(app: App, slug: string, action: AuditAction, suspendedAt: Date | null, sentence: string) {
  return app.db.transaction(async (tx) => {
    const { id } = await findOrganisation(tx, slug);
    if (suspendedAt !== null) await endTokensIn(tx, [id]);
    await tx.update(organisations).set({ suspendedAt }).where(eq(organisations.id, id));
    if (suspendedAt !== null) await endSessionsIn(tx, [id]);
    await record(tx, app.now(), { action, organisationId: id });
    return sentence;
  });
}
