import { createInterface } from 'node:readline/promises';
import type { App } from '@gatehouse/api/app';
import { forgetPayments as forget, readStoredPayments } from '@gatehouse/api/operators/forget-payments';
import { AppError } from '@gatehouse/api/platform/errors';

/**
 * Prints what is stored of the payment provider, asks for the mode's name, and removes it.
 *
 * @throws AppError VALIDATION without a terminal and without `--mode`.
 */
export async function forgetPayments(app: App, mode: string, evenEntitled: boolean): Promise<string> {
  const stored = await readStoredPayments(app);
  const { customers, subscriptions, events, entitledIds } = stored;
  process.stderr.write(
    `This removes what the database holds of ${stored.mode} mode: customers ${customers}, subscriptions ${subscriptions}, events ${events}.\n`,
  );
  if (evenEntitled && entitledIds.length > 0) {
    process.stderr.write(`These subscriptions give a plan and go on charging: ${entitledIds.join(', ')}.\n`);
  }

  const named = mode === '' ? await askForMode(stored.mode) : mode;
  await forget(app, { mode: named, evenEntitled });
  return 'Removed. The next start with a key decides the mode of this database.';
}

async function askForMode(mode: string): Promise<string> {
  if (!process.stdin.isTTY) throw new AppError('VALIDATION', `Without a terminal, confirm by --mode ${mode}.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`Type the name of the mode (${mode}) to go on: `)).trim();
  } finally {
    terminal.close();
  }
}
