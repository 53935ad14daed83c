import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';

/**
 * Returns the App with a database that fails at the n-th step of its transactions. The commit is the
 * last step.
 */
export function failingAt(app: App, n: number): App {
  let count = 0;
  function step(): void {
    if (++count === n) throw new Error('The database went away.');
  }
  /** The target with these methods counted as steps. */
  function counting<Some extends object>(target: Some, methods: string[], replaced: object = {}): Some {
    return new Proxy(target, {
      get(object, name) {
        if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
        const member = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        if (!methods.includes(String(name))) return member.bind(object);
        return (...input: unknown[]) => {
          step();
          return member.apply(object, input);
        };
      },
    });
  }
  /** Counts the statements that drizzle builds for the transaction, and the prepared ones that run on its client. */
  function failing(tx: Transaction): Transaction {
    const { session } = tx._ as unknown as { session: { client: object } };
    const client = counting(session.client, ['unsafe']);
    const prepared = { ...tx._, session: counting(session, [], { client }) };
    return counting(tx, ['select', 'insert', 'update', 'delete', 'execute'], { _: prepared });
  }
  const transaction: App['db']['transaction'] = (act, config) =>
    app.db.transaction(async (tx) => {
      const result = await act(failing(tx));
      step();
      return result;
    }, config);
  const db = new Proxy(app.db, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  });
  return { ...app, db };
}
