import { accountOperations } from './account-operations.ts';
import { billingOperations } from './billing-operations.ts';
import type { Operation } from './operation.ts';
import { serviceOperations } from './service-operations.ts';
import { tokenOperations } from './token-operations.ts';

const ownOperations: Operation[] = [
  {
    method: 'get',
    path: '/api/openapi.json',
    procedure: 'service.openapi',
    id: 'service.openapi',
    tag: 'Service',
    summary: 'Read this document',
    access: ['public'],
    answer: 'OpenApi',
    errors: [],
  },
];

/** Every endpoint that answers in JSON, in the order of the document. */
export const operations: Operation[] = [
  ...accountOperations,
  ...billingOperations,
  ...serviceOperations,
  ...tokenOperations,
  ...ownOperations,
];
