import { expect, test } from 'vitest';
import type { Plan, Usage } from '#lib/subscription.ts';
import { agreedText } from './agreed-text.ts';

const plan: Plan = {
  tier: 'gold',
  name: 'Gold',
  status: 'none',
  cancel_at_period_end: false,
  current_period_end: null,
  ends_at: null,
  price: null,
};
const usage: Usage[] = [
  { meter: 'projects', name: 'Projects', used: 1, limit: 50, resets_at: null },
  { meter: 'api_calls', name: 'API calls', used: 1, limit: null, resets_at: null, resets: 'calendar_month' },
  { meter: 'members', name: 'Members', used: 1, limit: 2, resets_at: null },
];

test.each([
  ['', null],
  ['Agreed with us: Gold.', { tier: true, meters: [], features: [], until: null }],
  [
    'Agreed with us until 31 January 2027: 50 projects, unlimited API calls and Audit log.',
    { tier: false, meters: ['projects', 'api_calls'], features: ['audit_log'], until: '2027-02-01T00:00:00.000Z' },
  ],
])('%s', (expected, agreed) => {
  expect(agreedText({ ...plan, agreed }, usage).toLowerCase()).toBe(expected.toLowerCase());
});
