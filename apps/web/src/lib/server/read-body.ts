import { Refusal } from '@gatehouse/api/errors';

/** The bytes of a body. @throws Refusal TOO_LARGE as soon as there are more than `most`, whatever was announced. */
export async function readBytes(request: Request, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.byteLength;
    if (length > most) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function tooLarge(): Refusal {
  return new Refusal('TOO_LARGE', 'The body is too large.');
}

/**
 * A JSON body as an object; none at all is an empty one. What cannot be read comes
 * back as the refusal itself, for the procedure to throw once permission is clear.
 */
export async function readJson(request: Request, most: number): Promise<unknown> {
  const bytes = await readBytes(request, most);
  if (bytes.byteLength === 0) return {};
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return new Refusal('NOT_JSON', 'Send the body as JSON.');
  }

  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    return new Refusal('VALIDATION', 'Send a JSON object.');
  } catch {
    return new Refusal('VALIDATION', 'The body is not valid JSON.');
  }
}
