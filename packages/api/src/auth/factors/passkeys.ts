import { randomBytes } from 'node:crypto';
import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys } from '../../platform/db/schema/factors.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { type Client, clientKey } from '../../platform/security/client.ts';
import { oneLine } from '../../platform/security/text.ts';
import { clientSignInLimits, countFailures } from '../../platform/security/throttle.ts';
import type { Approved } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { requireExistingSession } from '../sessions/session.ts';
import { challengeCheck, newChallenge, takeChallenge } from './challenge.ts';
import { userHasFactor } from './has-factor.ts';
import { finishAdding } from './manage-factors.ts';

const maxPasskeys = 20;
/** COSE: EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257];

/** WebAuthn names the service by its host, never by COOKIE_DOMAIN: a passkey works on this host alone. */
function relyingParty({ config }: App): { origin: string; rpId: string } {
  const { publicBaseUrl } = config;
  if (publicBaseUrl === null) throw new Error('Without PUBLIC_BASE_URL there are no passkeys.');
  return { origin: publicBaseUrl, rpId: new URL(publicBaseUrl).hostname };
}

/** Loaded when it is first needed: it takes a while, and most processes start without a passkey. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** Returns the AppError for a passkey that is not accepted, whatever the reason. */
export function refusedPasskey(cause?: unknown): AppError {
  return new AppError('UNAUTHENTICATED', message('passkey_refused'), { cause });
}

const base64url = z
  .string({ error: zodMessage('not_a_passkey') })
  .regex(/^[\w-]{1,8192}$/, zodMessage('not_a_passkey'));
const extensions = z.record(z.string(), z.unknown()).optional();

/** The answer of `navigator.credentials.get`, as JSON. */
export const passkeyField = z.object(
  {
    id: base64url,
    rawId: base64url,
    type: z.literal('public-key', { error: zodMessage('not_a_passkey') }),
    response: z.object(
      {
        clientDataJSON: base64url,
        authenticatorData: base64url,
        signature: base64url,
        userHandle: base64url.nullish(),
      },
      { error: zodMessage('not_a_passkey') },
    ),
    clientExtensionResults: extensions,
    authenticatorAttachment: z.string().nullish(),
  },
  { error: zodMessage('not_a_passkey') },
);

export type TypedPasskey = z.output<typeof passkeyField>;

/**
 * Returns the options of `navigator.credentials.get`, for any passkey of this service: the same for everybody.
 *
 * @throws AppError TOO_MANY after 600 of a client in ten minutes.
 */
export async function passkeyOptions(app: App, sentCookie: string | null, client: Client) {
  await app.throttle.take({ 'passkey-options-client': clientKey(client) });
  const { challenge, cookie } = await newChallenge(app, 'get', sentCookie);
  const { generateAuthenticationOptions } = await library();
  const { rpId: rpID } = relyingParty(app);
  const options = await generateAuthenticationOptions({ rpID, challenge, userVerification: 'required' });
  return { options, cookie };
}

/** A passkey whose signature is right. `takePasskey` decides whether it counts. */
export type VerifiedPasskey = { id: string; userId: string; challenge: string; counter: number };

/**
 * Verifies a passkey's signature, user verification, origin, challenge and user handle. A refused one counts in the
 * client's limit of sign-in.
 *
 * @throws AppError UNAUTHENTICATED if it is not accepted; TOO_MANY.
 */
export async function verifyPasskey(
  app: App,
  typed: TypedPasskey,
  cookie: string | null,
  client: Client,
): Promise<VerifiedPasskey> {
  const { verified } = await countFailures(app.throttle, clientSignInLimits(client), async () => {
    const verified = await verifiedOf(app, typed, cookie);
    return { verified, right: verified !== null };
  });
  if (verified === null) throw refusedPasskey();
  return verified;
}

