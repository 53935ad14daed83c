import { isObject } from '../provider/json.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalConfiguration } from '../provider/records.ts';
import { missing, missingParameter, refused } from '../routing/api-error.ts';
import type { Rule } from '../routing/parameters.ts';

type Features = PortalConfiguration['features'];

const proration: Rule = { one: ['always_invoice', 'create_prorations', 'none'] };
/** The parameters of a portal configuration. */
export const configurationRules = {
  business_profile: { hash: { headline: 'text', privacy_policy_url: 'text', terms_of_service_url: 'text' } },
  default_return_url: 'text',
  features: {
    hash: {
      customer_update: { hash: { enabled: 'boolean', allowed_updates: { list: 'string' } } },
      invoice_history: { hash: { enabled: 'boolean' }, required: ['enabled'] },
      payment_method_update: { hash: { enabled: 'boolean', payment_method_configuration: 'text' } },
      subscription_cancel: {
        hash: {
          enabled: 'boolean',
          mode: { one: ['at_period_end', 'immediately'] },
          proration_behavior: proration,
          cancellation_reason: {
            hash: { enabled: 'boolean', options: { list: 'string' }, feedback_options: { list: 'string' } },
          },
        },
      },
      subscription_pause: { hash: { enabled: 'boolean', duration: 'unsupported' } },
      subscription_update: {
        hash: {
          enabled: 'boolean',
          default_allowed_updates: { list: { one: ['price', 'promotion_code', 'quantity'] } },
          products: {
            list: {
              hash: {
                product: 'string',
                prices: { list: 'string' },
                adjustable_quantity: {
                  hash: { enabled: 'boolean', maximum: 'integer', minimum: 'integer' },
                  required: ['enabled'],
                },
              },
              required: ['product', 'prices'],
            },
          },
          proration_behavior: proration,
          billing_cycle_anchor: { one: ['now', 'unchanged'] },
          schedule_at_period_end: {
            hash: {
              conditions: {
                list: {
                  hash: { type: { one: ['decreasing_item_amount', 'shortening_interval'] } },
                  required: ['type'],
                },
              },
            },
          },
          trial_update_behavior: { one: ['continue_trial', 'end_trial'] },
        },
      },
    },
  },
  login_page: 'unsupported',
  metadata: 'metadata',
  name: 'text',
} as const satisfies Record<string, Rule>;

/** Returns the features of a configuration that enables none. */
export function noFeatures(): Features {
  return {
    customer_update: { allowed_updates: [], enabled: false },
    invoice_history: { enabled: false },
    payment_method_update: { enabled: false, payment_method_configuration: null },
    subscription_cancel: {
      cancellation_reason: { enabled: false, feedback_options: null, options: [] },
      enabled: false,
      mode: 'at_period_end',
      proration_behavior: 'none',
    },
    subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
    subscription_update: {
      billing_cycle_anchor: null,
      default_allowed_updates: [],
      enabled: false,
      products: [],
      proration_behavior: 'none',
      schedule_at_period_end: { conditions: [] },
      trial_update_behavior: 'end_trial',
    },
  };
}

const fixedQuantity: object = { enabled: false, maximum: null, minimum: 1 };

/** Merges changes into features, recursively. Members that are not named keep their value. */
export function mergeFeatures(current: Features, changes: object): Features {
  const merged = merge(current, changes) as Features;
  for (const product of merged.subscription_update.products ?? []) {
    product.adjustable_quantity = { ...fixedQuantity, ...product.adjustable_quantity };
  }
  return merged;
}

function merge(current: object, changes: object): object {
  const merged: Record<string, unknown> = structuredClone(current) as never;
  for (const [name, change] of Object.entries(changes)) {
    merged[name] = isObject(merged[name]) && isObject(change) ? merge(merged[name], change) : structuredClone(change);
  }
  return merged;
}

/** The real provider's limit of a configuration. */
const maxProducts = 10;

/**
 * @throws ApiError if plan changes are enabled without products or with more than ten, a price is missing, inactive, of another product or of
 *   the interval of another price of it, or a maximum quantity is below its minimum.
 */
export function checkFeatures(
  provider: Provider,
  { subscription_update: updates, subscription_pause: pause }: Features,
): void {
  if (pause.enabled) {
    throw refused('The sandbox does not let customers pause in the portal; the real provider does.', {
      code: 'sandbox_unsupported',
      param: 'features[subscription_pause]',
    });
  }
  if (!updates.enabled) return;
  const base = 'features[subscription_update]';
  for (const name of ['default_allowed_updates', 'products'] as const) {
    if (!updates[name]?.length) throw missingParameter(`${base}[${name}]`);
  }
  if ((updates.products?.length ?? 0) > maxProducts) {
    throw refused(`The portal offers at most ${maxProducts} products.`, { param: `${base}[products]` });
  }
  for (const [index, { product, prices, adjustable_quantity: quantity }] of (updates.products ?? []).entries()) {
    if (quantity.minimum < 0 || (quantity.maximum ?? quantity.minimum) < quantity.minimum) {
      throw refused('The maximum quantity must be at least the minimum quantity.', {
        param: `${base}[products][${index}][adjustable_quantity]`,
      });
    }
    const intervals = new Set<string>();
    for (const id of prices) {
      const price = provider.state.prices[id];
      const param = `${base}[products][${index}][prices]`;
      if (!price) throw missing('price', id, param);
      if (price.product !== product)
        throw refused(`The price \`${id}\` does not belong to the product \`${product}\`.`, { param });
      if (!price.active) throw refused(`The price \`${id}\` is not active.`, { param });
      const interval = `${price.recurring?.interval_count} ${price.recurring?.interval}`;
      if (intervals.has(interval)) {
        throw refused(`The prices of the product \`${product}\` must each have an interval of their own.`, { param });
      }
      intervals.add(interval);
    }
  }
}
