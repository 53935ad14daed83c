import { tokenInput } from '../../auth/tokens/issue-token.ts';
import type { Operation } from './operation.ts';

const off = 'Answers 404 unless TOKEN_TTL_SECONDS is set.';

export const tokenOperations: Operation[] = [
  {
    method: 'post',
    path: '/api/token',
    procedure: 'tokens.issue',
    id: 'tokens.issue',
    tag: 'Services',
    summary: 'Exchange a session or an API key for a signed token',
    description: `For services that cannot ask each time. Claims: iss, aud, sub (the id of the user, or of the key), iat, exp, jti, kind (user or key), organisation, role, scopes, tier. A token stays valid until exp, also if the session ends or a right is revoked meanwhile: verify the session wherever that matters. ${off}`,
    access: ['session', 'key'],
    scope: 'READ',
    body: tokenInput,
    answer: 'Token',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'get',
    path: '/.well-known/jwks.json',
    procedure: 'tokens.keySet',
    id: 'tokens.keySet',
    tag: 'Services',
    summary: 'Read the keys that verify tokens',
    description: `A JSON Web Key Set. A key is published an hour before it signs, so the answer may be cached for five minutes. ${off}`,
    access: ['public'],
    answer: 'KeySet',
    answerHeaders: { 'Cache-Control': 'public, max-age=300' },
    errors: ['NOT_FOUND'],
  },
];
