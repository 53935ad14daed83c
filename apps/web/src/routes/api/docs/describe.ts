import type { DocumentedOperation, JsonSchema, OpenApiDocument } from '@gatehouse/api/router/openapi/document';

/** A field of a body or an answer: those of inner objects have names such as plan.tier and usage[].meter. */
export type Field = { name: string; type: string; required: boolean; description: string };

/** Who may call an operation. */
export type Access = 'public' | 'session' | 'shared' | 'key';

type ShownOperation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  access: Access[];
  parameters: Field[];
  body: Field[];
  answer: Field[];
  errors: { status: string; codes: string }[];
};

export type Group = { name: string; description: string; operations: ShownOperation[] };

/** Returns the document in the form that its page shows. */
export function describe(document: OpenApiDocument): Group[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: all
      .filter(({ operation }) => operation.tags.includes(name))
      .map((each) => describeOperation(document, each)),
  }));
}

type ListedOperation = { path: string; method: string; operation: DocumentedOperation };

function describeOperation(
  { components }: OpenApiDocument,
  { path, method, operation }: ListedOperation,
): ShownOperation {
  const { operationId, summary, description = '', security, parameters = [], requestBody, responses } = operation;
  const schemaOf = (schema: JsonSchema | undefined) =>
    components.schemas[String(schema?.$ref).replace('#/components/schemas/', '')] ?? schema ?? {};
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    access: security.map((each) => (Object.keys(each)[0] ?? 'public') as Access),
    parameters: parameters.map(({ name, in: location, required, description = '', schema }) => {
      return { name, type: `${typeOf(schema)}, ${location}`, required, description };
    }),
    body: fieldsOf(schemaOf(requestBody?.content['application/json'].schema)),
    answer: fieldsOf(schemaOf((responses[200] ?? responses[201])?.content['application/json'].schema)),
    errors: Object.entries(responses)
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, { description: codes }]) => ({ status, codes: codes.replace(/\.$/, '') })),
  };
}

/** Returns the fields of an object's schema, those of inner objects and lists too. */
export function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).flatMap(([name, each]) => {
    const path = `${prefix}${name}`;
    const description = String(each.description ?? '');
    const own = { name: path, type: typeOf(each), required: required.includes(name), description };
    const inner =
      (each.items as JsonSchema | undefined) ?? alternatives(each).find(({ properties }) => properties) ?? each;
    return [own, ...fieldsOf(inner, each.items ? `${path}[].` : `${path}.`)];
  });
}

function alternatives({ anyOf }: JsonSchema): JsonSchema[] {
  return Array.isArray(anyOf) ? anyOf : [];
}

function typeOf(schema: JsonSchema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.join(' | ');
  const choices = alternatives(schema);
  if (choices.length > 0) return choices.map(typeOf).join(' or ');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items as JsonSchema)}`;
  if (schema.format === 'date-time') return 'time';
  if (schema.format === 'uuid') return 'id';
  return typeof schema.type === 'string' ? schema.type : 'any';
}
