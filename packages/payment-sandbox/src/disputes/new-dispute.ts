import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Dispute } from '../provider/records.ts';

const daysToRespond = 9;

const noFiles = {
  cancellation_policy: null,
  customer_communication: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  receipt: null,
  refund_policy: null,
  service_documentation: null,
  shipping_documentation: null,
  uncategorized_file: null,
};

const noTexts = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  product_description: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_tracking_number: null,
  uncategorized_text: null,
};

/** The names of evidence that is text. */
export const textEvidence = Object.keys(noTexts);

/** The names of evidence that is a file, which is not modelled. */
export const fileEvidence = Object.keys(noFiles);

/** Returns a new dispute, or with `inquiry` a question of the bank that may become one. */
export function newDispute(provider: Provider, charge: Charge, reason: string, inquiry: boolean): Dispute {
  const at = timeOfCustomer(provider, charge.customer);
  return {
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: at,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: { ...noTexts, ...noFiles, enhanced_evidence: {} },
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
