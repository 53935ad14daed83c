import { and, desc, isNotNull, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { organisationColumns } from '../organisations/find-organisations.ts';
import { beforeCursor, cursorInput, cursorOf } from '../pagination.ts';
import { canBeUndone, decidedAt } from './undo-decision.ts';

const rowsPerPage = 50;

export const decidedInput = z.object({ after: cursorInput });

/**
 * Returns a page of the decided requests, the newest decision first, each with who decided and
 * whether the decision can still be undone.
 */
export async function readDecided(app: App, principal: Operator, { after }: z.output<typeof decidedInput>) {
  const { organisationId: own } = principal;

  const rows = await app.db
    .select({
      organisation: { id: organisations.id, slug: organisations.slug, name: organisations.name },
      owner: organisationColumns.owner,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      reason: organisations.declineReason,
      decidedAt: decidedAt.mapWith(organisations.approvedAt),
      decidedBy: decidedBy(),
    })
    .from(organisations)
    .where(
      and(
        ne(organisations.approval, 'pending'),
        isNotNull(decidedAt),
        beforeCursor(decidedAt, organisations.id, after),
      ),
    )
    .orderBy(desc(decidedAt), desc(organisations.id))
    .limit(rowsPerPage + 1);

  const shown = rows.slice(0, rowsPerPage);
  const last = rows.length > rowsPerPage ? shown.at(-1) : undefined;
  return {
    decided: shown.map(({ decidedAt: at, decidedBy: by, suspendedAt, approval, ...row }) => ({
      ...row,
      decision: approval === 'declined' ? ('declined' as const) : ('approved' as const),
      decided_at: at.toISOString(),
      /** The address of the operator; null for an admin command or a rule. */
      decided_by: by,
      can_undo: suspendedAt === null && row.organisation.id !== own && canBeUndone(app, at),
    })),
    next: last === undefined ? null : cursorOf(last.decidedAt, last.organisation.id),
  };
}

function decidedBy() {
  return sql<string | null>`(
    select deciders.email from audit_events entries left join users deciders on deciders.id = entries.actor_id
    where entries.organisation_id = organisations.id
      and entries.action in ('organisation-approved', 'organisation-declined')
    order by entries.at desc, entries.id desc limit 1)`;
}
