import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that has been taken apart, with the answer to write to. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  /** The path without the query, not decoded. */
  path: string;
  query: URLSearchParams;
}

/** Answered as it stands: a status and a sentence. */
export class AppError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const bodyLimitBytes = 1_000_000;

/** The whole body as text. More than a megabyte is refused with 413. */
export async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req) {
    length += (chunk as Buffer).length;
    if (length > bodyLimitBytes) throw new AppError(413, 'The body is larger than a megabyte.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The fields of a posted page form. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(req));
}

/** A JSON object from the body; no body is an empty object. */
export async function readJson(req: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(req);
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the one refusal below.
  }
  throw new AppError(400, 'The body must be a JSON object.');
}
