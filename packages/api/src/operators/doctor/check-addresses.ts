import type { App } from '../../app.ts';
import { type AbnormalAddress, findAbnormalAddresses } from '../../platform/db/normal-addresses.ts';
import { type Finding, right, wrong } from './finding.ts';

/**
 * Finds the addresses that the migration could not store in their normal form. Returns no
 * finding if the database cannot be read, because checkDatabase reports that.
 */
export async function checkAddresses({ db }: App): Promise<Finding[]> {
  const abnormal = await findAbnormalAddresses(db).catch(() => null);
  if (abnormal === null) return [];

  // Suspending such an account is one of the two remedies.
  const open = abnormal.filter(({ suspended }) => !suspended);
  return open.length === 0
    ? [right('Addresses', 'Every account has its address in the normal form.')]
    : open.map((address) => wrong('Addresses', remedyOf(address)));
}

function remedyOf({ userId, email, normal, collides }: AbnormalAddress): string {
  const account = `The account ${userId} has the address ${visible(email)}`;
  const remedy = `Run operator suspend ${userId}, or give the account another address in the database`;
  if (normal === null) return `${account}, which is not a valid address: nobody can sign in with it. ${remedy}.`;
  if (!collides) return `${account} instead of ${normal}. Start the service once: it stores the normal form.`;
  return `${account}, but another account has the same mailbox (${normal}), and only one can have it. ${remedy}.`;
}

/** Replaces invisible characters by their code points, so that a terminal shows them. */
function visible(email: string): string {
  return email.replace(
    /\p{Default_Ignorable_Code_Point}|\p{Cc}/gu,
    (character) => `<U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}
