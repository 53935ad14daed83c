import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { billingPage } from '../../platform/links.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { openPortalPage, type PortalPage } from '../../platform/providers/payment/portal.ts';
import { withCustomer } from '../customers/customer.ts';
import { portalConfiguration } from '../prices/portal-configuration.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';

/**
 * Opens the provider's customer portal, where cards are changed (interface §4), or its page `card` or `details`.
 *
 * @throws AppError NOT_FOUND if the page was another organisation's; NO_ORGANISATION; TOO_MANY; BUSY;
 *   PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function openPortal(
  app: BillingApp,
  principal: Administrator,
  input: { organisation_id?: unknown; page?: unknown },
): Promise<{ url: string }> {
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  await takeBillingAction(app, principal, organisationId);

  const page = (['card', 'details'] as const).find((each) => each === input.page);
  const url = await withCustomer(app, organisationId, (ask, customerId) =>
    portalSession(app, ask, customerId, page && { page }),
  );
  await recordAudit(app.db, app.now(), { action: 'plan-portal', actorId: principal.user.id, organisationId });
  return { url };
}

/**
 * Returns the URL of a new portal session, at one of its pages; at its beginning if the portal refuses that page.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function portalSession(app: App, ask: Ask, customerId: string, page?: PortalPage): Promise<string> {
  const configuration = await portalConfiguration(app);
  const session = { customerId, returnUrl: billingPage(app.config), configuration };

  const url = await openPortalPage(ask, session, page);
  if (url !== null) return url;
  app.log.warn('The payment portal refused a page. `operator billing-setup` brings its configuration up to date.', {
    page: page?.page,
  });
  return (await openPortalPage(ask, session)) ?? session.returnUrl;
}
