import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { App } from '@gatehouse/api/app';
import { createEndpoints, isApiPath } from '@gatehouse/api/http/answer-endpoint';
import { chooseLanguage } from '@gatehouse/api/http/choose-language';
import { cookieJar } from '@gatehouse/api/http/cookies';
import { readBody } from '@gatehouse/api/http/read-body';
import type { EndpointAnswer } from '@gatehouse/api/http/request';
import type { ClientAddress } from '@gatehouse/api/platform/security/client';

/** The path and query of a request, and its client, as the server has determined them. */
type RequestTarget = { target: string; client: ClientAddress };

/** Answers a request to the API; resolves when its work has ended. Returns null for any other path. */
export type ApiHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
) => Promise<void> | null;

/**
 * Answers requests to the API with Node's own request and response: Hono's would cost a third of GET /api/session
 * (docs/decisions/038). What an answer is, from the list of endpoints to the table of errors, is packages/api/src/http.
 */
export function createApi(app: App): ApiHandler {
  const answerEndpoint = createEndpoints(app);

  return (request, response, { target, client }) => {
    const queryStart = target.indexOf('?');
    const pathname = queryStart === -1 ? target : target.slice(0, queryStart);
    if (!isApiPath(pathname)) return null;

    const abort = new AbortController();
    response.once('close', () => response.writableFinished || abort.abort());
    const cookies = cookieJar(request.headers.cookie);
    const headers = { get: (name: string) => headerOf(request, name) };
    const answered = answerEndpoint({
      method: request.method ?? 'GET',
      pathname,
      search: queryStart === -1 ? '' : target.slice(queryStart + 1),
      headers,
      cookies,
      client,
      signal: abort.signal,
      language: () => chooseLanguage(app, { cookies, headers }),
      // The iterator must not end the connection: the rest of a body that is too large is still to be discarded.
      readBytes: (maxBytes) =>
        readBody(request.iterator({ destroyOnReturn: false }), maxBytes).finally(() => request.resume()),
    });
    return answered
      .then((answer) => send(response, answer, cookies.lines))
      .catch((error: unknown) => {
        app.log.error('an answer could not be sent', { error });
        response.destroy();
      });
  };
}

function send(response: ServerResponse, { status, headers, body }: EndpointAnswer, cookies: string[]) {
  const sent: OutgoingHttpHeaders = headers;
  sent['content-length'] = Buffer.byteLength(body);
  if (cookies.length > 0) sent['set-cookie'] = cookies;
  response.writeHead(status, sent);
  response.end(body);
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}
