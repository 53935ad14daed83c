import type Stripe from 'stripe';
import type { ProviderEvent } from '../provider/records.ts';
import { missing, ParameterError } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';

const maxTypes = 20;

export const eventRoutes = [
  route<Stripe.EventRetrieveParams>('GET', '/v1/events/:id', {}, ({ provider, id }) => {
    const event = provider.state.events[id];
    if (!event) throw missing('event', id);
    return event;
  }),
  route<Stripe.EventListParams>(
    'GET',
    '/v1/events',
    { ...pageRules, created: rangeRule, delivery_success: 'boolean', type: 'string', types: { list: 'string' } },
    list,
  ),
];

function list({ provider, params, path }: Call<Stripe.EventListParams>) {
  if (params.type !== undefined && params.types !== undefined) {
    throw new ParameterError(400, 'You may only specify one of these parameters: type, types.', { param: 'types' });
  }
  if ((params.types?.length ?? 0) > maxTypes) {
    throw new ParameterError(400, `Invalid array: types may hold at most ${maxTypes} types.`, { param: 'types' });
  }
  const { created, delivery_success: delivered } = params;
  const all = Object.values(provider.state.events).filter(
    (event) =>
      createdIn(event, created) &&
      hasType(event, params.type) &&
      (params.types === undefined || params.types.some((type) => hasType(event, type))) &&
      (delivered === undefined || delivered === (event.pending_webhooks === 0)),
  );
  return listPage(path, all, params, 'event');
}

/** Whether an event has the wanted type. A `*` at its end matches any text. */
function hasType(event: ProviderEvent, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === event.type) return true;
  return wanted.endsWith('*') && event.type.startsWith(wanted.slice(0, -1));
}
