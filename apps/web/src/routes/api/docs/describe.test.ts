import { openApiDocument } from '@gatehouse/api/router/openapi/document';
import { expect, it } from 'vitest';
import { describe, fieldsOf } from './describe.ts';

const document = openApiDocument({ version: '0.2.0', publicBaseUrl: null, service: { name: 'Gatehouse' } });

it('shows every operation of the document once', () => {
  const shown = describe(document).flatMap(({ operations }) =>
    operations.map(({ method, path }) => `${method} ${path}`),
  );
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(shown.sort()).toEqual(documented.sort());
});

it('shows the answer of what creates something, and no success among the errors', () => {
  const operations = describe(document).flatMap(({ operations }) => operations);
  const creates = operations.find(({ method, path }) => method === 'POST' && path === '/api/users');
  expect(creates?.answer.map(({ name }) => name)).toContain('id');
  expect(operations.flatMap(({ errors }) => errors).filter(({ status }) => status < '300')).toEqual([]);
});

it('names the fields of inner objects and lists by their path', () => {
  const subscription = describe(document)
    .flatMap(({ operations }) => operations)
    .find(({ id }) => id === 'subscription.read');
  const names = subscription?.answer.map(({ name }) => name);
  expect(names).toContain('plan.tier');
  expect(names).toContain('usage[].resets_at');
  expect(names).toContain('tiers[].price.amount');
});

it('describes the type of a field in words', () => {
  const properties = {
    at: { type: 'string', format: 'date-time' },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    role: { type: 'string', enum: ['owner', 'admin'] },
    tags: { type: 'array', items: { type: 'string' } },
  };
  const types = fieldsOf({ type: 'object', properties }).map(({ type }) => type);
  expect(types).toEqual(['time', 'integer or null', 'owner | admin', 'list of string']);
});
