import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { headersOfJson } from './json-answers.ts';

/** What Node cannot read to its end as a request, by the code of its error. Anything else is malformed. */
const unreadable: Record<string, { status: number; code: string; error: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'TOO_LARGE', error: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: 'TOO_LARGE', error: 'The body is too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'VALIDATION', error: 'The request took too long to arrive.' },
};
const malformed = { status: 400, code: 'VALIDATION', error: 'The request is not valid HTTP.' };

/**
 * Answers what is not a request by the statuses that Node gives it, and closes the connection. Node's own answers have
 * no headers; `headers` are those of every answer. `hasBegun` returns whether an answer on the connection was begun:
 * another one after it would be read as its body.
 */
export function answerUnreadable(
  server: Server,
  headers: [name: string, value: string][],
  hasBegun: (connection: Duplex) => boolean,
): void {
  const fixed = [...headers, ...Object.entries({ ...headersOfJson, Connection: 'close' })].map((each) =>
    each.join(': '),
  );

  server.on('clientError', ({ code: reason = '' }: NodeJS.ErrnoException, connection) => {
    if (!connection.writable || hasBegun(connection)) return void connection.destroy();

    const { status, code, error } = unreadable[reason] ?? malformed;
    const body = JSON.stringify({ error, code });
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...fixed,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    connection.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => connection.destroy());
  });
}
