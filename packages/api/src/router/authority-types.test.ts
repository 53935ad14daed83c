import { expect, it } from 'vitest';
import type { App } from '../app.ts';
import type { Administrator, Approved, Operator, Reader, UserPrincipal } from '../auth/principal.ts';
import { changeName } from '../auth/profile/profile.ts';
import { startCheckout } from '../billing/actions/start-checkout.ts';
import { readSubscription } from '../billing/summary/read-subscription.ts';
import { invite } from '../members/invitations.ts';
import { listMembers } from '../members/list-members.ts';
import { approve } from '../operators/queue/decide.ts';
import type { Client } from '../platform/security/client.ts';

type Callers = {
  nobody: null;
  user: UserPrincipal;
  approved: Approved;
  reader: Reader;
  administrator: Administrator;
  operator: Operator;
};

/** Never called. `npm run typecheck` fails if one of these calls compiles. */
function refused(app: App, client: Client, by: Callers) {
  const invitation = { organisation_id: '', role: 'member' as const };
  // @ts-expect-error: there is no principal.
  changeName(app, by.nobody, { name: '' });
  // @ts-expect-error: the user may await approval.
  changeName(app, by.user, { name: '' });
  // @ts-expect-error: an approved user has no scope yet.
  readSubscription(app, by.approved);
  // @ts-expect-error: an operator has no scope in an organisation.
  listMembers(app, by.operator);
  // @ts-expect-error: READ is not ADMIN.
  startCheckout(app, by.reader, { tier: 'silver' });
  // @ts-expect-error: READ is not ADMIN.
  invite(app, by.reader, invitation, client);
  // @ts-expect-error: an operator is not an administrator.
  invite(app, by.operator, invitation, client);
  // @ts-expect-error: an administrator is not an operator.
  approve(app, by.administrator, { organisation_ids: [] }, client);
  // @ts-expect-error: no principal can be made without the check.
  startCheckout(app, { ...by.user, scopes: ['ADMIN'] }, { tier: 'silver' });
}

it('a use case cannot be called with a weaker principal than it names', () => {
  expect(refused).toBeTypeOf('function');
});
