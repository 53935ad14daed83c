import { createHash, createHmac } from 'node:crypto';
import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm';
import { CompactEncrypt, compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import type { App } from '../../app.ts';
import { lockNumbers } from '../../platform/db/advisory-lock.ts';
import type { Executor } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { tokenKeys } from '../../platform/db/schema/tokens.ts';
import { dayMilliseconds, hourMilliseconds, hourSeconds, minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';

type TokensConfig = NonNullable<App['config']['tokens']>;

/** An App whose configuration has tokens turned on. */
export type TokensApp = App & { config: { tokens: TokensConfig } };

export function hasTokens(app: App): app is TokensApp {
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

/** A key of a secret that is no longer configured has no successor: it counts as unused two days after it began. */
const lastUse = sql`coalesce(${tokenKeys.signsUntil}, ${tokenKeys.signsFrom} + interval '2 days') + ${`${keptMilliseconds / 1000} s`}::interval`;

async function currentKeys(app: TokensApp): Promise<TokenKey[]> {
  const keys = await ownKeys(app, app.db);
  return isRotationDue(keys, app.now()) ? rotate(app) : keys;
}

/** The keys that this node can sign with, in the order in which they sign. */
function ownKeys({ config: { tokens } }: TokensApp, db: Executor): Promise<TokenKey[]> {
  const own = eq(tokenKeys.sealedBy, secretName(tokens.secret));
  return db.select().from(tokenKeys).where(own).orderBy(asc(tokenKeys.signsFrom));
}

function signingNow(keys: TokenKey[], now: Date): TokenKey | undefined {
  return keys.findLast(({ signsFrom }) => signsFrom <= now);
}

function isRotationDue(keys: TokenKey[], now: Date): boolean {
  const newest = keys.at(-1);
  return newest === undefined || newest.signsFrom.getTime() + rotationMilliseconds - leadMilliseconds <= now.getTime();
}

/** Parallel nodes create one key. The lock belongs to a transaction, because a session lock does not work behind a pooler. */
function rotate(app: TokensApp): Promise<TokenKey[]> {
  return app.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${lockNumbers.tokenKeys})`);
    const now = app.now();
    const keys = await ownKeys(app, tx);
    if (!isRotationDue(keys, now)) return keys;

    const newest = keys.at(-1);
    const signsFrom =
      newest === undefined
        ? now
        : new Date(Math.max(newest.signsFrom.getTime() + rotationMilliseconds, now.getTime() + leadMilliseconds));
    const sealedBy = secretName(app.config.tokens.secret);
    await tx
      .update(tokenKeys)
      .set({ signsUntil: signsFrom })
      .where(and(eq(tokenKeys.sealedBy, sealedBy), isNull(tokenKeys.signsUntil)));
    await tx.insert(tokenKeys).values({ id: newId(now), ...(await makeKey(app)), sealedBy, signsFrom });
    return ownKeys(app, tx);
  });
}

async function makeKey({ config: { tokens } }: TokensApp): Promise<Pick<TokenKey, 'publicKey' | 'privateKey'>> {
  const { privateKey } = await generateKeyPair(tokenAlgorithm, { extractable: true });
  const { kty = '', crv = '', x = '', d } = await exportJWK(privateKey);
  return {
    publicKey: { kty, crv, x },
    privateKey: await encryptKey(JSON.stringify({ kty, crv, x, d }), tokens.secret),
  };
}

/** Returns the name of a secret, by which keys that it encrypted are found; '' without one. It does not reveal the secret. */
function secretName(secret: string | null): string {
  return secret === null ? '' : createHmac('sha256', secret).update('gatehouse token keys').digest('hex').slice(0, 16);
}

/** Encrypts a private key with A256GCM; without a secret returns it as it is. */
async function encryptKey(text: string, secret: string | null): Promise<string> {
  if (secret === null) return text;
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(encryptionKey(secret));
}

/** Returns the private key that `encryptKey` encrypted. @throws Error if it was changed, or encrypted by another secret. */
export async function decryptKey(encrypted: string, secret: string | null): Promise<string> {
  if (secret === null) return encrypted;
  const { plaintext } = await compactDecrypt(encrypted, encryptionKey(secret));
  return new TextDecoder().decode(plaintext);
}

/** The secret is random and long (config.ts), so that a fast hash is enough. */
function encryptionKey(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
