import { priceRoutes } from '../catalogue/prices.ts';
import { productRoutes } from '../catalogue/products.ts';
import { checkoutSessionRoutes } from '../checkout/checkout-sessions.ts';
import { testClockRoutes } from '../clock/test-clocks.ts';
import { customerRoutes } from '../customers/customers.ts';
import { paymentMethodRoutes } from '../customers/payment-methods.ts';
import { couponRoutes } from '../discounts/coupons.ts';
import { promotionCodeRoutes } from '../discounts/promotion-codes.ts';
import { disputeRoutes } from '../disputes/disputes.ts';
import { fraudWarningRoutes } from '../disputes/fraud-warnings.ts';
import { eventDestinationRoutes } from '../events/event-destinations.ts';
import { eventRoutes } from '../events/events.ts';
import { webhookEndpointRoutes } from '../events/webhook-endpoints.ts';
import { invoiceRoutes } from '../invoices/invoices.ts';
import { paymentRoutes } from '../payments/payments.ts';
import { portalConfigurationRoutes } from '../portal/portal-configurations.ts';
import { portalSessionRoutes } from '../portal/portal-sessions.ts';
import { refundRoutes } from '../refunds/refunds.ts';
import type { Route } from '../routing/route.ts';
import { subscriptionScheduleRoutes } from '../subscriptions/schedules/subscription-schedules.ts';
import { subscriptionItemRoutes } from '../subscriptions/subscription-items.ts';
import { subscriptionRoutes } from '../subscriptions/subscriptions.ts';
import { taxRoutes } from '../tax/tax-settings.ts';

/** All routes of the API. */
export const routes: { route: Route; pattern: RegExp }[] = [
  ...customerRoutes,
  ...paymentMethodRoutes,
  ...productRoutes,
  ...priceRoutes,
  ...taxRoutes,
  ...couponRoutes,
  ...promotionCodeRoutes,
  ...checkoutSessionRoutes,
  ...portalConfigurationRoutes,
  ...portalSessionRoutes,
  ...subscriptionRoutes,
  ...subscriptionItemRoutes,
  ...subscriptionScheduleRoutes,
  ...invoiceRoutes,
  ...paymentRoutes,
  ...refundRoutes,
  ...disputeRoutes,
  ...fraudWarningRoutes,
  ...eventRoutes,
  ...webhookEndpointRoutes,
  ...eventDestinationRoutes,
  ...testClockRoutes,
].map((route) => ({ route, pattern: new RegExp(`^${route.path.replaceAll(':id', '([^/]+)')}$`) }));

/** Returns the route of a request, with the ids in its path. */
export function findRoute(method: string, path: string): { route: Route; id: string; otherId: string } | undefined {
  for (const { route, pattern } of routes) {
    const match = route.method === method ? pattern.exec(path) : null;
    if (match) return { route, id: decode(match[1]), otherId: decode(match[2]) };
  }
  return undefined;
}

function decode(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
