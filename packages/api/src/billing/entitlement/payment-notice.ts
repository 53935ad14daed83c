import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents as event, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { fields, textOf } from '../../platform/providers/untrusted-json.ts';
import { invoiceProblemTypes, invoiceSettledTypes } from '../events/event-handlers.ts';

import { graceEnd, type OrganisationPlan } from './read-plan.ts';

export type PaymentNotice = {
  kind: 'payment_failed' | 'action_required';
  /** Opens and pays the invoice without a sign-in, so only administrators may receive it. */
  invoice_url: string | null;
  grace_ends_at: string | null;
};

/** The event of an open payment problem, as the database writes it. */
export type PaymentProblem = { type: string; payload: string };

/** The notice of an open payment problem or of a past-due subscription's grace; null if there is neither. */
export function noticeFrom(
  app: App,
  problem: PaymentProblem | null,
  { subscription }: OrganisationPlan,
): PaymentNotice | null {
  const graceEndsAt = subscription && graceEnd(subscription, app.config.pastDueGraceDays);
  if (problem === null && graceEndsAt === null) return null;

  const data = fields(fields(JSON.parse(problem?.payload ?? '{}'))?.data);
  return {
    kind: problem?.type === 'invoice.payment_action_required' ? 'action_required' : 'payment_failed',
    invoice_url: webAddress(textOf(fields(data?.object)?.hosted_invoice_url)),
    grace_ends_at: graceEndsAt?.toISOString() ?? null,
  };
}

function webAddress(value: string | null): string | null {
  return value !== null && /^https?:\/\//.test(value) ? value : null;
}

/**
 * A column for any query that knows an organisation's id: the newest payment problem of an
 * invoice that no event reports as paid, voided or uncollectible, in whatever order the
 * events arrived.
 */
export function openPaymentProblem(organisationId: unknown): SQL<PaymentProblem | null> {
  return sql<PaymentProblem | null>`(
    select json_build_object('type', ${event.type}, 'payload', ${event.payload})
    from ${event} left join ${subscription} on ${subscription.id} = ${event.subscriptionId}
    where ${event.organisationId} = ${organisationId} and ${event.handled}
      and ${event.type} in ${invoiceProblemTypes} and ${subscription.ended} is not true
      and not exists (
        select 1 from payment_events as later
        where later.invoice_id = ${event.invoiceId} and later.handled and later.type in ${invoiceSettledTypes}
      )
    order by ${event.created} desc, ${event.id} desc
    limit 1)`;
}
