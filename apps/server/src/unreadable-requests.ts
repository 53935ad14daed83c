import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { headersOfJson } from './json-answers.ts';

/** The methods of the service. A path has some of them, which its own answer names. */
export const methodsOfAll = 'GET, HEAD, POST, PUT, PATCH, DELETE';

type Refusal = { status: number; code: string; error: string; allow?: string };

/** What Node cannot read to its end as a request, by the code of its error. Anything else is malformed. */
const unreadable: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'TOO_LARGE', error: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: 'TOO_LARGE', error: 'The body is too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'VALIDATION', error: 'The request took too long to arrive.' },
};
const malformed: Refusal = { status: 400, code: 'VALIDATION', error: 'The request is not valid HTTP.' };
const otherMethod: Refusal = {
  status: 405,
  code: 'METHOD_NOT_ALLOWED',
  error: 'This method is not allowed here.',
  allow: methodsOfAll,
};

/**
 * Answers what is not a request by the statuses that Node gives it, and closes the connection. Node's own answers have
 * no headers; `headers` are those of every answer. A method that Node does not know, and CONNECT, which it answers by
 * closing the connection, get 405. `hasBegun` returns whether an answer on the connection was begun: another one after
 * it would be read as its body.
 */
export function answerUnreadable(
  server: Server,
  headers: [name: string, value: string][],
  hasBegun: (connection: Duplex) => boolean,
): void {
  const fixed = [...headers, ...Object.entries({ ...headersOfJson, Connection: 'close' })];

  function answer(connection: Duplex, { status, code, error, allow }: Refusal) {
    if (!connection.writable || hasBegun(connection)) return void connection.destroy();

    const body = JSON.stringify({ error, code });
    const own = Object.entries({ 'Content-Length': String(Buffer.byteLength(body)), ...(allow && { Allow: allow }) });
    const lines = [...fixed, ...own].map((each) => `${each.join(': ')}\r\n`).join('');
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`;
    connection.end(head + body, () => connection.destroy());
  }

  server.on('clientError', (error: ParserError, connection) => answer(connection, refusalOf(error)));
  server.on('connect', (_, connection) =>
    answer(
      connection.on('error', () => {}),
      otherMethod,
    ),
  );
}

/** The error of Node's parser, with the bytes that it was reading. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer };

const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r\n/;

function refusalOf({ code = '', rawPacket }: ParserError): Refusal {
  const isRequest = code === 'HPE_INVALID_METHOD' && requestLine.test(rawPacket?.toString('latin1') ?? '');
  return isRequest ? otherMethod : (unreadable[code] ?? malformed);
}