async function verifiedOf(app: App, typed: TypedPasskey, cookie: string | null): Promise<VerifiedPasskey | null> {
  const [known] = await app.db
    .select({ passkey: passkeys, handle: users.passkeyHandle })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, typed.id));
  const { verifyAuthenticationResponse } = await library();
  const { origin, rpId } = relyingParty(app);
  const isChallenge = await challengeCheck(app, 'get', cookie);
  // The library does not compare it.
  if (known === undefined || typed.response.userHandle !== known.handle) return null;

  const { passkey } = known;
  let challenge = '';
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...typed,
        response: { ...typed.response, userHandle: typed.response.userHandle },
        clientExtensionResults: {},
      } as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: (answered) => {
        challenge = answered;
        return isChallenge(answered);
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        // The library compares before it verifies the signature, and throws: `takePasskey` compares afterwards.
        counter: 0,
      },
    });
    if (!verified || !authenticationInfo.userVerified) return null;
    return { id: passkey.id, userId: passkey.userId, challenge, counter: authenticationInfo.newCounter };
  } catch {
    return null;
  }
}

/**
 * Takes a verified passkey: its challenge counts once, and one statement compares and stores its counter. A counter that
 * goes back tells of a copy (WebAuthn §6.1.1): the passkey is refused from then on. The caller has locked the user's
 * row, and commits also where it is refused. Returns whether it counts.
 */
export async function takePasskey(
  app: App,
  tx: Transaction,
  verified: VerifiedPasskey,
  client: Client,
): Promise<boolean> {
  const { id, userId, challenge, counter } = verified;
  if (!(await takeChallenge(app, tx, challenge))) return false;

  const isUsable = and(eq(passkeys.id, id), eq(passkeys.userId, userId), isNull(passkeys.refusedAt));
  const countsNothing = and(eq(passkeys.counter, 0), sql`${counter} = 0`);
  const taken = await tx
    .update(passkeys)
    .set({ counter, lastUsedAt: app.now() })
    .where(and(isUsable, or(lt(passkeys.counter, counter), countsNothing)))
    .returning({ id: passkeys.id });
  if (taken.length > 0) return true;

  const refused = await tx
    .update(passkeys)
    .set({ refusedAt: app.now() })
    .where(isUsable)
    .returning({ id: passkeys.id });
  if (refused.length > 0) await recordAudit(tx, app.now(), { action: 'passkey-refused', userId, client });
  return false;
}

/**
 * Returns the options of `navigator.credentials.create` for a new passkey of the user. The caller requires a fresh
 * session.
 *
 * @throws AppError CONFLICT if the user has 20; TOO_MANY.
 */
export async function newPasskeyOptions(app: App, { user }: Approved, sentCookie: string | null, client: Client) {
  await app.throttle.take({ 'passkey-options-client': clientKey(client) });
  const handle = await handleOf(app, user.id);
  const own = await app.db.select().from(passkeys).where(eq(passkeys.userId, user.id));
  if (own.length >= maxPasskeys) throw tooManyPasskeys();

  const { challenge, cookie } = await newChallenge(app, `create for ${user.id}`, sentCookie);
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: app.config.service.name,
    rpID: relyingParty(app).rpId,
    userName: user.email,
    userDisplayName: user.name ?? user.email,
    userID: new Uint8Array(Buffer.from(handle, 'base64url')),
    challenge,
    attestationType: 'none',
    excludeCredentials: own.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
  return { options, cookie };
}

function tooManyPasskeys(): AppError {
  return new AppError('CONFLICT', message('too_many_passkeys'));
}

