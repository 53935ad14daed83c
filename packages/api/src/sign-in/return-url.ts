import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { returnUrls } from '../db/schema/sign-in.ts';
import { clientKey } from '../security/client-key.ts';
import { hashToken, newToken } from '../security/token.ts';

const lifetimeMinutes = 60;
const longestUrl = 2000;

/**
 * An address to which a browser may be sent back, in the form in which every reader
 * understands it alike; null for any other. Its origin must be one of RETURN_ORIGINS
 * to the letter, after the parsing that browsers do (URL Standard §4.4), so no
 * spelling of an address gets past it.
 */
export function wayBack({ returnOrigins }: Pick<Config, 'returnOrigins'>, wanted: string): string | null {
  if (wanted.length > longestUrl || !URL.canParse(wanted)) return null;

  const url = new URL(wanted);
  // blob: addresses carry the origin of whoever made them.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isBare = url.username === '' && url.password === '';
  return isWeb && isBare && returnOrigins.includes(url.origin) ? url.href : null;
}

/**
 * Keeps where a browser wants to go after signing in, in place of what it wanted before.
 *
 * @returns the value of the cookie that names it; null where it may not go there, and then all stays as it is.
 * @throws AppError TOO_MANY for a client that fills the table.
 */
export async function storeReturnUrl(
  app: App,
  { wanted, replaced }: { wanted: string; replaced: string | null },
  client: { address: string },
): Promise<string | null> {
  const url = wayBack(app.config, wanted);
  if (url === null) return null;
  await app.throttle.take({ 'way-back-client': clientKey(client.address) });

  const cookie = newToken();
  const expiresAt = new Date(app.now().getTime() + lifetimeMinutes * 60_000);
  await app.db.transaction(async (tx) => {
    if (replaced !== null) await tx.delete(returnUrls).where(eq(returnUrls.idHash, hashToken(replaced)));
    await tx.insert(returnUrls).values({ idHash: hashToken(cookie), url, expiresAt });
  });
  return cookie;
}

/** Takes the way back as it is read, so it is gone once. Its origin is checked again: RETURN_ORIGINS may have changed. */
export async function consumeReturnUrl(app: App, cookie: string): Promise<string | null> {
  const [taken] = await app.db
    .delete(returnUrls)
    .where(eq(returnUrls.idHash, hashToken(cookie)))
    .returning({ url: returnUrls.url, expiresAt: returnUrls.expiresAt });
  return taken !== undefined && taken.expiresAt > app.now() ? wayBack(app.config, taken.url) : null;
}
