import { z } from 'zod';
import { type ErrorCode, errorCodes } from '../../platform/errors.ts';
import { type Endpoint, tags } from '../endpoint.ts';
import { endpoints } from '../endpoints.ts';
import { answers, error } from './answers.ts';
import { examples } from './examples.ts';

export type JsonSchema = { [key: string]: unknown };

export type DocumentedOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: JsonSchema;
    example?: unknown;
  }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content: Content }>;
};

type Content = { 'application/json': { schema: JsonSchema; example?: unknown } };

export type OpenApiDocument = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
};

type DeploymentInfo = { version: string; publicBaseUrl: string | null; service: { name: string } };

/** Returns the OpenAPI 3.1 document of this deployment, built from the schemas that check its requests. */
export function openApiDocument({ version, publicBaseUrl, service }: DeploymentInfo): OpenApiDocument {
  const { paths, schemas } = describedOperations();

  return {
    openapi: '3.1.0',
    info: {
      title: `${service.name} API`,
      version,
      description:
        'JSON endpoints for browsers, reverse proxies and services. An error is a sentence in `error` for people, and a `code` for programs; `fields` names invalid fields. Later versions may add fields to an answer. What is not in this document is internal and changes without notice: /api/trpc, which serves the pages and the tests of this service, too.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicBaseUrl ?? '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      securitySchemes: securitySchemes(publicBaseUrl),
    },
  };
}

let described: { paths: OpenApiDocument['paths']; schemas: Record<string, JsonSchema> } | undefined;

/** Returns the part that is the same for every deployment. Cached, because the conversion is slow and the endpoint public. */
function describedOperations() {
  if (described !== undefined) return described;
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of endpoints) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: documented(operation) };
  }
  const schemas: Record<string, JsonSchema> = { Error: schemaOf(error, 'output') };
  for (const [name, schema] of Object.entries(answers)) schemas[name] = schemaOf(schema, 'output');
  for (const { id, body } of endpoints) if (body !== undefined) schemas[requestName(id)] = schemaOf(body, 'input');
  described = { paths, schemas };
  return described;
}

/** The name of an operation's body: UsageReserveRequest. */
function requestName(id: string): string {
  const words = id.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Request`;
}

function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function securitySchemes(publicBaseUrl: string | null): Record<string, JsonSchema> {
  const name = publicBaseUrl?.startsWith('http:') ? 'session' : '__Host-session';
  return {
    session: { type: 'apiKey', in: 'cookie', name, description: 'The cookie that sign-in sets.' },
    shared: {
      type: 'apiKey',
      in: 'cookie',
      name: '__Secure-gatehouse',
      description: 'The cookie for products on sibling hosts, where COOKIE_DOMAIN is set. They forward it.',
    },
    key: { type: 'http', scheme: 'bearer', description: 'An API key: gh_live_…, or gh_test_… on loopback.' },
  };
}

function documented(operation: Endpoint): DocumentedOperation {
  const { id, tag, summary, scope, access, body } = operation;
  const needs = scope === undefined ? undefined : `Needs the scope ${scope}.`;
  const description = [operation.description, needs].filter((each) => each !== undefined).join(' ');
  const example = examples[id];
  const parameters = [
    ...parametersOf('path', operation.pathParameters, example?.path),
    ...parametersOf('query', operation.query, example?.query),
    ...parametersOf('header', operation.headers),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: access.map((each): Record<string, string[]> => (each === 'public' ? {} : { [each]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: reference(requestName(id)), example: example?.body } },
      },
    }),
    responses: responsesOf(operation, example?.answer),
  };
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  schema: z.ZodObject | undefined,
  examples: Record<string, string> = {},
) {
  if (schema === undefined) return [];
  const { properties, required = [] } = schemaOf(schema, 'input') as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...each }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(typeof description === 'string' && { description }),
    schema: each,
    ...(examples[name] !== undefined && { example: examples[name] }),
  }));
}

function responsesOf(
  { answer, answerHeaders, status: created, ...operation }: Endpoint,
  example: object | undefined,
): DocumentedOperation['responses'] {
  const headers = Object.entries(answerHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const responses: DocumentedOperation['responses'] = {
    [created ?? 200]: {
      description: created ? 'Created.' : 'Done.',
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
      content: { 'application/json': { schema: reference(answer), example } },
    },
  };
  for (const [status, codes] of byStatus(errorsOf(operation))) {
    responses[status] = {
      description: `${codes.join(', ')}.`,
      ...(['429', '503'].includes(status) && {
        headers: { 'Retry-After': { description: 'In seconds.', schema: { type: 'integer' } } },
      }),
      content: { 'application/json': { schema: reference('Error') } },
    };
  }
  return responses;
}

/** The codes of an operation: its own, and those of every operation of its kind. */
function errorsOf({ method, access, body, errors }: Pick<Endpoint, 'method' | 'access' | 'body' | 'errors'>) {
  const codes = new Set<ErrorCode>(errors);
  if (!access.includes('public')) {
    for (const code of ['UNAUTHENTICATED', 'SECOND_FACTOR_REQUIRED', 'AWAITING_APPROVAL'] as const) codes.add(code);
    for (const code of ['SECOND_FACTOR_SETUP', 'FORBIDDEN'] as const) codes.add(code);
  }
  if (access.includes('key')) codes.add('TOO_MANY');
  if (method !== 'get') codes.add('FOREIGN_ORIGIN');
  if (body !== undefined) for (const code of ['VALIDATION', 'TOO_LARGE', 'NOT_JSON'] as const) codes.add(code);
  return [...codes, 'INTERNAL' as const, 'BUSY' as const];
}

function byStatus(codes: ErrorCode[]): [status: string, codes: ErrorCode[]][] {
  const groups = new Map<string, ErrorCode[]>();
  for (const code of codes) {
    const status = String(errorCodes[code].status);
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return [...groups].sort(([one], [other]) => Number(one) - Number(other));
}

/** A schema as JSON Schema. Answers stay open, because later versions may add fields. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...written } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return written;
}
