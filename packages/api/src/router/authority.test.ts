import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSession } from '../sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, makeOwner, testClient } from '../testing/factories.ts';
import { appRouter, type Caller } from './root.ts';

/** Who may call a procedure: the least that is needed. */
type Need = 'nobody' | 'session' | 'approved' | 'READ' | 'ADMIN' | 'operator';

/** Every procedure of the router. One that is missing here fails the test below. */
const needs: Record<string, Need> = {
  'accounts.signUp': 'nobody',
  'accounts.resend': 'nobody',
  'accounts.passwordToken': 'nobody',
  'accounts.setPassword': 'nobody',
  'accounts.approveByDomain': 'nobody',
  'accounts.keepPassword': 'nobody',
  'accounts.confirmChange': 'nobody',
  'accounts.onboard': 'approved',
  'accounts.profile': 'approved',
  'accounts.activity': 'approved',
  'accounts.changeAddress': 'approved',
  'accounts.changeName': 'approved',
  'accounts.changePassword': 'session',
  'accounts.setFirstPassword': 'session',
  'accounts.unlinkIdentity': 'approved',
  'accounts.connectIdentity': 'approved',
  'accounts.endSession': 'session',
  'accounts.endOtherSessions': 'session',
  'billing.checkout': 'ADMIN',
  'billing.portal': 'ADMIN',
  'billing.cancel': 'ADMIN',
  'billing.resume': 'ADMIN',
  'billing.confirm': 'READ',
  'leaving.export': 'approved',
  'leaving.deletion': 'approved',
  'leaving.deleteAccount': 'session',
  'leaving.deleteOrganisation': 'ADMIN',
  'members.list': 'READ',
  'members.invitations': 'ADMIN',
  'members.invite': 'ADMIN',
  'members.withdraw': 'ADMIN',
  'members.invitation': 'nobody',
  'members.join': 'session',
  'members.changeRole': 'ADMIN',
  'members.remove': 'ADMIN',
  'members.leave': 'READ',
  'operators.queue': 'operator',
  'operators.approve': 'operator',
  'operators.decline': 'operator',
  'operators.people': 'operator',
  'operators.personHistory': 'operator',
  'operators.passwordLink': 'operator',
  'operators.suspend': 'operator',
  'operators.restore': 'operator',
  'operators.events': 'operator',
  'operators.event': 'operator',
  'operators.applyAgain': 'operator',
  'operators.billingHistory': 'operator',
  'operators.drift': 'operator',
  'operators.syncNow': 'operator',
  'operators.compareNow': 'operator',
  'organisations.changeBillingContact': 'ADMIN',
  'organisations.create': 'approved',
  'organisations.mine': 'approved',
  'organisations.read': 'READ',
  'organisations.rename': 'ADMIN',
  'organisations.switch': 'approved',
  'organisations.transfer': 'ADMIN',
  'sessions.verify': 'READ',
  'signIn.withPassword': 'nobody',
  'signIn.out': 'nobody',
  'subscription.overview': 'READ',
  'subscription.read': 'READ',
};

/** What each sort of person has. */
const people: Record<string, Need[]> = {
  nobody: ['nobody'],
  'awaiting approval': ['nobody', 'session'],
  viewer: ['nobody', 'session', 'approved', 'READ'],
  member: ['nobody', 'session', 'approved', 'READ'],
  admin: ['nobody', 'session', 'approved', 'READ', 'ADMIN'],
  owner: ['nobody', 'session', 'approved', 'READ', 'ADMIN'],
  operator: ['nobody', 'session', 'approved', 'READ', 'ADMIN', 'operator'],
};

const refusedFor = { nobody: 'UNAUTHENTICATED', 'awaiting approval': 'AWAITING_APPROVAL' } as Record<string, string>;

let test: TestApp;
const callers: Record<string, Caller> = {};

beforeAll(async () => {
  test = await startTestApp({ environment: { PAYMENT_SECRET_KEY: '' } });
  const owner = await makeOwner(test);
  callers.nobody = callerFor(test, null);
  callers['awaiting approval'] = (await makeOwner(test, { approved: false })).api;
  for (const role of ['viewer', 'member', 'admin'] as const) {
    callers[role] = (await addMember(test, owner.organisationId, role)).api;
  }
  callers.owner = owner.api;
  callers.operator = (await makeOwner(test, { operator: true })).api;
});
afterAll(() => test.close());

it('knows what every procedure needs', () => {
  expect(Object.keys(needs).sort()).toEqual(Object.keys(appRouter._def.procedures).sort());
});

/** The refusal for want of authority, or null where the call got past that. */
async function appErrorOf(caller: Caller | undefined, path: string): Promise<string | null> {
  const [domain = '', name = ''] = path.split('.');
  const procedure = (caller as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>)[
    domain
  ]?.[name];
  const ended = await procedure?.({}).then(
    () => null,
    (error) => error.cause,
  );
  const isAuthority =
    ended?.message === 'Sign in first.' || ['AWAITING_APPROVAL', 'FORBIDDEN'].includes(ended?.code ?? '');
  return isAuthority ? ended.code : null;
}

describe.each(Object.entries(people))('%s', (who, has) => {
  it.each(Object.entries(needs))(`at %s, which needs %s`, async (path, need) => {
    const refused = has.includes(need) ? null : (refusedFor[who] ?? 'FORBIDDEN');
    expect(await appErrorOf(callers[who], path)).toBe(refused);
  });
});

it('refuses a scope before it looks at what was sent', async () => {
  await expect(callers.viewer?.billing.checkout({ tier: 7 })).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
  await expect(callers.owner?.billing.checkout({ tier: 7 })).rejects.toMatchObject({
    cause: { code: 'BILLING_UNAVAILABLE', message: 'Billing is not available on this deployment.' },
  });
});

it('lets nobody end another person’s session', async () => {
  const { userId, organisationId, api } = await makeOwner(test);
  await startSession(test.app, { userId, organisationId, client: testClient });
  const [session] = (await api.accounts.profile()).sessions;
  await expect(callers.owner?.accounts.endSession({ id: session?.id ?? '' })).rejects.toMatchObject({
    cause: { code: 'NOT_FOUND' },
  });
});
