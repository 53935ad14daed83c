import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { paymentEvents } from '../platform/db/schema/billing.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner } from '../testing/factories.ts';

type Owner = Awaited<ReturnType<typeof makeOwner>>;

let test: TestApp;
let operator: Owner;
let owner: Owner;
beforeAll(async () => {
  test = await startTestApp();
  operator = await makeOwner(test, { operator: true, name: 'Operators' });
  owner = await makeOwner(test, { name: 'Grün & Söhne 100%' });
  await test.app.sql`update users set name = 'Änne Prüfer' where id = ${owner.userId}`;
});
afterAll(() => test.close());

async function peopleFound(search: string) {
  const { people } = await operator.api.operators.people({ search });
  return people.map(({ id }) => id);
}

async function organisationsFound(search: string) {
  const { organisations } = await operator.api.operators.organisations({ search });
  return organisations.map(({ id }) => id);
}

describe.each([
  ['with the extension pg_trgm', 'parts'],
  ['without it', 'beginnings'],
] as const)('%s', (_, reach) => {
  beforeEach(async () => {
    if (reach === 'beginnings') await test.app.sql`drop index if exists users_parts`;
  });

  it('reports how far a search reaches', async () => {
    expect(await operator.api.operators.people({})).toMatchObject({ search_finds: reach });
    expect(await operator.api.operators.organisations({})).toMatchObject({ search_finds: reach });
  });

  it('finds users by the beginning of an address or a name, whatever its case', async () => {
    expect(await peopleFound(owner.email.slice(0, 12).toUpperCase())).toContain(owner.userId);
    expect(await peopleFound('änne p')).toEqual([owner.userId]);
    expect(await peopleFound('Än')).toEqual([owner.userId]);
    expect(await peopleFound('nn')).toEqual([]);
    expect(await peopleFound('%')).toEqual([]);
  });

  it('finds parts of names if the indexes exist', async () => {
    expect(await peopleFound('prüfer')).toEqual(reach === 'parts' ? [owner.userId] : []);
    expect(await organisationsFound('söhne 100%')).toEqual(reach === 'parts' ? [owner.organisationId] : []);
    expect(await organisationsFound('grün')).toEqual([owner.organisationId]);
    expect(await organisationsFound('gr_n')).toEqual([]);
  });
});

it('finds events by each of their ids, the beginning of their id or type, and their organisation', async () => {
  const at = new Date('2030-01-01');
  const common = { created: 1, payload: '{}', handled: true, outcome: 'applied' };
  await test.app.db.insert(paymentEvents).values([
    {
      ...common,
      id: 'evt_Search1',
      type: 'invoice.paid',
      receivedAt: at,
      customerId: 'cus_Search',
      invoiceId: 'in_Search',
    },
    {
      ...common,
      id: 'evt_Search2',
      type: 'customer.deleted',
      receivedAt: at,
      subscriptionId: 'sub_Search',
      flagged: true,
    },
    { ...common, id: 'evt_Search3', type: 'invoice.paid', receivedAt: at, organisationId: owner.organisationId },
  ]);
  const found = async (search: string, flagged = false) =>
    (await operator.api.operators.events({ search, flagged })).events.map(({ id }) => id);

  expect(await found('evt_Search')).toEqual(['evt_Search3', 'evt_Search2', 'evt_Search1']);
  expect(await found('evt_Search', true)).toEqual(['evt_Search2']);
  expect(await found('cus_Search')).toEqual(['evt_Search1']);
  expect(await found('in_Search')).toEqual(['evt_Search1']);
  expect(await found('sub_Search')).toEqual(['evt_Search2']);
  expect(await found('Customer.del')).toEqual(['evt_Search2']);
  expect(await found('grün &')).toEqual(['evt_Search3']);
  expect(await found('evt_%')).toEqual([]);
});
