import type Stripe from 'stripe';
import { missingParameter, ParameterError } from './api-error.ts';
import type { Field } from './form-fields.ts';

/**
 * The allowed values of a parameter. `text` accepts '' to clear the value, `string` does not.
 * `unsupported` is refused: the real provider knows the parameter, and ignoring it would hide a
 * difference. There is no rule that accepts a parameter and ignores it.
 */
export type Rule =
  | 'string'
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'metadata'
  | 'unsupported'
  | { one: readonly string[] }
  | { list: Rule }
  /** A hash with any names. */
  | { each: Rule }
  | { hash: Record<string, Rule>; required?: readonly string[] }
  | { either: readonly Rule[] };

/** A rule for every parameter of the SDK's type. A missing one does not compile. */
export type Rules<P> = { [K in Exclude<keyof P, 'expand'>]-?: Rule };

const maxCharacters = 5000;

/**
 * Checks and converts the parameters of a request.
 *
 * @throws ParameterError with the code and sentence of the real provider, for the first wrong one.
 */
export function readParameters(
  fields: Record<string, Field>,
  rules: Record<string, Rule>,
  required: readonly string[] = [],
  path = '',
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(rules, name));
  if (unknown.length > 0) throw unknownParameter(unknown.map((name) => join(path, name)));
  for (const [name, field] of Object.entries(fields)) {
    const rule = rules[name] as Rule;
    values[name] = read(field, rule, join(path, name));
  }
  for (const name of required) {
    if (values[name] === undefined) throw missingParameter(join(path, name));
  }
  return values;
}

function unknownParameter(names: string[]): ParameterError {
  const message =
    names.length === 1 ? `Received unknown parameter: ${names[0]}` : `Received unknown parameters: ${names.join(', ')}`;
  return new ParameterError(400, message, { code: 'parameter_unknown', param: names[0] ?? '' });
}

function read(field: Field, rule: Rule, param: string): unknown {
  if (rule === 'unsupported') {
    throw new ParameterError(400, `The sandbox does not support the parameter ${param}; the real provider does.`, {
      code: 'sandbox_unsupported',
      param,
    });
  }
  if (rule === 'metadata') return readMetadata(field, param);
  if (typeof rule === 'object') return readNested(field, rule, param);
  if (typeof field !== 'string') throw wrong('string', shown(field), param);
  if (rule === 'boolean') return readBoolean(field, param);
  if (rule === 'integer' || rule === 'number') return readNumber(field, rule, param);
  if (field.length > maxCharacters)
    throw new ParameterError(400, `Invalid string: ${param} must be at most ${maxCharacters} characters`, { param });
  if (rule === 'string' && field === '') throw emptyParameter(param);
  return field;
}

function readNested(field: Field, rule: Exclude<Rule, string>, param: string): unknown {
  if ('either' in rule) return readEither(field, rule.either, param);
  if ('one' in rule) {
    if (typeof field === 'string' && rule.one.includes(field)) return field;
    throw new ParameterError(400, `Invalid ${param}: must be one of ${rule.one.join(', ')}`, { param });
  }
  if ('list' in rule) {
    // The SDK encodes an empty list as an empty string.
    if (field === '') return [];
    if (!Array.isArray(field)) throw wrong('array', shown(field), param);
    return field.map((value, index) => read(value, rule.list, `${param}[${index}]`));
  }
  if (typeof field === 'string' || Array.isArray(field)) throw wrong('object', shown(field), param);
  if ('each' in rule) {
    return Object.fromEntries(
      Object.entries(field).map(([name, value]) => [name, read(value, rule.each, join(param, name))]),
    );
  }
  return readParameters(field, rule.hash, rule.required, param);
}

function readEither(field: Field, rules: readonly Rule[], param: string): unknown {
  let last: unknown;
  for (const rule of rules) {
    try {
      return read(field, rule, param);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function readBoolean(field: string, param: string): boolean {
  if (field === 'true') return true;
  if (field === 'false') return false;
  throw new ParameterError(400, `Invalid boolean: ${field}`, { param });
}

function readNumber(field: string, rule: 'integer' | 'number', param: string): number {
  if (field === '') throw emptyParameter(param);
  const pattern = rule === 'integer' ? /^-?\d{1,15}$/ : /^-?\d{1,12}(\.\d{1,12})?$/;
  if (pattern.test(field)) return Number(field);
  throw new ParameterError(400, `Invalid integer: ${field}`, { code: 'parameter_invalid_integer', param });
}

/** Reads metadata. The value '' removes a key, and '' in place of the hash removes all. */
function readMetadata(field: Field, param: string): Record<string, string> | '' {
  if (field === '') return '';
  if (typeof field === 'string') throw wrong('object', field, param);
  const entries = Object.entries(field);
  if (entries.length > 50) throw new ParameterError(400, 'You cannot have more than 50 metadata keys.', { param });
  for (const [name, value] of entries) {
    if (typeof value !== 'string' || value.length > 500 || name.length > 40) {
      throw new ParameterError(400, 'Metadata keys are at most 40 characters and values at most 500.', {
        param: `${param}[${name}]`,
      });
    }
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Returns the error for '' as the value of a parameter that cannot be cleared. */
export function emptyParameter(param: string): ParameterError {
  return new ParameterError(
    400,
    `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a parameter; however '${param}' cannot be unset. You should remove '${param}' from your request or supply a non-empty value.`,
    { code: 'parameter_invalid_empty', param },
  );
}

/** Returns a field as text. A hash becomes JSON, because String() throws for one without a prototype. */
function shown(field: Field): string {
  return typeof field === 'string' ? field : JSON.stringify(field);
}

function wrong(kind: string, value: string, param: string): ParameterError {
  return new ParameterError(400, `Invalid ${kind}: ${value}`, { param });
}

function join(path: string, name: string): string {
  return path ? `${path}[${name}]` : name;
}

/** Returns the metadata after an update: keys are merged, '' removes one, and '' in place of the hash removes all. */
export function mergeMetadata(
  current: Record<string, string> | null,
  changes: Stripe.MetadataParam | '' | null | undefined,
): Record<string, string> {
  if (changes === '' || changes === null) return {};
  const merged = Object.entries({ ...current, ...changes }).map(([name, value]) => [name, String(value ?? '')]);
  return Object.fromEntries(merged.filter(([, value]) => value !== ''));
}

export const rangeRule: Rule = {
  either: ['integer', { hash: { gt: 'integer', gte: 'integer', lt: 'integer', lte: 'integer' } }],
};

export const pageRules = { limit: 'integer', starting_after: 'string', ending_before: 'string' } as const;
