import type { KeyedClient } from './client.ts';
import { clientKey, clientNetwork } from './client-key.ts';
import type { Points } from './throttle.ts';

/** Returns the limits that a wrong password counts in by client: the client, and the /48 of an IPv6 client. */
export function clientSignInLimits(client: KeyedClient): Points {
  const network = clientNetwork(client);
  return { 'sign-in-client': clientKey(client), ...(network !== null && { 'sign-in-network': network }) };
}

/**
 * Returns the limits that a wrong password counts in: those of the client, the pair of address
 * and client, and the address. A known browser or session of the account (`knownAs`, its token
 * or id) has a limit of its own in place of the address's. So failures elsewhere cannot lock the
 * user out, and guesses with a stolen cookie are limited too.
 */
export function passwordLimits({
  email,
  client,
  knownAs,
}: {
  email: string;
  client: KeyedClient;
  knownAs: string | null;
}) {
  const points: Points = {
    ...clientSignInLimits(client),
    'sign-in-pair': `${email} ${clientKey(client)}`,
    ...(knownAs === null ? { 'sign-in-address': email } : { 'sign-in-known': `${email} ${knownAs}` }),
  };
  return points;
}
