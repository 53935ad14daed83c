type Loose = Record<string, unknown>;

/**
 * An object as webhook endpoints of an API version before 2025-03-31 get it:
 * the period stands on the subscription and not on its items, and an invoice
 * names its subscription itself.
 */
export function oldPayloadShape(object: object): object {
  const old = object as Loose;
  if (old.object === 'subscription') {
    const items = (old.items as { data: Loose[] }).data;
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
