import type { Sandbox } from '../sandbox.ts';
import type { openBrowser } from '../testing.ts';

/** The redirect address of the service, for tests of the identity provider. */
export const callback = 'http://localhost:3000/auth/idp/callback';

/** Returns the address at which a sign-in starts. `changes` replace parameters. */
export function authAddress(sandbox: Sandbox, changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_id: 'sandbox-client',
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'the-state',
    nonce: 'the-nonce',
    prompt: 'select_account',
    ...changes,
  });
  return `${sandbox.idp.authUrl}?${query}`;
}

/** Signs in as a person through the chooser. Returns the code that arrives at the callback. */
export async function chooseCode(
  sandbox: Sandbox,
  browser: ReturnType<typeof openBrowser>,
  sub: string,
  changes: Record<string, string> = {},
): Promise<string> {
  const chooser = await browser.open(authAddress(sandbox, changes));
  const back = await browser.open(chooser.at, { sub });
  return new URL(back.at).searchParams.get('code') ?? '';
}

/** Sends the token request. A field that is changed to '' is left out. */
export function exchange(
  sandbox: Sandbox,
  code: string,
  changes: Record<string, string> = {},
  authorization?: string,
  signal?: AbortSignal,
): Promise<Response> {
  const fields = {
    code,
    client_id: 'sandbox-client',
    client_secret: 'sandbox_client_secret',
    redirect_uri: callback,
    grant_type: 'authorization_code',
    ...changes,
  };
  const body = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''));
  return fetch(sandbox.idp.tokenUrl, {
    method: 'POST',
    body,
    redirect: 'manual',
    ...(signal && { signal }),
    ...(authorization && { headers: { authorization } }),
  });
}

/** Returns the claims of the ID token in a token answer. */
export function claimsOf(body: unknown): Record<string, unknown> {
  const { id_token: token } = body as { id_token: string };
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
