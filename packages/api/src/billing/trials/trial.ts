import { createHmac } from 'node:crypto';
import { and, eq, inArray, lte, ne, sql, TransactionRollbackError } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { paymentSubscriptions, trialClaims } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { deploymentSecret } from '../../platform/security/deployment-secret.ts';
import type { PaidTier, Plans } from '../plans/plans.ts';
import { startedStatuses } from '../subscription/write-row.ts';
import { publicMailDomains } from './public-mail-domains.ts';

export type Trial = NonNullable<Plans['tiers'][number]['trial']>;

/**
 * Returns the trial with which an organisation may buy a tier, and keeps it for this organisation; null if the tier has
 * none, the organisation has had a subscription, or another one of its owners or their company's domain has claimed a
 * trial. A claim is made when the checkout opens, in one transaction, so that of parallel checkouts one gets the trial;
 * the organisation may use its own claim until it has a subscription, and `releaseTrial` gives up that of a checkout
 * that nobody completed. Only keyed hashes are kept, and they outlive the organisation and its owners, so that a deleted
 * account gets no second trial.
 */
export async function claimTrial(app: App, organisationId: string, tier: PaidTier): Promise<Trial | null> {
  const trial = trialOf(app.plans, tier);
  if (trial === null || (await hasStarted(app.db, organisationId))) return null;

  const claims = await claimsOf(app, organisationId);
  const isOurs = await app.db
    .transaction(async (tx) => {
      const { organisation } = claims;
      const values = claims.hashes.map((hash) => ({ hash, organisation, claimedAt: app.now() }));
      // Its own claims belong to the newest checkout, so that a late event of an earlier one does not release them.
      await tx
        .insert(trialClaims)
        .values(values)
        .onConflictDoUpdate({
          target: trialClaims.hash,
          set: { claimedAt: app.now() },
          setWhere: eq(trialClaims.organisation, organisation),
        });
      if (await isTaken(tx, claims)) return tx.rollback();
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof TransactionRollbackError) return false;
      throw error;
    });
  return isOurs ? trial : null;
}

/**
 * Releases what an organisation claimed for a checkout that expired and so starts no trial; `openedAt` is when it was
 * opened. Nothing is released where a subscription has started, or for another checkout that was opened later. A claim
 * whose release is lost stays: it is never the reason for a second trial.
 */
export async function releaseTrial(
  app: App,
  db: Executor,
  { organisationId, openedAt }: { organisationId: string; openedAt: Date },
): Promise<void> {
  if (app.plans.tiers.every(({ trial }) => trial === undefined) || (await hasStarted(db, organisationId))) return;
  const organisation = (await hashing(app, db))('organisation', organisationId);
  const theirs = db
    .select({ hash: trialClaims.hash })
    .from(trialClaims)
    .where(and(eq(trialClaims.organisation, organisation), lte(trialClaims.claimedAt, openedAt)))
    // Locked in the order of `claimTrial`, so that they do not deadlock.
    .orderBy(sql`${trialClaims.hash} collate "C"`)
    .for('update');
  await db.delete(trialClaims).where(inArray(trialClaims.hash, theirs));
}

/** Returns the trials that an organisation may still have, by tier; none where `claimTrial` would return none. */
export async function openTrials(app: App, organisationId: string): Promise<Record<PaidTier, Trial>> {
  const offered = app.plans.tiers.flatMap(({ tier, trial }) => (trial === undefined ? [] : [[tier, trial] as const]));
  if (app.payment === null || offered.length === 0 || (await hasStarted(app.db, organisationId))) return {};
  return (await isTaken(app.db, await claimsOf(app, organisationId))) ? {} : Object.fromEntries(offered);
}

/**
 * Returns whether a checkout for a tier begins with a trial that an open one of the organisation lacks: it has claimed
 * none, because another one had when it was opened, or because the plans had none. The page already offers it.
 */
export async function gainsTrial(app: App, organisationId: string, tier: PaidTier): Promise<boolean> {
  if (!(tier in (await openTrials(app, organisationId)))) return false;
  const organisation = (await hashing(app, app.db))('organisation', organisationId);
  return (await app.db.$count(trialClaims, eq(trialClaims.organisation, organisation))) === 0;
}

function trialOf({ tiers }: Plans, tier: PaidTier): Trial | null {
  return tiers.find((each) => each.tier === tier)?.trial ?? null;
}

async function hasStarted(db: Executor, organisationId: string): Promise<boolean> {
  const theirs = eq(paymentSubscriptions.organisationId, organisationId);
  const started = inArray(paymentSubscriptions.status, [...startedStatuses, 'canceled']);
  return (await db.$count(paymentSubscriptions, and(theirs, started))) > 0;
}

type Claims = { organisation: string; hashes: string[] };

async function hashing({ config }: App, db: Executor) {
  const secret = await deploymentSecret({ config, db }, 'trials');
  return (kind: string, text: string) => createHmac('sha256', secret).update(`${kind} ${text}`).digest('base64url');
}

/** In one order, so that parallel claims do not deadlock. */
async function claimsOf(app: App, organisationId: string): Promise<Claims> {
  const hash = await hashing(app, app.db);
  const owners = await app.db
    .select({ email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.role, 'owner')));
  const domains = owners.map(({ email }) => email.slice(email.lastIndexOf('@') + 1).toLowerCase());
  const companies = domains.filter((domain) => !publicMailDomains.has(domain));

  const organisation = hash('organisation', organisationId);
  const others = [
    ...owners.map(({ email }) => hash('owner', email.toLowerCase())),
    ...companies.map((one) => hash('domain', one)),
  ];
  return { organisation, hashes: [...new Set([organisation, ...others])].sort() };
}

async function isTaken(db: Executor, { organisation, hashes }: Claims): Promise<boolean> {
  const others = and(inArray(trialClaims.hash, hashes), ne(trialClaims.organisation, organisation));
  return (await db.$count(trialClaims, others)) > 0;
}
