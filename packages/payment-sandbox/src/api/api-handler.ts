import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Exchange, HttpError, readText } from '../http/request.ts';
import { now } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Switches } from '../provider/switches.ts';
import { ApiError, ParameterError } from '../routing/api-error.ts';
import { type Field, readFields } from '../routing/form-fields.ts';
import { readParameters } from '../routing/parameters.ts';
import type { Call, Route } from '../routing/route.ts';
import { providerOf, requireKey } from './authentication.ts';
import { expand as expanded } from './expand.ts';
import { fingerprintOf, markInUse, saveAnswer, savedAnswer } from './idempotency.ts';
import { takeFailure } from './injected-failure.ts';
import { inMode, withHint } from './modes.ts';
import { type Allow, allowanceOf, permissionFor } from './permissions.ts';
import { findRoute } from './routes.ts';

interface Answer {
  status: number;
  body: string;
  replayed?: boolean;
}

/** Answers requests at /v1 and /v2, the API of the unmodified SDK. */
export async function handleApi(first: Provider, exchange: Exchange): Promise<boolean> {
  const { req, res, method, path } = exchange;
  if (!/^\/v[12]\//.test(path)) return false;
  const provider = providerOf(first, req.headers.authorization);
  const requestId = newId('req', 14);
  res.setHeader('Request-Id', requestId);
  res.setHeader('Stripe-Version', String(req.headers['stripe-version'] ?? ''));

  const delay = provider.state.switches.api_delay_ms;
  const failure = takeFailure(provider, `${method} ${path}`);
  const isSilent = failure === 'hang' || failure === 'close';
  if (isSilent && !provider.state.switches.api_failure_after_effect) return sendNothing(res, failure);

  let body: string;
  try {
    body = await readText(req);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    write(res, { status: error.status, body: JSON.stringify(new ApiError(error.status, error.message).body()) });
    return true;
  }
  const answer = await performOnce(provider, exchange, body, requestId, delay, failure);
  if (isSilent) return sendNothing(res, failure);
  const { api_retry_after_seconds: retryAfter } = provider.state.switches;
  // As the events of subscriptions are dated: its clock can be ahead of the machine's, which other answers show.
  if (path.startsWith('/v1/subscriptions')) res.setHeader('Date', new Date(now(provider) * 1000).toUTCString());
  if (answer.status === 429 && retryAfter > 0) res.setHeader('Retry-After', String(retryAfter));
  write(res, answer);
  return true;
}

/** Sends no answer: closes the connection, or keeps it open until the client gives up. */
function sendNothing(res: ServerResponse, failure: 'hang' | 'close'): true {
  if (failure === 'close') res.destroy();
  return true;
}

/** Performs a request, or returns the saved answer to an earlier one with the same idempotency key. */
async function performOnce(
  provider: Provider,
  exchange: Exchange,
  body: string,
  requestId: string,
  delay: number,
  failure: Switches['api_failure'],
): Promise<Answer> {
  const { req, method, path } = exchange;
  const key = method === 'POST' ? String(req.headers['idempotency-key'] ?? '') : '';
  let release = () => {};
  try {
    const allow = allowanceOf(provider, requireKey(provider, req.headers.authorization));
    const fingerprint = fingerprintOf(method, path, body);
    if (key) {
      const saved = savedAnswer(provider, key, fingerprint);
      if (saved) return { status: saved.status, body: saved.body, replayed: true };
      release = markInUse(provider, key);
    }
    if (delay > 0) await pause(delay);
    await provider.held?.wait();
    const { answer, ran } = perform(provider, exchange, { body, requestId, failure, key, allow });
    if (key && ran) saveAnswer(provider, key, { fingerprint, status: answer.status, body: answer.body });
    if (method !== 'GET') provider.file.save();
    return answer;
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: JSON.stringify(error.body()) };
    console.error(error);
    return failed(500);
  } finally {
    release();
  }
}

interface Asked {
  body: string;
  requestId: string;
  failure: Switches['api_failure'];
  key: string;
  allow: Allow;
}

/** Performs a request, or fails as the switches configure. `ran` is whether its idempotency key stores the answer. */
function perform(
  provider: Provider,
  { method, path, query }: Exchange,
  { body, requestId, failure, key, allow }: Asked,
): { answer: Answer; ran: boolean } {
  const { api_failure_after_effect: afterEffect } = provider.state.switches;
  if (typeof failure === 'number' && !afterEffect) return { answer: failed(failure), ran: failure >= 500 };
  let answer: Answer;
  let ran = true;
  try {
    const found = findRoute(method, path);
    if (!found) throw unknownUrl(method, path);
    allow(permissionFor(method, path));
    const fields = readFields(method === 'GET' || (method === 'DELETE' && body === '') ? query.toString() : body);
    const request = { id: requestId, idempotency_key: key || null };
    const result = run(provider, found.route, { ...found, path }, { fields, request, allow });
    answer = { status: 200, body: JSON.stringify(inMode(provider, result)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ran = !(error instanceof ParameterError);
    answer = { status: error.status, body: JSON.stringify(withHint(provider, error).body()) };
  }
  return { answer: typeof failure === 'number' ? failed(failure) : answer, ran };
}

function run(
  provider: Provider,
  route: Route,
  call: { id: string; otherId: string; path: string },
  { fields, request, allow }: { fields: Record<string, Field>; request: Provider['request']; allow: Allow },
): object {
  const { expand = [], ...rest } = fields;
  const paths = readPaths(expand);
  const { forbidden_expansion: forbidden } = provider.state.switches;
  if (forbidden !== '' && paths.some((path) => path.includes(forbidden)))
    throw new ApiError(403, 'The provided key does not have the required permissions for this endpoint.');
  const params = readParameters(rest, route.rules, route.required);
  provider.request = request;
  try {
    const result = route.answer({ ...call, provider, params } as Call<never>);
    return expanded(provider, result, paths, { allow, keepSecret: route.showsSecret ?? false });
  } finally {
    provider.request = null;
  }
}

function readPaths(field: Field): string[] {
  if (Array.isArray(field) && field.every((path) => typeof path === 'string')) return field;
  throw new ParameterError(400, 'Invalid array: expand', { param: 'expand' });
}

function unknownUrl(method: string, path: string): ApiError {
  return new ApiError(404, `Unrecognized request URL (${method}: ${path}).`);
}

function failed(status: number): Answer {
  const error =
    status === 429
      ? new ApiError(429, 'Request rate limit exceeded.', { type: 'invalid_request_error', code: 'rate_limit' })
      : new ApiError(status, 'An unknown error occurred.', {
          type: status >= 500 ? 'api_error' : 'invalid_request_error',
        });
  return { status, body: JSON.stringify(error.body()) };
}

function write(res: ServerResponse, answer: Answer): void {
  res.writeHead(answer.status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(answer.body),
    ...(answer.replayed && { 'Idempotent-Replayed': 'true' }),
  });
  res.end(answer.body);
}
