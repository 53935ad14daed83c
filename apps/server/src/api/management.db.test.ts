import { startSession } from '@gatehouse/api/auth/sessions/session';
import { endpoints } from '@gatehouse/api/router/endpoints';
import { grantOperator, suspendOrganisation, suspendUser } from '@gatehouse/api/testing/admin-commands';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, givePlan, makeAccount, makeOwner, makeSignUp, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, askRest } from './testing/ask-rest.ts';

let test: TestApp;
/** Every caller that may not manage, by kind, with the status of every answer. */
const refused: Record<string, { status: number; key?: string; cookies?: Record<string, string> }> = {};
let key = '';
let linksKey = '';

beforeAll(async () => {
  test = await startTestApp();
  const owner = await makeOwner(test);
  const organisationId = owner.organisationId;
  const operator = await makeOwner(test, { operator: true });
  const closed = await makeOwner(test);
  const keyOf = async (input: Parameters<typeof makeKey>[1]) => (await makeKey(test, input)).key;
  const cookiesOf = async ({ userId, organisationId: of }: typeof owner) => ({
    session: await startSession(test.app, { userId, organisationId: of, fresh: true, client: testClient }),
  });
  const revoked = await makeKey(test, { scope: 'MANAGE' });
  await operator.api.operators.revokeKey({ id: revoked.id });
  Object.assign(refused, {
    nobody: { status: 401 },
    'an unknown key': { status: 401, key: 'gh_test_unknown' },
    'a revoked key that managed': { status: 401, key: revoked.key },
    'a session of an owner': { status: 403, cookies: await cookiesOf(owner) },
    'a session of an operator': { status: 403, cookies: await cookiesOf(operator) },
    'a key that reads': { status: 403, key: await keyOf({ organisationId, scope: 'READ' }) },
    'a key that administrators made': { status: 403, key: await keyOf({ organisationId, byOperator: false }) },
    'a key that an operator made': { status: 403, key: await keyOf({ organisationId }) },
    'a key of a suspended organisation': { status: 403, key: await keyOf({ organisationId: closed.organisationId }) },
    'the deployment’s key that reads': { status: 403, key: await keyOf({ scope: 'READ' }) },
    'the deployment’s key that writes': { status: 403, key: await keyOf({ scope: 'WRITE' }) },
  });
  await suspendOrganisation(test.app, closed.principal.organisation?.slug ?? '');
  key = await keyOf({ scope: 'MANAGE' });
  linksKey = await keyOf({ scope: 'MANAGE', passwordLinks: true });
});
afterAll(() => test.close());

/** The values of a path's parameters. */
type Subject = Record<string, string>;
/** The status of the first answer, and of the same request again. */
type Statuses = [first: number, again: number];
type Row = {
  /** Where the body is not empty. */
  body?: (subject: Subject) => Promise<object> | object;
  /** In a state that is not named under `otherwise`. */
  usually: Statuses;
  otherwise?: Record<string, Statuses>;
};

const unknownId = '019b2f60-7c1e-7d43-9a51-3f0c2b7e9d19';
const gone: Statuses = [404, 404];
const no: Statuses = [403, 403];
const conflicts: Statuses = [409, 409];
/** The plan of the state's organisation allows no other member. */
const full: Statuses = [403, 403];

async function owned(approve = true) {
  const { userId, organisationId, principal } = await makeOwner(test, { approved: approve });
  return { userId, organisationId, slug: principal.organisation?.slug ?? '' };
}

const manage = (method: string, path: string, body?: object) => askRest(test, method, path, { key, body });

const userStates: Record<string, () => Promise<Subject>> = {
  'no id': async () => ({ id: 'somebody' }),
  unknown: async () => ({ id: unknownId }),
  active: async () => ({ id: (await owned()).userId }),
  'without organisation': async () => ({ id: (await makeAccount(test)).userId }),
  awaiting_approval: async () => ({ id: (await owned(false)).userId }),
  unverified: async () => {
    const { email } = await makeSignUp(test);
    return { id: (await manage('GET', `/api/users?email=${encodeURIComponent(email)}`)).body.users[0].id };
  },
  suspended: async () => {
    const { userId, email } = await makeAccount(test);
    await suspendUser(test.app, email);
    return { id: userId };
  },
  declined: async () => {
    const { userId, organisationId } = await owned(false);
    await manage('POST', `/api/organisations/${organisationId}/decline`, { reason: 'Unknown.' });
    return { id: userId };
  },
  'sole owner with others': async () => {
    const { userId, organisationId } = await owned();
    await addMember(test, organisationId, 'admin');
    return { id: userId };
  },
  'sole owner with a subscription': async () => {
    const { userId, organisationId } = await owned();
    await givePlan(test, organisationId, 'gold');
    return { id: userId };
  },
  operator: async () => ({ id: (await makeOwner(test, { operator: true })).userId }),
  'suspended operator': async () => {
    const { userId, email } = await makeOwner(test, { operator: true });
    await suspendUser(test.app, email);
    return { id: userId };
  },
};

