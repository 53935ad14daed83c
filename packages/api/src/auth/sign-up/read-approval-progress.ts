import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { UserPrincipal } from '../principal.ts';

/** Returns what a user who awaits approval may see: their own dates, and the organisation's name. */
export async function readApprovalProgress(app: App, principal: UserPrincipal) {
  const { user, organisation } = principal;
  const [own] = await app.db
    .select({ emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.id, user.id));
  const [requested] =
    organisation === null
      ? []
      : await app.db
          .select({ createdAt: organisations.createdAt })
          .from(organisations)
          .where(eq(organisations.id, organisation.id));

  return {
    organisation: organisation && { name: organisation.name, slug: organisation.slug },
    email_verified_at: own?.emailVerifiedAt?.toISOString() ?? null,
    requested_at: requested?.createdAt.toISOString() ?? null,
  };
}
