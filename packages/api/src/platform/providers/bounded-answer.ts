import { foreignFailure } from '../errors.ts';

/**
 * Sends a request to another system, which the error names.
 *
 * @throws Error with the failure's code but not its message, because fetch's message may quote the answer.
 */
export async function request(what: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw foreignFailure(`${what}: no answer`, error);
  }
}

/** Reads an answer's body. @throws Error if it is larger than that, or ends early. */
export async function readAtMost(what: string, answer: Response, bytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of answer.body ?? []) {
      length += part.byteLength;
      if (length > bytes) break;
      parts.push(part);
    }
  } catch (error) {
    throw foreignFailure(`${what}: no whole answer`, error);
  }
  if (length > bytes) throw new Error(`${what}: the answer is too large`);
  return Buffer.concat(parts).toString('utf8');
}
