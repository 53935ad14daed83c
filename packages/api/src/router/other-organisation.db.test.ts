import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { paymentEvents, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { passkeys } from '../platform/db/schema/factors.ts';
import { apiKeys } from '../platform/db/schema/keys.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { sessions } from '../platform/db/schema/sessions.ts';
import { type BillingTest, ownedBy, startBillingTest } from '../testing/billing.ts';
import { addMember, makeOwner } from '../testing/factories.ts';
import { fieldsOf, procedures } from '../testing/fields-of.ts';
import type { Caller } from './root.ts';

let test: BillingTest;
let theirs: Awaited<ReturnType<typeof makeTheirs>>;
let before: Awaited<ReturnType<typeof everything>>;
let stranger: Caller;
beforeAll(async () => {
  test = await startBillingTest();
  theirs = await makeTheirs();
  before = await everything();
  stranger = (await makeOwner(test)).api;
});
afterAll(() => test.close());

/** An organisation with a member and a paid plan, and the id of each thing that it owns. */
async function makeTheirs() {
  const owner = await makeOwner(test, { name: 'Secretive Ltd' });
  const member = await addMember(test, owner.organisationId, 'member');
  test.sandbox.payment.payCheckout((await owner.api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  const [subscription] = ownedBy(test, owner.principal).subscriptions;
  const [event] = await test.app.db
    .select({ id: paymentEvents.id })
    .from(paymentEvents)
    .where(eq(paymentEvents.organisationId, owner.organisationId));
  await owner.api.members.invite({ organisation_id: owner.organisationId, role: 'member' });
  const [invitation] = await owner.api.members.invitations();
  const key = await owner.api.keys.create({ organisation_id: owner.organisationId, name: 'Service' });
  const passkeyId = newId(test.app.now());
  await test.app.db.insert(passkeys).values({
    id: passkeyId,
    userId: owner.userId,
    credentialId: 'theirs',
    publicKey: 'theirs',
    counter: 0,
    transports: [],
    name: 'Theirs',
    createdAt: test.app.now(),
  });
  const ids = {
    user_id: member.userId,
    organisation_id: owner.organisationId,
    organisation_ids: [owner.organisationId],
    event_id: event?.id ?? '',
    subscription_id: subscription?.id ?? '',
  };
  return {
    owner,
    member,
    key,
    passkeyId,
    invitationId: invitation?.id ?? '',
    ids: ids as Record<string, string | string[]>,
  };
}

/** The input of a stranger: the ids of the other organisation, and otherwise valid values. */
function inputOf(path: string): object {
  const beside = { role: 'viewer', tier: 'gold', currency: 'gbp', reason: 'None.' };
  const { member, invitationId, passkeyId, key, ids } = theirs;
  const named: Record<string, string> = {
    'accounts.endSession': member.principal.sessionId,
    'members.withdraw': invitationId,
    'factors.remove': passkeyId,
    'keys.revoke': key.id,
    'operators.revokeKey': key.id,
  };
  if (fieldsOf(path).includes('id') && named[path] === undefined) throw new Error(`Say what ${path} names by its id.`);
  const settings =
    path.startsWith('organisations.') || path.startsWith('keys.')
      ? { name: 'Taken over', email: member.email, from: null }
      : {};
  return { ...beside, ...settings, ...ids, id: named[path] };
}

const isId = (field: string) => /(^|_)ids?$/.test(field);

/** Returns every row of the organisation that a stranger could have changed. */
async function everything() {
  const { organisationId } = theirs.owner;
  const { db } = test.app;
  const belongs = await db.select().from(memberships).where(eq(memberships.organisationId, organisationId));
  const people = [];
  for (const { userId } of belongs) {
    people.push(await db.select().from(users).where(eq(users.id, userId)));
    people.push(await db.select().from(sessions).where(eq(sessions.userId, userId)));
  }
  return {
    belongs,
    people,
    passkeys: await db.select().from(passkeys),
    keys: await db.select().from(apiKeys).where(eq(apiKeys.organisationId, organisationId)),
    invitations: await db.select().from(invitations).where(eq(invitations.organisationId, organisationId)),
    organisation: await db.select().from(organisations).where(eq(organisations.id, organisationId)),
    subscriptions: await db
      .select()
      .from(paymentSubscriptions)
      .where(eq(paymentSubscriptions.organisationId, organisationId)),
  };
}

function call(api: Caller, path: string, input: object): Promise<unknown> {
  const [domain = '', name = ''] = path.split('.');
  const router = api as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
  return router[domain]?.[name]?.(input) ?? Promise.reject(new Error(`There is no ${path}.`));
}

it('has a value for every field that holds an id', () => {
  const named = procedures.flatMap((path) => fieldsOf(path).filter(isId));
  expect([...new Set(named)].sort()).toEqual(['id', ...Object.keys(theirs.ids)].sort());
});

it.each(procedures.filter((path) => fieldsOf(path).some(isId)))(
  '%s does nothing for the owner of another organisation',
  async (path) => {
    const ended = await call(stranger, path, inputOf(path)).then(
      () => 'done',
      (error) => error.cause?.code,
    );
    expect(['FORBIDDEN', 'NOT_FOUND']).toContain(ended);
    expect(await everything()).toEqual(before);
  },
);

it.each(procedures)('%s returns the owner of another organisation nothing of this one', async (path) => {
  // What they do to their own account and organisation is not limited here.
  const { api } = await makeOwner(test);
  const answer = await call(api, path, inputOf(path)).then(
    (answer) => JSON.stringify(answer ?? null),
    (error) => `${error.message} ${JSON.stringify(error.cause?.fields ?? null)}`,
  );
  const { owner, member } = theirs;
  const secrets = [
    owner.email,
    owner.userId,
    member.email,
    member.userId,
    member.principal.sessionId,
    theirs.invitationId,
    theirs.passkeyId,
    theirs.key.id,
    theirs.key.key,
    owner.organisationId,
    owner.principal.organisation?.slug ?? '',
    'Secretive Ltd',
    String(theirs.ids.subscription_id),
  ];
  expect(secrets.filter((secret) => secret === '' || answer.includes(secret))).toEqual([]);
  expect(await everything()).toEqual(before);
});