/** Returns the random name that a user's passkeys carry, and stores one where there is none. */
async function handleOf(app: App, userId: string): Promise<string> {
  const made = randomBytes(32).toString('base64url');
  const [user] = await app.db
    .update(users)
    .set({ passkeyHandle: sql`coalesce(${users.passkeyHandle}, ${made})` })
    .where(eq(users.id, userId))
    .returning({ handle: users.passkeyHandle });
  if (user?.handle == null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
  return user.handle;
}

export const addPasskeyInput = z.object({
  name: oneLine(100).refine((name) => name !== '', zodMessage('enter_name')),
  /** The answer of `navigator.credentials.create`, as JSON. */
  passkey: z.object(
    {
      id: base64url,
      rawId: base64url,
      type: z.literal('public-key', { error: zodMessage('not_a_passkey') }),
      response: z.object(
        {
          clientDataJSON: base64url,
          attestationObject: z
            .string({ error: zodMessage('not_a_passkey') })
            .regex(/^[\w-]{1,32768}$/, zodMessage('not_a_passkey')),
          transports: z.array(z.string().max(20)).max(10).optional(),
        },
        { error: zodMessage('not_a_passkey') },
      ),
      clientExtensionResults: extensions,
      authenticatorAttachment: z.string().nullish(),
    },
    { error: zodMessage('not_a_passkey') },
  ),
});

/**
 * Adds a passkey to the user's account. The first factor makes recovery codes and ends the user's other sessions. The
 * caller requires a fresh session.
 *
 * @throws AppError UNAUTHENTICATED if it is not accepted, which counts in the client's limit of sign-in; TOO_MANY;
 *   CONFLICT if the user has 20.
 */
export async function addPasskey(
  app: App,
  principal: Approved,
  { name, passkey }: z.output<typeof addPasskeyInput>,
  cookie: string | null,
  client: Client,
): Promise<{ id: string; recovery_codes?: string[] }> {
  const userId = principal.user.id;
  const isChallenge = await challengeCheck(app, `create for ${userId}`, cookie);
  const verified = await countFailures(app.throttle, clientSignInLimits(client), () =>
    verifyNewPasskey(app, passkey, isChallenge),
  );
  if (!verified.right) throw refusedPasskey(verified.cause);
  const { credential, challenge } = verified;

  return app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    await requireExistingSession(tx, principal);
    if ((await tx.$count(passkeys, eq(passkeys.userId, userId))) >= maxPasskeys) throw tooManyPasskeys();
    if (!(await takeChallenge(app, tx, challenge))) throw refusedPasskey();

    const isFirst = !(await userHasFactor(tx, userId));
    const now = app.now();
    const [added] = await tx
      .insert(passkeys)
      .values({ ...credential, id: newId(now), userId, name, createdAt: now })
      .onConflictDoNothing()
      .returning({ id: passkeys.id });
    if (added === undefined) throw refusedPasskey();
    return { id: added.id, ...(await finishAdding(app, tx, principal, { factor: 'passkey', isFirst, client })) };
  });
}

type TypedNewPasskey = z.output<typeof addPasskeyInput>['passkey'];

async function verifyNewPasskey(app: App, passkey: TypedNewPasskey, isChallenge: (answered: string) => boolean) {
  const { verifyRegistrationResponse } = await library();
  const { origin, rpId } = relyingParty(app);
  let challenge = '';
  try {
    await requireNoAttestation(passkey.response.attestationObject);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...passkey, clientExtensionResults: {} } as Parameters<
        typeof verifyRegistrationResponse
      >[0]['response'],
      expectedChallenge: (answered) => {
        challenge = answered;
        return isChallenge(answered);
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) throw new Error('attestation not verified');
    const { id, publicKey, counter } = registrationInfo.credential;
    if (id.length > maxCredentialId) throw new Error('credential id too long');
    const stored = { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
    const credential = { ...stored, transports: passkey.response.transports ?? [] };
    return { right: true as const, credential, challenge };
  } catch (cause) {
    return { right: false as const, cause };
  }
}

/** 1,023 bytes (WebAuthn §4), in base64url. */
const maxCredentialId = 1364;

/**
 * Refuses an attestation that names certificates. The options ask for none, so a browser sends none, or at most the
 * key's own signature. To verify certificates, the library requests the addresses that they name, before it knows who
 * made them.
 */
export async function requireNoAttestation(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await helpers();
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new Error('attestation that nobody asked for');
}
