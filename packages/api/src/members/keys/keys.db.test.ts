import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWellFormedKey, newKey } from '../../auth/key-format.ts';
import { readKey } from '../../auth/read-key.ts';
import { presentedKey } from '../../http/request-guard.ts';
import { createOperatorKey } from '../../operators/keys.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { restoreOrganisation, suspendOrganisation } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { addMember, callerFor, givePlan, makeOwner } from '../../testing/factories.ts';
import { deleteOldKeys } from './store-key.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const local = { publicBaseUrl: 'http://localhost:3000' };
const live = { publicBaseUrl: 'https://id.company.example' };

async function make(input: { scope?: 'READ' | 'WRITE'; expires_in_days?: number } = {}) {
  const owner = await makeOwner(test);
  const created = await owner.api.keys.create({ organisation_id: owner.organisationId, name: 'Service', ...input });
  return { owner, created, slug: owner.principal.organisation?.slug ?? '' };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error) => error.cause?.code ?? error.code,
  );

describe('the form of a key', () => {
  it('names its kind, and carries a checksum that a changed key does not pass', () => {
    expect(newKey(local)).toMatch(/^gh_test_[\w-]{43}_[\w-]{6}$/);
    expect(newKey({ publicBaseUrl: null })).toMatch(/^gh_live_/);
    fc.assert(
      fc.property(fc.nat(64), fc.constantFrom('A', 'z', '_', '-', ''), (at, char) => {
        const key = newKey(live);
        const changed = key.slice(0, at) + char + key.slice(at + 1);
        expect(isWellFormedKey(live, changed)).toBe(changed === key);
      }),
    );
  });

  it('of the other kind is not accepted', () => {
    expect([isWellFormedKey(live, newKey(local)), isWellFormedKey(local, newKey(live))]).toEqual([false, false]);
    expect(isWellFormedKey({ publicBaseUrl: 'http://127.0.0.1:3000' }, newKey(local))).toBe(true);
  });

  it('is read only from Authorization: Bearer gh_…', () => {
    expect(presentedKey('Bearer gh_live_x')).toBe('gh_live_x');
    expect(presentedKey('bearer  gh_live_x ')).toBe('gh_live_x');
    expect(presentedKey('Bearer gh_')).toBe('gh_');
    for (const other of [
      null,
      '',
      'Basic gh_live_x',
      'Basic Z2g6eA==',
      'Bearer other',
      'gh_live_x',
      'Bearergh_live_x',
    ]) {
      expect(presentedKey(other)).toBeNull();
    }
  });
});

