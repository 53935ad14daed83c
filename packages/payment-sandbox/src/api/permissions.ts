import type { Permission, Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

/** A restricted key, and what was asked of it that it may do. */
export interface RestrictedKey {
  secretKey: string;
  used(): Permission[];
}

/** Makes a key that may do what the permissions say, such as `customers:write`, and nothing else. */
export function restrictKey(provider: Provider, permissions: readonly Permission[]): RestrictedKey {
  const secretKey = `rk_${provider.livemode ? 'live' : 'test'}_sandbox_${provider.restrictedKeys.size}`;
  const used = new Set<Permission>();
  provider.restrictedKeys.set(secretKey, { permissions: new Set(permissions), used });
  provider.providersByKey.set(secretKey, provider);
  return { secretKey, used: () => [...used].sort() };
}

/** Refuses what a restricted key may not do; any other key may do everything. @throws ApiError 403. */
export type Allow = (permission: Permission) => void;

/** Returns what checks the permissions of a request's key. */
export function allowanceOf(provider: Provider, secretKey: string): Allow {
  const restricted = provider.restrictedKeys.get(secretKey);
  return (permission) => {
    if (restricted === undefined) return;
    const including = permission.replace(/:read$/, ':write') as Permission;
    if (!restricted.permissions.has(permission) && !restricted.permissions.has(including)) throw forbidden(permission);
    restricted.used.add(permission);
  };
}

function forbidden(permission: Permission): ApiError {
  const right = `rak_${permission.replace(':', '_')}`;
  const sentence = `The provided key does not have the required permissions for this endpoint. Having the '${right}' permission would allow this request to continue.`;
  return new ApiError(403, sentence, { type: 'invalid_request_error' });
}

/** Returns the permission that a request needs. */
export function permissionFor(method: string, path: string): Permission {
  const [, , first = '', second = ''] = path.split('/');
  const resource = resources[first] ?? resources[`${first}/${second}`] ?? first;
  return `${resource}:${method === 'GET' ? 'read' : 'write'}`;
}

/** Returns the permission that an answer with an expanded object needs. */
export function permissionToExpand({ object }: { object?: unknown }): Permission {
  return `${resources[`${object}s`] ?? `${object}s`}:read`;
}

/** Paths whose resource has another name, and those that belong to another resource. */
const resources: Record<string, string> = {
  checkout: 'checkout_sessions',
  billing_portal: 'customer_portal',
  subscription_items: 'subscriptions',
  invoice_payments: 'invoices',
  discounts: 'coupons',
  'core/event_destinations': 'event_destinations',
  tax: 'tax_settings_and_registrations',
};
