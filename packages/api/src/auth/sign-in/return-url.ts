import { and, eq, like, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Config } from '../../platform/config.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { returnUrls } from '../../platform/db/schema/sign-in.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { type ClientAddress, clientKey } from '../../platform/security/client.ts';
import { hashToken, newToken } from '../../platform/security/token.ts';

const lifetimeMinutes = 60;
const longestUrl = 2000;

/**
 * Returns a return URL in normalised form, or null if it is not allowed. Its origin must equal one
 * of RETURN_ORIGINS after the parsing that browsers do (URL Standard §4.4), so that no unusual
 * spelling of a URL passes.
 */
export function allowedReturnUrl({ returnOrigins }: Pick<Config, 'returnOrigins'>, wanted: string): string | null {
  if (wanted.length > longestUrl || !URL.canParse(wanted)) return null;

  const url = new URL(wanted);
  // The origin of a blob: URL is that of the page that created it.
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const isBare = url.username === '' && url.password === '';
  return isWeb && isBare && returnOrigins.includes(url.origin) ? url.href : null;
}

/**
 * Stores a browser's return URL in place of its previous one.
 *
 * @returns the value of the cookie that identifies it; null if the URL is not allowed, and then
 *   nothing changes.
 * @throws AppError TOO_MANY if the client has stored too many.
 */
export async function storeReturnUrl(
  app: App,
  { wanted, replaced }: { wanted: string; replaced: string | null },
  client: ClientAddress,
): Promise<string | null> {
  const url = allowedReturnUrl(app.config, wanted);
  return url === null ? null : store(app, { url, replaced }, client);
}

/**
 * Stores a path of this service, for a user whose session has ended, in place of the browser's
 * previous return URL. Returns and throws like storeReturnUrl.
 */
export async function storeReturnPath(
  app: App,
  { path, replaced }: { path: string; replaced: string | null },
  client: ClientAddress,
): Promise<string | null> {
  return isLocalPath(path) ? store(app, { url: path, replaced }, client) : null;
}

/** Whether every browser reads this as a path of this host: `//` and `/\\` begin another host's URL (URL Standard §4.4). */
export function isLocalPath(path: string): boolean {
  return path.length <= longestUrl && /^\/(?![/\\])[\x21-\x7e]*$/.test(path);
}

async function store(
  app: App,
  { url, replaced }: { url: string; replaced: string | null },
  client: ClientAddress,
): Promise<string> {
  await app.throttle.take({ 'return-url-client': clientKey(client) });

  const cookie = newToken();
  const expiresAt = new Date(app.now().getTime() + lifetimeMinutes * minuteMilliseconds);
  await app.db.transaction(async (tx) => {
    if (replaced !== null) await tx.delete(returnUrls).where(eq(returnUrls.idHash, hashToken(replaced)));
    await tx.insert(returnUrls).values({ idHash: hashToken(cookie), url, expiresAt });
  });
  return cookie;
}

/** A product that sends a user back to sign-in within this time did not recognise the session. */
const loopMilliseconds = 10_000;

/**
 * Whether / may redirect a session to a return URL: not twice within ten seconds to the same origin. A product that
 * does not receive the session's cookie sends the browser to sign-in again, which would be a redirect without end. The
 * origins of earlier redirects count until none was made for ten seconds, so that a slow round of several products ends
 * too. One statement decides and remembers the redirect.
 */
export async function mayReturn(app: App, sessionId: string, url: string): Promise<boolean> {
  const { origin } = new URL(url);
  const now = app.now();
  const earlier = new Date(now.getTime() - loopMilliseconds).toISOString();
  const { returnedTo, returnedAt } = sessions;
  const hasPaused = sql`(${returnedAt} is null or ${returnedAt} < ${earlier})`;
  const returned = await app.db
    .update(sessions)
    .set({
      returnedTo: sql`case when ${hasPaused} then ${origin} else ${returnedTo} || ' ' || ${origin} end`,
      returnedAt: now,
    })
    .where(
      and(eq(sessions.id, sessionId), sql`(${hasPaused} or not ${origin} = any(string_to_array(${returnedTo}, ' ')))`),
    )
    .returning({ id: sessions.id });
  return returned.length > 0;
}

/**
 * Consumes the return URL of a cookie; null if there is none or it has expired. The origin is
 * checked again, because RETURN_ORIGINS may have changed. A path begins with a slash. With `pathOnly` the URL of a
 * product stays.
 */
export async function consumeReturnUrl(
  app: App,
  cookie: string,
  { pathOnly = false }: { pathOnly?: boolean } = {},
): Promise<string | null> {
  const which = pathOnly ? like(returnUrls.url, '/%') : undefined;
  const [taken] = await app.db
    .delete(returnUrls)
    .where(and(eq(returnUrls.idHash, hashToken(cookie)), which))
    .returning({ url: returnUrls.url, expiresAt: returnUrls.expiresAt });
  if (taken === undefined || taken.expiresAt <= app.now()) return null;
  return isLocalPath(taken.url) ? taken.url : allowedReturnUrl(app.config, taken.url);
}