describe('a key', () => {
  it('acts only for its organisation, with its scopes, and is stored hashed', async () => {
    const { owner, created } = await make({ scope: 'WRITE' });
    await givePlan(test, owner.organisationId, 'gold');
    const principal = await readKey(test.app, created.key);
    expect(principal).toMatchObject({
      kind: 'key',
      organisationId: owner.organisationId,
      scopes: ['READ', 'WRITE'],
      planRow: { tier: 'gold' },
    });
    expect(() => principal?.require('ADMIN')).toThrow('This API key does not have the scope ADMIN.');
    const rows = JSON.stringify([
      await test.app.db.select().from(apiKeys),
      await test.app.db.select().from(auditEvents),
    ]);
    expect(rows).not.toContain(created.key);
    expect(rows).not.toContain(created.key.slice(8, 51));
  });

  it('has the scope READ unless WRITE is requested, and never ADMIN', async () => {
    const { owner, created } = await make();
    expect(created.scopes).toEqual(['READ']);
    const input = { organisation_id: owner.organisationId, name: 'Service', scope: 'ADMIN' as never };
    expect(await codeOf(owner.api.keys.create(input))).toBe('VALIDATION');
  });

  it('that is unknown or misspelt is refused, misspelt without a query', async () => {
    const { created } = await make();
    expect(await readKey(test.app, newKey(test.app.config))).toBeNull();
    const asked: string[] = [];
    test.app.sql.options.debug = (_, statement) => void asked.push(statement);
    for (const wrong of ['', 'gh_', created.key.slice(0, -1), `${created.key}x`, newKey(live), 'gh_test_\u0000']) {
      expect(await readKey(test.app, wrong)).toBeNull();
    }
    expect(asked).toEqual([]);
    expect(await readKey(test.app, created.key)).not.toBeNull();
    await readKey(test.app, created.key);
    test.app.sql.options.debug = false;
    // One query each, and one write of the last use within the minute.
    expect(asked).toHaveLength(3);
  });

  it('is refused from its revocation on, and a second key stays valid', async () => {
    const { owner, created } = await make();
    const second = await owner.api.keys.create({ organisation_id: owner.organisationId, name: 'Rotated' });
    expect(await readKey(test.app, created.key)).not.toBeNull();
    await owner.api.keys.revoke({ id: created.id });
    expect(await readKey(test.app, created.key)).toBeNull();
    expect(await readKey(test.app, second.key)).not.toBeNull();
    expect(await codeOf(owner.api.keys.revoke({ id: created.id }))).toBe('NOT_FOUND');
  });

  it('expires at its time', async () => {
    const { created } = await make({ expires_in_days: 2 });
    const at = (days: number) => ({
      ...test.app,
      now: () => new Date(test.app.now().getTime() + days * dayMilliseconds),
    });
    expect(await readKey(at(1.99), created.key)).not.toBeNull();
    expect(await readKey(at(2.01), created.key)).toBeNull();
  });

  it('is refused while its organisation is suspended, declined or pending, and is deleted with it', async () => {
    const { owner, created, slug } = await make();
    const requireRead = async () => (await readKey(test.app, created.key))?.require('READ');
    const is = (approval: 'pending' | 'approved' | 'declined') =>
      test.app.db.update(organisations).set({ approval }).where(eq(organisations.id, owner.organisationId));

    await suspendOrganisation(test.app, slug);
    await expect(requireRead()).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'This organisation is closed.' });
    await restoreOrganisation(test.app, slug);
    await requireRead();
    await is('declined');
    await expect(requireRead()).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await is('pending');
    await expect(requireRead()).rejects.toMatchObject({ code: 'AWAITING_APPROVAL' });
    await test.app.db.delete(organisations).where(eq(organisations.id, owner.organisationId));
    expect(await readKey(test.app, created.key)).toBeNull();
  });

  it('is never a user: procedures that need a user refuse it', async () => {
    const { created } = await make({ scope: 'WRITE' });
    const api = callerFor(test, await readKey(test.app, created.key));
    for (const call of [api.accounts.profile(), api.sessions.verify(), api.keys.list(), api.subscription.read()]) {
      expect(await codeOf(call)).toBe('FORBIDDEN');
    }
    expect(await codeOf(api.signIn.out())).toBe('done');
  });

  it('shows when it was used, written once a minute by whichever of parallel requests comes first', async () => {
    const { owner, created } = await make();
    const lastUse = async () => (await owner.api.keys.list())[0]?.last_used_at;
    expect(await lastUse()).toBeNull();
    await Promise.all(Array.from({ length: 20 }, () => readKey(test.app, created.key)));
    const first = await lastUse();
    expect(first).not.toBeNull();
    const later = (ms: number) => ({ ...test.app, now: () => new Date(Date.parse(first ?? '') + ms) });
    await readKey(later(59_000), created.key);
    expect(await lastUse()).toBe(first);
    await readKey(later(61_000), created.key);
    expect(await lastUse()).not.toBe(first);
  });

  it('is listed with its hint, creator and state, without the key, and only to its organisation', async () => {
    const { owner, created } = await make({ expires_in_days: 30 });
    await make();
    const keys = await owner.api.keys.list();
    expect(keys).toEqual([
      {
        id: created.id,
        name: 'Service',
        hint: `${created.key.slice(0, 12)}…${created.key.slice(-4)}`,
        scopes: ['READ'],
        state: 'valid',
        created_by: { email: owner.email, name: null },
        created_at: expect.any(String),
        expires_at: created.expires_at,
        last_used_at: null,
        revoked_at: null,
      },
    ]);
    expect(JSON.stringify(keys)).not.toContain(created.key);
  });

  it('names its creator to the organisation only while they are a member', async () => {
    const { owner } = await make();
    const admin = await addMember(test, owner.organisationId, 'admin');
    await admin.api.keys.create({ organisation_id: owner.organisationId, name: 'Of who leaves' });
    const creator = async () => (await owner.api.keys.list()).find(({ name }) => name === 'Of who leaves')?.created_by;
    expect(await creator()).toMatchObject({ email: admin.email });
    await admin.api.members.leave({ organisation_id: owner.organisationId, revoke_keys: false });
    expect(await creator()).toBeNull();
  });

  it('is created only by administrators of the organisation; there are at most twenty, also after parallel requests', async () => {
    const { owner } = await make();
    const member = await addMember(test, owner.organisationId, 'member');
    const input = { organisation_id: owner.organisationId, name: 'Service' };
    expect(await codeOf(member.api.keys.create(input))).toBe('FORBIDDEN');
    expect(await codeOf((await makeOwner(test)).api.keys.create(input))).toBe('NOT_FOUND');

    const codes = await Promise.all(Array.from({ length: 25 }, () => codeOf(owner.api.keys.create(input))));
    expect(codes.filter((code) => code === 'done')).toHaveLength(19);
    expect(codes.filter((code) => code === 'VALIDATION')).toHaveLength(6);
  });

  it('of the deployment has no organisation, and only operators see and revoke it', async () => {
    const operator = await makeOwner(test, { operator: true });
    const created = await operator.api.operators.createKey({ name: 'Product', scope: 'WRITE' });
    expect(await readKey(test.app, created.key)).toMatchObject({ organisation: null, scopes: ['READ', 'WRITE'] });
    expect((await operator.api.operators.keys()).map(({ id }) => id)).toContain(created.id);
    expect((await operator.api.keys.list()).map(({ id }) => id)).not.toContain(created.id);
    expect(await codeOf(operator.api.keys.revoke({ id: created.id }))).toBe('NOT_FOUND');
    const { created: theirs } = await make();
    expect(await codeOf(operator.api.operators.revokeKey({ id: theirs.id }))).toBe('NOT_FOUND');
    await operator.api.operators.revokeKey({ id: created.id });
    expect(await readKey(test.app, created.key)).toBeNull();
  });

  it('manages only as one of the deployment, and ends after 90 days, or at most 400', async () => {
    const operator = await makeOwner(test, { operator: true });
    const days = async (input: object) => {
      const made = await operator.api.operators.createKey({ name: 'Sales tool', scope: 'MANAGE', ...input });
      expect(made.scopes).toEqual(['READ', 'WRITE', 'MANAGE']);
      return (Date.parse(made.expires_at ?? '') - test.app.now().getTime()) / dayMilliseconds;
    };
    expect(await days({})).toBeCloseTo(90, 2);
    expect(await days({ expires_in_days: 400 })).toBeCloseTo(400, 2);
    expect(await codeOf(days({ expires_in_days: 401 }))).toBe('VALIDATION');
    expect(await codeOf(make({ scope: 'MANAGE' as 'WRITE' }))).toBe('VALIDATION');

    const { owner } = await make();
    const input = { name: 'Sales tool', scope: 'MANAGE' as const, expires_in_days: 90 };
    const ofOrganisation = createOperatorKey(test.app, owner, input, { actorId: null });
    expect(await codeOf(ofOrganisation)).toBe('VALIDATION');
  });

  it('makes password links only where the command line says so, of a key that manages', async () => {
    const links = async (scope: 'WRITE' | 'MANAGE', passwordLinks: boolean) => {
      const input = { name: 'Sales tool', scope, expires_in_days: 90, passwordLinks };
      const { key } = await createOperatorKey(test.app, { organisationId: null }, input, { actorId: null });
      return (await readKey(test.app, key))?.key.passwordLinks;
    };
    expect([await links('MANAGE', true), await links('MANAGE', false)]).toEqual([true, false]);
    expect(await codeOf(links('WRITE', true))).toBe('VALIDATION');
  });

  it('that ended is listed for thirty days, then deleted', async () => {
    const { owner, created } = await make();
    const kept = await createOperatorKey(
      test.app,
      { organisationId: owner.organisationId },
      { name: 'Kept', scope: 'READ' },
      { actorId: null },
    );
    await owner.api.keys.revoke({ id: created.id });
    expect((await owner.api.keys.list()).map(({ name, state }) => [name, state])).toEqual([
      ['Kept', 'valid'],
      ['Service', 'revoked'],
    ]);
    await deleteOldKeys({ ...test.app, now: () => new Date(test.app.now().getTime() + 31 * dayMilliseconds) });
    expect((await owner.api.keys.list()).map(({ id }) => id)).toEqual([kept.id]);
  });
});
