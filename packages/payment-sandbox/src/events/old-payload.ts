type JsonObject = Record<string, unknown>;

/**
 * Converts an object to the shape of API versions before 2025-03-31: the period is a member of
 * the subscription and not of its items, and `invoice.subscription` names the subscription.
 */
export function oldPayloadShape(object: object): object {
  const old = object as JsonObject;
  if (old.object === 'subscription') {
    const items = (old.items as { data: JsonObject[] }).data;
    const [first] = items;
    old.current_period_start = first?.current_period_start;
    old.current_period_end = first?.current_period_end;
    for (const item of items) {
      delete item.current_period_start;
      delete item.current_period_end;
    }
    delete old.billing_mode;
  }
  if (old.object === 'invoice') {
    const parent = old.parent as { subscription_details?: { subscription?: string } } | null;
    old.subscription = parent?.subscription_details?.subscription ?? null;
    delete old.parent;
  }
  return old;
}
