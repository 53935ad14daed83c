import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { users } from '../../db/schema/accounts.ts';
import { oneLine } from '../../security/text.ts';
import { type Principal, requireApproved } from '../../sessions/principal.ts';

export const changeNameInput = z.object({ name: oneLine(100) });

/**
 * Changes a user's display name; an empty one removes it.
 *
 * @throws AppError UNAUTHENTICATED if no user is signed in; AWAITING_APPROVAL before approval.
 */
export async function changeName(app: App, principal: Principal | null, { name }: z.output<typeof changeNameInput>) {
  const { user } = requireApproved(principal);

  await app.db
    .update(users)
    .set({ name: name || null })
    .where(eq(users.id, user.id));
}
