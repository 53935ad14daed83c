import { appRouter } from '../router/root.ts';

type Parse = (input: unknown) => unknown;

/** Every procedure of the router, by its path. */
export const procedures = Object.keys(appRouter._def.procedures);

/** Whether a procedure changes something, and so is asked by POST. */
export function isMutation(path: string): boolean {
  return definitionOf(path).type === 'mutation';
}

/** The fields that a procedure reads of what it is sent: whatever its parsers ask for. */
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
      // That the fields are missing is not what is asked here.
    }
  }
  return [...read];
}

function definitionOf(path: string): { type: string; inputs: (Parse | { parse: Parse })[] } {
  const procedure = (appRouter._def.procedures as unknown as Record<string, { _def: unknown }>)[path];
  if (procedure === undefined) throw new Error(`There is no procedure ${path}.`);
  return procedure._def as { type: string; inputs: (Parse | { parse: Parse })[] };
}
