import type { App } from '../../app.ts';
import { type AbnormalAddress, findAbnormalAddresses } from '../../db/normal-addresses.ts';
import { type Finding, right, wrong } from './finding.ts';

/**
 * Lists the addresses that the start could not store in their normal form, with what to
 * do. Says nothing about a database that cannot be read: examineDatabase does.
 */
export async function examineAddresses({ db }: App): Promise<Finding[]> {
  const abnormal = await findAbnormalAddresses(db).catch(() => null);
  if (abnormal === null) return [];

  // An operator who suspended an account has dealt with it.
  const open = abnormal.filter(({ suspended }) => !suspended);
  return open.length === 0
    ? [right('Addresses', 'Every account has its address in the normal form.')]
    : open.map((address) => wrong('Addresses', whatToDo(address)));
}

function whatToDo({ userId, email, normal, collides }: AbnormalAddress): string {
  const account = `The account ${userId} has the address ${visible(email)}`;
  const remedy = `Run operator suspend ${userId}, or give the account another address in the database`;
  if (normal === null) return `${account}, which is not a valid address: nobody can sign in with it. ${remedy}.`;
  if (!collides) return `${account} instead of ${normal}. Start the service once: it stores the normal form.`;
  return `${account}, but another account has the same mailbox (${normal}), and only one can have it. ${remedy}.`;
}

/** Invisible characters as their code points, for a terminal. */
function visible(email: string): string {
  return email.replace(
    /\p{Default_Ignorable_Code_Point}|\p{Cc}/gu,
    (character) => `<U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}
