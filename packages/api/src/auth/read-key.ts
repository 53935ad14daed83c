import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { approvalOf, basicColumns } from '../organisations/account-status.ts';
import { planColumns } from '../organisations/plan.ts';
import { isValidKey } from '../organisations/started.ts';
import { prepared } from '../platform/db/client.ts';
import { organisationPlans } from '../platform/db/schema/billing.ts';
import { apiKeys } from '../platform/db/schema/keys.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { writeIfPossible } from '../platform/db/write-if-possible.ts';
import { minuteMilliseconds } from '../platform/durations.ts';
import { hashToken } from '../platform/security/token.ts';
import { isWellFormedKey } from './key-format.ts';
import { type KeyPrincipal, makeKeyPrincipal } from './principal.ts';

/**
 * Returns the principal of a key; null if the key is unknown, malformed, expired, revoked or of
 * the other kind. Its organisation, approval and plan are read anew, in one query, so a change of
 * them takes effect on the next request. Stores the key's use unless `readOnly` is true.
 */
export async function readKey(app: App, key: string, { readOnly = false } = {}): Promise<KeyPrincipal | null> {
  if (!isWellFormedKey(app.config, key)) return null;
  const hash = hashToken(key);
  const [row] = await keyFacts(app.db).execute({ hash, now: app.now().toISOString() });
  if (row === undefined) return null;

  if (!readOnly) await recordUse(app, row);
  const { id, name, byOperator, createdBy, passwordLinks, scope, organisation } = row;
  return makeKeyPrincipal({
    key: { id, name, byOperator, createdBy, passwordLinks },
    scope,
    organisation: organisation && { id: organisation.id, slug: organisation.slug, name: organisation.name },
    approval: organisation && approvalOf(organisation),
    planRow: row.planRow,
  });
}

const keyFacts = prepared((db) =>
  db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      byOperator: apiKeys.byOperator,
      createdBy: apiKeys.createdBy,
      passwordLinks: apiKeys.passwordLinks,
      scope: apiKeys.scope,
      lastUsedAt: apiKeys.lastUsedAt,
      organisation: basicColumns,
      planRow: planColumns,
    })
    .from(apiKeys)
    .leftJoin(organisations, eq(organisations.id, apiKeys.organisationId))
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(and(eq(apiKeys.hash, sql.placeholder('hash')), isValidKey(sql.placeholder('now'))))
    .prepare('api_key'),
);

/** Stores when a key was used, at most once a minute. */
async function recordUse(app: App, { id, lastUsedAt }: { id: string; lastUsedAt: Date | null }): Promise<void> {
  const now = app.now();
  const before = new Date(now.getTime() - minuteMilliseconds);
  if (lastUsedAt !== null && lastUsedAt > before) return;

  // The condition is repeated: of parallel requests one writes.
  const isOld = or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, before));
  await writeIfPossible(
    app,
    app.db
      .update(apiKeys)
      .set({ lastUsedAt: now })
      .where(and(eq(apiKeys.id, id), isOld)),
  );
}