const organisationStates: Record<string, () => Promise<Subject>> = {
  unknown: async () => ({ id: 'no-such-organisation' }),
  'of an unverified sign-up': async () => {
    const { email } = await makeSignUp(test, { name: `Stranger ${crypto.randomUUID()}` });
    return { id: email.split('@')[0] ?? '' };
  },
  approved: async () => ({ id: (await owned()).organisationId }),
  'approved, by slug': async () => ({ id: (await owned()).slug }),
  pending: async () => ({ id: (await owned(false)).organisationId }),
  'pending, without owner': async () => ({
    id: (await manage('POST', '/api/organisations', { name: 'Larch' })).body.id,
  }),
  declined: async () => {
    const { organisationId } = await owned(false);
    await manage('POST', `/api/organisations/${organisationId}/decline`, { reason: 'Unknown.' });
    return { id: organisationId };
  },
  suspended: async () => {
    const { organisationId, slug } = await owned();
    await suspendOrganisation(test.app, slug);
    return { id: organisationId };
  },
  'owned by an operator alone': async () => ({
    id: (await makeOwner(test, { operator: true })).organisationId,
  }),
  'owned by an operator alone, pending': async () => {
    const { organisationId: organisation_id } = await makeOwner(test, { operator: true });
    const { operators: console } = (await makeOwner(test, { operator: true })).api;
    const { approved_at } = await console.organisation({ organisation_id });
    await console.undoDecision({ organisation_id, decided_at: approved_at ?? '' });
    return { id: organisation_id };
  },
  'owned by an operator and another user': async () => {
    const operator = await makeOwner(test, { operator: true });
    await addMember(test, operator.organisationId, 'owner');
    return { id: operator.organisationId };
  },
};

const memberStates: Record<string, () => Promise<Subject>> = {
  'unknown organisation': async () => ({ id: 'no-such-organisation', user: (await owned()).userId }),
  'no member': async () => ({ id: (await owned()).organisationId, user: (await owned()).userId }),
  'no id': async () => ({ id: (await owned()).organisationId, user: 'somebody' }),
  'the last owner': async () => {
    const { organisationId, userId } = await owned();
    return { id: organisationId, user: userId };
  },
  'one of two owners': async () => {
    const { organisationId, userId } = await owned();
    await addMember(test, organisationId, 'owner');
    return { id: organisationId, user: userId };
  },
  admin: async () => {
    const { organisationId } = await owned();
    return { id: organisationId, user: (await addMember(test, organisationId, 'admin')).userId };
  },
  viewer: async () => {
    const { organisationId } = await owned();
    return { id: organisationId, user: (await addMember(test, organisationId, 'viewer')).userId };
  },
  'operator, the last owner': async () => {
    const { organisationId, userId } = await makeOwner(test, { operator: true });
    return { id: organisationId, user: userId };
  },
  'operator who is a member': async () => {
    const { organisationId } = await owned();
    const { userId, email } = await addMember(test, organisationId, 'member');
    await grantOperator(test.app, email);
    return { id: organisationId, user: userId };
  },
};

const invitationStates: Record<string, () => Promise<Subject>> = {
  unknown: async () => ({ id: (await owned()).organisationId, invitation: unknownId }),
  'no id': async () => ({ id: (await owned()).organisationId, invitation: 'none' }),
  'of another organisation': async () => ({
    id: (await owned()).organisationId,
    invitation: (await invited()).invitation,
  }),
  open: invited,
};

async function invited() {
  const { organisationId } = await owned();
  const body = { email: 'mia@larch.example', role: 'viewer' };
  const made = await manage('POST', `/api/organisations/${organisationId}/invitations`, body);
  return { id: organisationId, invitation: made.body.id as string };
}

const overrideStates: Record<string, () => Promise<Subject>> = {
  ...organisationStates,
  'with an override': async () => {
    const { organisationId } = await owned();
    await manage('PUT', `/api/organisations/${organisationId}/override`, { tier: 'gold', reason: 'By contract.' });
    return { id: organisationId };
  },
};

