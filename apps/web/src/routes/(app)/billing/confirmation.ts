import { type RequestEvent, redirect } from '@sveltejs/kit';

const mostLooks = 10;

export type Confirmation = { state: 'looking'; next: string } | { state: 'given up' };

/**
 * Back from the checkout: asks once whether the payment has arrived. The address itself grants
 * nothing, so whoever types it sees the same few looks and the same honest end.
 */
export async function lookForPayment({ locals, url }: RequestEvent): Promise<Confirmation | null> {
  if (url.searchParams.get('checkout') !== 'success') return null;

  const { confirmed } = await locals.api.billing.confirm();
  if (confirmed) redirect(303, '/billing?checkout=done');

  const look = Number(url.searchParams.get('look') ?? 1);
  return look >= 1 && look < mostLooks
    ? { state: 'looking', next: `/billing?checkout=success&look=${look + 1}` }
    : { state: 'given up' };
}
