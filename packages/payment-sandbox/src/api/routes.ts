import { checkoutSessionRoutes } from '../resources/checkout-sessions.ts';
import { customerRoutes } from '../resources/customers.ts';
import { eventRoutes } from '../resources/events.ts';
import { invoiceRoutes } from '../resources/invoices.ts';
import { paymentMethodRoutes } from '../resources/payment-methods.ts';
import { portalConfigurationRoutes } from '../resources/portal-configurations.ts';
import { portalSessionRoutes } from '../resources/portal-sessions.ts';
import { priceRoutes } from '../resources/prices.ts';
import { productRoutes } from '../resources/products.ts';
import { subscriptionItemRoutes } from '../resources/subscription-items.ts';
import { subscriptionScheduleRoutes } from '../resources/subscription-schedules.ts';
import { subscriptionRoutes } from '../resources/subscriptions.ts';
import { testClockRoutes } from '../resources/test-clocks.ts';
import { webhookEndpointRoutes } from '../resources/webhook-endpoints.ts';
import type { Route } from './route.ts';

/** Every request that the API answers. */
export const routes: { route: Route; pattern: RegExp }[] = [
  ...customerRoutes,
  ...paymentMethodRoutes,
  ...productRoutes,
  ...priceRoutes,
  ...checkoutSessionRoutes,
  ...portalConfigurationRoutes,
  ...portalSessionRoutes,
  ...subscriptionRoutes,
  ...subscriptionItemRoutes,
  ...subscriptionScheduleRoutes,
  ...invoiceRoutes,
  ...eventRoutes,
  ...webhookEndpointRoutes,
  ...testClockRoutes,
].map((route) => ({ route, pattern: new RegExp(`^${route.path.replaceAll(':id', '([^/]+)')}$`) }));

/** The route of a request, with the ids that its address names. */
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
