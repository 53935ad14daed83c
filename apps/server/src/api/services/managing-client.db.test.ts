import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { newEmail } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGatehouse, type Gatehouse } from '../../../../../packages/client/src/client.ts';
import { serveEndpoints } from '../testing/serve-endpoints.ts';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let gatehouse: Gatehouse;
beforeAll(async () => {
  test = await startTestApp();
  served = await serveEndpoints(test.app);
  const { key } = await makeKey(test, { scope: 'MANAGE', passwordLinks: true });
  gatehouse = createGatehouse({ url: served.url, apiKey: key });
});
afterAll(async () => {
  gatehouse.close();
  await served.close();
  await test.close();
});

it('the TypeScript client manages users', async () => {
  const { users } = gatehouse;
  const email = newEmail();
  const made = await users.create({ email, name: 'Mia', verified: true, organisation: { name: 'Larch' } });
  expect(made).toMatchObject({ email, name: 'Mia', verified: true, status: 'awaiting_approval' });
  await expect(users.create({ email, verified: true })).rejects.toMatchObject({
    status: 409,
    code: 'CONFLICT',
    body: { id: made.id },
  });
  expect(await users.list({ email })).toEqual({ users: [made], next: null });
  expect((await users.list({ limit: 1 })).users).toHaveLength(1);
  expect(await users.get(made.id)).toMatchObject({ id: made.id, identity: null, organisations: [{ role: 'owner' }] });

  expect(await users.suspend(made.id, { keepKeys: true })).toMatchObject({ status: 'suspended' });
  await expect(users.passwordLink(made.id)).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
  expect(await users.restore(made.id)).toMatchObject({ status: 'awaiting_approval' });
  expect(await users.endSessions(made.id)).toMatchObject({ id: made.id });
  const link = await users.passwordLink(made.id);
  expect(link.url).toMatch(/^http:\/\/localhost.*token=/);
  expect(Date.parse(link.expires_at)).toBeGreaterThan(Date.now());
  expect(await users.delete(made.id)).toEqual({ ok: true });
  await expect(users.get(made.id)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

it('the TypeScript client manages organisations', async () => {
  const { organisations } = gatehouse;
  const owner = await gatehouse.users.create({ email: newEmail(), verified: true });
  const { id, slug } = await organisations.create({ name: 'Elm & Sons', owner: owner.id });
  expect(await organisations.get(slug)).toEqual({ id, slug, name: 'Elm & Sons', approval: 'pending', tier: 'free' });
  expect(await organisations.decline(id, 'Unknown.')).toMatchObject({ approval: 'declined' });
  await expect(organisations.restore(id)).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
  expect(await organisations.approve(slug)).toMatchObject({ approval: 'approved' });
  expect(await organisations.rename(id, 'Elm')).toMatchObject({ slug, name: 'Elm' });
  expect(await organisations.suspend(id)).toMatchObject({ approval: 'suspended' });
  expect(await organisations.restore(id)).toMatchObject({ approval: 'approved' });
  expect(await organisations.delete(id)).toEqual({ ok: true });
  await expect(organisations.get(id)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

it('the TypeScript client manages members, invitations and overrides', async () => {
  const { members, invitations, overrides } = gatehouse;
  const person = async () => (await gatehouse.users.create({ email: newEmail(), verified: true })).id;
  const [owner, user, third] = [await person(), await person(), await person()];
  const { id } = await gatehouse.organisations.create({ name: 'Fir' });
  await gatehouse.organisations.approve(id);
  expect(await members.add(id, { user: owner, role: 'owner' })).toEqual({ user: owner, role: 'owner' });
  expect(await members.add(id, { user, role: 'viewer' })).toEqual({ user, role: 'viewer' });
  await expect(members.add(id, { user: third, role: 'viewer' })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });

  await expect(overrides.get(id)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
  const agreed = { tier: 'gold', limits: { members: null }, reason: 'By contract.', until: '2099-12-31' };
  expect(await overrides.set(id, agreed)).toMatchObject({ tier: 'gold', limits: { members: null } });
  expect(await overrides.get(id)).toMatchObject({ reason: 'By contract.', until: '2100-01-01T00:00:00.000Z' });
  expect((await gatehouse.entitlements.get(id)).plan.tier).toBe('gold');

  expect(await members.setRole(id, { user, role: 'admin' })).toEqual({ user, role: 'admin' });
  await expect(members.remove(id, owner)).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
  expect(await members.remove(id, user, { keepKeys: true })).toEqual({ ok: true });

  const made = await invitations.create(id, { email: 'mia@larch.example', role: 'member' });
  expect(made.url).toMatch(/^http:\/\/localhost.*token=/);
  const listed = await invitations.list({ organisation: id, limit: 10 });
  expect(listed).toMatchObject({
    invitations: [{ id: made.id, email: 'mia@larch.example', role: 'member' }],
    next: null,
  });
  expect(await invitations.delete(id, made.id)).toEqual({ ok: true });
  await expect(invitations.delete(id, made.id)).rejects.toMatchObject({ status: 404 });

  expect(await overrides.end(id)).toEqual({ ok: true });
  expect(await overrides.end(id)).toEqual({ ok: true });
  await expect(overrides.get(id)).rejects.toMatchObject({ status: 404 });
});
