import type { JsonSchema } from '@gatehouse/api/router/openapi/document';
import fc from 'fast-check';

/** Values that a program sends by mistake or maliciously. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000', 'a\u0000b', '\ud800', 'x'.repeat(3000), 1e308, -0, -1, 0.5, null, true, [], {}, [null]),
);

/** Values by a JSON schema, and in one of five places a value that does not fit it. */
export function fromSchema(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 4, arbitrary: fitting(schema) }, { weight: 1, arbitrary: hostile });
}

function fitting(schema: JsonSchema): fc.Arbitrary<unknown> {
  const {
    type,
    properties,
    items,
    anyOf,
    enum: choices,
    format,
  } = schema as {
    type?: string;
    properties?: Record<string, JsonSchema>;
    items?: JsonSchema;
    anyOf?: JsonSchema[];
    enum?: unknown[];
    format?: string;
  };
  if ('const' in schema) return fc.constant(schema.const);
  if (choices !== undefined) return fc.constantFrom(...choices);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(fitting));
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, each]) => [name, fromSchema(each)]);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (items !== undefined) return fc.array(fromSchema(items), { maxLength: 4 });
  if (type === 'integer' || type === 'number') return wholeNumber(schema);
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'object') return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  return fc.oneof(fc.string({ minLength: 1, maxLength: 130 }), fc.constantFrom(...plausible));
}

const plausible = [
  'person@company.example',
  'a long enough pass phrase',
  'silver',
  'api_calls',
  'projects',
  'members',
  '0',
];

function wholeNumber({ minimum = -10, maximum = 2_000_000_000 }: JsonSchema): fc.Arbitrary<unknown> {
  const [min, max] = [Number(minimum), Math.min(Number(maximum), Number.MAX_SAFE_INTEGER)];
  return fc.oneof(
    fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) }),
    fc.constantFrom(min, max),
  );
}
