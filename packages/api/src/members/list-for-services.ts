import { and, asc, eq, gt } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Holding, Principal } from '../auth/principal.ts';
import { readableTarget, targetField } from '../auth/sessions/target-organisation.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { idAfter, keysetInput, keysetPageOf } from '../platform/security/keyset-pagination.ts';

export const membersOfInput = keysetInput.extend({ organisation: targetField });

/**
 * Returns a page of an organisation's members for the company's services. `next` is null on the
 * last page.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for an unknown organisation, or one that the principal
 *   does not act for; VALIDATION for an unreadable `after`.
 */
export async function listMembersOf(
  app: App,
  principal: Principal & Holding<'READ'>,
  input: z.output<typeof membersOfInput>,
) {
  const after = idAfter(input);
  const { organisationId } = await readableTarget(app, principal, input.organisation);

  const rows = await app.db
    .select({ id: users.id, email: users.email, name: users.name, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(eq(memberships.organisationId, organisationId), after === null ? undefined : gt(memberships.userId, after)),
    )
    .orderBy(asc(memberships.userId))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit, ({ id }) => id);
  return { members: page.map(({ role, ...user }) => ({ user, role })), next };
}
