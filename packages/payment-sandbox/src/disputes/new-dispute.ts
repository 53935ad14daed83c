import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Dispute } from '../provider/records.ts';

const daysToRespond = 9;

/** Text evidence; files and the evidence of single card networks are not modelled. */
export const textEvidence = [
  'access_activity_log',
  'billing_address',
  'cancellation_policy_disclosure',
  'cancellation_rebuttal',
  'customer_email_address',
  'customer_name',
  'customer_purchase_ip',
  'duplicate_charge_explanation',
  'duplicate_charge_id',
  'product_description',
  'refund_policy_disclosure',
  'refund_refusal_explanation',
  'service_date',
  'shipping_address',
  'shipping_carrier',
  'shipping_date',
  'shipping_tracking_number',
  'uncategorized_text',
] as const;

export const fileEvidence = [
  'cancellation_policy',
  'customer_communication',
  'customer_signature',
  'duplicate_charge_documentation',
  'receipt',
  'refund_policy',
  'service_documentation',
  'shipping_documentation',
  'uncategorized_file',
] as const;

/** Returns a new dispute, or with `inquiry` a question of the bank that may become one. */
export function newDispute(provider: Provider, charge: Charge, reason: string, inquiry: boolean): Dispute {
  const at = timeOfCustomer(provider, charge.customer);
  const evidence = [...textEvidence, ...fileEvidence].map((name) => [name, null]);
  return {
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: at,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: { ...Object.fromEntries(evidence), enhanced_evidence: {} } as Dispute['evidence'],
    evidence_details: {
      due_by: at + daysToRespond * daySeconds,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: inquiry,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    ...(charge.payment_method_details?.card && {
      payment_method_details: {
        card: {
          brand: 'visa',
          case_type: inquiry ? ('inquiry' as const) : ('chargeback' as const),
          network: 'visa',
          network_reason_code: '10.4',
        },
        type: 'card' as const,
      },
    }),
    reason,
    status: inquiry ? 'warning_needs_response' : 'needs_response',
  };
}
