import { sdk } from '@gatehouse/payment-sandbox/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox.ts';
import { startTestSandbox } from '../testing.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

/** Buys a plan and returns its paid invoice. */
async function paidInvoice(): Promise<string> {
  const stripe = sdk(sandbox);
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: 'price_sandbox_silver_monthly', quantity: 1 }],
    success_url: 'http://localhost:3000/billing',
  });
  sandbox.payment.payCheckout(session.id);
  return (await stripe.checkout.sessions.retrieve(session.id)).invoice as string;
}

/** Presses the button with this name on the control page, and returns the message that the page shows then. */
async function press(name: string): Promise<string> {
  const page = await (await fetch(`${sandbox.url}/control`)).text();
  const forms = [...page.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)];
  const [, action, inner = ''] = forms.find(([form]) => form.includes(`aria-label="${name}"`)) ?? [];
  const [, field = '', id = ''] = /<input type="hidden" name="(\w+)" value="([^"]*)">/.exec(inner) ?? [];
  const [, act = ''] = /<button name="act" value="(\w+)"/.exec(inner) ?? [];
  const form = new URLSearchParams({ [field]: id, act });
  return (await fetch(`${sandbox.url}${action}`, { method: 'POST', body: form })).text();
}

test('a payment is disputed, the dispute won, a warning made and the payment refunded by buttons', async () => {
  await paidInvoice();
  const { number } = Object.values(sandbox.payment.state().invoices)[0] ?? {};
  await press(`Dispute ${number}`);
  await press('Submit evidence');
  await press('Won');
  const types = sandbox.payment.events().map(({ type }) => type);
  expect(types.slice(-5)).toEqual([
    'charge.dispute.created',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.updated',
    'charge.dispute.closed',
    'charge.dispute.funds_reinstated',
  ]);

  await paidInvoice();
  const other = Object.values(sandbox.payment.state().invoices)[1]?.number;
  await press(`Warn of fraud ${other}`);
  await press(`Refund ${other}`);
  await press('Let the refund fail');
  const later = sandbox.payment.events().map(({ type }) => type);
  expect(later).toEqual(
    expect.arrayContaining(['radar.early_fraud_warning.created', 'charge.refunded', 'refund.failed']),
  );
});

test('the company schedules a change of plan, pauses the collection and disables the endpoint', async () => {
  await paidInvoice();
  const subscription = Object.keys(sandbox.payment.state().subscriptions).at(-1) ?? '';
  const post = (path: string, fields: Record<string, string>) =>
    fetch(`${sandbox.url}/control/${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  const now = () => sandbox.payment.state().subscriptions[subscription];
  await post('subscription', { subscription, act: 'schedule', price: 'price_sandbox_gold_monthly' });
  expect(now()?.schedule).toMatch(/^sub_sched_/);
  expect(await (await fetch(`${sandbox.url}/control`)).text()).toContain('Gold from');
  await post('subscription', { subscription, act: 'release' });
  expect(now()?.schedule).toBeNull();
  await post('subscription', { subscription, act: 'send_invoices', days_until_due: '14' });
  expect(now()).toMatchObject({ collection_method: 'send_invoice', days_until_due: 14 });
  await post('subscription', { subscription, act: 'pause', behavior: 'void' });
  expect(now()?.pause_collection).toMatchObject({ behavior: 'void' });
  await post('subscription', { subscription, act: 'collect' });
  expect(now()?.pause_collection).toBeNull();

  await post('endpoint', { disabled: 'true' });
  expect(await (await fetch(`${sandbox.url}/control`)).text()).toContain('Enable the webhook endpoint');
  await post('endpoint', { disabled: 'false' });
  expect(Object.values(sandbox.payment.state().webhook_endpoints)).toMatchObject([{ status: 'enabled' }]);
});

test('the same acts as JSON answer the object, and name what cannot be done', async () => {
  const invoice = await paidInvoice();
  const act = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${sandbox.url}/control/${path}`, init)).json()) as Record<string, unknown>;
  };
  expect(await act('invoice', { invoice, act: 'refund', amount: 100 })).toMatchObject({
    object: 'refund',
    amount: 100,
  });
  const inquiry = await act('invoice', { invoice, act: 'inquiry' });
  expect(inquiry).toMatchObject({ object: 'dispute', status: 'warning_needs_response' });
  expect(await act('dispute', { dispute: inquiry.id, act: 'warning_closed' })).toMatchObject({
    status: 'warning_closed',
  });
  expect(await act('invoice', { invoice, act: 'void' })).toMatchObject({ error: expect.stringContaining('void') });
  expect(await act('invoice', { invoice, act: 'burn' })).toEqual({ error: 'That cannot be done with an invoice.' });
  expect(await act('dispute', { dispute: inquiry.id, act: 'burn' })).toEqual({
    error: 'That cannot be done with a dispute.',
  });
});
