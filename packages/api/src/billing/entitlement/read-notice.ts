import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared } from '../../db/client.ts';
import { paymentEvents as event, paymentSubscriptions as subscription } from '../../db/schema/billing.ts';
import { organisationOf, type Principal } from '../../sessions/principal.ts';
import { problemTypes, settledTypes } from '../events/event-handlers.ts';
import { fields, text } from '../projection/fields.ts';
import { graceEnd } from './entitlement.ts';
import { readPlan } from './read-plan.ts';

export type Notice = {
  kind: 'payment_failed' | 'action_required';
  invoice_url: string | null;
  grace_ends_at: string | null;
};

/**
 * The payment problem that stands: the newest of an invoice which no event says was paid,
 * voided or given up, in whatever order they came. Null where there is none.
 *
 * Needs ADMIN, because the hosted invoice's address opens the invoice and pays it without a sign-in.
 */
export async function readNotice(app: App, principal: Principal): Promise<Notice | null> {
  principal.require('ADMIN');
  const organisationId = organisationOf(principal).id;

  const [problem] = await standingProblem(app.db).execute({ organisationId, livemode: app.payment?.livemode ?? null });
  const { subscription } = await readPlan(app, organisationId);
  const graceEndsAt = subscription && graceEnd(subscription, app.config.pastDueGraceDays);
  if (problem === undefined && graceEndsAt === null) return null;

  const data = fields(fields(JSON.parse(problem?.payload ?? '{}'))?.data);
  return {
    kind: problem?.type === 'invoice.payment_action_required' ? 'action_required' : 'payment_failed',
    invoice_url: webAddress(text(fields(data?.object)?.hosted_invoice_url)),
    grace_ends_at: graceEndsAt?.toISOString() ?? null,
  };
}

function webAddress(value: string | null): string | null {
  return value !== null && /^https?:\/\//.test(value) ? value : null;
}

const standingProblem = prepared((db) =>
  db
    .select({ type: event.type, payload: event.payload })
    .from(event)
    .leftJoin(subscription, sql`${subscription.id} = ${event.subscriptionId}`)
    .where(
      sql`${event.organisationId} = ${sql.placeholder('organisationId')} and ${event.handled}
        and ${event.type} in ${problemTypes} and ${subscription.ended} is not true
        and coalesce(${subscription.livemode} = ${sql.placeholder('livemode')}::boolean, true)
        and not exists (
          select 1 from payment_events as later
          where later.invoice_id = ${event.invoiceId} and later.handled and later.type in ${settledTypes}
        )`,
    )
    .orderBy(sql`${event.created} desc`, sql`${event.id} desc`)
    .limit(1)
    .prepare('payment_standing_problem'),
);
