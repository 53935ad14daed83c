import { AppError, isAppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';

/** The bytes of all bodies that this process reads at once. Without a bound, slow senders could fill its memory. */
const maxReadingBytes = 32 * 1024 * 1024;
let readingBytes = 0;

/** How many bytes of a body that is too large are read before it is refused. */
const maxDiscardedBytes = 1024 * 1024;

/**
 * Reads a body of at most `maxBytes`. What follows in a larger one is read too, up to a megabyte, and discarded: a
 * client that is still sending would lose the answer when the connection closes.
 *
 * @throws AppError TOO_LARGE if the body is larger, whatever Content-Length it announced; VALIDATION if the client
 *   disconnects before its end; BUSY while this process reads 32 MiB of other bodies.
 */
export async function readBody(parts: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  const kept: Uint8Array[] = [];
  let length = 0;
  let held = 0;
  try {
    for await (const part of parts ?? []) {
      length += part.byteLength;
      if (length > maxDiscardedBytes) break;
      if (length > maxBytes) continue;
      if (readingBytes + part.byteLength > maxReadingBytes) throw busy();
      readingBytes += part.byteLength;
      held += part.byteLength;
      kept.push(part);
    }
  } catch (error) {
    if (isAppError(error)) throw error;
    // Kit's adapter throws this for a body above its own limit, which is higher.
    if (error instanceof Error && 'status' in error && error.status === 413) throw tooLarge();
    throw new AppError('VALIDATION', 'The body ended early.', { cause: error });
  } finally {
    readingBytes -= held;
  }
  if (length > maxBytes) throw tooLarge();
  return Buffer.concat(kept, length);
}

export function tooLarge(): AppError {
  return new AppError('TOO_LARGE', 'The body is too large.');
}

function busy(): AppError {
  return new AppError('BUSY', message('busy'), { retryAfterSeconds: 5 });
}

/**
 * Parses a JSON body; an empty one counts as {}. Returns (does not throw) the parse error, so that the procedure can
 * check authorisation first. Also returns the text of the body, for callers that parse it again.
 */
export function parseJson(body: Buffer, contentType: string | null): AppError | { text: string; value: object } {
  if (body.byteLength === 0) return { text: '{}', value: {} };
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) return new AppError('NOT_JSON', 'Send the body as JSON.');

  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { text, value };
    return new AppError('VALIDATION', 'Send a JSON object.');
  } catch {
    return new AppError('VALIDATION', 'The body is not valid JSON.');
  }
}
