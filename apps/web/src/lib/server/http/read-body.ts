import { AppError, isAppError } from '@gatehouse/api/platform/errors';

/**
 * Reads a body of at most `maxBytes`. A larger body is read to its end and discarded: a client
 * that is still sending would lose the response when the connection closes.
 *
 * @throws AppError TOO_LARGE if the body is larger, whatever Content-Length it announced; VALIDATION if the client
 *   disconnects before its end.
 */
export async function readRequestBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of request.body ?? []) {
      length += part.byteLength;
      if (length <= maxBytes) parts.push(part);
    }
  } catch (error) {
    // Kit's adapter throws this for a body above its own limit, which is higher.
    if (error instanceof Error && 'status' in error && error.status === 413) throw tooLarge();
    throw new AppError('VALIDATION', 'The body ended early.', { cause: error });
  }
  if (length > maxBytes) throw tooLarge();
  return Buffer.concat(parts);
}

export function tooLarge(): AppError {
  return new AppError('TOO_LARGE', 'The body is too large.');
}

type BodyLimit = {
  maxBytes: number;
  /** Whether errors of reading are returned instead of thrown: a key’s authority is checked before the body. */
  returnsTooLarge: boolean;
};

/** The limit of a request's body. */
export function bodyLimitOf({ accepted, principal }: Pick<App.Locals, 'accepted' | 'principal'>): BodyLimit {
  return { maxBytes: accepted.maxBodyBytes, returnsTooLarge: principal?.kind === 'key' };
}

/** The headers and body of a request. `readBytes` throws TOO_LARGE for a body of more than `maxBytes`. */
type BodySource = { headers: Pick<Headers, 'get'>; readBytes: (maxBytes: number) => Promise<Buffer> };

/**
 * Reads a JSON body; an empty one counts as {}. Returns (does not throw) the parse error, so that
 * the procedure can check authorisation first.
 *
 * @throws AppError TOO_LARGE, or VALIDATION for a body that ends early, unless `returnsTooLarge`.
 */
export async function readJson(request: BodySource, limit: BodyLimit): Promise<unknown> {
  const read = await readJsonText(request, limit);
  return isAppError(read) ? read : read.value;
}

/** As `readJson`, but also returns the text of the body, for callers that parse it again. */
export async function readJsonText(
  { headers, readBytes }: BodySource,
  { maxBytes, returnsTooLarge }: BodyLimit,
): Promise<AppError | { text: string; value: object }> {
  const bytes = await readBytes(maxBytes).catch((error: unknown) => {
    if (returnsTooLarge && isAppError(error)) return error;
    throw error;
  });
  if (isAppError(bytes)) return bytes;
  if (bytes.byteLength === 0) return { text: '{}', value: {} };
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    return new AppError('NOT_JSON', 'Send the body as JSON.');
  }

  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { text, value };
    return new AppError('VALIDATION', 'Send a JSON object.');
  } catch {
    return new AppError('VALIDATION', 'The body is not valid JSON.');
  }
}
