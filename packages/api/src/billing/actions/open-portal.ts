import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { billingPage } from '../../platform/links.ts';
import { type Ask, isMissing, type PortalParameters, providerErrorOf } from '../../platform/providers/payment.ts';
import { withCustomer } from '../customers/customer.ts';
import { portalConfiguration } from '../prices/portal-configuration.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';

/**
 * Opens the provider's customer portal, where cards are changed (interface §4).
 *
 * @throws AppError NOT_FOUND if the page was another organisation's; NO_ORGANISATION; TOO_MANY; BUSY;
 *   PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function openPortal(
  app: BillingApp,
  principal: Administrator,
  input: { organisation_id?: unknown },
): Promise<{ url: string }> {
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  await takeBillingAction(app, principal, organisationId);

  const url = await withCustomer(app, organisationId, (ask, customerId) => portalSession(app, ask, customerId));
  await recordAudit(app.db, app.now(), { action: 'plan-portal', actorId: principal.user.id, organisationId });
  return { url };
}

type PortalFlow = PortalParameters['flow_data'];

/**
 * Returns the URL of a new portal session, without the flow if the portal refuses it.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function portalSession(app: App, ask: Ask, customerId: string, flow?: PortalFlow): Promise<string> {
  const configuration = await portalConfiguration(app);
  const plain = {
    customer: customerId,
    return_url: billingPage(app.config),
    ...(configuration === null ? {} : { configuration }),
  };

  async function open(parameters: PortalParameters): Promise<string> {
    return (await ask((provider) => provider.billingPortal.sessions.create(parameters))).url;
  }

  try {
    return await open(flow === undefined ? plain : { ...plain, flow_data: flow });
  } catch (error) {
    if (flow === undefined || providerErrorOf(error)?.status !== 400 || isMissing(error, 'customer')) throw error;
    app.log.warn('The payment portal refused a flow. `operator billing-setup` brings its configuration up to date.', {
      flow: flow.type,
      error,
    });
    return open(plain);
  }
}
