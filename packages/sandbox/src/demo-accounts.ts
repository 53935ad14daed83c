import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DemoAccount {
  email: string;
  password: string;
  note: string;
}

/** Reads the accounts that `npm start` created. The list is empty while the file is missing or is not valid. */
export function readDemoAccounts(dataDir: string | null): DemoAccount[] {
  if (dataDir === null) return [];
  try {
    const accounts: unknown = JSON.parse(readFileSync(join(dataDir, 'demo-accounts.json'), 'utf8'));
    return Array.isArray(accounts)
      ? accounts.filter(isAccount).map((account) => ({ ...account, note: account.note ?? '' }))
      : [];
  } catch {
    return [];
  }
}

function isAccount(value: unknown): value is DemoAccount {
  const account = value as Partial<DemoAccount> | null;
  return typeof account?.email === 'string' && typeof account.password === 'string';
}
