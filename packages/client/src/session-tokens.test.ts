import { expect, it, vi } from 'vitest';
import type { Session, TokenClaims } from './answers.ts';
import { GatehouseError } from './error.ts';
import { SessionTokens } from './session-tokens.ts';

const session: Session = {
  user: { id: 'u', email: 'owner@company.example', name: null },
  organisation: { id: 'o', slug: 'o', name: null, tier: 'free' },
  role: 'owner',
  scopes: ['READ', 'WRITE', 'ADMIN'],
};
const away = new GatehouseError(0, 'UNREACHABLE', 'Gatehouse cannot be reached.');

/** Keeps sessions whose token states these claims. */
function tokensOf(claims: Partial<TokenClaims> = {}) {
  const state = { issued: 0, valid: true };
  const tokens = new SessionTokens({
    issue: async () => {
      state.issued += 1;
      return { token: 'token', expires_at: '' };
    },
    verify: async () => {
      if (!state.valid) throw new GatehouseError(401, 'UNAUTHENTICATED', 'The token has expired.');
      const { role, scopes } = session;
      return { sub: 'u', organisation: 'o', role, scopes, iat: 0, exp: 300, ...claims } as TokenClaims;
    },
  });
  return { tokens, state };
}

const answers = async () => session;
const fails = async () => {
  throw away;
};

it('answers a session by its token while Gatehouse does not answer, until the token expires', async () => {
  const { tokens, state } = tokensOf();
  await expect(tokens.verify('a', fails)).rejects.toBe(away);
  expect(await tokens.verify('a', answers)).toBe(session);
  await vi.waitFor(() => expect(state.issued).toBe(1), 30_000);
  await new Promise((resolve) => setTimeout(resolve));

  expect(await tokens.verify('a', fails)).toEqual(session);
  await expect(tokens.verify('another', fails)).rejects.toBe(away);
  state.valid = false;
  await expect(tokens.verify('a', fails)).rejects.toBe(away);
});

it('answers with the role and scopes of the token, and not if it is about another user or organisation', async () => {
  for (const [claims, expected] of [
    [
      { role: 'viewer', scopes: ['READ'] },
      { ...session, role: 'viewer', scopes: ['READ'] },
    ],
    [{ sub: 'other' }, null],
    [{ organisation: 'other' }, null],
  ] as [Partial<TokenClaims>, Session | null][]) {
    const { tokens } = tokensOf(claims);
    await tokens.verify('a', answers);
    await new Promise((resolve) => setTimeout(resolve));
    if (expected === null) await expect(tokens.verify('a', fails)).rejects.toBe(away);
    else expect(await tokens.verify('a', fails)).toEqual(expected);
  }
});

it('does not answer a session that Gatehouse said has ended or is refused', async () => {
  for (const end of [
    async () => null,
    async () => {
      throw new GatehouseError(403, 'FORBIDDEN', 'No.');
    },
  ]) {
    const { tokens } = tokensOf();
    await tokens.verify('a', answers);
    await new Promise((resolve) => setTimeout(resolve));
    await tokens.verify('a', end).catch(() => {});
    await expect(tokens.verify('a', fails)).rejects.toBe(away);
  }
});

it('gets one token for many requests', async () => {
  const { tokens, state } = tokensOf();
  for (let n = 0; n < 5; n++) await tokens.verify('a', answers);
  await new Promise((resolve) => setTimeout(resolve));
  await tokens.verify('a', answers);
  expect(state.issued).toBe(1);
});

it('keeps the token when the caller ends its call, and not when the session is refused', async () => {
  const { tokens, state } = tokensOf();
  await tokens.verify('a', answers);
  await vi.waitFor(() => expect(state.issued).toBe(1), 30_000);
  await new Promise((resolve) => setTimeout(resolve));
  const ended = new DOMException('The browser went away.', 'AbortError');
  await expect(tokens.verify('a', () => Promise.reject(ended))).rejects.toBe(ended);
  expect(await tokens.verify('a', fails)).toEqual(session);

  const other = tokensOf().tokens;
  await other.verify('a', answers);
  await new Promise((resolve) => setTimeout(resolve));
  const refused = new GatehouseError(403, 'FORBIDDEN', 'No.');
  await expect(other.verify('a', () => Promise.reject(refused))).rejects.toBe(refused);
  await expect(other.verify('a', fails)).rejects.toBe(away);
});
