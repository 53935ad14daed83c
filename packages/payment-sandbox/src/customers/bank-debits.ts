import type { Outcome, TestMethod } from './test-method.ts';

const names = { sepa_debit: 'SEPA debit', bacs_debit: 'Bacs debit', us_bank_account: 'ACH debit' };

/** Bank accounts whose payments end days later, one that pays and one that bounces for each kind of debit. */
export const bankDebits: readonly TestMethod[] = [
  debit('sepa_debit', 'eur', 'DE89370400440532013000', 'clears', 'pm_sandbox_sepaDebit'),
  debit('sepa_debit', 'eur', 'DE62370400440532013001', 'bounces', 'pm_sandbox_sepaDebit_bounces'),
  debit('bacs_debit', 'gbp', '00012345', 'clears', 'pm_sandbox_bacsDebit'),
  debit('bacs_debit', 'gbp', '33333335', 'bounces', 'pm_sandbox_bacsDebit_bounces'),
  debit('us_bank_account', 'usd', '000123456789', 'clears', 'pm_sandbox_usBankAccount'),
  debit('us_bank_account', 'usd', '000222222227', 'bounces', 'pm_sandbox_usBankAccount_bounces'),
];

function debit(type: keyof typeof names, currency: string, number: string, result: Outcome, token: string): TestMethod {
  const ends = result === 'clears' ? 'pays five days later' : 'bounces five days later';
  const about = `${names[type]}, ${ends}`;
  return { type, currency, number, about, saved: 'works', onSession: result, offSession: result, token };
}
