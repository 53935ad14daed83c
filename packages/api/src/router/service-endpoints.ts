import { z } from 'zod';
import { targetField } from '../auth/sessions/target-organisation.ts';
import { tokenInput } from '../auth/tokens/issue-token.ts';
import {
  gaugeValueInput,
  holdInput,
  maxRecords,
  reservationInput,
  usageDaysInput,
  usageRecordInput,
  usageRequestInput,
} from '../billing/usage/usage-input.ts';
import { changesInput } from '../changes/read-changes.ts';
import { keysetInput } from '../platform/security/keyset-pagination.ts';
import type { Endpoint } from './endpoint.ts';

const ofOrganisation = z.object({ organisation: targetField.describe('An id or slug.') });
const inPath = { id: z.string().describe("The organisation's id or slug.") };
const inputOfPath = ({ id = '', ...others }: Record<string, string>) => ({ organisation: id, ...others });
const meterInPath = z.object({ meter: z.string().describe('The name of a meter: api_calls.') });

type EndpointFields = Pick<Endpoint, 'id' | 'path' | 'summary' | 'answer'> & Partial<Endpoint>;

function reads(about: EndpointFields): Endpoint {
  return {
    method: 'get',
    tag: 'Services',
    access: ['session', 'key'],
    scope: 'READ',
    errors: ['VALIDATION', 'NOT_FOUND'],
    ...about,
  };
}

function writes(about: EndpointFields): Endpoint {
  return { ...reads(about), method: 'post', scope: 'WRITE', errors: ['NOT_FOUND', 'CONFLICT'], ...about };
}

/** The endpoints for the company's own services, in the order of the OpenAPI document. */
export const serviceEndpoints: Endpoint[] = [
  reads({
    id: 'entitlements.get',
    access: ['session', 'shared', 'key'],
    path: '/api/organisations/{id}/entitlements',
    summary: "Read what an organisation's plan gives it, and what of it is used",
    pathParameters: z.object(inPath),
    inputOfPath,
    answer: 'Entitlements',
  }),
  reads({
    id: 'entitlements.check',
    access: ['session', 'shared', 'key'],
    path: '/api/organisations/{id}/entitlements/{name}',
    summary: 'Check a feature, or one more of a meter',
    inputOfPath,
    pathParameters: z.object({ ...inPath, name: z.string().describe('A feature or a meter.') }),
    answer: 'Entitlement',
  }),
  writes({
    id: 'usage.reserve',
    path: '/api/usage/reserve',
    summary: "Take an amount of a meter within the plan's limit",
    description:
      'The same idempotency key with the same content answers as the first time, for 48 hours; with other content: CONFLICT. With `expires`, in seconds, the amount is on hold: it counts until the hold is released or that time has passed, for good once it is committed. An organisation has 10,000 open holds at most.',
    body: reservationInput.extend(ofOrganisation.shape),
    answer: 'Reserved',
    errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
  }),
  writes({
    id: 'usage.commit',
    path: '/api/usage/commit',
    summary: 'Make what a hold reserved final',
    description:
      'By a key of the organisation where one of its keys made the hold, by a key of the deployment always. The same again changes nothing; a hold that was released or has expired: CONFLICT.',
    body: holdInput,
    answer: 'Usage',
  }),
  writes({
    id: 'usage.release',
    path: '/api/usage/release',
    summary: 'Give an amount of a gauge back, or a hold of any meter',
    description: 'A hold as it is committed. An amount never touches what is on hold.',
    body: z.union([usageRequestInput.extend(ofOrganisation.shape), holdInput]),
    answer: 'Usage',
  }),
  writes({
    id: 'usage.report',
    path: '/api/usage/report',
    summary: 'Count a batch of records, all or none',
    description: 'Counts above the limits too. Counters only.',
    body: z.strictObject({ records: z.array(usageRecordInput.extend(ofOrganisation.shape)).max(maxRecords) }),
    answer: 'Report',
  }),
  writes({
    id: 'usage.set',
    path: '/api/usage/{meter}',
    method: 'put',
    summary: 'Set a gauge to its true value',
    description:
      'Also above the limit. Open holds come on top. With `at`, a value older than the last change, also by a reservation or a release, changes nothing.',
    pathParameters: meterInPath,
    body: gaugeValueInput.extend(ofOrganisation.shape),
    answer: 'Gauge',
    errors: ['NOT_FOUND'],
  }),
  reads({
    id: 'usage.read',
    path: '/api/usage/{meter}',
    summary: "Read a meter's use by day, in UTC",
    pathParameters: meterInPath,
    query: ofOrganisation.extend({ days: usageDaysInput.describe('1 to 400, with today.') }),
    answer: 'UsageHistory',
  }),
  reads({
    id: 'organisations.list',
    path: '/api/organisations',
    summary: 'List all organisations',
    access: ['key'],
    description: 'Needs a key of the deployment.',
    query: keysetInput,
    answer: 'Organisations',
    errors: ['VALIDATION'],
  }),
  reads({
    id: 'members.list',
    path: '/api/organisations/{id}/members',
    summary: "List an organisation's members",
    pathParameters: z.object(inPath),
    inputOfPath,
    query: keysetInput,
    answer: 'Members',
  }),
  reads({
    id: 'changes.since',
    path: '/api/changes',
    summary: 'Read what happened after a cursor',
    description:
      'Without `after`: from now on; with 0: all that is kept, which is 30 days. While there is nothing it waits up to `wait` seconds (60 at most). Each change is delivered at least once. At most 50 requests of a key wait at a time. An approval that was undone appears as organisation.suspended.',
    query: changesInput,
    answer: 'Changes',
    errors: ['VALIDATION', 'GONE'],
  }),
];

const off = 'Answers 404 unless TOKEN_TTL_SECONDS is set.';

export const tokenEndpoints: Endpoint[] = [
  {
    method: 'post',
    path: '/api/token',
    id: 'tokens.issue',
    tag: 'Services',
    summary: 'Exchange a session or an API key for a signed token',
    description: `For services that cannot ask each time. Claims: iss, aud, sub (the id of the user, or of the key), iat, exp, jti, kind (user or key), organisation, role, scopes, tier. A token stays valid until exp, also if the session ends or a right is revoked meanwhile: verify the session wherever that matters. By the shared cookie the audience is an origin of RETURN_ORIGINS or the issuer, the life at most 300 seconds, and 20 a minute are issued. ${off}`,
    access: ['session', 'shared', 'key'],
    scope: 'READ',
    body: tokenInput,
    answer: 'Token',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'get',
    path: '/.well-known/jwks.json',
    id: 'tokens.keySet',
    tag: 'Services',
    summary: 'Read the keys that verify tokens',
    description: `A JSON Web Key Set. A key is published an hour before it signs, so the answer may be cached for five minutes. ${off}`,
    access: ['public'],
    answer: 'KeySet',
    answerHeaders: { 'Cache-Control': 'public, max-age=300' },
    headersOf: () => ({ 'cache-control': 'public, max-age=300' }),
    errors: ['NOT_FOUND'],
  },
];
