import { expect, test } from 'vitest';
import { texts } from '#lib/language/texts.ts';
import { type ActivityEntry, activityText } from './activity-text.ts';

const mia = { kind: 'named' as const, name: null, email: 'mia@quayside.example' };
const you = { kind: 'you' as const };
const unnamed = { kind: 'unnamed' as const };
const larch = { id: '1', slug: 'larch', name: 'Larch & Sons' };
const promoted = { from: 'member', to: 'admin' };

const empty = { id: '1', at: '', client: null, actor: null, person: null, organisation: null };
const bare = { ...empty, change: null, role: null, plan: null, note: null, key: null };

function textOf(entry: Partial<ActivityEntry> & Pick<ActivityEntry, 'action'>): string {
  return activityText({ ...bare, ...entry })
    .map((part) => (typeof part === 'string' ? part : part.name))
    .join('');
}

test.each<[Partial<ActivityEntry> & Pick<ActivityEntry, 'action'>, string]>([
  [
    { action: 'role-changed', actor: you, person: mia, change: promoted },
    'You changed mia@quayside.example from member to admin',
  ],
  [
    { action: 'role-changed', actor: mia, person: you, change: promoted },
    'mia@quayside.example changed you from member to admin',
  ],
  [
    { action: 'role-changed', actor: unnamed, person: you, change: promoted },
    'An admin changed you from member to admin',
  ],
  [
    { action: 'role-changed', actor: you, person: unnamed, change: promoted },
    'You changed a former member from member to admin',
  ],
  [{ action: 'role-changed', actor: you, person: you, change: promoted }, 'You changed yourself from member to admin'],
  [
    { action: 'member-removed', actor: you, person: unnamed, organisation: larch },
    'You removed a former member from Larch & Sons',
  ],
  [
    { action: 'member-joined', person: mia, organisation: larch, role: 'viewer' },
    'mia@quayside.example joined Larch & Sons as viewer',
  ],
  [
    { action: 'ownership-transferred', actor: you, person: mia, organisation: larch },
    'You transferred the ownership of Larch & Sons to mia@quayside.example',
  ],
  [
    { action: 'organisation-renamed', actor: you, change: { from: 'Larch', to: 'Larch & Sons' } },
    'You renamed Larch to Larch & Sons',
  ],
  [{ action: 'organisation-approved', actor: { kind: 'operator' }, organisation: larch }, 'Larch & Sons was approved'],
  [{ action: 'organisation-suspended', actor: { kind: 'operator' } }, 'Your organisation was suspended'],
  [
    { action: 'ownership-transferred', actor: you, person: mia },
    'You transferred the ownership to mia@quayside.example',
  ],
  [{ action: 'member-joined', person: mia, role: 'viewer' }, 'mia@quayside.example joined an organisation as viewer'],
  [{ action: 'member-joined', person: mia, organisation: larch }, 'mia@quayside.example joined Larch & Sons'],
  [{ action: 'payment-failed' }, 'Payment failed'],
  [{ action: 'subscription-started', plan: 'Silver' }, 'Silver started'],
  [{ action: 'subscription-changed', change: { from: 'Silver', to: 'Gold' } }, 'Plan changed from Silver to Gold'],
  [{ action: 'payment-failed', plan: 'Silver' }, 'Payment failed for Silver'],
  [{ action: 'plan-cancelled', actor: you, plan: 'Silver' }, 'You cancelled Silver'],
  [{ action: 'plan-resumed', actor: you, plan: 'Silver' }, 'You kept Silver'],
  [{ action: 'plan-resumed', actor: you }, 'You kept the plan'],
  [{ action: 'invitation-made', actor: you, role: 'viewer' }, 'You invited someone as a viewer'],
  [{ action: 'invitation-made', actor: mia, role: 'viewer', note: 'Ada' }, 'mia@quayside.example invited Ada'],
  [{ action: 'api-key-created', actor: you, key: 'Billing worker' }, 'You created the API key Billing worker'],
  [{ action: 'session-ended', actor: you, person: you }, 'You signed out another browser'],
  [{ action: 'password-check-failed', actor: you, person: you }, 'Wrong password entered while signed in'],
])('%o reads %j', (entry, text) => {
  expect(textOf(entry)).toBe(text);
});

test('every sentence belongs to an action', () => {
  expect(Object.keys(texts('audit'))).toEqual(expect.arrayContaining(Object.keys(texts('activity').sentences)));
});

test('a name is a part of its own, so that its direction stays its own', () => {
  expect(activityText({ ...bare, action: 'member-joined', person: mia, organisation: larch })).toEqual([
    { name: 'mia@quayside.example' },
    ' joined ',
    { name: 'Larch & Sons' },
  ]);
});