const one: Record<string, () => Promise<Subject>> = { always: async () => ({}) };
const ofUser = { unknown: gone, 'no id': gone };
const ofOrganisation = { unknown: gone, 'of an unverified sign-up': gone };
const ofMember = { 'unknown organisation': gone, 'no member': gone, 'no id': gone };
const operators = { operator: no, 'suspended operator': no };
const operatorsAlone = { 'owned by an operator alone': no, 'owned by an operator alone, pending': no };
const operatorMembers = { 'operator, the last owner': no, 'operator who is a member': no };

/** What each endpoint answers in each state of its subject. A missing endpoint fails the first test. */
const table: Record<string, [states: Record<string, () => Promise<Subject>>, Row]> = {
  'management.users': [one, { usually: [200, 200] }],
  'management.createUser': [
    one,
    { body: () => ({ email: `${crypto.randomUUID()}@larch.example`, verified: true }), usually: [201, 409] },
  ],
  'management.user': [userStates, { usually: [200, 200], otherwise: ofUser }],
  'management.suspendUser': [userStates, { usually: [200, 200], otherwise: { ...ofUser, ...operators } }],
  'management.restoreUser': [userStates, { usually: [200, 200], otherwise: { ...ofUser, ...operators } }],
  'management.endSessions': [userStates, { usually: [200, 200], otherwise: { ...ofUser, ...operators } }],
  'management.passwordLink': [
    userStates,
    {
      usually: [201, 201],
      otherwise: { ...ofUser, ...operators, unverified: conflicts, suspended: conflicts, declined: conflicts },
    },
  ],
  'management.deleteUser': [
    userStates,
    {
      usually: [200, 404],
      otherwise: {
        ...ofUser,
        ...operators,
        'sole owner with others': conflicts,
        'sole owner with a subscription': conflicts,
      },
    },
  ],
  'management.createOrganisation': [one, { body: () => ({ name: 'Larch' }), usually: [201, 201] }],
  'management.organisation': [organisationStates, { usually: [200, 200], otherwise: ofOrganisation }],
  'management.renameOrganisation': [
    organisationStates,
    { body: () => ({ name: 'Larch & Sons' }), usually: [200, 200], otherwise: ofOrganisation },
  ],
  'management.approveOrganisation': [
    organisationStates,
    { usually: [200, 200], otherwise: { ...ofOrganisation, suspended: conflicts } },
  ],
  'management.declineOrganisation': [
    organisationStates,
    {
      body: () => ({ reason: 'Unknown.' }),
      usually: [200, 200],
      otherwise: {
        ...ofOrganisation,
        ...operatorsAlone,
        approved: conflicts,
        'approved, by slug': conflicts,
        suspended: conflicts,
        'owned by an operator and another user': conflicts,
      },
    },
  ],
  'management.suspendOrganisation': [
    organisationStates,
    { usually: [200, 200], otherwise: { ...ofOrganisation, ...operatorsAlone } },
  ],
  'management.restoreOrganisation': [
    organisationStates,
    { usually: [200, 200], otherwise: { ...ofOrganisation, declined: conflicts } },
  ],
  'management.deleteOrganisation': [
    organisationStates,
    { usually: [200, 404], otherwise: { ...ofOrganisation, ...operatorsAlone } },
  ],
  'management.addMember': [
    organisationStates,
    {
      body: async () => ({ user: (await makeAccount(test)).userId, role: 'admin' }),
      usually: [201, 409],
      otherwise: { ...ofOrganisation, 'owned by an operator and another user': full },
    },
  ],
  'management.changeMember': [
    memberStates,
    {
      body: () => ({ role: 'viewer' }),
      usually: [200, 200],
      otherwise: { ...ofMember, ...operatorMembers, 'the last owner': conflicts },
    },
  ],
  'management.removeMember': [
    memberStates,
    { usually: [200, 404], otherwise: { ...ofMember, ...operatorMembers, 'the last owner': conflicts } },
  ],
  'management.invitations': [organisationStates, { usually: [200, 200], otherwise: ofOrganisation }],
  'management.invite': [
    organisationStates,
    {
      body: () => ({ email: 'mia@larch.example', role: 'member' }),
      usually: [201, 201],
      otherwise: {
        ...ofOrganisation,
        pending: conflicts,
        'pending, without owner': conflicts,
        declined: conflicts,
        suspended: conflicts,
        'owned by an operator alone, pending': conflicts,
        'owned by an operator and another user': full,
      },
    },
  ],
  'management.deleteInvitation': [invitationStates, { usually: gone, otherwise: { open: [200, 404] } }],
  'management.override': [overrideStates, { usually: gone, otherwise: { 'with an override': [200, 200] } }],
  'management.setOverride': [
    overrideStates,
    { body: () => ({ tier: 'gold', reason: 'By contract.' }), usually: [200, 200], otherwise: ofOrganisation },
  ],
  'management.endOverride': [overrideStates, { usually: [200, 200], otherwise: ofOrganisation }],
};

