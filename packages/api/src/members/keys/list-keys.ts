import { and, desc, eq, gt, inArray, isNull, or } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { scopesOfKey } from '../../auth/key-format.ts';
import type { Administrator } from '../../auth/principal.ts';
import { nameColumns } from '../../organisations/account-status.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { endedKeyCutoff, type KeyOwner, ownedBy } from './store-key.ts';

/**
 * Returns the keys of the principal's organisation, the newest first, with those that ended in
 * the last 30 days.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function listKeys(app: App, principal: Administrator) {
  const { id } = principal.requireOrganisation();
  const rows = await readKeys(app, { organisationId: id });
  return rows.map(({ organisation: _, password_links: __, ...key }) => key);
}

/**
 * Returns the keys of an owner; of every owner without one. An organisation is told who made its keys while they are a
 * member: the address of somebody who left may be another one by now.
 */
export async function readKeys(app: App, { organisationId }: Partial<KeyOwner>) {
  const now = app.now();
  const cutoff = endedKeyCutoff(now);
  const isCreator = eq(users.id, apiKeys.createdBy);
  const isMember = inArray(
    users.id,
    app.db
      .select({ id: memberships.userId })
      .from(memberships)
      .where(eq(memberships.organisationId, apiKeys.organisationId)),
  );
  const rows = await app.db
    .select({
      key: apiKeys,
      // The address comes first, because drizzle treats a joined row whose first column is null as missing.
      creator: { email: users.email, name: users.name },
      organisation: nameColumns,
    })
    .from(apiKeys)
    .leftJoin(users, organisationId ? and(isCreator, isMember) : isCreator)
    .leftJoin(organisations, eq(organisations.id, apiKeys.organisationId))
    .where(
      and(
        ownedBy(organisationId),
        or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, cutoff)),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, cutoff)),
      ),
    )
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id));

  return rows.map(({ key, creator, organisation }) => ({
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: scopesOfKey(key.scope),
    password_links: key.passwordLinks,
    state: stateOf(key, now),
    organisation,
    created_by: creator,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }));
}

type State = 'valid' | 'expired' | 'revoked';

function stateOf({ revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): State {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';
}
