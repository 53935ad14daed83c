import type Stripe from 'stripe';
import { announce } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, FraudWarning } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';

export const fraudWarningRoutes = [
  route<Stripe.Radar.EarlyFraudWarningRetrieveParams>(
    'GET',
    '/v1/radar/early_fraud_warnings/:id',
    {},
    ({ provider, id }) => {
      const warning = provider.state.fraud_warnings[id];
      if (!warning) throw missing('early fraud warning', id);
      return warning;
    },
  ),
  route<Stripe.Radar.EarlyFraudWarningListParams>(
    'GET',
    '/v1/radar/early_fraud_warnings',
    { ...pageRules, charge: 'string', created: rangeRule, payment_intent: 'string' },
    list,
  ),
];

function list({ provider, params, path }: Call<Stripe.Radar.EarlyFraudWarningListParams>) {
  const all = Object.values(provider.state.fraud_warnings).filter(
    (warning) =>
      createdIn(warning, params.created) &&
      (params.charge === undefined || warning.charge === params.charge) &&
      (params.payment_intent === undefined || warning.payment_intent === params.payment_intent),
  );
  return listPage(path, all, params, 'early fraud warning');
}

/**
 * Tells that the card's bank suspects fraud. It is actionable while the charge can be refunded
 * before a dispute.
 *
 * @throws ApiError if the charge was made by bank debit.
 */
export function warnOfFraud(provider: Provider, charge: Charge): FraudWarning {
  if (charge.payment_method_details?.type !== 'card') {
    throw refused('Only charges of cards have early fraud warnings.');
  }
  const warning: FraudWarning = {
    id: newId('issfr'),
    object: 'radar.early_fraud_warning',
    actionable: !charge.refunded && !charge.disputed,
    charge: charge.id,
    created: timeOfCustomer(provider, charge.customer),
    fraud_type: 'unauthorized_use_of_card',
    livemode: false,
    payment_intent: charge.payment_intent,
  };
  provider.state.fraud_warnings[warning.id] = warning;
  announce(provider, 'radar.early_fraud_warning.created', warning);
  return warning;
}
