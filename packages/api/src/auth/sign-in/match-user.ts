import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordAllJoined, recordChange, recordJoined } from '../../changes/record-change.ts';
import { isApprovedDomain } from '../../organisations/account-status.ts';
import { approveByRule } from '../../organisations/approve.ts';
import { createOrganisation } from '../../organisations/organisation.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { identities, oneTimeTokens, signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { verifiesForeignDomains } from '../../platform/providers/identity.ts';
import { domainOf } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { userHasFactor } from '../factors/has-factor.ts';
import { type Account, accountByEmail, accountById } from '../sessions/account.ts';
import { endSignUps, settleOrganisation } from '../sign-up/pending-sign-up.ts';
import type { Identity } from './id-token.ts';

/** The user of an identity, with the organisation that the session acts for and the account status. */
type MatchedUser = Pick<Account, 'organisationId' | 'accountStatus'> & {
  user: Pick<Account['user'], 'id' | 'email'>;
  /** The identity that is linked once the second step is done; absent where it is linked. */
  linking?: { issuer: string; subject: string; email: string };
};

/**
 * Returns the user of an identity: the user of its subject; otherwise the user of its address, which
 * the provider has verified; otherwise a new user with a new organisation, verified and awaiting
 * approval. With an invitation a new user gets no organisation. If APPROVED_DOMAINS lists the
 * domain, the organisation is approved, because the provider's verification proves as much as a link
 * opened in the browser that signed up.
 *
 * @throws Error if the subject was unlinked, or the address belongs to a user with another subject,
 *   linked or unlinked, or the account was deleted meanwhile.
 */
export async function matchUser(
  app: App,
  tx: Transaction,
  identity: Identity,
  client: Client,
  { invited = false } = {},
): Promise<MatchedUser> {
  const matched = await match(app, tx, identity, { client, invited });
  const { organisationId, accountStatus, user } = matched;
  if (accountStatus !== 'awaiting_approval' || organisationId === null) return matched;
  if (user.email !== identity.email || !isApprovedByDomain(app, identity)) return matched;

  const decision = { organisationIds: [organisationId], ownerId: user.id, actorId: null, client, now: app.now() };
  const isApproved = (await approveByRule(tx, decision)).length > 0;
  return isApproved ? { ...matched, accountStatus: 'active' } : matched;
}

/**
 * Whether APPROVED_DOMAINS approves an identity. If the provider also verifies addresses of domains
 * that it does not host, it must name the domain itself: a private account with a company's address
 * does not belong to the company.
 */
function isApprovedByDomain(app: App, { issuer, email, hostedDomain }: Identity): boolean {
  if (!isApprovedDomain(app, email)) return false;
  const approvesAll = app.config.approvedDomains.includes('*');
  return approvesAll || !verifiesForeignDomains(issuer) || hostedDomain === domainOf(email);
}

type SignInContext = { client: Client; invited: boolean };

async function match(app: App, tx: Transaction, identity: Identity, context: SignInContext): Promise<MatchedUser> {
  const known = await findIdentity(tx, identity);
  if (known?.unlinkedAt != null) throw new Error('the subject was unlinked');
  const bySubject = known && (await accountById(tx, known.userId));
  if (bySubject !== null) return named(app, tx, bySubject, identity);

  const created = await createUser(app, tx, identity, context);
  if (created !== null) return created;

  // The row lock makes concurrent identities of one address run in turn: the second finds a linked subject.
  await tx.select({ id: users.id }).from(users).where(eq(users.email, identity.email)).for('update');
  const byEmail = await accountByEmail(tx, identity.email);
  if (byEmail === null) throw new Error('the account was deleted meanwhile');
  const own = await identitiesOf(tx, byEmail.user.id);
  if (own.some((each) => each.unlinkedAt === null && isSame(each, identity))) return named(app, tx, byEmail, identity);
  if (own.length > 0) throw new Error('the account has another subject, or has unlinked one');
  if (byEmail.accountStatus === 'closed') return byEmail;
  // Nobody binds a subject to an account without its second factor.
  if (await userHasFactor(tx, byEmail.user.id)) {
    const { issuer, subject, email } = identity;
    return { ...byEmail, linking: { issuer, subject, email } };
  }
  return link(app, tx, byEmail, identity, context);
}

function isSame(known: LinkedIdentity, { issuer, subject }: Identity): boolean {
  return known.issuer === issuer && known.subject === subject;
}