const managing = endpoints.filter(({ tag }) => tag === 'Management');

it('covers every endpoint of the section', () => {
  expect(Object.keys(table).sort()).toEqual(managing.map(({ id }) => id).sort());
});

it('lists nobody for an address that is empty', async () => {
  expect(await manage('GET', '/api/users?email=')).toMatchObject({ status: 400 });
  expect(await manage('GET', '/api/users?after=&limit=')).toMatchObject({ status: 200 });
});

it('refuses a password link to a key that manages but may not make them', async () => {
  const { userId } = await makeOwner(test);
  const link = () => askRest(test, 'POST', `/api/users/${userId}/password-link`, { key, body: {} });
  expect(await link()).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
});

function pathOf({ path }: { path: string }, subject: Subject): string {
  return path.replace(/\{(\w+)\}/g, (_: string, name: string) => encodeURIComponent(subject[name] ?? ''));
}

async function statesOf(subject: Subject): Promise<Answer[]> {
  return Promise.all([
    manage('GET', `/api/users/${subject.user ?? subject.id}`),
    manage('GET', `/api/organisations/${subject.id}`),
    manage('GET', `/api/organisations/${subject.id}/members`),
    manage('GET', `/api/organisations/${subject.id}/invitations`),
    manage('GET', `/api/organisations/${subject.id}/override`),
  ]).then((answers) => answers.map(({ status, body }) => ({ status, body }) as Answer));
}

/** A subject of each state, with what is known of it, for the requests that change nothing. */
const unchanged = new Map<() => Promise<Subject>, Promise<{ subject: Subject; known: Answer[] }>>();

function unchangedOf(make: () => Promise<Subject>) {
  const known = unchanged.get(make) ?? make().then(async (subject) => ({ subject, known: await statesOf(subject) }));
  unchanged.set(make, known);
  return known;
}

for (const endpoint of managing) {
  const isRead = endpoint.method === 'get';
  const [states, { body = () => ({}), usually, otherwise = {} }] = table[endpoint.id] ?? [one, { usually: [0, 0] }];

  describe.each(Object.entries(states))(`${endpoint.id}, subject: %s`, (state, make) => {
    const [first, again] = otherwise[state] ?? usually;

    it('refuses every key and session that does not manage, and changes nothing', async () => {
      const { subject, known } = await unchangedOf(make);
      const path = pathOf(endpoint, subject);
      const sent = isRead ? {} : { body: await body(subject) };
      for (const [who, { status, ...by }] of Object.entries(refused)) {
        const answer = await askRest(test, endpoint.method.toUpperCase(), path, { ...by, ...sent });
        expect([who, answer.status]).toEqual([who, status]);
      }
      expect(await statesOf(subject)).toEqual(known);
    });

    it(`answers ${first} to a key that manages, and then ${again}`, async () => {
      const subject = isRead ? (await unchangedOf(make)).subject : await make();
      const path = pathOf(endpoint, subject);
      const sent = isRead ? {} : { body: await body(subject) };
      const by = endpoint.id === 'management.passwordLink' ? linksKey : key;
      const ask = () => askRest(test, endpoint.method.toUpperCase(), path, { key: by, ...sent });
      const answers = [await ask(), await ask()];
      expect(answers.map(({ status }) => status)).toEqual([first, again]);
      if (first === 200 && again === 200 && endpoint.id !== 'management.users') {
        expect(answers[1]?.body).toEqual(answers[0]?.body);
      }
      for (const { status, body: error } of answers) {
        if (status === 409) expect(error.code).toBe('CONFLICT');
        if (status === 403) expect(error.code).toBe(otherwise[state] === full ? 'LIMIT_REACHED' : 'FORBIDDEN');
      }
    });

    if (!isRead) {
      it('refuses an unknown member of the body by name', async () => {
        const { subject } = await unchangedOf(make);
        const path = pathOf(endpoint, subject);
        const sent = { ...(await body(subject)), untill: '2027-01-31' };
        const answer = await askRest(test, endpoint.method.toUpperCase(), path, { key: linksKey, body: sent });
        expect([answer.status, answer.body.fields]).toEqual([400, { untill: 'There is no such member.' }]);
      });
    }
  });
}
