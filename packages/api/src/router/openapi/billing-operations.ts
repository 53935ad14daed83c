import { z } from 'zod';
import type { Operation } from './operation.ts';

const organisationId = z
  .uuid()
  .optional()
  .describe('The organisation that the caller means. Another one than that of the session answers 404.');

const billingErrors: Operation['errors'] = [
  'BILLING_UNAVAILABLE',
  'NO_ORGANISATION',
  'NOT_FOUND',
  'TOO_MANY',
  'PROVIDER_UNAVAILABLE',
];

function action(name: string, about: Pick<Operation, 'summary' | 'answer'> & Partial<Operation>): Operation {
  return {
    method: 'post',
    path: `/api/billing/${name}`,
    procedure: `billing.${name}`,
    id: `billing.${name}`,
    tag: 'Billing',
    access: ['session'],
    scope: 'ADMIN',
    description: 'A user has 100 billing actions in ten minutes and an organisation 200, all four together.',
    body: z.object({ organisation_id: organisationId }),
    errors: billingErrors,
    ...about,
  };
}

export const billingOperations: Operation[] = [
  {
    method: 'get',
    path: '/api/subscription',
    procedure: 'subscription.read',
    id: 'subscription.read',
    tag: 'Billing',
    summary: 'Read the plan, the usage, the features and the prices',
    access: ['session'],
    scope: 'READ',
    answer: 'Subscription',
    errors: ['NO_ORGANISATION'],
  },
  action('checkout', {
    summary: "Open the payment provider's checkout",
    body: z.object({
      tier: z.string().describe('The identifier of a paid tier: silver or gold, or those of PLANS_FILE.'),
      organisation_id: organisationId,
    }),
    answer: 'Address',
  }),
  action('portal', { summary: "Open the payment provider's customer portal", answer: 'Address' }),
  action('cancel', {
    summary: 'Schedule the end of the paid plan at the end of the paid period',
    answer: 'SubscriptionRecord',
  }),
  action('resume', { summary: 'Remove a scheduled end of the paid plan', answer: 'SubscriptionRecord' }),
  {
    method: 'post',
    path: '/webhooks/payment',
    procedure: null,
    id: 'webhooks.payment',
    tag: 'Billing',
    summary: 'Receive a signed event of the payment provider',
    access: ['public'],
    headers: z.object({
      'Payment-Signature': z.string().optional().describe('The signature of the raw body. Without a valid one: 400.'),
    }),
    body: z.looseObject({ id: z.string(), type: z.string() }).describe('An event of the payment provider.'),
    answer: 'EventReceived',
    errors: [],
  },
];
