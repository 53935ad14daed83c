import { and, asc, eq, inArray, isNull, lt, sql } from 'drizzle-orm';
import { exportJWK, generateKeyPair } from 'jose';
import type { App } from '../../app.ts';
import { newId } from '../../platform/db/id.ts';
import { tokenKeys } from '../../platform/db/schema/tokens.ts';
import { dayMilliseconds, hourMilliseconds, hourSeconds, minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { decryptSecret, encryptSecret, keyNames } from '../../platform/security/encryption.ts';

type TokensConfig = NonNullable<App['config']['tokens']>;

/** An App whose configuration has tokens turned on. */
export type TokensApp = App & { config: { tokens: TokensConfig } };

function hasTokens(app: App): app is TokensApp {
  return app.config.tokens !== null;
}

/** Returns the App as one with tokens. @throws AppError NOT_FOUND unless TOKEN_TTL_SECONDS is set. */
export function requireTokens(app: App): TokensApp {
  if (!hasTokens(app)) throw new AppError('NOT_FOUND', 'There is nothing here.');
  return app;
}

export const tokenAlgorithm = 'EdDSA';
/** The longest lifetime that TOKEN_TTL_SECONDS allows. Keys are kept this long, whatever the current setting is. */
const longestTokenSeconds = hourSeconds;

const rotationMilliseconds = dayMilliseconds;
/** A key is published this long before it signs, so that every cache of the key set has it by then. */
const leadMilliseconds = hourMilliseconds;
/** The allowance for differences between the clocks of nodes and verifiers. */
const clockMarginMilliseconds = minuteMilliseconds;
const keptMilliseconds = longestTokenSeconds * 1000 + clockMarginMilliseconds;

type TokenKey = typeof tokenKeys.$inferSelect;

/** The part of a key that anyone may read, in the form of a JSON Web Key Set (RFC 7517 §5). */
export type PublicKey = { kty: string; crv: string; x: string; kid: string; alg: string; use: string };

/** Returns the key that signs now. Creates the next one if it is due. @throws Error if no key can sign. */
export async function signingKey(app: TokensApp): Promise<TokenKey> {
  const key = signingNow(await currentKeys(app), app.now());
  if (key === undefined) throw new Error('No key signs tokens.');
  return key;
}

/**
 * Returns the public keys of all tokens that are valid, and those that will sign next. Creates the first key
 * if there is none, so that no cache keeps an empty set.
 */
export async function readKeySet(app: TokensApp): Promise<{ keys: PublicKey[] }> {
  await currentKeys(app);
  const rows = await app.db.select().from(tokenKeys).orderBy(asc(tokenKeys.signsFrom));
  return {
    keys: rows.map(({ id, publicKey: { kty, crv, x } }) => ({
      kty,
      crv,
      x,
      kid: id,
      alg: tokenAlgorithm,
      use: 'sig',
    })),
  };
}

/** Creates the next key a day after the last one began to sign, and deletes keys whose tokens have expired. */
export async function rotateTokenKeys(app: App): Promise<void> {
  if (hasTokens(app)) await currentKeys(app);
  await app.db.delete(tokenKeys).where(lt(lastUse, app.now().toISOString()));
}

/** A key that no node can decrypt any more has no successor: it counts as unused two days after it began. */
const lastUse = sql`coalesce(${tokenKeys.signsUntil}, ${tokenKeys.signsFrom} + interval '2 days') + ${`${keptMilliseconds / 1000} s`}::interval`;

async function currentKeys(app: TokensApp): Promise<TokenKey[]> {
  const keys = await ownKeys(app);
  return isRotationDue(keys, app.now()) ? rotate(app, keys.at(-1)) : keys;
}

/** The keys that this node can sign with, in the order in which they sign. */
function ownKeys(app: TokensApp): Promise<TokenKey[]> {
  return app.db.select().from(tokenKeys).where(isOwn(app)).orderBy(asc(tokenKeys.signsFrom));
}

/** Whether this node can decrypt a key: nodes with other keys of SECRET_KEY have keys of their own. */
function isOwn({ config }: App) {
  return inArray(tokenKeys.encryptedBy, ['', ...keyNames(config.secretKeys)]);
}

function signingNow(keys: TokenKey[], now: Date): TokenKey | undefined {
  return keys.findLast(({ signsFrom }) => signsFrom <= now);
}

function isRotationDue(keys: TokenKey[], now: Date): boolean {
  const newest = keys.at(-1);
  return newest === undefined || newest.signsFrom.getTime() + rotationMilliseconds - leadMilliseconds <= now.getTime();
}

/**
 * Creates the key after `newest`. Of parallel nodes one does: the others find that `newest` has a successor, or that
 * there is a first key.
 */
async function rotate(app: TokensApp, newest: TokenKey | undefined): Promise<TokenKey[]> {
  const now = app.now();
  const signsFrom =
    newest === undefined
      ? now
      : new Date(Math.max(newest.signsFrom.getTime() + rotationMilliseconds, now.getTime() + leadMilliseconds));
  const key = await makeKey(app, newId(now));
  const hasNoSuccessor = isNull(tokenKeys.signsUntil);

  await app.db.transaction(async (tx) => {
    if (newest !== undefined) {
      const isNewest = and(eq(tokenKeys.id, newest.id), hasNoSuccessor);
      const succeeded = await tx.update(tokenKeys).set({ signsUntil: signsFrom }).where(isNewest).returning();
      if (succeeded.length === 0) return;
      // Those of other keys of SECRET_KEY that this node can decrypt too.
      const isOther = and(isOwn(app), hasNoSuccessor);
      await tx.update(tokenKeys).set({ signsUntil: signsFrom }).where(isOther);
    }
    await tx
      .insert(tokenKeys)
      .values({ ...key, signsFrom })
      .onConflictDoNothing();
  });
  return ownKeys(app);
}

async function makeKey(
  { config }: TokensApp,
  id: string,
): Promise<Pick<TokenKey, 'id' | 'publicKey' | 'privateKey' | 'encryptedBy'>> {
  const { privateKey } = await generateKeyPair(tokenAlgorithm, { extractable: true });
  const { kty = '', crv = '', x = '', d } = await exportJWK(privateKey);
  const text = JSON.stringify({ kty, crv, x, d });
  const { stored, encryptedBy } = encryptSecret(config.secretKeys, text, purposeOf(id));
  return { id, publicKey: { kty, crv, x }, privateKey: stored, encryptedBy };
}

/** Returns the private key as a JWK. @throws Error if it was changed, or its key of SECRET_KEY is gone. */
export function decryptKey(app: TokensApp, { id, privateKey, encryptedBy }: TokenKey): object {
  const text = decryptSecret(app.config.secretKeys, { stored: privateKey, encryptedBy }, purposeOf(id));
  if (text === null) throw new Error('The key that signs tokens cannot be decrypted.');
  return JSON.parse(text);
}

/** What the encryption of a key is bound to. */
export function purposeOf(id: string): string {
  return `token key ${id}`;
}
