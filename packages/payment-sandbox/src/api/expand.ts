import { isObject } from '../provider/json.ts';
import type { Provider } from '../provider/provider.ts';
import { refused } from '../routing/api-error.ts';
import { type Allow, permissionToExpand } from './permissions.ts';

type JsonObject = Record<string, unknown>;

/** Members that an answer includes only on request. */
const includable: Record<string, readonly string[]> = {
  'checkout.session': ['line_items'],
  customer: ['subscriptions'],
  webhook_endpoint: ['secret'],
};

/**
 * Returns a copy of the answer in which the wanted references are replaced by their objects. Members of
 * `includable` that are not wanted are left out.
 *
 * @throws ApiError 400 if a path names no reference, or has more than four levels; 403 for an object that the key may
 *   not read.
 */
export function expand(
  provider: Provider,
  answer: object,
  paths: string[],
  { allow, keepSecret }: { allow: Allow; keepSecret: boolean },
): object {
  const copy = structuredClone(answer);
  const wanted = new Set(paths.flatMap((path) => prefixes(path)));
  strip(copy as JsonObject, '', wanted, keepSecret);
  for (const path of paths) {
    if (path.split('.').length > 4) {
      throw refused('You cannot expand more than 4 levels of a property.', { param: 'expand' });
    }
    expandPath({ provider, allow }, copy as JsonObject, path.split('.'), path);
  }
  return copy;
}

function prefixes(path: string): string[] {
  const parts = path.split('.').filter((part) => part !== 'data');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}

function strip(value: JsonObject, at: string, wanted: Set<string>, keepSecret: boolean): void {
  if (value.object === 'list') {
    for (const entry of value.data as JsonObject[]) strip(entry, at, wanted, keepSecret);
    return;
  }
  for (const member of includable[String(value.object)] ?? []) {
    if (!(member === 'secret' && keepSecret) && !wanted.has(at ? `${at}.${member}` : member)) delete value[member];
  }
}

type Reader = { provider: Provider; allow: Allow };

function expandPath(reader: Reader, node: JsonObject, parts: string[], path: string): void {
  const { provider } = reader;
  const [name = '', ...rest] = parts;
  if (Array.isArray(node)) {
    for (const entry of node) if (isObject(entry)) expandPath(reader, entry, parts, path);
    return;
  }
  if (node.object === 'customer' && name === 'subscriptions' && !node.deleted)
    node.subscriptions = subscriptionsOf(provider, node);
  if (node.object === 'invoice' && name === 'payments') node.payments = paymentsOf(provider, node);
  if (node.object === 'price' && name === 'currency_options') {
    node.currency_options = structuredClone(provider.state.currency_options[String(node.id)] ?? {});
  }
  if (!(name in node)) {
    if (node.deleted) return;
    throw refused(`This property cannot be expanded (${path}).`, { param: 'expand' });
  }
  const value = node[name];
  if (typeof value === 'string') {
    node[name] = copyOf(reader, value, path);
    strip(node[name] as JsonObject, '', new Set(prefixes(rest.join('.'))), false);
  } else if (Array.isArray(value)) {
    node[name] = value.map((one) => (typeof one === 'string' ? copyOf(reader, one, path) : one));
  }
  const next = node[name];
  if (rest.length > 0 && (isObject(next) || Array.isArray(next))) expandPath(reader, next as JsonObject, rest, path);
}

function copyOf({ provider, allow }: Reader, id: string, path: string): object {
  const found = findById(provider, id);
  if (!found) throw refused(`This property cannot be expanded (${path}).`, { param: 'expand' });
  allow(permissionToExpand(found));
  return structuredClone(found);
}

function subscriptionsOf(provider: Provider, customer: JsonObject): object {
  const all = Object.values(provider.state.subscriptions);
  const data = all.filter((one) => one.customer === customer.id && one.status !== 'canceled').toReversed();
  return {
    object: 'list',
    data: structuredClone(data.slice(0, 10)),
    has_more: data.length > 10,
    url: `/v1/customers/${customer.id}/subscriptions`,
  };
}

function paymentsOf(provider: Provider, invoice: JsonObject): object {
  const data = Object.values(provider.state.invoice_payments).filter((one) => one.invoice === invoice.id);
  return { object: 'list', data: structuredClone(data), has_more: false, url: '/v1/invoice_payments' };
}

function findById(provider: Provider, id: string): object | undefined {
  const { state } = provider;
  const collections: Record<string, object>[] = [
    state.customers,
    state.deleted_customers,
    state.products,
    state.prices,
    state.coupons,
    state.promotion_codes,
    state.discounts,
    state.payment_methods,
    state.subscriptions,
    state.subscription_schedules,
    state.invoices,
    state.payment_intents,
    state.charges,
    state.portal_configurations,
    state.test_clocks,
  ];
  return collections.find((records) => Object.hasOwn(records, id))?.[id];
}
