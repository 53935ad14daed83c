import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paymentEvents } from '../platform/db/schema/billing.ts';
import { grantOperator } from '../testing/admin-commands.ts';
import { type BillingTest, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { addMember, callerFor, signInAs } from '../testing/factories.ts';
import { fieldsOf, isMutation, procedures } from '../testing/fields-of.ts';
import type { Caller } from './root.ts';

let test: BillingTest;
let organisationId: string;
let owner: Caller;
let input: object;
const queries = procedures.filter((path) => !isMutation(path));

/** An organisation whose newest invoice could not be charged, and stays open. */
beforeAll(async () => {
  test = await startBillingTest();
  const { principal, subscription } = await makeSubscriber(test);
  organisationId = principal.organisationId;
  owner = callerFor(test, principal);
  test.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  test.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await test.settled();

  const [failed] = await test.app.db
    .select({ id: paymentEvents.id })
    .from(paymentEvents)
    .where(eq(paymentEvents.type, 'invoice.payment_failed'));
  input = { event_id: failed?.id, organisation_id: organisationId, subscription_id: subscription.id };
});
afterAll(() => test.close());

const address = /\/pay\/invoice\//;

async function answerOf(api: Caller, path: string): Promise<string> {
  const [domain = '', name = ''] = path.split('.');
  const router = api as unknown as Record<string, Record<string, (input?: object) => Promise<unknown>>>;
  const answer = router[domain]?.[name]?.(fieldsOf(path).length > 0 ? input : undefined);
  return answer?.then(JSON.stringify, (error) => String(error.message)) ?? '';
}

it('an administrator receives the address of the open invoice', async () => {
  expect((await owner.subscription.overview()).notice?.invoice_url).toMatch(address);
});

it.each(queries)(
  '%s does not reveal the address to a member or a viewer, even if they are an operator',
  async (path) => {
    for (const role of ['member', 'viewer'] as const) {
      const { api, email } = await addMember(test, organisationId, role);
      expect(await answerOf(api, path)).not.toMatch(address);
      await grantOperator(test.app, email);
      expect(await answerOf((await signInAs(test, email)).api, path)).not.toMatch(address);
    }
  },
);
