import type Stripe from 'stripe';
import { change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Dispute } from '../provider/records.ts';
import { missing } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, type Rule, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { closeDispute, submitEvidence } from './dispute.ts';
import { fileEvidence, textEvidence } from './new-dispute.ts';

const evidenceRule: Rule = {
  hash: {
    ...Object.fromEntries(textEvidence.map((name): [string, Rule] => [name, 'text'])),
    ...Object.fromEntries(fileEvidence.map((name): [string, Rule] => [name, 'unsupported'])),
    appeal: 'unsupported',
    enhanced_evidence: 'unsupported',
  },
};

export const disputeRoutes = [
  route<Stripe.DisputeRetrieveParams>('GET', '/v1/disputes/:id', {}, ({ provider, id }) => findDispute(provider, id)),
  route<Stripe.DisputeListParams>(
    'GET',
    '/v1/disputes',
    { ...pageRules, charge: 'string', created: rangeRule, payment_intent: 'string' },
    list,
  ),
  route<Stripe.DisputeUpdateParams>(
    'POST',
    '/v1/disputes/:id',
    {
      evidence: evidenceRule,
      intended_submission_method: 'unsupported',
      metadata: 'metadata',
      submit: 'boolean',
    },
    update,
  ),
  // Closing a dispute through the API accepts it.
  route<Stripe.DisputeCloseParams>('POST', '/v1/disputes/:id/close', {}, ({ provider, id }) =>
    closeDispute(provider, findDispute(provider, id), 'lost'),
  ),
];

/** @throws ApiError resource_missing if there is no such dispute. */
export function findDispute(provider: Provider, id: string): Dispute {
  const dispute = provider.state.disputes[id];
  if (!dispute) throw missing('dispute', id);
  return dispute;
}

function list({ provider, params, path }: Call<Stripe.DisputeListParams>) {
  const all = Object.values(provider.state.disputes).filter(
    (dispute) =>
      createdIn(dispute, params.created) &&
      (params.charge === undefined || dispute.charge === params.charge) &&
      (params.payment_intent === undefined || dispute.payment_intent === params.payment_intent),
  );
  return listPage(path, all, params, 'dispute');
}

/** Changes the evidence, and submits it unless `submit` is false. */
function update({ provider, id, params }: Call<Stripe.DisputeUpdateParams>): Dispute {
  const dispute = findDispute(provider, id);
  change(provider, 'charge.dispute.updated', dispute, () => {
    if (params.metadata !== undefined) dispute.metadata = mergeMetadata(dispute.metadata, params.metadata);
    for (const [name, text] of Object.entries(params.evidence ?? {})) {
      Object.assign(dispute.evidence, { [name]: text || null });
    }
  });
  if (params.evidence === undefined || params.submit === false) return dispute;
  return submitEvidence(provider, dispute);
}
