import { and, desc, eq, isNotNull, isNull, type SQL } from 'drizzle-orm';
import { newOneTimeToken } from '../accounts/password/one-time-token.ts';
import type { App } from '../app.ts';
import { type AuditAction, recordAudit } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { oneTimeTokens, users } from '../db/schema/accounts.ts';
import { organisations } from '../db/schema/organisations.ts';
import { sessions } from '../db/schema/sessions.ts';
import { AppError } from '../errors.ts';
import { passwordLink } from '../links.ts';
import { approveOrganisations, declineOrganisations, endSessionsIn, endTokensIn } from '../organisations/approve.ts';
import type { Client } from '../security/client.ts';
import { accountById } from '../sessions/account.ts';
import { findOrganisation, findOwnedOrganisations, findUser } from './find-accounts.ts';
import { foundOrganisations } from './found-organisations.ts';

/** Who does it, and from where: an operator in the console, or by default the command line. */
type By = { actorId: string | null; client?: Client };

const commandLine: By = { actorId: null };

/** What operators do from the command line. Each is one transaction, and says in a sentence what became true. */

export function approveOwner(app: App, email: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const owned = await ownedBy(app, tx, await findUser(tx, email));
    const closed = owned.filter(({ suspendedAt }) => suspendedAt !== null);
    if (closed.length > 0) {
      throw new AppError('VALIDATION', `${slugs(closed)} is suspended: restore-organisation opens it again.`);
    }
    const changed = await approveOrganisations(tx, { ...decided(app), organisationIds: owned.map(({ id }) => id) });
    if (changed.length === 0) return `${slugs(owned)} was approved already.`;
    return `Approved ${slugs(owned)}.`;
  });
}

export function declineOwner(app: App, email: string, reason: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const owned = await ownedBy(app, tx, await findUser(tx, email));
    const changed = await declineOrganisations(tx, {
      ...decided(app),
      organisationIds: owned.map(({ id }) => id),
      reason,
    });
    if (changed.length === 0) throw new AppError('VALIDATION', `${slugs(owned)} is not waiting for a decision.`);
    return `Declined ${slugs(owned)}.`;
  });
}

/** Makes a person an operator, and approves the organisations that they own. */
export function grantOperator(app: App, email: string): Promise<string> {
  return app.db.transaction(async (tx) => {
    const found = await findUser(tx, email);
    const person = await accountById(tx, found.id);
    if (person?.accountStatus === 'closed')
      throw new AppError('VALIDATION', `The account of ${found.email} is closed.`);
    if (person?.accountStatus === 'unverified') {
      throw new AppError('VALIDATION', `${found.email} has not confirmed the address yet.`);
    }

    await tx.update(users).set({ operator: true }).where(eq(users.id, found.id));
    const owned = await ownedBy(app, tx, found).catch(() => []);
    if (owned.length > 0)
      await approveOrganisations(tx, { ...decided(app), organisationIds: owned.map(({ id }) => id) });
    await recordAudit(tx, app.now(), { action: 'operator-granted', userId: found.id });
    return `${found.email} is an operator.`;
  });
}

export function revokeOperator(app: App, email: string): Promise<string> {
  return changePerson(app, email, {
    action: 'operator-revoked',
    by: commandLine,
    from: eq(users.operator, true),
    to: { operator: false },
    done: (address) => `${address} is no operator any more.`,
    already: (address) => `${address} is no operator.`,
  });
}

/** Closes a person's account: sessions end at once, and nothing lets them in. */
export function suspendUser(app: App, email: string, by = commandLine): Promise<string> {
  return changePerson(app, email, {
    action: 'person-suspended',
    by,
    from: isNull(users.suspendedAt),
    to: { suspendedAt: app.now() },
    done: (address) => `Suspended ${address}.`,
    already: (address) => `${address} is suspended already.`,
  });
}

