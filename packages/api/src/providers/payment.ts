import type Stripe from 'stripe';
import type { PaymentConfig } from '../config.ts';
import { AppError, foreignFailure, isAppError } from '../errors.ts';
import { type InstrumentCall, uninstrumented } from '../telemetry/instrument-calls.ts';
import { boundedRequests } from './bounded-requests.ts';

/**
 * Asks the provider one thing, and is over in bounded time however the provider behaves.
 * A list of several pages is several things: `listAll`.
 *
 * @throws AppError PROVIDER_UNAVAILABLE; `complaintOf` tells what the provider said.
 */
export type Ask = <Answer>(question: (provider: Stripe) => Promise<Answer>) => Promise<Answer>;

export type PortalParameters = Stripe.BillingPortal.SessionCreateParams;

export type Payment = {
  /** Which of the provider's two worlds the key opens: events of the other one are not ours. */
  livemode: boolean;
  /** Tells the key from others in a log: its mode and its last four characters. */
  key: string;
  /** For what somebody waits for: 8 s and one retry, 17 s in all. A whole action's bound is that of `withLease`. */
  ask: Ask;
  /** For what a page can do without: 1.5 s and no retry, 1.6 s in all. */
  askBriefly: Ask;
};

/** How long a request may take, and a question with its retries and the pauses before them. In milliseconds. */
type Patience = { request: number; retries: number; question: number };

export const patience: { action: Patience; askBriefly: Patience } = {
  action: { request: 8000, retries: 1, question: 17_000 },
  askBriefly: { request: 1500, retries: 0, question: 1600 },
};

export function createPayment(
  { secretKey, apiUrl }: Pick<PaymentConfig, 'secretKey' | 'apiUrl'>,
  instrument: InstrumentCall = uninstrumented,
  { action, askBriefly } = patience,
): Payment {
  function asker(what: string, { request, retries, question: most }: Patience): Ask {
    const settings = { ...addressOf(apiUrl), timeout: request, maxNetworkRetries: retries, telemetry: false };

    return async (question) => {
      const Sdk = await loadSdk();
      const limit = new AbortController();
      const httpClient = boundedRequests(limit.signal);
      const timer = setTimeout(() => limit.abort(), most);
      try {
        const provider = new Sdk(secretKey, { ...settings, httpClient });
        const answer = () => Promise.race([question(provider), refusedBy(limit.signal)]);
        return await instrument(what, answer, isRefused);
      } catch (error) {
        throw translate(error);
      } finally {
        clearTimeout(timer);
      }
    };
  }

  const livemode = /^[a-z]+_live_/.test(secretKey);
  return {
    livemode,
    key: `${livemode ? 'live' : 'test'} mode, ending in ${secretKey.slice(-4)}`,
    ask: asker('ask', action),
    askBriefly: asker('askBriefly', askBriefly),
  };
}

const silent = 'The payment provider does not answer. Try again in a moment.';

/** Beside the requests themselves, because between two of them the SDK pauses. */
function refusedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new AppError('PROVIDER_UNAVAILABLE', silent)));
  });
}

/** The SDK costs 40 to 80 ms and is loaded when first needed. */
async function loadSdk(): Promise<typeof Stripe> {
  return (await import('stripe')).default;
}

function addressOf(apiUrl: string | null): { host?: string; port?: string; protocol?: 'http' | 'https' } {
  if (apiUrl === null) return {};
  const url = new URL(apiUrl);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  return { host: url.hostname, port: url.port || (protocol === 'http' ? '80' : '443'), protocol };
}

function translate(error: unknown): unknown {
  if (!(error instanceof Error) || !('type' in error) || !String(error.type).startsWith('Stripe')) return error;

  const sentence = isRefused(error) ? 'The payment provider refused this request.' : silent;
  return new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: withoutText(error) });
}

/** What `complaintOf` reads, and nothing that the provider worded: its sentences quote keys and what was sent. */
function withoutText(error: Error & { statusCode?: unknown; param?: unknown; detail?: unknown }): Error {
  const { statusCode, param, detail } = error;
  const failure = foreignFailure('payment provider', detail instanceof Error ? detail : error, statusCode);
  return Object.assign(failure, { statusCode, param });
}

/** Whether the provider said no, and would say so again. */
function isRefused(error: unknown): boolean {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500 && status !== 409 && status !== 429;
}

type Complaint = { status: number | null; code: string | null; param: string | null };

/** What the provider answered to a question that failed; null where it was another failure. */
export function complaintOf(error: unknown): Complaint | null {
  if (!isAppError(error) || error.code !== 'PROVIDER_UNAVAILABLE' || !(error.cause instanceof Error)) return null;

  const { statusCode, code, param } = error.cause as { statusCode?: number; code?: string; param?: string };
  return { status: statusCode ?? null, code: code ?? null, param: param ?? null };
}

/** Whether the provider does not know the thing that a parameter names. */
export function isMissing(error: unknown, param?: string): boolean {
  const complaint = complaintOf(error);
  return complaint?.code === 'resource_missing' && (param === undefined || complaint.param === param);
}

type Delivery = { body: Uint8Array; signature: string };

const toleranceSeconds = 300;

/**
 * What a signed delivery holds, whatever JSON that is. Any of several secrets will do
 * (they are two while one is rolled); with none, nothing is ever accepted.
 *
 * @throws Error with the sentence of the failure.
 */
export async function openDelivery({ body, signature }: Delivery, secrets: string[], now: Date): Promise<unknown> {
  if (secrets.length === 0) throw new Error('No webhook secret is configured.');
  if (signature === '') throw new Error('The signature is missing.');
  const { webhooks } = await loadSdk();
  // As text: given bytes, the SDK drops a leading byte-order mark before it computes.
  const text = Buffer.from(body).toString();

  let failure: unknown;
  for (const secret of secrets) {
    try {
      return webhooks.constructEvent(text, signature, secret, toleranceSeconds, undefined, now.getTime());
    } catch (error) {
      if (error instanceof SyntaxError) throw new Error('The body is not valid JSON.');
      failure = error;
    }
  }
  throw new Error(firstSentence(failure), { cause: failure });
}

/** The header that makes `openDelivery` take a body. */
export async function signDelivery(body: string, secret: string, now: Date): Promise<string> {
  const { webhooks } = await loadSdk();
  return webhooks.generateTestHeaderString({ payload: body, secret, timestamp: Math.floor(now.getTime() / 1000) });
}

/** The SDK adds advice for its own users after it. */
function firstSentence(failure: unknown): string {
  const message = failure instanceof Error ? failure.message : '';
  return /^[^.?!\n]+[.?!]?/.exec(message)?.[0] ?? 'The signature could not be verified.';
}