async function createUser(
  app: App,
  tx: Transaction,
  identity: Identity,
  { client, invited }: SignInContext,
): Promise<MatchedUser | null> {
  const { email, name } = identity;
  const now = app.now();
  const [user] = await tx
    .insert(users)
    .values({ id: newId(now), email, name, emailVerifiedAt: now, invitedOnly: invited, createdAt: now })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  if (user === undefined) return null;
  await linkIdentity(tx, now, { ...identity, userId: user.id, countsAsFactor: true });

  const organisationId = invited ? null : await createOrganisation(tx, now, { ownerId: user.id, name: null, email });
  await recordAudit(tx, now, {
    action: 'signed-up',
    userId: user.id,
    organisationId,
    client,
    details: { with: 'identity provider' },
  });
  if (organisationId !== null) await recordJoined(tx, now, { organisationId, userId: user.id });
  app.metrics.count('gatehouse_sign_ups_total', { way: 'identity_provider' });
  return { user: { id: user.id, email }, organisationId, accountStatus: 'awaiting_approval' };
}

async function link(
  app: App,
  tx: Transaction,
  account: Account,
  identity: Identity,
  { client, invited }: SignInContext,
): Promise<Account> {
  const now = app.now();
  const { id, email, emailVerifiedAt } = account.user;
  let { organisationId } = account;
  if (emailVerifiedAt === null) {
    await deleteUnverifiedData(tx, id);
    const wanted = invited ? null : { name: null };
    organisationId = await settleOrganisation(tx, now, { userId: id, email, wanted });
    await tx.update(users).set({ emailVerifiedAt: now, name: identity.name }).where(eq(users.id, id));
    await recordAllJoined(tx, now, id);
  } else {
    // The address may have been verified in another browser, so that what was typed at sign-up is still pending.
    await endSignUps(tx, id, now);
  }
  await linkIdentity(tx, now, { ...identity, userId: id });
  await recordAudit(tx, now, { action: 'identity-linked', userId: id, organisationId, client });

  const linked = await accountById(tx, id);
  if (linked === null) throw new Error('the account was deleted meanwhile');
  return named(app, tx, linked, identity);
}

/**
 * Deletes what an unverified sign-up left: another person may have signed up with the address before
 * its owner.
 */
export async function deleteUnverifiedData(tx: Transaction, userId: string): Promise<void> {
  await tx.update(users).set({ passwordHash: null, name: null }).where(eq(users.id, userId));
  await tx.delete(verificationLinks).where(eq(verificationLinks.userId, userId));
  await tx.delete(signUps).where(eq(signUps.userId, userId));
  await tx.delete(oneTimeTokens).where(eq(oneTimeTokens.userId, userId));
  await tx.delete(sessions).where(eq(sessions.userId, userId));
}

/** Stores the provider's name if the user has none. */
async function named(app: App, tx: Transaction, account: Account, { name }: Identity): Promise<Account> {
  const { id: userId, name: known } = account.user;
  if (known !== null || name === null) return account;

  const isUnnamed = and(eq(users.id, userId), isNull(users.name));
  const changed = await tx.update(users).set({ name }).where(isUnnamed).returning({ id: users.id });
  if (changed.length > 0) await recordChange(tx, app.now(), { type: 'user.renamed', userId, data: { name } });
  return account;
}

type LinkedIdentity = typeof identities.$inferSelect;
type Subject = Pick<Identity, 'issuer' | 'subject'>;

/** Returns the row of a subject, linked or unlinked, or null. */
export async function findIdentity(tx: Transaction, { issuer, subject }: Subject): Promise<LinkedIdentity | null> {
  const [row] = await tx
    .select()
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row ?? null;
}

/** Returns all subjects of a user. At most one is linked. */
export function identitiesOf(db: Executor, userId: string): Promise<LinkedIdentity[]> {
  return db.select().from(identities).where(eq(identities.userId, userId));
}

type NewIdentity = Subject & { userId: string; email?: string | null; countsAsFactor?: boolean };

/**
 * Links a subject to a user. The constraints refuse a subject of another user and a second linked
 * subject.
 *
 * @throws Error if a constraint is violated.
 */
export async function linkIdentity(
  tx: Transaction,
  now: Date,
  { userId, issuer, subject, email = null, countsAsFactor = false }: NewIdentity,
): Promise<void> {
  await tx.insert(identities).values({ userId, issuer, subject, email, countsAsFactor, linkedAt: now });
}
