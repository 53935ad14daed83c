import type { ServerResponse } from 'node:http';
import { type SigningKey, signToken } from './signing-key.ts';
import type { TokenAnswer } from './token-answer.ts';

/** The part of oidc-provider's context that an answer changes. */
interface TokenContext {
  status: number;
  type: string;
  body: unknown;
  respond?: boolean;
  res: ServerResponse;
  set(headers: Record<string, string>): void;
}

/** Returns the answer that the token endpoint has prepared, with functions that replace it. */
export function answerOf(
  ctx: TokenContext,
  { issuer, clientId, key }: { issuer: string; clientId: string; key: SigningKey },
): TokenAnswer {
  const body = { ...(ctx.body as Record<string, unknown>) };
  const idToken = typeof body.id_token === 'string' ? body.id_token : '';
  const claims = idToken ? JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) : {};

  function withIdToken(token: unknown): void {
    // A refused request (a used code, a wrong secret) has no ID token and stays refused.
    if (idToken) ctx.body = { ...body, id_token: token };
  }

  return {
    claims,
    issuer,
    bareIssuer: withoutScheme(issuer),
    clientId,
    now: Math.floor(Date.now() / 1000),
    body,
    idToken,
    withIdToken,
    withPayload: (payload) => withIdToken(signToken(key, payload)),
    withClaims: (changed) => withIdToken(signToken(key, JSON.stringify(changed))),
    withBody(status, type, text, headers = {}) {
      ctx.status = status;
      ctx.set(headers);
      ctx.body = text;
      ctx.type = type;
    },
    raw(write) {
      ctx.respond = false;
      write(ctx.res);
    },
  };
}

/** Returns a URL without its scheme. */
export function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, '');
}
