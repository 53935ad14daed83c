import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { signInAttempts } from '../db/schema/sign-in.ts';
import { hashToken, newToken } from '../security/token.ts';

const lifetimeMinutes = 10;

export type Attempt = {
  state: string;
  nonce: string;
  codeVerifier: string | null;
  /** The user who asked to connect an identity; null for a sign-in. */
  userId: string | null;
};

/**
 * Stores a pending attempt in place of the browser's previous one, and returns the value of the
 * cookie that identifies it.
 */
export async function storeAttempt(app: App, attempt: Attempt, replaced: string | null): Promise<string> {
  const cookie = newToken();
  await app.db.transaction(async (tx) => {
    if (replaced !== null) await tx.delete(signInAttempts).where(eq(signInAttempts.idHash, hashToken(replaced)));
    await tx.insert(signInAttempts).values({
      idHash: hashToken(cookie),
      ...attempt,
      expiresAt: new Date(app.now().getTime() + lifetimeMinutes * 60_000),
    });
  });
  return cookie;
}

/**
 * Consumes the attempt of a cookie; null if there is none or it has expired. Its state and nonce
 * cannot be used again, whatever the result of the sign-in.
 */
export async function consumeAttempt(app: App, cookie: string | null): Promise<Attempt | null> {
  if (cookie === null) return null;

  const [taken] = await app.db
    .delete(signInAttempts)
    .where(eq(signInAttempts.idHash, hashToken(cookie)))
    .returning();
  return taken !== undefined && taken.expiresAt > app.now() ? taken : null;
}