export function restoreUser(app: App, email: string, by = commandLine): Promise<string> {
  return changePerson(app, email, {
    action: 'person-restored',
    by,
    from: isNotNull(users.suspendedAt),
    to: { suspendedAt: null },
    done: (address) => `Restored ${address}.`,
    already: (address) => `${address} is not suspended.`,
  });
}

export function suspendOrganisation(app: App, slug: string): Promise<string> {
  return changeOrganisation(app, slug, {
    action: 'organisation-suspended',
    from: isNull(organisations.suspendedAt),
    suspendedAt: app.now(),
    done: `Suspended ${slug}.`,
    already: `${slug} is suspended already.`,
  });
}

/** Brings back the state before the suspension: what was declined stays declined. */
export function restoreOrganisation(app: App, slug: string): Promise<string> {
  return changeOrganisation(app, slug, {
    action: 'organisation-restored',
    from: isNotNull(organisations.suspendedAt),
    suspendedAt: null,
    done: `Restored ${slug}.`,
    already: `${slug} is not suspended.`,
  });
}

/** An address that sets a password, once, within the hour. It is shown to whoever made it and kept nowhere. */
export function makePasswordLink(app: App, email: string, by = commandLine): Promise<string> {
  return app.db.transaction(async (tx) => {
    const found = await findUser(tx, email);
    const person = await accountById(tx, found.id);
    if (person?.accountStatus === 'closed')
      throw new AppError('VALIDATION', `The account of ${found.email} is closed.`);
    if (person?.accountStatus === 'unverified') {
      throw new AppError('VALIDATION', `${found.email} has not confirmed the address yet.`);
    }

    const token = await newOneTimeToken(app, tx, found.id, 'password-link', by.actorId);
    await recordAudit(tx, app.now(), { action: 'password-link-made', ...by, userId: found.id });
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

/** An account that joined nothing is given an organisation to decide about. */
async function ownedBy(app: App, tx: Transaction, person: { id: string; email: string }) {
  await foundOrganisations(tx, app.now(), [person.id]);
  return findOwnedOrganisations(tx, person);
}

function decided(app: App) {
  return { ...commandLine, now: app.now() };
}

function slugs(owned: { slug: string }[]): string {
  return owned.map(({ slug }) => slug).join(', ');
}

type PersonChange = {
  action: AuditAction;
  by: By;
  /** What must hold, so that there is something to do; of several at once, one finds it so. */
  from: SQL;
  to: Partial<typeof users.$inferInsert>;
  done: (address: string) => string;
  already: (address: string) => string;
};

function changePerson(app: App, email: string, { action, by, from, to, done, already }: PersonChange) {
  return app.db.transaction(async (tx) => {
    const found = await findUser(tx, email);
    const changed = await tx
      .update(users)
      .set(to)
      .where(and(eq(users.id, found.id), from))
      .returning({ id: users.id });
    if (changed.length === 0) throw new AppError('VALIDATION', already(found.email));

    if (to.suspendedAt) await endSessionsOf(tx, found.id);
    await recordAudit(tx, app.now(), { action, ...by, userId: found.id });
    return done(found.email);
  });
}

/** And the one-time links: what was handed over before must not work again once the account is restored. */
async function endSessionsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
  await tx.delete(sessions).where(eq(sessions.userId, userId));
}

type OrganisationChange = { action: AuditAction; from: SQL; suspendedAt: Date | null; done: string; already: string };

function changeOrganisation(app: App, slug: string, { action, from, suspendedAt, done, already }: OrganisationChange) {
  return app.db.transaction(async (tx) => {
    const { id } = await findOrganisation(tx, slug);
    if (suspendedAt !== null) await endTokensIn(tx, [id]);
    const changed = await tx
      .update(organisations)
      .set({ suspendedAt })
      .where(and(eq(organisations.id, id), from))
      .returning({ id: organisations.id });
    if (changed.length === 0) throw new AppError('VALIDATION', already);
    if (suspendedAt !== null) await endSessionsIn(tx, [id]);
    await recordAudit(tx, app.now(), { action, organisationId: id });
    return done;
  });
}
