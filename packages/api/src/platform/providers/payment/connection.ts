import type Stripe from 'stripe';
import type { PaymentConfig } from '../../config.ts';
import { AppError, foreignFailure, isAppError } from '../../errors.ts';
import { message } from '../../messages.ts';
import { type InstrumentCall, uninstrumented } from '../../telemetry/telemetry.ts';
import { boundedRequests } from './bounded-requests.ts';

/**
 * Sends one request to the provider and returns its answer, within a limited time however the
 * provider behaves. A list of several pages takes several requests: see `listAll`.
 *
 * @throws AppError PROVIDER_UNAVAILABLE. `providerErrorOf` returns what the provider answered.
 */
export type Ask = <Answer>(call: (provider: Stripe) => Promise<Answer>, limit?: Deadline) => Promise<Answer>;

/** A time of `performance.now()` at which a request has to end, its retry included. */
export type Deadline = { deadline: number };

export type Payment = {
  /** The provider's mode that the key belongs to. Events of the other mode are not ours. */
  mode: 'test' | 'live';
  /** Whether the key may do only what it was permitted. */
  isRestricted: boolean;
  /** Identifies the key in a log: its mode and its last four characters. */
  key: string;
  /**
   * 8 s and one retry, 17 s in total; with a deadline what is left until then, at most 4 s a request. `withLease` sets
   * the deadline of an action that a user waits for.
   */
  ask: Ask;
  /** For information that a page can do without: 1.5 s and no retry, 1.6 s in total. */
  askBriefly: Ask;
};

/**
 * The limits, in milliseconds: of one HTTP request, and of a request of ours with its retries and
 * the pauses between them.
 */
type TimeLimits = { request: number; retries: number; total: number };

/** The longest that one HTTP request of an action may take, so that time is left for its retry. */
const actionRequestMilliseconds = 4000;

export const timeLimits: { action: TimeLimits; askBriefly: TimeLimits } = {
  action: { request: 8000, retries: 1, total: 17_000 },
  askBriefly: { request: 1500, retries: 0, total: 1600 },
};

/**
 * Creates the connection to the payment provider. It sends nothing until the first request.
 *
 * @throws AppError PROVIDER_UNAVAILABLE from the functions `ask` and `askBriefly` of the returned
 *   object.
 */
export function createPayment(
  { secretKey, apiUrl }: Pick<PaymentConfig, 'secretKey' | 'apiUrl'>,
  instrument: InstrumentCall = uninstrumented,
  { action, askBriefly } = timeLimits,
): Payment {
  function asker(what: string, limits: TimeLimits): Ask {
    return async (call, until) => {
      const { request, retries, total } = until === undefined ? limits : limitsUntil(until, limits);
      const settings = { ...addressOf(apiUrl), timeout: request, maxNetworkRetries: retries, telemetry: false };
      const Sdk = await loadSdk();
      const limit = new AbortController();
      const httpClient = boundedRequests(limit.signal);
      const timer = setTimeout(() => limit.abort(), total);
      try {
        const provider = new Sdk(secretKey, { ...settings, httpClient });
        const answer = () => Promise.race([call(provider), rejectOnAbort(limit.signal)]);
        return await instrument(what, answer, isRefused);
      } catch (error) {
        throw translate(error);
      } finally {
        clearTimeout(timer);
      }
    };
  }

  const mode = /^[a-z]+_live_/.test(secretKey) ? 'live' : 'test';
  return {
    mode,
    isRestricted: secretKey.startsWith('rk_'),
    key: `${mode} mode, ending in ${secretKey.slice(-4)}`,
    ask: asker('ask', action),
    askBriefly: asker('askBriefly', askBriefly),
  };
}

/** @throws AppError PROVIDER_UNAVAILABLE once the deadline has passed. */
function limitsUntil({ deadline }: Deadline, { retries }: TimeLimits): TimeLimits {
  const left = Math.ceil(deadline - performance.now());
  if (left <= 0) throw new AppError('PROVIDER_UNAVAILABLE', noAnswer);
  return { request: Math.min(left, actionRequestMilliseconds), retries, total: left };
}

const noAnswer = message('provider_silent');

/**
 * Rejects when the signal aborts. Needed beside the limit of each HTTP request, because the SDK
 * pauses between two of them.
 */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new AppError('PROVIDER_UNAVAILABLE', noAnswer)));
  });
}

let sdk: typeof Stripe | undefined;

/** Loading the SDK takes 40 to 80 ms, so it is loaded with the first request. */
export async function loadSdk(): Promise<typeof Stripe> {
  sdk ??= (await import('stripe')).default;
  return sdk;
}

function addressOf(apiUrl: string | null): { host?: string; port?: string; protocol?: 'http' | 'https' } {
  if (apiUrl === null) return {};
  const url = new URL(apiUrl);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  // Node's client takes an IPv6 address without the brackets of a URL.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port || (protocol === 'http' ? '80' : '443'), protocol };
}

function translate(error: unknown): unknown {
  if (!(error instanceof Error) || !('type' in error) || !String(error.type).startsWith('Stripe')) return error;

  const sentence = isRefused(error) ? 'The payment provider refused this request.' : noAnswer;
  return new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: withoutText(error) });
}

/**
 * Returns an error with what `providerErrorOf` reads and without the provider's text, which may quote
 * keys and parameters.
 */
function withoutText(error: Error & { statusCode?: unknown; param?: unknown; detail?: unknown }): Error {
  const { statusCode, param, detail } = error;
  const failure = foreignFailure('payment provider', detail instanceof Error ? detail : error, statusCode);
  return Object.assign(failure, { statusCode, param });
}

/** Whether the provider refused the request, so that a retry would be refused too. */
function isRefused(error: unknown): boolean {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

type ProviderError = { status: number | null; code: string | null; param: string | null };

/** Returns what the provider answered to a failed request; null for any other failure. */
export function providerErrorOf(error: unknown): ProviderError | null {
  if (!isAppError(error) || error.code !== 'PROVIDER_UNAVAILABLE' || !(error.cause instanceof Error)) return null;

  const { statusCode, code, param } = error.cause as { statusCode?: number; code?: string; param?: string };
  return { status: statusCode ?? null, code: code ?? null, param: param ?? null };
}

/** Whether the provider does not know the object that a parameter names. */
export function isMissing(error: unknown, param?: string): boolean {
  const complaint = providerErrorOf(error);
  return complaint?.code === 'resource_missing' && (param === undefined || complaint.param === param);
}

/**
 * Returns the second of the provider's clock in which it gave an answer, by the answer's header `Date`; null if the
 * header is missing or cannot be read.
 */
export function answeredAt(answer: object): number | null {
  const { lastResponse } = answer as { lastResponse?: { headers?: Record<string, string | undefined> } };
  const milliseconds = Date.parse(lastResponse?.headers?.date ?? '');
  return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1000);
}
