import { loadSdk } from './connection.ts';

/** The exact text of a delivery, a leading byte-order mark included, and its signature header. */
export type SignedText = { payload: string; signature: string };

const toleranceSeconds = 300;

/**
 * Verifies the signature of a delivery and returns its JSON. Several secrets are valid while one is
 * being rolled; without a secret every delivery is refused.
 *
 * @throws Error with a sentence that says why the delivery is refused.
 */
export async function verifyDelivery(
  { payload, signature }: SignedText,
  secrets: string[],
  now: Date,
): Promise<unknown> {
  if (secrets.length === 0) throw new Error('No webhook secret is configured.');
  if (signature === '') throw new Error('The signature is missing.');
  const verifier = (await loadSdk()).webhooks.signature;
  if (verifier === null) throw new Error('The SDK cannot verify a signature.');

  let failure: unknown;
  for (const secret of secrets) {
    try {
      // Not `constructEvent`, which refuses an event with a thin payload, so that its type could not be named.
      verifier.verifyHeader(payload, signature, secret, toleranceSeconds, undefined, now.getTime());
    } catch (error) {
      failure = error;
      continue;
    }
    return parse(payload);
  }
  throw new Error(firstSentence(failure), { cause: failure });
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    throw new Error('The body is not valid JSON.');
  }
}

/** Returns a signature header that `verifyDelivery` accepts for a body. */
export async function signDelivery(body: string, secret: string, now: Date): Promise<string> {
  const { webhooks } = await loadSdk();
  return webhooks.generateTestHeaderString({ payload: body, secret, timestamp: Math.floor(now.getTime() / 1000) });
}

/** Returns the first sentence of an SDK error; the rest is advice for the SDK's users. */
function firstSentence(failure: unknown): string {
  const message = failure instanceof Error ? failure.message : '';
  return /^[^.?!\n]+[.?!]?/.exec(message)?.[0] ?? 'The signature could not be verified.';
}
