import { randomUUID } from 'node:crypto';
import type { KeyKind } from '../billing/usage/count.ts';
import { release, reserve } from '../billing/usage/reserve.ts';
import { newId } from '../platform/db/id.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import type { TestApp } from './app.ts';

/** Creates an approved organisation as the target of usage. */
export async function makeTarget({ app }: TestApp): Promise<{ organisationId: string }> {
  const id = newId(app.now());
  await app.db.insert(organisations).values({ id, slug: `o-${id}`, approval: 'approved', createdAt: app.now() });
  return { organisationId: id };
}

type UsageCall = {
  organisationId: string;
  meter?: string;
  amount?: number;
  key?: string;
  by?: KeyKind;
};

/** Reserves an amount, by default 1 of the meter projects, with a new idempotency key unless one is given. */
export function take(
  { app }: Pick<TestApp, 'app'>,
  { organisationId, meter = 'projects', amount = 1, key, by = 'deployment', expires }: UsageCall & { expires?: number },
) {
  return reserve(app, { organisationId }, { meter, amount, idempotency_key: key ?? randomUUID(), expires }, by);
}

/** Holds an amount, for a minute unless `expires` says otherwise. Returns the hold and what is used. */
export async function hold(test: Pick<TestApp, 'app'>, call: UsageCall & { expires?: number }) {
  const { hold: id = '', ...answer } = await take(test, { expires: 60, ...call });
  return { id, ...answer };
}

/** Releases an amount, with the same defaults as `take`. */
export function giveBack(
  { app }: Pick<TestApp, 'app'>,
  { organisationId, meter = 'projects', amount = 1, key, by = 'deployment' }: UsageCall,
) {
  return release(app, { organisationId }, { meter, amount, idempotency_key: key ?? randomUUID() }, by);
}
