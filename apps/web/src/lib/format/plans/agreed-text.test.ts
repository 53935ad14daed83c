import { expect, test } from 'vitest';
import type { Usage } from '#lib/subscription.ts';
import { agreedText } from './agreed-text.ts';
import { freePlan } from './testing/free-plan.ts';

const usage: Usage[] = [
  { meter: 'projects', name: 'Projects', used: 1, limit: 50, resets_at: null, resets: null },
  { meter: 'api_calls', name: 'API calls', used: 1, limit: null, resets_at: null, resets: 'calendar_month' },
  { meter: 'members', name: 'Members', used: 1, limit: 2, resets_at: null, resets: null },
];

test.each([
  ['', null],
  ['Agreed with us: Gold.', { tier: true, meters: [], features: [], until: null }],
  [
    'Agreed with us until 31 January 2027: 50 projects, unlimited API calls and audit log.',
    { tier: false, meters: ['projects', 'api_calls'], features: ['audit_log'], until: '2027-02-01T00:00:00.000Z' },
  ],
])('%s', (expected, agreed) => {
  expect(agreedText({ ...freePlan, tier: 'gold', name: 'Gold', agreed }, usage)).toBe(expected);
});
