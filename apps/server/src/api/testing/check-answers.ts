import type { DocumentedOperation, JsonSchema, OpenApiDocument } from '@gatehouse/api/router/openapi/document';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** An operation of a document with its method and path. */
export type ListedOperation = DocumentedOperation & { method: string; path: string };

export function operationsOf(document: OpenApiDocument): ListedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
}

/**
 * Returns what is wrong with an answer by the document, or null. An answer may hold only what its schema
 * names, although the document leaves objects open for later versions.
 */
export function answerChecker(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const schemas = closed(document.components.schemas) as Record<string, JsonSchema>;
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, `#/components/schemas/${name}`);
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

  function problemOf(operation: ListedOperation, status: number, body: unknown): string | null {
    const documented = operation.responses[status];
    if (documented === undefined) return `The document has no status ${status}: ${JSON.stringify(body)}`;
    const code = (body as { code?: string } | null)?.code;
    if (status >= 400 && !documented.description.split(/[, .]+/).includes(code ?? ''))
      return `The document does not name ${code} for ${status}: ${JSON.stringify(body)}`;
    const name = `${operation.operationId} ${status}`;
    const check = compiled.get(name) ?? ajv.compile(closed(documented.content['application/json'].schema) as object);
    compiled.set(name, check);
    return check(body) ? null : `${JSON.stringify(body)}: ${ajv.errorsText(check.errors)}`;
  }

  /** The same for any value and schema of the document. */
  problemOf.of = (schema: JsonSchema, value: unknown): string | null => {
    const check = ajv.compile(closed(schema) as object);
    return check(value) ? null : `${JSON.stringify(value)}: ${ajv.errorsText(check.errors)}`;
  };
  return problemOf;
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isObject = 'properties' in inner && !('additionalProperties' in inner);
  return isObject ? { ...inner, additionalProperties: false } : inner;
}
