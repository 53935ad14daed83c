import type { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Operator } from '../../auth/principal.ts';
import { applyAgain } from '../../billing/events/receive-event.ts';
import { AppError } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import type { eventInput } from './read-event.ts';

/**
 * Applies a stored event once more, through the same function as the webhook. This is safe at
 * any time: a subscription record is computed from the set of events, and the event keeps its
 * number.
 *
 * @throws AppError NOT_FOUND if there is no such event.
 */
export async function applyEventAgain(
  app: App,
  principal: Operator,
  { event_id: id }: z.output<typeof eventInput>,
  client: Client,
) {
  const { user } = principal;

  const { handled, toSync } = await app.db.transaction(async (tx) => {
    const outcome = await applyAgain(app, tx, id);
    if (outcome === null) throw new AppError('NOT_FOUND', 'There is no such event.');
    await recordAudit(tx, app.now(), {
      action: 'event-applied-again',
      actorId: user.id,
      client,
      details: { event: id },
    });
    return outcome;
  });

  if (toSync !== null) app.syncs.request(toSync);
  app.jobs.wake('payment-prices');
  return { handled };
}
