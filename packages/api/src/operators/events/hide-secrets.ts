/** Properties of the provider's objects that give access to a hosted page or a payment without a sign-in. */
const secrets = new Set(['hosted_invoice_url', 'invoice_pdf', 'receipt_url', 'client_secret']);

/**
 * Hides in an event's payload what opens a hosted page or a payment without a sign-in: it is for the
 * organisation's administrators only, and an operator may be a member or a viewer there. A payload
 * without such values is returned unchanged.
 */
export function hideSecrets(payload: string): string {
  let hidden = false;

  function hide(name: string, value: unknown): unknown {
    if (!secrets.has(name) || typeof value !== 'string') return value;
    hidden = true;
    return '(hidden)';
  }

  try {
    const shown = JSON.stringify(JSON.parse(payload, hide), null, 2);
    return hidden ? shown : payload;
  } catch {
    return payload;
  }
}
