import type { Provider } from '../provider/provider.ts';
import { ApiError } from '../routing/api-error.ts';

/**
 * Accepts a provider's key as a bearer token or as the user name of basic authentication, and returns it.
 *
 * @throws ApiError 401 for another key or none.
 */
export function requireKey(provider: Provider, header: string | undefined): string {
  const key = readKey(header);
  if (key === provider.secretKey || provider.restrictedKeys.has(key)) return key;
  if (!key) {
    throw new ApiError(
      401,
      'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.',
    );
  }
  throw new ApiError(401, `Invalid API Key provided: ${key.slice(0, 4)}****${key.slice(-4)}`);
}

/** Returns the provider with the secret key of a request, or the first one, which refuses an unknown key. */
export function providerOf(first: Provider, header: string | undefined): Provider {
  return first.providersByKey.get(readKey(header)) ?? first;
}

function readKey(header = ''): string {
  const [scheme = '', value = ''] = header.split(' ');
  if (/^bearer$/i.test(scheme)) return value;
  if (/^basic$/i.test(scheme)) return Buffer.from(value, 'base64').toString().split(':')[0] ?? '';
  return '';
}
