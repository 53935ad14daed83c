import { appRouter } from '../router/root.ts';

type Parse = (input: unknown) => unknown;

/** The paths of all procedures of the router. */
export const procedures = Object.keys(appRouter._def.procedures);

/** Whether a procedure is a mutation, which is called by POST. */
export function isMutation(path: string): boolean {
  return definitionOf(path).type === 'mutation';
}

/** Returns the names of the input fields that a procedure's parsers read. */
export function fieldsOf(path: string): string[] {
  const read = new Set<string>();
  const asked = new Proxy(
    {},
    {
      get(_, name) {
        if (typeof name === 'string' && !(name in Object.prototype)) read.add(name);
        return undefined;
      },
    },
  );
  for (const input of definitionOf(path).inputs) {
    const parse = typeof input === 'function' ? input : input.parse;
    try {
      parse(asked);
    } catch {
      // The missing fields are no error here: only their names are recorded.
    }
  }
  return [...read];
}

function definitionOf(path: string): { type: string; inputs: (Parse | { parse: Parse })[] } {
  const procedure = (appRouter._def.procedures as unknown as Record<string, { _def: unknown }>)[path];
  if (procedure === undefined) throw new Error(`There is no procedure ${path}.`);
  return procedure._def as { type: string; inputs: (Parse | { parse: Parse })[] };
}
