import { eq } from 'drizzle-orm';
import type { KeyScope } from '../auth/key-format.ts';
import type { KeyPrincipal } from '../auth/principal.ts';
import { readKey } from '../auth/read-key.ts';
import { createOperatorKey } from '../operators/keys.ts';
import { apiKeys } from '../platform/db/schema/keys.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import type { Caller } from '../router/root.ts';
import type { TestApp } from './app.ts';
import { callerFor } from './factories.ts';
import { makeTarget } from './usage.ts';

type TestKey = { id: string; key: string; api: Caller; principal: KeyPrincipal };

type NewKey = {
  organisationId?: string | null;
  scope?: KeyScope;
  passwordLinks?: boolean;
  /** Whether an operator makes it, not an administrator of the organisation. */
  byOperator?: boolean;
};

/** Creates a key, by default one of the deployment, and a caller of the router for it. */
export async function makeKey(
  test: TestApp,
  { organisationId = null, scope = 'WRITE', byOperator = true, passwordLinks = false }: NewKey = {},
): Promise<TestKey> {
  const input = { name: 'Service', scope, passwordLinks };
  const { id, key } = await createOperatorKey(test.app, { organisationId }, input, { actorId: null });
  if (!byOperator) await test.app.db.update(apiKeys).set({ byOperator }).where(eq(apiKeys.id, id));
  const principal = await readKey(test.app, key);
  if (principal === null) throw new Error('The new key is not valid.');
  return { id, key, principal, api: callerFor(test, principal) };
}

/** Returns a principal for every kind of key, by its name in the tables of authority; null if the key is not valid. */
export async function keyPrincipals(test: TestApp, owned?: string): Promise<Record<string, KeyPrincipal | null>> {
  const organisationId = owned ?? (await makeTarget(test)).organisationId;
  const made = async (scope: KeyScope, owner: string | null, byOperator = true) =>
    (await makeKey(test, { scope, organisationId: owner, byOperator })).principal;
  return {
    'revoked key': await keyAfter(test, ({ id }) =>
      test.app.db.update(apiKeys).set({ revokedAt: test.app.now() }).where(eq(apiKeys.id, id)),
    ),
    'key of a suspended organisation': await keyAfter(test, ({ organisation }) =>
      test.app.db.update(organisations).set({ suspendedAt: test.app.now() }).where(eq(organisations.id, organisation)),
    ),
    'key of an organisation that awaits approval': await keyAfter(test, ({ organisation }) =>
      test.app.db.update(organisations).set({ approval: 'pending' }).where(eq(organisations.id, organisation)),
    ),
    'key that reads': await made('READ', organisationId),
    'key that writes': await made('WRITE', organisationId, false),
    'key that an operator made': await made('WRITE', organisationId),
    'deployment’s key that reads': await made('READ', null),
    'deployment’s key that writes': await made('WRITE', null),
    'deployment’s key that manages': await made('MANAGE', null),
  };
}

/** Returns the principal of an organisation's key as the first request after a change reads it. */
async function keyAfter(
  test: TestApp,
  change: (made: { id: string; organisation: string }) => PromiseLike<unknown>,
): Promise<KeyPrincipal | null> {
  const { organisationId } = await makeTarget(test);
  const { id, key } = await makeKey(test, { organisationId });
  await change({ id, organisation: organisationId });
  return readKey(test.app, key);
}
