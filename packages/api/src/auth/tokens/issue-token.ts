import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import { z } from 'zod';
import { currentPlan } from '../../organisations/plan.ts';
import { invalid } from '../../platform/errors.ts';
import { storableText } from '../../platform/security/text.ts';
import type { Holding, Principal } from '../principal.ts';
import { decryptKey, signingKey, type TokensApp, tokenAlgorithm } from './token-keys.ts';

const audienceSentence = 'An audience has 1 to 255 characters.';

/** `audience` names the service that the token is for; without it the issuer. */
export const tokenInput = z.object({
  audience: storableText(audienceSentence)
    .refine((audience) => audience !== '' && [...audience].length <= 255, audienceSentence)
    .optional(),
});

/**
 * The longest lifetime of a token that was asked for by the shared cookie. Any sibling host can ask by it, so its tokens
 * live shortly, and only for products that the operator listed.
 */
const maxSharedSeconds = 300;

/**
 * Returns a signed JWT about a principal: the answer of sessions.verify for services that cannot ask each
 * time. It stays valid for TOKEN_TTL_SECONDS, also if the session ends or a right is revoked meanwhile:
 * only a token keeps a revoked right in effect.
 *
 * @throws AppError VALIDATION if the shared cookie asks for an audience that is neither the issuer nor one of
 *   RETURN_ORIGINS; TOO_MANY if it asks more than 20 times a minute.
 * @throws Error if no key can sign, or the key cannot be decrypted.
 */
export async function issueToken(
  app: TokensApp,
  principal: Principal & Holding<'READ'>,
  { audience }: z.output<typeof tokenInput>,
): Promise<{ token: string; expires_at: string }> {
  const { issuer, ttlSeconds } = app.config.tokens;
  const isShared = principal.kind === 'user' && principal.isShared;
  if (isShared) {
    const isListed = audience === undefined || audience === issuer || app.config.returnOrigins.includes(audience);
    if (!isListed) throw invalid({ audience: 'By this cookie the audience is the issuer or one of RETURN_ORIGINS.' });
    await app.throttle.take({ 'shared-token-session': principal.sessionId });
  }

  const signing = await signingKey(app);
  const key = await importJWK(decryptKey(app, signing), tokenAlgorithm);
  const issuedAt = Math.floor(app.now().getTime() / 1000);
  const expiresAt = issuedAt + (isShared ? Math.min(ttlSeconds, maxSharedSeconds) : ttlSeconds);

  const token = await new SignJWT(claimsOf(app, principal))
    .setProtectedHeader({ alg: tokenAlgorithm, kid: signing.id, typ: 'JWT' })
    .setSubject(principal.kind === 'user' ? principal.user.id : principal.key.id)
    .setIssuer(issuer)
    .setAudience(audience ?? issuer)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(randomUUID())
    .sign(key);
  return { token, expires_at: new Date(expiresAt * 1000).toISOString() };
}

/** A token holds no address and no name, because logs and browsers keep tokens more often than answers. */
function claimsOf(app: TokensApp, principal: Principal & Holding<'READ'>) {
  const { kind, organisationId, scopes, planRow } = principal;
  return {
    kind,
    organisation: organisationId,
    role: kind === 'user' ? principal.role : null,
    scopes,
    tier: organisationId === null ? null : currentPlan(app, planRow).tier,
  };
}
