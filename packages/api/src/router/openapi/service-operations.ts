import { z } from 'zod';
import { targetField } from '../../auth/sessions/target-organisation.ts';
import {
  gaugeValueInput,
  maxRecords,
  usageDaysInput,
  usageRecordInput,
  usageRequestInput,
} from '../../billing/usage/usage-input.ts';
import { changesInput } from '../../changes/read-changes.ts';
import { keysetInput } from '../../platform/security/keyset-pagination.ts';
import type { Operation } from './operation.ts';

// A session with the scope WRITE may write too, for its own organisation (docs/decisions/031).
const ofOrganisation = z.object({ organisation: targetField.describe('An id or slug.') });
const inPath = { id: z.string().describe("The organisation's id or slug.") };
const meterInPath = z.object({ meter: z.string().describe('The name of a meter: api_calls.') });
const tiers = z.array(z.string()).describe('The tiers that allow it, in rising rank.');

type OperationFields = Pick<Operation, 'id' | 'path' | 'summary' | 'answer'> & Partial<Operation>;

function reads(about: OperationFields): Operation {
  return {
    method: 'get',
    procedure: about.id,
    tag: 'Services',
    access: ['session', 'key'],
    scope: 'READ',
    errors: ['VALIDATION', 'NOT_FOUND'],
    ...about,
  };
}

function writes(about: OperationFields): Operation {
  return { ...reads(about), method: 'post', scope: 'WRITE', errors: ['NOT_FOUND', 'CONFLICT'], ...about };
}

export const serviceOperations: Operation[] = [
  reads({
    id: 'entitlements.get',
    path: '/api/organisations/{id}/entitlements',
    summary: "Read what an organisation's plan gives it, and what of it is used",
    pathParameters: z.object(inPath),
    answer: 'Entitlements',
  }),
  reads({
    id: 'entitlements.check',
    path: '/api/organisations/{id}/entitlements/{name}',
    summary: 'Check a feature, or one more of a meter',
    pathParameters: z.object({ ...inPath, name: z.string().describe('A feature or a meter.') }),
    answer: 'Entitlement',
  }),
  writes({
    id: 'usage.reserve',
    path: '/api/usage/reserve',
    summary: "Take an amount of a meter within the plan's limit",
    description:
      'The same idempotency key with the same content answers as the first time, for 48 hours; with other content: CONFLICT.',
    body: usageRequestInput.extend(ofOrganisation.shape),
    answer: 'Usage',
    errors: ['NOT_FOUND', 'CONFLICT', 'LIMIT_REACHED'],
    facts: {
      LIMIT_REACHED: z.object({ meter: z.string(), used: z.int(), limit: z.int(), allowed_by: tiers }),
    },
  }),
  writes({
    id: 'usage.release',
    path: '/api/usage/release',
    summary: 'Give an amount of a gauge back',
    body: usageRequestInput.extend(ofOrganisation.shape),
    answer: 'Usage',
  }),
  writes({
    id: 'usage.report',
    path: '/api/usage/report',
    summary: 'Count a batch of records, all or none',
    description: 'Counts above the limits too. Counters only.',
    body: z.object({ records: z.array(usageRecordInput.extend(ofOrganisation.shape)).max(maxRecords) }),
    answer: 'Report',
  }),
  writes({
    id: 'usage.set',
    path: '/api/usage/{meter}',
    method: 'put',
    summary: 'Set a gauge to its true value',
    description:
      'Also above the limit. With `at`, a value older than the last change, also by a reservation or a release, changes nothing.',
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
    description: 'Needs a key of the deployment. A higher limit is cut to 1,000.',
    query: keysetInput,
    answer: 'Organisations',
    errors: ['VALIDATION'],
  }),
  reads({
    id: 'members.list',
    path: '/api/organisations/{id}/members',
    summary: "List an organisation's members",
    pathParameters: z.object(inPath),
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
    errors: ['VALIDATION', 'GONE', 'TOO_MANY'],
    facts: { GONE: z.object({ oldest: z.string().describe('The oldest cursor.') }) },
  }),
];
