import { clientKey, clientNetwork } from './client-key.ts';
import type { Taking } from './throttle.ts';

/** What a wrong password counts in, by the client alone: the client, and the /48 of an IPv6 client. */
export function clientSignInLimits(address: string): Taking {
  const network = clientNetwork(address);
  return { 'sign-in-client': clientKey(address), ...(network !== null && { 'sign-in-network': network }) };
}

/**
 * What a wrong password counts in: the client's limits, the address and client together, and the
 * address. A browser or session that is known to belong to the account (`knownAs`, its token or id)
 * counts for itself in place of the address, so that no stranger can keep the user of it out, and
 * whoever took it over still has a limit.
 */
export function passwordLimits({ email, client, knownAs }: { email: string; client: string; knownAs: string | null }) {
  const taking: Taking = {
    ...clientSignInLimits(client),
    'sign-in-pair': `${email} ${clientKey(client)}`,
    ...(knownAs === null ? { 'sign-in-address': email } : { 'sign-in-known': `${email} ${knownAs}` }),
  };
  return taking;
}
