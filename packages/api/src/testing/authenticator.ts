import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What a test changes of an answer, to see it refused. */
type Odd = Partial<{
  origin: string;
  rpId: string;
  userVerified: boolean;
  userHandle: string;
  counter: number;
  type: string;
  /** The attestation's format and statement: by default none, 'packed' is signed by the passkey's own key. */
  attestation: { format: string; statement?: Map<string, unknown> };
  credentialId: string;
}>;

type CreationOptions = { challenge: string; user: { id: string }; rp: { id?: string } };
type RequestOptions = { challenge: string; rpId?: string };

/** A security key in software with one passkey, which answers as a browser does (WebAuthn §5.8, §6.1). */
export function newAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16).toString('base64url');
  let handle = '';
  let counter = 0;

  function clientData(type: string, challenge: string, odd: Odd) {
    return Buffer.from(JSON.stringify({ type: odd.type ?? type, challenge, origin: odd.origin ?? origin }));
  }

  function authenticatorData(rpId: string, odd: Odd, attested?: Buffer): Buffer {
    const present = 0x01;
    const verified = (odd.userVerified ?? true) ? 0x04 : 0;
    const head = Buffer.alloc(5);
    head.writeUInt8(present | verified | (attested === undefined ? 0 : 0x40), 0);
    head.writeUInt32BE(odd.counter ?? counter, 1);
    const rpIdHash = createHash('sha256')
      .update(odd.rpId ?? rpId)
      .digest();
    return Buffer.concat([rpIdHash, head, ...(attested === undefined ? [] : [attested])]);
  }

  return {
    id,
    /** Counts signatures from now on, beginning at a number. */
    countFrom(number: number) {
      counter = number;
    },
    create({ challenge, user, rp }: CreationOptions, odd: Odd = {}) {
      handle = user.id;
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const coseKey = cbor(
        new Map<number, unknown>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, 'base64url')],
          [-3, Buffer.from(y, 'base64url')],
        ]),
      );
      const usedId = odd.credentialId ?? id;
      const credentialId = Buffer.from(usedId, 'base64url');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey]);
      const authData = authenticatorData(rp.id ?? '', odd, attested);
      const data = clientData('webauthn.create', challenge, odd);
      const { format, statement = new Map() } = odd.attestation ?? { format: 'none' };
      if (format === 'packed') {
        const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()]);
        statement.set('alg', -7).set('sig', sign('sha256', signed, privateKey));
      }
      const attestation = new Map<string, unknown>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', authData],
      ]);
      return {
        id: usedId,
        rawId: usedId,
        type: 'public-key' as const,
        response: {
          clientDataJSON: data.toString('base64url'),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      };
    },
    get({ challenge, rpId = '' }: RequestOptions, odd: Odd = {}) {
      if (counter > 0) counter += 1;
      const authData = authenticatorData(rpId, odd);
      const data = clientData('webauthn.get', challenge, odd);
      const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()]);
      return {
        id,
        rawId: id,
        type: 'public-key' as const,
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
          userHandle: odd.userHandle ?? handle,
        },
        clientExtensionResults: {},
      };
    },
  };
}

/** Encodes what an attestation holds: numbers, texts, bytes, lists and maps (RFC 8949). */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, each]) => [cbor(key), cbor(each)])]);
}

function head(kind: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(kind << 5) | length]);
  if (length < 256) return Buffer.from([(kind << 5) | 24, length]);
  return Buffer.from([(kind << 5) | 25, length >> 8, length & 0xff]);
}
