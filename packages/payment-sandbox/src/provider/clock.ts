import type { Provider } from './provider.ts';

export const hourSeconds = 3600;
export const daySeconds = 24 * hourSeconds;

/** Returns the provider's time in seconds: the machine's time plus the offset by which its clock was advanced. */
export function now(provider: Provider): number {
  if (provider.replayedTime !== null) return provider.replayedTime;
  return Math.floor(Date.now() / 1000) + provider.state.clock_offset_seconds;
}

/** Returns the time of a test clock in seconds, or the provider's time without one. */
export function timeOf(provider: Provider, testClock: string | null | undefined): number {
  if (provider.replayedTime !== null) return provider.replayedTime;
  return (testClock && provider.state.test_clocks[testClock]?.frozen_time) || now(provider);
}

/** Returns the time of a customer's test clock in seconds, or the provider's time without one. */
export function timeOfCustomer(provider: Provider, customer: string): number {
  return timeOf(provider, provider.state.customers[customer]?.test_clock);
}

/**
 * Returns the same time of day a number of intervals later. Months keep the day of the anchor: after
 * a short month, a period that began on the 31st ends on the 31st again.
 */
export function addInterval(from: number, interval: string, count: number, anchor = from): number {
  if (interval === 'day') return from + count * daySeconds;
  if (interval === 'week') return from + count * 7 * daySeconds;
  const date = new Date(from * 1000);
  const day = new Date(anchor * 1000).getUTCDate();
  const months = interval === 'year' ? count * 12 : count;
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return Math.floor(date.getTime() / 1000);
}
