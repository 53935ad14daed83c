import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { oneLine } from '../../platform/security/text.ts';
import type { Approved } from '../principal.ts';

export const changeNameInput = z.object({ name: oneLine(100) });

/** Changes a user's display name; an empty one removes it. */
export async function changeName(app: App, principal: Approved, { name }: z.output<typeof changeNameInput>) {
  const { user } = principal;

  await app.db
    .update(users)
    .set({ name: name || null })
    .where(eq(users.id, user.id));
}
