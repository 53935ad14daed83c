import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request with its URL parsed, and the response to write to. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  /** The path without the query, not decoded. */
  path: string;
  query: URLSearchParams;
}

/** Thrown by a handler. The server answers with its status and message. */
export class HttpError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const bodyLimitBytes = 1_000_000;

/**
 * Reads the whole body as text.
 *
 * @throws HttpError 413 if it is larger than a megabyte.
 */
export async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req) {
    length += (chunk as Buffer).length;
    if (length > bodyLimitBytes) throw new HttpError(413, 'The body is larger than a megabyte.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads the fields of a posted form. @throws HttpError 413 if the body is larger than a megabyte. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(req));
}

/**
 * Reads a JSON object from the body. An empty body is an empty object.
 *
 * @throws HttpError 400 if the body is not a JSON object.
 */
export async function readJson(req: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(req);
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Answered by the error below.
  }
  throw new HttpError(400, 'The body must be a JSON object.');
}
