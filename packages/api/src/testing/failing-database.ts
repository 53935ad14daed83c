import type { App } from '../app.ts';

/**
 * Returns the App with a database that fails at the n-th step of its transactions. The commit is the
 * last step.
 */
export function failingAt(app: App, n: number): App {
  let count = 0;
  function step(): void {
    if (++count === n) throw new Error('The database went away.');
  }
  function failing<Some extends object>(target: Some): Some {
    return new Proxy(target, {
      get(object, name) {
        const member = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        if (!['select', 'insert', 'update', 'delete', 'execute'].includes(String(name))) return member.bind(object);
        return (...input: unknown[]) => {
          step();
          return member.apply(object, input);
        };
      },
    });
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
