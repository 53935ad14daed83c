import { GatehouseError } from './error.ts';

export type SendOptions = {
  /** The origin of Gatehouse: https://id.example.com */
  url: string;
  apiKey?: string | undefined;
  /** How long a call may take in all, with its repeats and their pauses. 3,000 unless set. */
  timeoutMilliseconds?: number | undefined;
  /** The number of times that a request that is safe to repeat is sent again. 2 unless set. */
  retries?: number | undefined;
};

export type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** Sent in place of the API key, because Gatehouse would ignore the cookie beside a key. */
  cookie?: string;
  /** Whether the request is idempotent. */
  repeatable: boolean;
  /** How long Gatehouse may wait before it answers, in addition to the time of the call. */
  waitMilliseconds?: number;
  signal?: AbortSignal | undefined;
};

const retryableStatuses = new Set([429, 502, 503, 504]);

/**
 * Sends a request and returns the JSON of its answer. Repeats one that is safe to repeat after a pause
 * with jitter, or after Retry-After, if the connection failed or Gatehouse was busy, while the time of the call lasts.
 * An attempt may take all of it: a second one while the first is being worked on would only add to its load.
 *
 * @throws GatehouseError for an error, a timeout and a failed connection; the signal's reason once aborted.
 */
export async function send(options: SendOptions, call: Call): Promise<unknown> {
  requireIds(call.path);
  const deadline = performance.now() + (options.timeoutMilliseconds ?? 3000) + (call.waitMilliseconds ?? 0);
  for (let attempt = 0; ; attempt++) {
    try {
      return await sendOnce(options, call, deadline);
    } catch (error) {
      call.signal?.throwIfAborted();
      const pause = pauseAfter(error, attempt);
      if (!call.repeatable || attempt >= (options.retries ?? 2) || pause === null) throw error;
      if (performance.now() + pause >= deadline) throw error;
      await sleep(pause, call.signal);
    }
  }
}

/** An empty id, or one of dots, would make another path of it: that of a list, or of all that the id is a part of. */
function requireIds(path: string): void {
  const [, ...segments] = path.split('/');
  if (!segments.some((segment) => ['', '.', '..'].includes(segment))) return;
  throw new GatehouseError(404, 'NOT_FOUND', 'No id is empty, "." or "..".');
}

function pauseAfter(error: unknown, attempt: number): number | null {
  if (!(error instanceof GatehouseError)) return null;
  if (error.status !== 0 && !retryableStatuses.has(error.status)) return null;
  return (error.retryAfterSeconds ?? 0) * 1000 + jitter(attempt);
}

/** Returns a random pause in milliseconds. Its limit doubles with each attempt, so that many clients do not retry at the same moment. */
export function jitter(attempt: number, maxMilliseconds = 2000): number {
  return Math.random() * Math.min(maxMilliseconds, 100 * 2 ** attempt);
}

/** Resolves after a time. @throws the signal's reason once aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Settles as a promise that several callers share. @throws the signal's reason once aborted: the promise continues. */
export function untilAborted<Answer>(shared: Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

async function sendOnce({ url, apiKey }: SendOptions, call: Call, deadline: number): Promise<unknown> {
  const { method = 'GET', path, query = {}, body, cookie, signal } = call;
  signal?.throwIfAborted();
  const target = new URL(path, url);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) target.searchParams.set(name, String(value));
  }

  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, deadline - performance.now());
  try {
    const answer = await fetch(target, {
      method,
      headers: {
        accept: 'application/json',
        ...(cookie === undefined ? apiKey && { authorization: `Bearer ${apiKey}` } : { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // Some edge runtimes do not know 'error'.
      redirect: 'manual',
      signal: controller.signal,
    });
    return await read(answer);
  } catch (error) {
    if (error instanceof GatehouseError) throw error;
    if (signal?.aborted) throw signal.reason;
    if (timedOut) throw new GatehouseError(0, 'TIMEOUT', 'Gatehouse did not answer in time.', { cause: error });
    throw new GatehouseError(0, 'UNREACHABLE', 'Gatehouse cannot be reached.', { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text();
  const body = parse(text);
  if (answer.ok && body !== null) return body;

  const { error, code } = (body ?? {}) as { error?: string; code?: string };
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  throw new GatehouseError(answer.status, code ?? null, error ?? `Gatehouse answered ${answer.status}.`, {
    body: (body ?? {}) as Record<string, unknown>,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
  });
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
