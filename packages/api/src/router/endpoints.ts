import { z } from 'zod';
import { freshSignInInput } from '../auth/password/fresh-sign-in.ts';
import { passwordSignInInput } from '../auth/sign-in/with-password.ts';
import { signUpInput } from '../auth/sign-up/sign-up.ts';
import { resendInput } from '../auth/verification/send-verification.ts';
import type { Endpoint } from './endpoint.ts';
import { factorEndpoints } from './factor-endpoints.ts';
import { managementEndpoints } from './management-endpoints.ts';
import { serviceEndpoints, tokenEndpoints } from './service-endpoints.ts';

/** What of the answer of `sessions.verify` becomes headers, for a reverse proxy in front of a product. */
type VerifiedSession = { user: { id: string }; organisation: { id: string } | null; scopes: string[] };

const accountEndpoints: Endpoint[] = [
  {
    method: 'post',
    path: '/api/signup',
    id: 'accounts.signUp',
    tag: 'Accounts',
    summary: 'Create an organisation and its owner',
    description:
      'Sends a verification link. Answers identically whether or not the address has an account, and starts no session.',
    access: ['public'],
    body: signUpInput,
    answer: 'SignUp',
    errors: ['TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/signup/resend',
    id: 'accounts.resend',
    tag: 'Accounts',
    summary: 'Send a fresh verification link',
    description: 'Answers identically whether or not the address has an account that can receive one.',
    access: ['public'],
    body: resendInput,
    answer: 'Done',
    errors: ['TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/login',
    id: 'signIn.withPassword',
    tag: 'Accounts',
    summary: 'Sign in with an address and a password',
    access: ['public'],
    body: passwordSignInInput,
    description:
      'A user with a second factor gets SECOND_FACTOR_REQUIRED and the cookie of the second step, unless the browser is trusted.',
    answer: 'Done',
    answerHeaders: { 'Set-Cookie': 'The session cookie.' },
    errors: ['UNAUTHENTICATED', 'SECOND_FACTOR_REQUIRED', 'FORBIDDEN', 'TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/fresh',
    id: 'signIn.again',
    tag: 'Accounts',
    summary: 'Confirm the user of the session',
    description:
      'The session is fresh for 15 minutes, has a new id and a new shared token; the old ones are void. What answers FRESH_SIGN_IN_REQUIRED works then.',
    access: ['session'],
    body: freshSignInInput,
    answer: 'Done',
    answerHeaders: { 'Set-Cookie': 'The session cookie.' },
    errors: ['UNAUTHENTICATED', 'TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/logout',
    id: 'signIn.out',
    tag: 'Accounts',
    summary: 'End the session',
    description:
      'By the session cookie, or by the shared cookie of a product. Also answers pages of RETURN_ORIGINS, whose scripts cannot read the answer.',
    access: ['public'],
    body: z.object({}),
    answer: 'Done',
    errors: [],
  },
  {
    method: 'get',
    path: '/api/session',
    id: 'sessions.verify',
    tag: 'Accounts',
    summary: 'Read the signed-in user, the organisation, the role and the scopes',
    description: 'For reverse proxies and for services of the company: they forward the cookies of their own request.',
    access: ['session', 'shared'],
    scope: 'READ',
    answer: 'Session',
    answerHeaders: {
      'X-Gatehouse-User': "The user's id.",
      'X-Gatehouse-Organisation': "The organisation's id.",
      'X-Gatehouse-Scopes': 'The scopes, separated by spaces.',
    },
    headersOf: ({ user, organisation, scopes }: VerifiedSession) => ({
      'x-gatehouse-user': user.id,
      ...(organisation && { 'x-gatehouse-organisation': organisation.id }),
      'x-gatehouse-scopes': scopes.join(' '),
    }),
    errors: [],
  },
];

const organisationId = z
  .uuid()
  .optional()
  .describe('The organisation that the caller means. Another one than that of the session answers 404.');

const billingErrors: Endpoint['errors'] = [
  'BILLING_UNAVAILABLE',
  'NO_ORGANISATION',
  'NOT_FOUND',
  'TOO_MANY',
  'PROVIDER_UNAVAILABLE',
];

function action(name: string, about: Pick<Endpoint, 'summary' | 'answer'> & Partial<Endpoint>): Endpoint {
  return {
    method: 'post',
    path: `/api/billing/${name}`,
    id: `billing.${name}`,
    tag: 'Billing',
    access: ['session'],
    scope: 'ADMIN',
    description: 'A user has 100 billing actions in ten minutes and an organisation 200, all five together.',
    body: z.object({ organisation_id: organisationId }),
    errors: billingErrors,
    ...about,
  };
}

const billingEndpoints: Endpoint[] = [
  {
    method: 'get',
    path: '/api/subscription',
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
      interval: z
        .enum(['day', 'week', 'month', 'year'])
        .optional()
        .describe('One that the tier has; its first by default.'),
      organisation_id: organisationId,
    }),
    answer: 'Address',
  }),
  action('portal', { summary: "Open the payment provider's customer portal", answer: 'Address' }),
  action('cancel', {
    summary: 'Schedule the end of the paid plan at the end of the paid period',
    answer: 'SubscriptionRecord',
  }),
  action('currency', {
    summary: 'Choose the currency in which the organisation pays',
    body: z.object({
      currency: z.string().describe('One of the currencies of PLANS_FILE, such as eur.'),
      organisation_id: organisationId,
    }),
    answer: 'Currency',
    errors: [...billingErrors, 'CONFLICT'],
  }),
  action('resume', { summary: 'Remove a scheduled end of the paid plan', answer: 'SubscriptionRecord' }),
  {
    method: 'post',
    path: '/webhooks/payment',
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

const ownEndpoints: Endpoint[] = [
  {
    method: 'get',
    path: '/api/openapi.json',
    id: 'service.openapi',
    tag: 'Service',
    summary: 'Read this document',
    access: ['public'],
    answer: 'OpenApi',
    errors: [],
  },
];

/** Every endpoint that answers in JSON, in the order of the OpenAPI document. */
export const endpoints: Endpoint[] = [
  ...accountEndpoints,
  ...factorEndpoints,
  ...billingEndpoints,
  ...serviceEndpoints,
  ...managementEndpoints,
  ...tokenEndpoints,
  ...ownEndpoints,
];
