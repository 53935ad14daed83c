import { asc, eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { usableMethods } from '../auth/factors/has-factor.ts';
import type { Operator } from '../auth/principal.ts';
import { users } from '../platform/db/schema/accounts.ts';

/**
 * Returns the operators without a second factor that can be used, by address: none at all, a secret that no key of
 * SECRET_KEY decrypts, or a passkey that is refused. Recovery codes alone are none. `due_at` is when the mark loses its
 * power; null where SECOND_FACTOR asks for nothing, or the time has not begun.
 */
export async function listOperatorsWithoutFactor(app: App) {
  const operators = await app.db
    .select({ id: users.id, email: users.email, factorDueAt: users.factorDueAt })
    .from(users)
    .where(eq(users.operator, true))
    .orderBy(asc(users.email));

  const without: { id: string; email: string; due_at: string | null }[] = [];
  for (const { id, email, factorDueAt } of operators) {
    const methods = await usableMethods(app, app.db, id);
    if (methods.includes('passkey') || methods.includes('totp')) continue;
    without.push({ id, email, due_at: factorDueAt?.toISOString() ?? null });
  }
  return without;
}

/** What the console names: nothing where operators need no second factor. */
export async function readOperatorsWithoutFactor(app: App, _operator: Operator) {
  return app.config.secondFactor === 'none' ? [] : listOperatorsWithoutFactor(app);
}
