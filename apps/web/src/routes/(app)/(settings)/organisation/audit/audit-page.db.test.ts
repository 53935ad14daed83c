import { startSession } from '@gatehouse/api/auth/sessions/session';
import { cookieJar } from '@gatehouse/api/http/cookies';
import { authenticate, newRequestState } from '@gatehouse/api/http/open-request';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, callerFor, givePlan, makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestSourceOf } from '#lib/server/request-source.ts';
import { GET } from '../audit.csv/+server.ts';
import { load } from './+page.server.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Event = Parameters<typeof GET>[0] & Parameters<typeof load>[0];
type Who = { userId: string; organisationId: string };

async function requestOf({ userId, organisationId }: Who, path: string): Promise<Event> {
  const { app } = test;
  const cookies = cookieJar(`session=${await startSession(app, { userId, organisationId, client: testClient })}`);
  const url = new URL(path, 'http://localhost:3999');
  const request = new Request(url);
  const locals = newRequestState(app) as App.Locals;
  const getClientAddress = () => testClient.address;
  const event = { locals, url, request, cookies, getClientAddress, isDataRequest: false } as unknown as Event;
  await authenticate(locals, requestSourceOf(event));
  if (locals.principal?.kind === 'user') locals.api = callerFor(test, locals.principal) as typeof locals.api;
  return event;
}

async function ownerWithLog(entries: number, name = 'Larch') {
  const owner = await makeOwner(test);
  await givePlan(test, owner.organisationId, 'silver');
  await test.app.sql`
    insert into audit_events (id, at, action, actor_id, organisation_id, details)
    select gen_random_uuid(), now(), 'organisation-renamed', ${owner.userId}, ${owner.organisationId},
      jsonb_build_object('from', 'A', 'to', ${name}::text)
    from generate_series(1, ${entries}::int)`;
  return owner;
}

it('shows 50 entries on a page, and leads to the rest', async () => {
  const owner = await ownerWithLog(53);
  const path = '/organisation/audit?action=organisation-renamed';
  const first = await load(await requestOf(owner, path));
  expect(first).toMatchObject({ isFirst: true, filter: { action: 'organisation-renamed' } });
  expect(first?.log?.entries).toHaveLength(50);
  const rest = await load(await requestOf(owner, `${path}&after=${first?.log?.next}`));
  expect(rest?.log?.entries).toHaveLength(3);
  expect(rest).toMatchObject({ isFirst: false, log: { next: null } });
});

it('writes the filtered log as a file in which no cell runs as a formula', async () => {
  const owner = await ownerWithLog(1, '=HYPERLINK("http://x.example")');
  const response = await GET(await requestOf(owner, '/organisation/audit.csv?action=organisation-renamed'));
  expect(response.headers.get('content-disposition')).toContain('audit-log.csv');
  const [header, row, ...rest] = (await response.text()).split('\r\n');
  expect(header).toContain('at,actor,actor_email,action');
  expect(row).toContain(`,${owner.email},organisation-renamed,`);
  expect(row).toContain(`"'=HYPERLINK(`);
  expect(rest).toEqual(['']);
});

it('refuses page and file to a viewer, and the file without the feature', async () => {
  const owner = await ownerWithLog(0);
  const viewer = { ...(await addMember(test, owner.organisationId, 'viewer')), organisationId: owner.organisationId };
  await expect(async () => load(await requestOf(viewer, '/organisation/audit'))).rejects.toMatchObject({ status: 403 });
  await expect(async () => GET(await requestOf(viewer, '/organisation/audit.csv'))).rejects.toMatchObject({
    status: 403,
  });
  const free = await makeOwner(test);
  expect(await load(await requestOf(free, '/organisation/audit'))).toMatchObject({ log: null });
  await expect(async () => GET(await requestOf(free, '/organisation/audit.csv'))).rejects.toMatchObject({
    status: 403,
  });
});

it('ends the file in an error once its reader administers the organisation no more', async () => {
  const owner = await ownerWithLog(2600);
  const response = await GET(await requestOf(owner, '/organisation/audit.csv'));
  const parts = response.body?.values() as AsyncIterator<Uint8Array>;
  expect(String(Buffer.from((await parts.next()).value)).split('\r\n').length).toBeGreaterThan(500);
  await test.app.sql`update memberships set role = 'viewer' where user_id = ${owner.userId}`;
  await expect(async () => {
    while (!(await parts.next()).done);
  }).rejects.toBeDefined();
});
