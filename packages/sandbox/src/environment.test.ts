import { expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';

const environment = {
  SANDBOX_PORT: '0',
  SANDBOX_SMTP_PORT: '0',
  SANDBOX_DATA_DIR: '/tmp/sandbox',
  PUBLIC_BASE_URL: 'http://localhost:3000/',
  IDP_CLIENT_ID: 'sandbox-client',
  IDP_CLIENT_SECRET: 'sandbox_client_secret',
  PAYMENT_SECRET_KEY: 'sk_test_sandbox',
  PAYMENT_WEBHOOK_SECRET: 'sandbox_webhook_secret,an_older_secret',
};

test('the first webhook secret and the origin of the service are read', () => {
  expect(readEnvironment(environment)).toMatchObject({
    serviceUrl: 'http://localhost:3000',
    payment: { secretKey: 'sk_test_sandbox', webhookSecret: 'sandbox_webhook_secret' },
  });
});

test.each([
  [{ PUBLIC_BASE_URL: 'https://gatehouse.example' }, 'must be on localhost'],
  [{ PUBLIC_BASE_URL: 'http://localhost.example' }, 'must be on localhost'],
  [{ SANDBOX_PORT: 'many' }, 'SANDBOX_PORT must be a port number'],
  [{ PAYMENT_SECRET_KEY: '' }, 'PAYMENT_SECRET_KEY is not set'],
])('%o is refused with one sentence', (changes, sentence) => {
  expect(() => readEnvironment({ ...environment, ...changes })).toThrow(new RegExp(`^[^\n]*${sentence}[^\n]*$`));
});

test('the service’s endpoint subscribes to chosen event types, and never to invoice.created, which delays invoices', () => {
  const { webhookEvents } = readEnvironment(environment).payment;
  expect(webhookEvents).toContain('customer.subscription.updated');
  expect(webhookEvents).not.toContain('*');
  expect(webhookEvents).not.toContain('invoice.created');
});
