import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { markedForSync } from '../../billing/subscription/newer-state.ts';
import { isValidKey } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { addressChanges, knownBrowsers, oneTimeTokens, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { changeFeed } from '../../platform/db/schema/changes.ts';
import { recoveryCodes, stepAttempts } from '../../platform/db/schema/factors.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { invitations } from '../../platform/db/schema/members.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { returnUrls, signInAttempts } from '../../platform/db/schema/sign-in.ts';
import { tokenKeys } from '../../platform/db/schema/tokens.ts';
import type { Actor } from '../actor.ts';

/**
 * Makes a database safe that was restored from a backup or is a promoted copy, before the service
 * starts on it. What was ended or used after the backup would be valid again, so all sessions, links,
 * tokens and invitations end and waiting mails are dropped. All subscriptions are synced with the
 * payment provider. The feed of changes gets a new identity, so that its readers notice that it went
 * back and read everything again. New events and changes get higher numbers than all stored ones.
 * Returns how many rows of each kind were affected.
 */
export function afterRestore(app: App, actor: Actor) {
  return app.db.transaction(async (tx) => {
    const ended = await tx.delete(sessions).returning({ id: sessions.id });
    await tx.delete(addressChanges);
    const links = await tx.delete(verificationLinks).returning({ userId: verificationLinks.userId });
    const tokens = await tx.delete(oneTimeTokens).returning({ userId: oneTimeTokens.userId });
    const invited = await tx.delete(invitations).returning({ id: invitations.id });
    await tx.delete(signInAttempts);
    await tx.delete(returnUrls);
    // A code that was used, or a browser that was no longer trusted, would be valid again.
    await tx.delete(recoveryCodes);
    await tx.delete(stepAttempts);
    await tx.update(knownBrowsers).set({ trustedUntil: null });
    // A reader of the backup may know the keys. The next request for a token creates a new one.
    await tx.delete(tokenKeys);
    const mails = await app.jobs.dropMails(tx);
    const subscriptions = await tx
      .update(paymentSubscriptions)
      .set(markedForSync)
      .returning({ id: paymentSubscriptions.id });
    await tx.update(changeFeed).set({ deployment: sql`gen_random_uuid()` });
    await raiseSequences(tx);
    await recordAudit(tx, app.now(), { action: 'backup-restored', ...actor });
    return {
      sessions: ended.length,
      links: links.length + tokens.length,
      invitations: invited.length,
      mails,
      subscriptions: subscriptions.length,
      /** Those that were revoked after the backup are valid again: an operator has to look through them. */
      validKeys: await tx.$count(apiKeys, isValidKey(app.now())),
    };
  });
}

/**
 * Raises the sequences of numbers over all stored ones: logical replication copies rows and no sequences, and the
 * next number would be taken.
 */
async function raiseSequences(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    select setval('payment_events_number_seq', greatest(
      (select last_value from payment_events_number_seq),
      (select max(number) from payment_events)
    ))`);
  await tx.execute(sql`
    select setval('changes_id_seq', greatest((select last_value from changes_id_seq), (select max(id) from changes)))`);
  await tx.execute(sql`
    select setval('drizzle.__drizzle_migrations_id_seq', (select max(id) from drizzle.__drizzle_migrations))`);
}
