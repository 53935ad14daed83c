import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { applyAgain } from '../../billing/events/apply-event.ts';
import { AppError } from '../../errors.ts';
import type { Client } from '../../security/client.ts';
import { type Principal, requireOperator } from '../../sessions/principal.ts';
import type { eventInput } from './read-event.ts';

/**
 * Applies a stored event once more, through the same function as the webhook. Harmless at
 * any time: the rows are what the set of events says, and the event keeps its place in it.
 *
 * @throws AppError NOT_FOUND
 */
export async function applyEventAgain(
  app: App,
  principal: Principal | null,
  { event_id: id }: z.output<typeof eventInput>,
  client: Client,
) {
  const { user } = requireOperator(principal);

  const handled = await app.db.transaction(async (tx) => {
    const done = await applyAgain(app, tx, id);
    if (done === null) throw new AppError('NOT_FOUND', 'There is no such event in the ledger.');
    await recordAudit(tx, app.now(), {
      action: 'event-applied-again',
      actorId: user.id,
      client,
      details: { event: id },
    });
    return done;
  });

  app.jobs.wake('payment-sync');
  app.jobs.wake('payment-prices');
  return { handled };
}
