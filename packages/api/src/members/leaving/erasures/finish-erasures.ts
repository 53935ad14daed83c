import { eq } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import { lockOrganisation } from '../../../organisations/lock.ts';
import type { Transaction } from '../../../platform/db/client.ts';
import { paymentEvents } from '../../../platform/db/schema/billing.ts';
import { erasures } from '../../../platform/db/schema/leaving.ts';
import { eraseFromEvents } from './erase-events.ts';
import { eraseMentions, eraseOrganisationTexts, eraseOwnTexts } from './erase-texts.ts';
import { isAddress, mentionsAny } from './mentions.ts';

/**
 * Removes what is left of deleted users and organisations: audit entries keep their action and ids,
 * stored events what decides a subscription, and texts of other people that mention a user are
 * deleted. Each step is a short transaction that locks one organisation and stores how far it came,
 * so that a run continues where the one before ended, and two runs at once do no harm.
 *
 * @throws Error of the first erasure that failed, after all others.
 */
export async function finishErasures(app: App): Promise<void> {
  const failures: unknown[] = [];
  for (const { id } of await app.db.select({ id: erasures.id }).from(erasures).orderBy(erasures.id)) {
    try {
      await finishErasure(app, id);
    } catch (error) {
      app.log.warn('An erasure did not end. It will be continued.', { erasure: id, error });
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Finishes one erasure. Does nothing if it has ended already. */
export async function finishErasure(app: App, id: string): Promise<void> {
  while (await app.db.transaction((tx) => takeStep(app, tx, id)));
}

type Erasure = typeof erasures.$inferSelect;

/** Takes the next step of an erasure. Returns false if there is none. */
async function takeStep(app: App, tx: Transaction, id: string): Promise<boolean> {
  const [erasure] = await tx.select().from(erasures).where(eq(erasures.id, id)).for('update');
  if (erasure === undefined) return false;

  const [organisationId, ...others] = erasure.organisationIds;
  if (organisationId === undefined) return eraseUnowned(app, tx, erasure);
  await lockOrganisation(tx, organisationId);
  const isDeleted = erasure.deletedIds.includes(organisationId);
  const which = isDeleted ? {} : { which: mentionsAny(paymentEvents.payload, erasure.texts) };
  const last = await eraseFromEvents(app, tx, { organisationId, ...which, after: positionOf(erasure) });
  if (last === null) {
    if (isDeleted) await eraseOrganisationTexts(tx, organisationId);
    else await eraseMentions(tx, erasure, organisationId);
  }
  await tx
    .update(erasures)
    .set({
      organisationIds: last === null ? others : erasure.organisationIds,
      lastCreated: last?.created ?? null,
      lastEventId: last?.id ?? null,
    })
    .where(eq(erasures.id, id));
  return true;
}

/** Searches what belongs to no organisation, and ends the erasure. */
async function eraseUnowned(app: App, tx: Transaction, erasure: Erasure): Promise<boolean> {
  const { id, userId, texts } = erasure;
  if (userId !== null) {
    // A name may be a word of any payload, so these are searched for addresses alone.
    const which = mentionsAny(paymentEvents.payload, texts.filter(isAddress));
    const last = await eraseFromEvents(app, tx, { organisationId: null, which, after: positionOf(erasure) });
    if (last !== null) {
      await tx.update(erasures).set({ lastCreated: last.created, lastEventId: last.id }).where(eq(erasures.id, id));
      return true;
    }
    await eraseOwnTexts(tx, userId, texts);
  }
  await tx.delete(erasures).where(eq(erasures.id, id));
  return false;
}

function positionOf({ lastCreated, lastEventId }: Erasure) {
  return lastCreated === null || lastEventId === null ? null : { created: lastCreated, id: lastEventId };
}
