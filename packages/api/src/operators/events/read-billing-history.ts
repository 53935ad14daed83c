import { asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { zodMessage } from '../../platform/messages.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { type NameOfPrice, nameOfPrice, readEventChange } from './event-change.ts';
import { shownSubscription, subscriptionColumns } from './shown-subscription.ts';

const rowsPerPage = 50;

export const historyInput = z.object({
  organisation_id: z.uuid(zodMessage('choose_organisation')),
  /** `next` of the page before. */
  before: z.string(zodMessage('not_text')).optional(),
});

type Input = z.output<typeof historyInput>;

/**
 * Returns what happened to an organisation's plan, newest first: the provider's events, at the
 * provider's time, and the actions of members and operators. Also returns its current
 * subscription records.
 *
 * @throws AppError NOT_FOUND if there is no such organisation.
 */
export async function readBillingHistory(app: App, _operator: Operator, { organisation_id: id, before }: Input) {
  const organisation = await readOrganisationNames(app.db, id);
  const nameOf = nameOfPrice(app);
  const [moments, rows] = await Promise.all([momentsOf(app, id, before), rowsOf(app, id)]);
  const { page, next } = pageOf(moments, rowsPerPage, ({ at, key }) => `${at}/${key}`);
  return {
    organisation,
    subscriptions: rows.map((row) => shownSubscription(app, row)),
    moments: page.map((moment) => shownMoment(moment, nameOf)),
    next,
  };
}

function rowsOf(app: App, organisationId: string) {
  return app.db
    .select(subscriptionColumns)
    .from(subscription)
    .where(eq(subscription.organisationId, organisationId))
    .orderBy(asc(subscription.ended), desc(subscription.startedAt), desc(subscription.id));
}

type Moment = {
  /** Milliseconds. */
  at: number;
  /** Unique. Orders the moments of one millisecond as they were stored. */
  key: string;
  event: string | null;
  /** The provider's type of event, or the action of an audit entry. */
  type: string;
  outcome: string | null;
  flagged: boolean;
  payload: string | null;
  actor: string | null;
};

async function momentsOf(app: App, organisationId: string, before: string | undefined): Promise<Moment[]> {
  const rows = await app.db.execute<Moment>(sql`
    select * from (
      select ${paymentEvents.created} * 1000 as at, 'e' || lpad(${paymentEvents.number}::text, 18, '0') as key,
        ${paymentEvents.id} as event, ${paymentEvents.type} as type, ${paymentEvents.outcome} as outcome,
        ${paymentEvents.flagged} as flagged, ${paymentEvents.payload} as payload, null as actor
      from ${paymentEvents} where ${paymentEvents.organisationId} = ${organisationId}
      union all
      select floor(extract(epoch from ${auditEvents.at}) * 1000)::bigint, 'a' || ${auditEvents.id},
        null, ${auditEvents.action}, null, false, null, ${users.email}
      from ${auditEvents} left join ${users} on ${users.id} = ${auditEvents.actorId}
      where ${auditEvents.organisationId} = ${organisationId}
        and (${auditEvents.action} like 'plan-%' or ${auditEvents.action} = 'subscription-synced')
    ) as moments
    ${afterCursor(before)}
    order by at desc, key collate "C" desc limit ${rowsPerPage + 1}`);
  return rows.map((row) => ({ ...row, at: Number(row.at) }));
}

function afterCursor(before: string | undefined): SQL {
  const [, at, key] = /^(\d{1,15})\/([ea][0-9a-f-]{1,40})$/.exec(before ?? '') ?? [];
  if (at === undefined || key === undefined) return sql``;
  return sql`where (at, key collate "C") < (${at}::bigint, ${key})`;
}

function shownMoment({ at, key, event, type, outcome, flagged, payload, actor }: Moment, nameOf: NameOfPrice) {
  return {
    at: new Date(at).toISOString(),
    key,
    event,
    type,
    outcome,
    flagged,
    actor,
    change: event === null ? null : readEventChange(type, payload, nameOf),
  };
}
