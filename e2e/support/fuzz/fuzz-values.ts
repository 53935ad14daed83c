import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { passPhrase } from '../people.ts';

// Also unpaired surrogates. fast-check builds its table for the unit "binary" in more than a second.
export const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point));

const text = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.constantFrom('', '\u0000', 'a\u0000b', '\ud800', '💥'.repeat(300)),
);
const field = fc.oneof(
  text,
  fc.jsonValue(),
  fc.uuid(),
  fc.array(fc.uuid(), { maxLength: 3 }),
  fc.constantFrom('person@company.example', 'silver', 1e308, -0, null, true),
);
export const nested = fc
  .record({
    open: fc.constantFrom('{"email":', '{"password":', '{"id":[', '{"a":{"b":'),
    levels: fc.integer({ min: 1, max: 5000 }),
  })
  .map(({ open, levels }) => {
    const close = [...open.matchAll(/[{[]/g)].map(([bracket]) => (bracket === '{' ? '}' : ']')).reverse();
    return `${open.repeat(levels)}1${close.join('').repeat(levels)}`;
  });
const junk = fc.oneof(fc.json(), text, nested, fc.constantFrom('{"email":', '[]', '""', 'null', '{"a":'.repeat(3000)));

/** Generates request bodies: mostly objects with the given fields, and arbitrary text. */
export function bodyWith(fields: string[]): fc.Arbitrary<string> {
  const names = [...fields, '__proto__', 'constructor'];
  const whole = fc.record(Object.fromEntries(fields.map((name) => [name, field])));
  const partial = fc.record(Object.fromEntries(names.map((name) => [name, field])), { requiredKeys: [] });
  return fc.oneof(
    { weight: 3, arbitrary: whole.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: partial.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: junk },
  );
}

const hostile = ['', '\u0000', 'a\u0000b', '\ud800', 'x'.repeat(3000), 7, null, true, [], {}, ['\u0000'], [null]];

/** Values that pass validation, so that the field beside them is validated too. */
const plausible: Record<string, unknown> = {
  email: 'person@company.example',
  password: passPhrase,
  current_password: passPhrase.toUpperCase(),
  tier: 'silver',
  meter: 'projects',
  amount: 1,
  used: 1,
  at: '2026-11-22T00:00:00Z',
  records: [{ organisation: 'unknown', meter: 'api_calls', amount: 1, idempotency_key: 'k' }],
  organisation_ids: [randomUUID()],
};

/** Returns bodies that have each hostile value in each field in turn, beside plausible values. */
export function eachField(fields: string[]): string[] {
  const others = Object.fromEntries(fields.map((name) => [name, plausible[name] ?? randomUUID()]));
  return fields.flatMap((name) => hostile.map((value) => JSON.stringify({ ...others, [name]: value })));
}
