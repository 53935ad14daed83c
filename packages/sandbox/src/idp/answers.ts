import type { ServerResponse } from 'node:http';
import { type Answer, body, claims, payload, raw, type TokenAnswer, token } from './token-answer.ts';

const weekSeconds = 7 * 24 * 3600;

/** All hostile, broken and unusual answers of the token endpoint, by name. */
export const answers = {
  wrong_issuer: claims(
    'issued by another issuer',
    'refused',
    () => ({ iss: 'https://issuer.example' }),
    'oidcc-client-test-invalid-iss',
  ),
  no_issuer: claims('no issuer', 'refused', () => ({ iss: undefined })),
  issuer_trailing_slash: claims('the issuer with a slash at its end', 'refused', ({ issuer }) => ({
    iss: `${issuer}/`,
  })),
  bare_issuer: claims('the issuer in its bare-host form', 'accepted', ({ bareIssuer }) => ({ iss: bareIssuer })),
  wrong_audience: claims(
    'meant for another client',
    'refused',
    () => ({ aud: 'another-client' }),
    'oidcc-client-test-invalid-aud',
  ),
  no_audience: claims('no audience', 'refused', () => ({ aud: undefined }), 'oidcc-client-test-missing-aud'),
  audience_list: claims('the audience as a list of one', 'refused', ({ clientId }) => ({ aud: [clientId] })),
  audience_list_foreign: claims('an audience of two', 'refused', ({ clientId }) => ({
    aud: [clientId, 'another-client'],
  })),
  wrong_nonce: claims(
    'the nonce of another attempt',
    'refused',
    () => ({ nonce: 'another-nonce' }),
    'oidcc-client-test-nonce-invalid',
  ),
  no_nonce: claims('no nonce', 'refused', () => ({ nonce: undefined })),
  empty_nonce: claims('an empty nonce', 'refused', () => ({ nonce: '' })),
  expired: claims('expired a week ago', 'refused', ({ now }) => ({
    exp: now - weekSeconds,
    iat: now - weekSeconds - 60,
  })),
  expired_just_now: claims('expired two seconds ago', 'refused', ({ now }) => ({ exp: now - 2 })),
  exp_text: claims('an expiry that is not a number', 'refused', () => ({ exp: 'tomorrow' })),
  exp_zero: claims('an expiry of 0', 'accepted', () => ({ exp: 0 })),
  exp_null: claims('an expiry of null', 'accepted', () => ({ exp: null })),
  no_exp: claims('no expiry', 'accepted', () => ({ exp: undefined })),
  no_email: claims('no e-mail address', 'refused', () => ({ email: undefined })),
  empty_email: claims('an empty e-mail address', 'refused', () => ({ email: '' })),
  email_number: claims('an e-mail address that is a number', 'refused', () => ({ email: 42 })),
  email_no_address: claims('an e-mail address without an @', 'refused', () => ({ email: 'nobody' })),
  email_upper_case: claims('the e-mail address in capitals', 'accepted', (answer) => ({
    email: String(answer.claims.email).toUpperCase(),
  })),
  unverified: claims('an address that is not verified', 'refused', () => ({ email_verified: false })),
  no_email_verified: claims('no email_verified', 'refused', () => ({ email_verified: undefined })),
  email_verified_null: claims('verified: null', 'refused', () => ({ email_verified: null })),
  email_verified_zero: claims('verified: 0', 'refused', () => ({ email_verified: 0 })),
  email_verified_text_false: claims('verified: the text "false"', 'refused', () => ({ email_verified: 'false' })),
  email_verified_text_zero: claims('verified: the text "0"', 'refused', () => ({ email_verified: '0' })),
  email_verified_text_true: claims('verified: the text "true"', 'accepted', () => ({ email_verified: 'true' })),
  email_verified_one: claims('verified: 1', 'accepted', () => ({ email_verified: 1 })),
  no_sub: claims('no subject', 'refused', () => ({ sub: undefined }), 'oidcc-client-test-missing-sub'),
  empty_sub: claims('an empty subject', 'refused', () => ({ sub: '' })),
  sub_number: claims('a subject that is a number', 'refused', () => ({ sub: 42 })),
  sub_too_long: claims('a subject of 256 characters', 'refused', () => ({ sub: '1'.repeat(256) })),
  sub_nul: claims('a subject with the character U+0000', 'refused', () => ({ sub: '1\u00002' })),
  no_name: claims('no name', 'accepted', () => ({ name: undefined })),
  long_name: claims('a name of 5000 characters', 'accepted', () => ({ name: 'n'.repeat(5000) })),
  name_number: claims('a name that is a number', 'accepted', () => ({ name: 42 })),
  name_nul: claims('a name with the character U+0000', 'accepted', () => ({ name: 'Nul\u0000 Person' })),
  no_iat: claims('no time of issue', 'accepted', () => ({ iat: undefined }), 'oidcc-client-test-missing-iat'),
  two_segments: token('two segments', ({ idToken }) => idToken.split('.').slice(0, 2).join('.')),
  four_segments: token('four segments', ({ idToken }) => `${idToken}.more`),
  bad_base64: token('a second segment that is not base64url', ({ idToken }) => withSecond(idToken, '!!!not*base64!!!')),
  empty_segment: token('an empty second segment', ({ idToken }) => withSecond(idToken, '')),
  not_json_claims: payload('claims that are not JSON', () => 'not json'),
  half_json_claims: payload('claims that end in the middle', (answer) => JSON.stringify(answer.claims).slice(0, -9)),
  list_claims: payload('claims that are a list', (answer) => JSON.stringify([answer.claims])),
  null_claims: payload('claims that are null', () => 'null'),
  text_claims: payload('claims that are a string', () => '"claims"'),
  invalid_utf8: payload('claims that are not UTF-8', (answer) => invalidUtf8(answer.claims)),
  no_id_token: token('no ID token', () => undefined),
  null_id_token: token('an ID token of null', () => null),
  empty_id_token: token('an empty ID token', () => ''),
  number_id_token: token('an ID token that is a number', () => 42),
  unsigned: {
    about: 'algorithm "none" and no signature (the interface does not verify signatures)',
    expect: 'accepted',
    module: 'oidcc-client-test-idtoken-sig-none',
    give: ({ idToken, withIdToken }) => withIdToken(`${encode({ alg: 'none' })}.${idToken.split('.')[1]}.`),
  },
  bad_signature: {
    about: 'a wrong signature (the interface does not verify signatures)',
    expect: 'accepted',
    module: 'oidcc-client-test-invalid-sig-rs256',
    give: ({ idToken, withIdToken }) => withIdToken(`${idToken.split('.').slice(0, 2).join('.')}.AAAA`),
  },
  not_json: body('a body that is not JSON', 200, 'application/json', () => 'not json'),
  html: body('a page instead of JSON', 200, 'text/html', () => '<!doctype html><title>Hello</title>'),
  empty_body: body('an empty body', 200, 'application/json', () => ''),
  json_list: body('a JSON list', 200, 'application/json', () => '[]'),
  json_null: body('JSON null', 200, 'application/json', () => 'null'),
  json_text: body('a JSON string', 200, 'application/json', () => '"id_token"'),
  status_400: body('status 400', 400, 'application/json', () => '{"error":"invalid_grant"}'),
  status_401: body('status 401', 401, 'application/json', () => '{"error":"invalid_client"}'),
  status_429: body('status 429', 429, 'application/json', () => '{"error":"slow_down"}'),
  status_500: body('status 500', 500, 'text/plain', () => 'It broke.'),
  status_500_with_token: body('status 500 with a correct body', 500, 'application/json', (answer) =>
    JSON.stringify(answer.body),
  ),
  status_503: body('status 503', 503, 'text/plain', () => 'Busy.'),
  redirect: {
    about: 'a redirect to the same endpoint',
    expect: 'refused',
    give: ({ issuer, withBody }) => withBody(307, 'text/plain', '', { Location: `${issuer}/token` }),
  },
  redirect_found: {
    about: 'a redirect elsewhere (302)',
    expect: 'refused',
    give: ({ issuer, withBody }) => withBody(302, 'text/plain', '', { Location: `${issuer}/elsewhere` }),
  },
  silence: raw('no answer', 'refused', () => {}),
  silence_in_body: raw('headers, then silence', 'refused', (res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.write('{"id_token":"');
  }),
  late: raw('a correct answer after twelve seconds', 'refused', (res, answer) => {
    const timer = setTimeout(() => sendBody(res, answer), 12_000);
    res.on('close', () => clearTimeout(timer));
  }),
  slow: raw('a correct answer after two seconds', 'accepted', (res, answer) => {
    const timer = setTimeout(() => sendBody(res, answer), 2000);
    res.on('close', () => clearTimeout(timer));
  }),
  trickle: raw('a correct answer, one byte every tenth of a second', 'refused', (res, answer) => {
    const text = JSON.stringify(answer.body);
    res.writeHead(200, { 'Content-Type': 'application/json' });
    let sent = 0;
    const timer = setInterval(() => {
      if (sent === text.length) res.end();
      else res.write(text[sent++]);
    }, 100);
    res.on('close', () => clearInterval(timer));
  }),
  endless: raw('a body that never ends', 'refused', (res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.write('{"id_token":"');
    const timer = setInterval(() => {
      // Writes no faster than the client reads, or the memory of the sandbox would grow.
      if (!res.writableNeedDrain) res.write('A'.repeat(65_536));
    }, 1);
    res.on('close', () => clearInterval(timer));
  }),
  oversized: body('a correct answer of two megabytes', 200, 'application/json', (answer) =>
    JSON.stringify({ padding: 'A'.repeat(2_000_000), ...answer.body }),
  ),
  cut: raw('a connection cut without an answer', 'refused', (res) => void res.destroy()),
  cut_in_body: raw('a connection cut in the middle of the body', 'refused', (res, answer) => {
    const text = JSON.stringify(answer.body);
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(text.length) });
    res.write(text.slice(0, text.length / 2), () => res.destroy());
  }),
} satisfies Record<string, Answer>;

export type AnswerKind = keyof typeof answers;
export const answerKinds = Object.keys(answers) as AnswerKind[];

/** Finds an answer by its name, which may come from a form or JSON. Undefined if there is none. */
export function findAnswer(kind: string): Answer | undefined {
  return Object.hasOwn(answers, kind) ? answers[kind as AnswerKind] : undefined;
}

function sendBody(res: ServerResponse, answer: TokenAnswer): void {
  res.writeHead(200, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(answer.body));
}

function withSecond(idToken: string, segment: string): string {
  const [first, , third] = idToken.split('.');
  return `${first}.${segment}.${third}`;
}

/** Only the bytes of the name are invalid, so that only a strict decoder refuses them. */
function invalidUtf8(claims: Record<string, unknown>): Buffer {
  const [before, after] = JSON.stringify({ ...claims, name: '@@' }).split('"@@"');
  return Buffer.concat([Buffer.from(`${before}"`), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from(`"${after}`)]);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
