import type Stripe from 'stripe';
import { announce } from '../events/announce.ts';
import { daySeconds, now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { TestClock } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { listPage } from '../routing/lists.ts';
import { pageRules } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { runUntil } from './advance.ts';

export const testClockRoutes = [
  route<Stripe.TestHelpers.TestClockCreateParams>(
    'POST',
    '/v1/test_helpers/test_clocks',
    { frozen_time: 'integer', customer: 'unsupported', name: 'string' },
    create,
    ['frozen_time'],
  ),
  route<Stripe.TestHelpers.TestClockRetrieveParams>('GET', '/v1/test_helpers/test_clocks/:id', {}, ({ provider, id }) =>
    findTestClock(provider, id),
  ),
  route<Stripe.TestHelpers.TestClockListParams>(
    'GET',
    '/v1/test_helpers/test_clocks',
    { ...pageRules },
    ({ provider, params, path }) => listPage(path, Object.values(provider.state.test_clocks), params, 'test clock'),
  ),
  route<Stripe.TestHelpers.TestClockAdvanceParams>(
    'POST',
    '/v1/test_helpers/test_clocks/:id/advance',
    { frozen_time: 'integer' },
    advance,
    ['frozen_time'],
  ),
  route<Stripe.TestHelpers.TestClockDeleteParams>('DELETE', '/v1/test_helpers/test_clocks/:id', {}, remove),
];

function findTestClock(provider: Provider, id: string): TestClock {
  const clock = provider.state.test_clocks[id];
  if (!clock) throw missing('billing clock', id);
  return clock;
}

function create({ provider, params }: Call<Stripe.TestHelpers.TestClockCreateParams>): TestClock {
  const at = now(provider);
  const clock: TestClock = {
    id: newId('clock'),
    object: 'test_helpers.test_clock',
    created: at,
    deletes_after: at + 30 * daySeconds,
    frozen_time: params.frozen_time,
    livemode: false,
    name: params.name ?? null,
    status: 'ready',
    status_details: {},
  };
  provider.state.test_clocks[clock.id] = clock;
  announce(provider, 'test_helpers.test_clock.created', clock);
  return clock;
}

/** Advances a clock and runs everything that is due. As with the real provider, the answer still has the status `advancing`. */
function advance({ provider, id, params }: Call<Stripe.TestHelpers.TestClockAdvanceParams>): TestClock {
  const clock = findTestClock(provider, id);
  const { frozen_time: target } = params;
  if (target <= clock.frozen_time) {
    throw refused("Test clocks can only be advanced to a time later than the clock's current frozen time.", {
      param: 'frozen_time',
    });
  }
  if (target > clock.frozen_time + 2 * 366 * daySeconds) {
    throw refused('The clock can be advanced by at most two years at a time in the sandbox.', { param: 'frozen_time' });
  }
  runUntil(provider, target, id);
  clock.frozen_time = target;
  announce(provider, 'test_helpers.test_clock.ready', clock);
  return { ...clock, status: 'advancing' };
}

/** Deletes a clock and its customers, with their subscriptions and invoices. */
function remove({ provider, id }: Call<Stripe.TestHelpers.TestClockDeleteParams>): Stripe.TestHelpers.DeletedTestClock {
  findTestClock(provider, id);
  const { state } = provider;
  for (const customer of Object.values(state.customers)) {
    if (customer.test_clock !== id) continue;
    for (const one of Object.values(state.subscriptions))
      if (one.customer === customer.id) delete state.subscriptions[one.id];
    for (const one of Object.values(state.invoices)) if (one.customer === customer.id) delete state.invoices[one.id];
    delete state.customers[customer.id];
    state.deleted_customers[customer.id] = { id: customer.id, object: 'customer', deleted: true };
  }
  delete state.test_clocks[id];
  return { id, object: 'test_helpers.test_clock', deleted: true };
}
