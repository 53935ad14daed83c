import { expect, it } from 'vitest';
import { type Claims, decodeIdToken, validateClaims } from './id-token.ts';

const now = new Date('2026-03-01T12:00:00Z');
const seconds = now.getTime() / 1000;
const expected = { issuers: ['idp.example', 'https://idp.example'], clientId: 'client', nonce: 'the-nonce', now };
const good: Claims = {
  iss: 'https://idp.example',
  aud: 'client',
  nonce: 'the-nonce',
  exp: seconds + 300,
  email: 'Person@Company.example',
  email_verified: true,
  sub: 'subject',
  name: ' A Person ',
};

function tokenOf(payload: string | Uint8Array, segments = 3): string {
  return ['header', Buffer.from(payload).toString('base64url'), 'signature', 'more'].slice(0, segments).join('.');
}

it('reads the identity that the claims describe', () => {
  const claims = decodeIdToken(tokenOf(JSON.stringify(good)));
  expect(validateClaims(claims, expected)).toEqual({
    subject: 'subject',
    email: 'person@company.example',
    name: 'A Person',
    issuer: 'https://idp.example',
    hostedDomain: null,
  });
});

it.each([
  ['two segments', tokenOf('{}', 2)],
  ['four segments', tokenOf('{}', 4)],
  ['an empty payload', 'header..signature'],
  ['no base64url', 'header.{}.signature'],
  ['a character in excess', tokenOf('{"a":"abcd"}').replace('.signature', 'A.signature')],
  ['padding in excess', tokenOf('{"a":"abcd"}').replace('.signature', '==.signature')],
  ['too little padding', tokenOf('{"a":1234}').replace('.signature', '=.signature')],
  ['no JSON', tokenOf('not json')],
  ['an array', tokenOf('[]')],
  ['null', tokenOf('null')],
  ['invalid UTF-8', tokenOf(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))],
])('refuses a token with %s', (_, token) => {
  expect(() => decodeIdToken(token)).toThrow();
});

it('accepts a payload with and without padding', () => {
  for (const name of ['a', 'ab', 'abc']) {
    const payload = Buffer.from(JSON.stringify({ name })).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    expect(decodeIdToken(`header.${payload}.signature`)).toEqual({ name });
    expect(decodeIdToken(`header.${payload.replaceAll('=', '')}.signature`)).toEqual({ name });
  }
});

it.each<[string, Claims]>([
  ['iss: another', { iss: 'https://evil.example' }],
  ['iss: absent', { iss: undefined }],
  ['aud: another client', { aud: 'other' }],
  ['aud: a list', { aud: ['client'] }],
  ['nonce: another', { nonce: 'other' }],
  ['nonce: absent', { nonce: undefined }],
  ['exp: in the past', { exp: seconds - 1 }],
  ['exp: no number', { exp: 'tomorrow' }],
  ['exp: a number as text', { exp: String(seconds + 300) }],
  ['email: absent', { email: undefined }],
  ['email: empty', { email: '' }],
  ['email: no address', { email: 'nobody' }],
  ['email_verified: absent', { email_verified: undefined }],
  ['email_verified: false', { email_verified: false }],
  ['email_verified: "false"', { email_verified: 'false' }],
  ['email_verified: "0"', { email_verified: '0' }],
  ['email_verified: 0', { email_verified: 0 }],
  ['email_verified: null', { email_verified: null }],
  ['sub: absent', { sub: undefined }],
  ['sub: empty', { sub: '' }],
  ['sub: a number', { sub: 12 }],
  ['sub: too long', { sub: 's'.repeat(256) }],
  ['sub: what the database cannot keep', { sub: 'a\u0000b' }],
])('refuses %s', (_, change) => {
  expect(() => validateClaims({ ...good, ...change }, expected)).toThrow(/^id_token: /);
});

it.each<[string, Claims]>([
  ['the bare issuer', { iss: 'idp.example' }],
  ['exp 0', { exp: 0 }],
  ['exp null', { exp: null }],
  ['no exp', { exp: undefined }],
  ['exp this very second', { exp: seconds }],
  ['email_verified "true"', { email_verified: 'true' }],
  ['email_verified 1', { email_verified: 1 }],
  ['a name that is no text', { name: 7 }],
])('accepts %s', (_, change) => {
  expect(validateClaims({ ...good, ...change }, expected).subject).toBe('subject');
});

it('checks the nonce only where one was stored', () => {
  expect(validateClaims({ ...good, nonce: 'any' }, { ...expected, nonce: null }).subject).toBe('subject');
});

it('cuts a long name at a hundred characters', () => {
  expect(validateClaims({ ...good, name: '👩'.repeat(150) }, expected).name).toBe('👩'.repeat(100));
});

it.each(['idp.example', 'https://idp.example'])('gives the issuer %s one form', (iss) => {
  expect(validateClaims({ ...good, iss }, expected).issuer).toBe('https://idp.example');
});

it('reads an address with a domain in Unicode as the stored one, and refuses an invisible character', () => {
  const address = (email: string) => validateClaims({ ...good, email }, expected).email;
  expect(address('Person@MÜNCHEN.example')).toBe('person@xn--mnchen-3ya.example');
  for (const email of ['person\ufe0f@company.example', 'person@com\u00adpany.example']) {
    expect(() => address(email)).toThrow('email');
  }
});

it('removes from a name what a typed one may not contain', () => {
  const name = 'A\u202e Per\u200bson\u0000';
  expect(validateClaims({ ...good, name }, expected).name).toBe('A Person');
});

it.each([
  ['Company.example', 'company.example'],
  ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
  ['nothing', null],
  ['', null],
  [7, null],
])('reads the hosted domain %j as %j', (hd, domain) => {
  expect(validateClaims({ ...good, hd }, expected).hostedDomain).toBe(domain);
});

it('refuses an address that normalisation changes', () => {
  const lookalike = { ...good, email: 'ﬁnance@company.example' };
  expect(() => validateClaims(lookalike, expected)).toThrow('email');
});

it('does not quote a token that it could not read', () => {
  expect(() => decodeIdToken(tokenOf('a secret that is no JSON'))).toThrow(/^id_token: not JSON$/);
});
