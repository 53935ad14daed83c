import type { App } from '../../app.ts';
import { domainOf } from '../../security/address.ts';

/** Whether APPROVED_DOMAINS lists an address's domain, so that proving the address opens the approval gate. */
export function isApprovedDomain({ config }: Pick<App, 'config'>, email: string): boolean {
  return config.approvedDomains.includes('*') || config.approvedDomains.includes(domainOf(email));
}
