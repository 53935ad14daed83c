import { createPrivateKey, generateKeyPair, type JsonWebKey, randomUUID, sign } from 'node:crypto';
import { promisify } from 'node:util';

/** The provider's RS256 key as a private JWK. */
export type SigningKey = JsonWebKey & { kid: string };

/** Generates an RSA key of 2048 bits. */
export async function makeSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

/** Returns an ID token with a valid signature over any payload, valid or not. */
export function signToken(key: SigningKey, payload: string | Buffer): string {
  const header = encode(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: key.kid }));
  const signed = `${header}.${encode(payload)}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), createPrivateKey({ key, format: 'jwk' }));
  return `${signed}.${signature.toString('base64url')}`;
}

function encode(value: string | Buffer): string {
  return Buffer.from(value as string).toString('base64url');
}
