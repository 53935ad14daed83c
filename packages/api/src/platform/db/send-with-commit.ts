import type { Database, Transaction } from './client.ts';

/**
 * Takes a transaction's last statement, which its caller has begun to run, and resolves when the statement is sent.
 * Its answer is not awaited: COMMIT follows in the same write.
 */
export type SendLast = (statement: Promise<unknown>) => Promise<void>;

/** For a statement that others follow. */
export const awaitAnswer: SendLast = async (statement) => void (await statement);

/**
 * Runs a transaction that may send its last statement and COMMIT together, which saves a round trip while the rows
 * are locked. PostgreSQL answers COMMIT with a rollback if that statement fails, and this function rejects with the
 * statement's error. `work` must not decide by the statement's answer.
 */
export async function transactSendingLast<Result>(
  db: Database,
  work: (tx: Transaction, sendLast: SendLast) => Promise<Result>,
): Promise<Result> {
  let last: Promise<unknown> | undefined;
  const result = await db.transaction((tx) =>
    work(tx, async (statement) => {
      last = statement;
      const errorsBeforeSending: unknown[] = [];
      statement.catch((error) => errorsBeforeSending.push(error));
      await allMicrotasks();
      if (errorsBeforeSending.length > 0) throw errorsBeforeSending[0];
    }),
  );
  await last;
  return result;
}

/** The driver passes a statement to its connection in microtasks, and Node runs all of them before the next tick. */
function allMicrotasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
