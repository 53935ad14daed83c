import { type Fields, fields } from '../../platform/providers/untrusted-json.ts';

/** The properties of the provider's objects that name objects and states. Everything else in text is removed. */
const kept = new Set([
  'api_version',
  'billing_reason',
  'client_reference_id',
  'collection_method',
  'currency',
  'customer',
  'id',
  'interval',
  'invoice',
  'latest_invoice',
  'lookup_key',
  'mode',
  'object',
  'payment_status',
  'plan',
  'price',
  'product',
  'schedule',
  'status',
  'subscription',
  'type',
]);
/** The members of metadata that this service writes. The others are the company's or the customer's. */
const keptMetadata = new Set(['organisation', 'tier']);

/** The form of ids, states and lookup keys. Addresses and texts of several words do not match. */
const nameForm = /^[\w.:-]{1,255}$/;

/** Opens an invoice's page, which an administrator needs until the invoice is settled. */
const invoicePage = 'hosted_invoice_url';

/**
 * Returns a function that removes all texts from payloads but ids and states: what is left decides
 * the same subscriptions. Equal texts are replaced by equal marks in all payloads that one function
 * gets, so that the projection finds the same order among the events of one second
 * (projection.ts compares their states). The marks reveal nothing about the texts. A payload that is
 * not JSON becomes an empty object.
 */
export function createStripper(key: string): (payload: string, options?: { keepsInvoicePage?: boolean }) => string {
  const marks = new Map<string, string>();

  function markOf(text: string): string {
    if (text.startsWith('(removed ')) return text;
    const mark = marks.get(text) ?? `(removed ${key}-${marks.size + 1})`;
    marks.set(text, mark);
    return mark;
  }

  return (payload, { keepsInvoicePage = false } = {}) => {
    function strip(value: unknown, name: string, allowed: Set<string>): unknown {
      if (Array.isArray(value)) return value.map((each) => strip(each, name, allowed));
      const object = fields(value);
      if (object !== null) return stripMembers(object, name === 'metadata' ? keptMetadata : kept);
      if (typeof value !== 'string' || (allowed.has(name) && nameForm.test(value))) return value;
      return keepsInvoicePage && name === invoicePage ? value : markOf(value);
    }

    function stripMembers(object: Fields, allowed: Set<string>): Fields {
      return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, strip(value, name, allowed)]));
    }

    try {
      return JSON.stringify(strip(JSON.parse(payload), '', kept));
    } catch {
      return '{}';
    }
  };
}
