import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App as Service } from '@gatehouse/api/app';
import { AppError } from '@gatehouse/api/errors';
import { isRestPath } from '../http/path-rules.ts';
import { tooLarge } from '../http/read-body.ts';
import { createRest, type RestAnswer } from './answer-rest.ts';
import { cookieJar } from './cookie-jar.ts';

/** The path and query of a request, and the address of its client, as the server has determined them. */
export type Addressed = { target: string; clientAddress: string };

/** Answers a request to a REST endpoint, and returns true. Returns false for any other path. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, addressed: Addressed) => boolean;

/**
 * Answers the REST endpoints on Node's own request and response. Kit's took about half of a read's
 * CPU (docs/decisions/038).
 */
export function createNodeHandler(app: Service): NodeHandler {
  const answerRest = createRest(app);

  return (request, response, { target, clientAddress }) => {
    const at = target.indexOf('?');
    const pathname = at === -1 ? target : target.slice(0, at);
    if (!isRestPath(pathname)) return false;

    const abort = new AbortController();
    response.once('close', () => response.writableFinished || abort.abort());
    const cookies = cookieJar(request.headers.cookie);
    const answered = answerRest({
      method: request.method ?? 'GET',
      pathname,
      search: at === -1 ? '' : target.slice(at + 1),
      headers: { get: (name) => headerOf(request, name) },
      cookies,
      clientAddress,
      signal: abort.signal,
      readBytes: (most) => readMessageBytes(request, most),
    });
    answered
      .then((answer) => send(response, answer, cookies.lines))
      .catch((error: unknown) => {
        app.log.error('an answer could not be sent', { error });
        response.destroy();
      });
    return true;
  };
}

function send(response: ServerResponse, { status, headers, body }: RestAnswer, cookies: string[]) {
  const length = Buffer.byteLength(body);
  const set = cookies.length > 0 && { 'set-cookie': cookies };
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers, ...set });
  response.end(body);
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

/** How many bytes of too large a body are read before the answer is sent. */
const maxReadBytes = 1024 * 1024;

/**
 * Reads a body of at most `most` bytes. The rest of a larger one is discarded, because a client that is
 * still sending would lose the answer if the connection closed.
 *
 * @throws AppError TOO_LARGE if the body is larger, whatever Content-Length it announced; VALIDATION if
 *   the client disconnects before its end.
 */
function readMessageBytes(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const endedEarly = () => reject(new AppError('VALIDATION', 'The body ended early.'));
    if (request.destroyed) return endedEarly();

    request.on('data', (part: Buffer) => {
      length += part.byteLength;
      if (length <= most) parts.push(part);
      else parts.length = 0;
      if (length > maxReadBytes) reject(tooLarge());
    });
    let hasEnded = false;
    request.once('end', () => {
      hasEnded = true;
      if (length > most) reject(tooLarge());
      else resolve(Buffer.concat(parts, length));
    });
    request.once('error', () => {});
    // Each request closes, and an error that nobody gets would take 1 % of an event's CPU for its stack.
    request.once('close', () => hasEnded || endedEarly());
  });
}
