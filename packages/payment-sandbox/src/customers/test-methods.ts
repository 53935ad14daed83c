import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { PaymentMethod } from '../provider/records.ts';
import { bankDebits } from './bank-debits.ts';
import { cards } from './cards.ts';
import type { TestMethod } from './test-method.ts';

const testMethods = [...cards, ...bankDebits];

/** Returns the test card or bank account with this number; spaces and hyphens are ignored. */
export function findTestMethod(number: string): TestMethod | undefined {
  const plain = number.replace(/[\s-]/g, '');
  return testMethods.find((method) => method.number === plain);
}

/** Returns the test card or bank account with this id of a payment method, such as pm_card_visa. */
export function testMethodByToken(token: string): TestMethod | undefined {
  return testMethods.find((method) => method.token === token);
}

/** Returns the test card or bank account of a saved payment method. */
export function testMethodOf(saved: PaymentMethod | undefined): TestMethod | undefined {
  return testMethods.find((method) => method.type === saved?.type && method.number.endsWith(last4Of(saved) ?? 'none'));
}

/** Returns those that can pay this currency, in the order of the pages. */
export function testMethodsFor(currency: string, types?: string[] | null): TestMethod[] {
  return testMethods.filter(
    (method) => (method.currency ?? currency) === currency && (types ?? [method.type]).includes(method.type),
  );
}

/** Returns the last four digits of a saved payment method. */
export function last4Of(method: PaymentMethod | undefined): string | null {
  return (method?.card ?? method?.sepa_debit ?? method?.bacs_debit ?? method?.us_bank_account)?.last4 ?? null;
}

/** Saves a test card or bank account as a payment method, attached to the customer if there is one. */
export function saveTestMethod(provider: Provider, method: TestMethod, customer: string | null): PaymentMethod {
  const saved: PaymentMethod = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'always',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    created: now(provider),
    customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: method.type,
    ...detailsOf(method),
  };
  provider.state.payment_methods[saved.id] = saved;
  return saved;
}

function detailsOf({ type, number }: TestMethod): Partial<PaymentMethod> {
  const last4 = number.slice(-4);
  const fingerprint = `sandbox${last4}`;
  if (type === 'sepa_debit') {
    const bank = { bank_code: number.slice(4, 12), branch_code: null, country: number.slice(0, 2) };
    return { sepa_debit: { ...bank, fingerprint, generated_from: null, last4 } };
  }
  if (type === 'bacs_debit') return { bacs_debit: { fingerprint, last4, sort_code: '108800' } };
  if (type === 'us_bank_account') return { us_bank_account: usBankAccount(fingerprint, last4) };
  return { card: cardDetails(fingerprint, last4) };
}

function usBankAccount(fingerprint: string, last4: string): NonNullable<PaymentMethod['us_bank_account']> {
  return {
    account_holder_type: 'company',
    account_type: 'checking',
    bank_name: 'SANDBOX BANK',
    financial_connections_account: null,
    fingerprint,
    last4,
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: null,
  };
}

function cardDetails(fingerprint: string, last4: string): NonNullable<PaymentMethod['card']> {
  return {
    brand: 'visa',
    checks: null,
    country: 'GB',
    display_brand: 'visa',
    exp_month: 12,
    exp_year: 2040,
    fingerprint,
    funding: 'credit',
    generated_from: null,
    last4,
    networks: { available: ['visa'], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}
