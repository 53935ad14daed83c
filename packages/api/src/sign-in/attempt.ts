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

/** Keeps a pending attempt and answers the value of the cookie that names it. */
export async function keepAttempt(app: App, attempt: Attempt, replaced: string | null): Promise<string> {
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

/** Takes the attempt as it is read: state and nonce are gone, whatever comes of them. */
export async function takeAttempt(app: App, cookie: string | null): Promise<Attempt | null> {
  if (cookie === null) return null;

  const [taken] = await app.db
    .delete(signInAttempts)
    .where(eq(signInAttempts.idHash, hashToken(cookie)))
    .returning();
  return taken !== undefined && taken.expiresAt > app.now() ? taken : null;
}
