import type { App } from '../../app.ts';
import { domainOf } from '../../security/address.ts';

/** Whether APPROVED_DOMAINS lets an address that was proved open the approval gate by itself. */
export function isApprovedDomain({ config }: Pick<App, 'config'>, email: string): boolean {
  return config.approvedDomains.includes('*') || config.approvedDomains.includes(domainOf(email));
}
