import { ParameterError } from './api-error.ts';

/** A form-encoded value whose bracketed keys have been parsed: text, a list, or a hash. */
export type Field = string | Field[] | { [name: string]: Field };

const maxDepth = 12;

/**
 * Parses `items[0][price]=x&expand[]=y&metadata[k]=v`. A hash whose keys are all numbers is a list.
 *
 * @throws ParameterError if a key is malformed or nested more than twelve levels deep.
 */
export function readFields(encoded: string): Record<string, Field> {
  const root: Branch = new Map();
  for (const [key, value] of new URLSearchParams(encoded)) put(root, pathOf(key), value);
  return toHash(root);
}

type Branch = Map<string, Branch | string>;

function pathOf(key: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key);
  if (!match) throw new ParameterError(400, `Invalid parameter name: ${key}`, { param: key });
  const path = [match[1] as string, ...[...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map((part) => part[1] ?? '')];
  if (path.length > maxDepth)
    throw new ParameterError(400, `Parameter is nested too deeply: ${path[0]}`, { param: path[0] ?? '' });
  return path;
}

function put(branch: Branch, path: string[], value: string): void {
  const [first = '', ...rest] = path;
  const name = first === '' ? String(branch.size) : first;
  const next = branch.get(name);
  if (rest.length === 0) {
    branch.set(name, value);
  } else if (next instanceof Map) {
    put(next, rest, value);
  } else {
    const fresh: Branch = new Map();
    branch.set(name, fresh);
    put(fresh, rest, value);
  }
}

function toField(value: Branch | string): Field {
  if (typeof value === 'string') return value;
  const names = [...value.keys()];
  if (names.every((name) => /^\d{1,4}$/.test(name))) {
    return names.sort((one, other) => Number(one) - Number(other)).map((name) => toField(value.get(name) ?? ''));
  }
  return toHash(value);
}

function toHash(branch: Branch): Record<string, Field> {
  // Without a prototype, so that a key called __proto__ is an ordinary key.
  const hash: Record<string, Field> = Object.create(null);
  for (const [name, value] of branch) hash[name] = toField(value);
  return hash;
}
