import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordChange } from '../../changes/record-change.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { oneLine } from '../../platform/security/text.ts';
import type { Approved } from '../principal.ts';

export const changeNameInput = z.object({ name: oneLine(100) });

/** Changes a user's display name; an empty one removes it. */
export async function changeName(app: App, principal: Approved, { name: typed }: z.output<typeof changeNameInput>) {
  const { id: userId } = principal.user;
  const name = typed || null;

  await app.db.transaction(async (tx) => {
    const changed = await tx
      .update(users)
      .set({ name })
      .where(and(eq(users.id, userId), sql`${users.name} is distinct from ${name}`))
      .returning({ id: users.id });
    if (changed.length > 0) await recordChange(tx, app.now(), { type: 'user.renamed', userId, data: { name } });
  });
}
