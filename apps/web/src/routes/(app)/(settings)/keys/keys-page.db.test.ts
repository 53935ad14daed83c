import type { UserPrincipal } from '@gatehouse/api/auth/principal';
import { readKey } from '@gatehouse/api/auth/read-key';
import { presentedKey } from '@gatehouse/api/http/request-guard';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, callerFor, makeOwner } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as operatorPage from '../../operator/keys/+page.server.ts';
import * as page from './+page.server.ts';

let test: TestApp;
let owner: Awaited<ReturnType<typeof makeOwner>>;
beforeAll(async () => {
  test = await startTestApp();
  owner = await makeOwner(test, { operator: true });
});
afterAll(() => test.close());

type Event = Parameters<typeof page.load>[0] & Parameters<typeof operatorPage.load>[0];

function eventOf(principal: UserPrincipal, path: string, fields?: Record<string, string>): Event {
  const url = new URL(path, 'http://localhost:3999');
  const init = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
  const locals = {
    app: test.app,
    principal,
    requestId: 'test',
    api: callerFor(test, principal),
    body: Buffer.from(String(new URLSearchParams(fields ?? {}))),
  };
  return { url, request: new Request(url, init), locals, setHeaders: () => {} } as unknown as Event;
}

type Answer = { created: { id: string; key: string } };

async function post(action: ((event: never) => unknown) | undefined, event: Event): Promise<Answer> {
  if (action === undefined) throw new Error('There is no such action.');
  return (await action(event as never)) as Answer;
}

it.each([
  ['/keys', page],
  ['/operator/keys', operatorPage],
] as const)('%s shows a new key once, and asks before it revokes', async (path, { load, actions }) => {
  const fields = { organisation_id: owner.organisationId, name: 'Worker', scope: 'WRITE', days: '7' };
  const event = eventOf(owner.principal, path, fields);
  const { created } = await post(actions.create, event);
  expect(presentedKey(`Bearer ${created.key}`)).toBe(created.key);
  expect(await readKey(test.app, created.key)).toMatchObject({ scopes: ['READ', 'WRITE'] });

  const shown = await load(eventOf(owner.principal, `${path}?revoke=${created.id}`));
  expect(shown).toMatchObject({ keys: [{ id: created.id, state: 'valid' }], revoking: { id: created.id } });
  expect(JSON.stringify(shown)).not.toContain(created.key);
  expect(await load(eventOf(owner.principal, `${path}?revoke=unknown`))).toMatchObject({ revoking: null });
});

it('keeps what was typed where the key cannot be created', async () => {
  for (const [fields, field] of [
    [{ name: '', scope: 'READ', days: '' }, 'name'],
    [{ name: 'Worker', scope: 'READ', days: 'soon' }, 'expires_in_days'],
  ] as const) {
    const event = eventOf(owner.principal, '/keys', { ...fields, organisation_id: owner.organisationId });
    const refused = await post(page.actions.create, event);
    expect(refused).toMatchObject({ status: 400, data: { typed: fields, fields: { [field]: expect.any(String) } } });
  }
});

it('is for administrators, and the console’s page for operators', async () => {
  const { principal } = await addMember(test, owner.organisationId, 'member');
  await expect(page.load(eventOf(principal, '/keys'))).rejects.toMatchObject({ status: 403 });
  const { principal: admin } = await addMember(test, owner.organisationId, 'admin');
  expect(await page.load(eventOf(admin, '/keys'))).toMatchObject({ keys: expect.any(Array) });
  await expect(operatorPage.load(eventOf(admin, '/operator/keys'))).rejects.toMatchObject({ status: 403 });
});
