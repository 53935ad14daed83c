import { AppError, type ErrorCode } from '@gatehouse/api/platform/errors';
import { expect, test } from 'vitest';
import { freePlan } from '#lib/format/plans/testing/free-plan.ts';
import { confirmAfterCheckout, confirmationOf } from './confirmation.ts';

/** Follows the page's refreshes, and counts how often the provider is asked. */
async function follow(from: string, method = 'GET') {
  let asked = 0;
  const confirm = async () => void asked++;
  const locals = { api: { billing: { confirm } } } as unknown as App.Locals;

  for (let [address, checks] = [from, 1]; ; checks++) {
    const url = new URL(address, 'http://service.example');
    await confirmAfterCheckout({ locals, url, request: new Request(url, { method }) });
    const confirmation = confirmationOf({ url }, freePlan);
    if (confirmation?.state !== 'checking') return { asked, checks, end: confirmation?.state };
    address = confirmation.next;
  }
}

test('after the checkout the provider is asked once, however often the page checks', async () => {
  expect(await follow('/billing?checkout=success')).toEqual({ asked: 1, checks: 10, end: 'unconfirmed' });
});

test('a HEAD request asks the provider nothing', async () => {
  expect(await follow('/billing?checkout=success', 'HEAD')).toMatchObject({ asked: 0 });
});

test('without a checkout, or after a cancelled one, the provider is not asked', async () => {
  expect(await follow('/billing')).toEqual({ asked: 0, checks: 1, end: undefined });
  expect(await follow('/billing?checkout=cancel')).toEqual({ asked: 0, checks: 1, end: undefined });
});

test('above the limit of its lookups a payment is waited for, and every other error is shown', async () => {
  const confirmAfter = (code: ErrorCode) => {
    const confirm = () => Promise.reject(new Error('from the router', { cause: new AppError(code, 'Wait a while.') }));
    const locals = { api: { billing: { confirm } } } as unknown as App.Locals;
    const url = new URL('http://service.example/billing?checkout=success');
    return confirmAfterCheckout({ locals, url, request: new Request(url) });
  };
  await expect(confirmAfter('TOO_MANY')).resolves.toBeUndefined();
  await expect(confirmAfter('INTERNAL')).rejects.toThrow('from the router');
});

test('a payment is checked for beside a plan that was agreed, until the one that was bought is there', () => {
  const url = new URL('http://service.example/billing?checkout=success');
  const agreed = { tier: true, meters: [], features: [], until: null };
  const plan = { ...freePlan, tier: 'silver' as const, agreed };
  expect(confirmationOf({ url }, plan)).toMatchObject({ state: 'checking' });
  expect(() => confirmationOf({ url }, { ...plan, status: 'active' })).toThrow();
});
