import { and, eq, gt, isNull, ne } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { signUps, users, verificationLinks } from '../db/schema.ts';
import { isRefusal, Refusal } from '../errors.ts';
import { approveWaiting } from '../organisations/approve.ts';
import { clientKey } from '../security/client-key.ts';
import { hashToken } from '../security/token.ts';
import { personById } from '../sessions/person.ts';
import { isApprovedDomain } from './approved-domain.ts';
import { dead, explain, type Outcome } from './explain-link.ts';
import { lockUser } from './lock-user.ts';
import { newOneTimeToken } from './one-time-token.ts';
import { settleOrganisation } from './settle-organisation.ts';
import { takeAddress } from './take-address.ts';

export type { Outcome };

type Client = { address: string; userAgent: string | null };

type Link = typeof verificationLinks.$inferSelect;

/**
 * Opens the e-mail gate for the holder of the link, or gives them the new address that
 * it was sent to. The row is taken as it is read, so a link works once even when a mail
 * scanner and a person race for it. The password
 * and the organisation's name that become valid are those of the sign-up whose link
 * this is; other links and sign-ups for the address die.
 *
 * @throws Refusal TOO_MANY for a client with too many dead links.
 */
export async function verifyEmail(app: App, opened: Opened, client: Client): Promise<Outcome> {
  const outcome = await open(app, opened, client);
  const { ok, addressChanged } = outcome;
  const counted = ok ? (addressChanged ? 'address_changed' : 'confirmed') : 'dead';
  app.metrics.count('gatehouse_verifications_total', { outcome: counted });
  return outcome;
}

type Opened = { token: string; browserToken: string | null };

async function open(app: App, { token, browserToken }: Opened, client: Client): Promise<Outcome> {
  await app.throttle.peek({ 'verify-client': clientKey(client.address) });
  const tokenHash = hashToken(token);

  try {
    return await app.db.transaction(async (tx) => {
      const link = await take(app, tx, tokenHash);
      if (link.purpose === 'change-address') return changeAddress(app, tx, link, client);
      const { sameBrowser, passwordSet } = await openGate(app, tx, link, { browserToken, client });
      return describe(app, tx, link, { sameBrowser, passwordSet, client });
    });
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'VALIDATION') throw error;
    await app.throttle.take({ 'verify-client': clientKey(client.address) });
    return explain(app, tokenHash, error.message);
  }
}

async function take(app: App, tx: Transaction, tokenHash: string): Promise<Link> {
  const now = app.now();
  const [known] = await tx
    .select({ userId: verificationLinks.userId })
    .from(verificationLinks)
    .where(eq(verificationLinks.tokenHash, tokenHash));
  if (known !== undefined) await lockUser(tx, known.userId);
  const [link] = await tx
    .update(verificationLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(verificationLinks.tokenHash, tokenHash),
        isNull(verificationLinks.usedAt),
        gt(verificationLinks.expiresAt, now),
      ),
    )
    .returning();
  if (link === undefined) throw new Refusal('VALIDATION', 'This link is not valid.');

  return link;
}

async function changeAddress(app: App, tx: Transaction, link: Link, client: Client): Promise<Outcome> {
  await takeAddress(app, tx, link, client);
  await endOthers(app, tx, link);
  const person = await personById(tx, link.userId);
  const awaitingApproval = person?.standing === 'awaiting_approval';
  return { ...dead, ok: true, message: null, awaitingApproval, addressChanged: true };
}

async function openGate(
  app: App,
  tx: Transaction,
  link: Link,
  { browserToken, client }: { browserToken: string | null; client: Client },
) {
  const now = app.now();
  const [signUp] = link.signUpId === null ? [] : await tx.select().from(signUps).where(eq(signUps.id, link.signUpId));
  const opened = await tx
    .update(users)
    .set({ emailVerifiedAt: now, ...(signUp && { passwordHash: signUp.passwordHash }) })
    .where(and(eq(users.id, link.userId), isNull(users.emailVerifiedAt), isNull(users.suspendedAt)))
    .returning({ id: users.id });
  if (opened.length === 0) throw new Refusal('VALIDATION', 'This link is not valid.');

  const person = await personById(tx, link.userId);
  if (person === null || person.standing === 'closed') throw new Refusal('VALIDATION', 'This link is not valid.');
  const organisationId = await settle(app, tx, link, { signUp, organisationId: person.organisationId });
  await endOthers(app, tx, link);
  await record(tx, now, {
    action: 'address-verified',
    userId: link.userId,
    organisationId,
    client,
    details: { same_browser: String(isSameBrowser(signUp, browserToken)) },
  });

  return { sameBrowser: isSameBrowser(signUp, browserToken), passwordSet: signUp !== undefined };
}

type SignUp = typeof signUps.$inferSelect;

/**
 * The organisation that the sign-up asked for. A link that carries none proves none of the
 * names that were typed: what is there stays, without a name, and where nothing is, one is
 * made unless everybody who signed up came by an invitation.
 */
async function settle(
  app: App,
  tx: Transaction,
  { userId, email }: Link,
  { signUp, organisationId }: { signUp: SignUp | undefined; organisationId: string | null },
): Promise<string | null> {
  const account = { userId, email, organisationId };
  if (signUp !== undefined) {
    const wanted = signUp.invited ? null : { name: signUp.organisationName };
    return settleOrganisation(tx, app.now(), { ...account, wanted });
  }
  if (organisationId !== null) return settleOrganisation(tx, app.now(), { ...account, wanted: { name: null } });

  const own = and(eq(signUps.userId, userId), eq(signUps.invited, false), isNull(signUps.usedAt));
  const wanted = (await tx.$count(signUps, own)) > 0 ? { name: null } : null;
  return settleOrganisation(tx, app.now(), { ...account, wanted });
}

function isSameBrowser(signUp: { browserHash: string } | undefined, browserToken: string | null): boolean {
  return signUp !== undefined && browserToken !== null && hashToken(browserToken) === signUp.browserHash;
}

async function endOthers(app: App, tx: Transaction, link: Link): Promise<void> {
  const now = app.now();
  await tx
    .update(verificationLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(verificationLinks.userId, link.userId),
        eq(verificationLinks.purpose, link.purpose),
        ne(verificationLinks.tokenHash, link.tokenHash),
        isNull(verificationLinks.usedAt),
      ),
    );
  await tx
    .update(signUps)
    .set({ usedAt: now })
    .where(and(eq(signUps.userId, link.userId), isNull(signUps.usedAt)));
}

async function describe(
  app: App,
  tx: Transaction,
  link: Link,
  { sameBrowser, passwordSet, client }: { sameBrowser: boolean; passwordSet: boolean; client: Client },
): Promise<Outcome> {
  const person = await personById(tx, link.userId);
  let awaitingApproval = person?.standing === 'awaiting_approval';
  const approvesItself = awaitingApproval && person?.organisationId != null && isApprovedDomain(app, link.email);
  if (approvesItself && sameBrowser && person?.organisationId) {
    await approveWaiting(tx, { organisationIds: [person.organisationId], actorId: null, client, now: app.now() });
    awaitingApproval = false;
  }

  return {
    ok: true,
    message: null,
    awaitingApproval,
    invited: person?.organisationId == null,
    confirmedAlready: false,
    addressChanged: false,
    firstPasswordToken: passwordSet ? null : await newOneTimeToken(app, tx, link.userId, 'first-password'),
    approvalToken: approvesItself && awaitingApproval ? await newOneTimeToken(app, tx, link.userId, 'approval') : null,
  };
}
