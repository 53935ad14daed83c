import { openStoredFile, type StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';
import { withoutScheme } from './answer-of.ts';
import { type AnswerKind, findAnswer } from './answers.ts';
import { createPeople, type People, type PeopleState, type Person } from './people.ts';
import type { Protocol } from './protocol.ts';
import { makeSigningKey, type SigningKey } from './signing-key.ts';

export interface IdentityProviderSettings {
  /** The sandbox's own origin. */
  url: string;
  clientId: string;
  clientSecret: string;
  /** The service's origin, or null while it is not known. */
  serviceUrl: () => string | null;
  /** Addresses that can always be chosen. Read at each sign-in, because accounts can be added later. */
  demoAddresses: () => string[];
  /** The file that keeps people and the signing key; null: in memory. */
  path: string | null;
}

/** The controls by which tests operate the identity provider. */
export interface IdentityProvider {
  authUrl: string;
  tokenUrl: string;
  /** Both allowed forms of a token's `iss`: the address with and without its scheme. */
  issuers: string[];
  people: People;
  /** Sets the answer to the next token request. Several calls form a queue. */
  answerNext(kind: AnswerKind): void;
  /** Sets the answer to all token requests; null: correct answers. Empties the queue. */
  setAnswer(kind: AnswerKind | null): void;
  answer(): AnswerKind | null;
  /** How many token requests were received, refused ones included. */
  tokenRequests(): number;
}

export interface RunningIdentityProvider extends IdentityProvider {
  /** The protocol, made at the first call: its library and the signing key take half of the start of a sandbox. */
  protocol(): Promise<Protocol>;
  /** The people that the chooser offers. */
  choices(): Person[];
}

interface IdpState extends PeopleState {
  signing_key: SigningKey | null;
}

/** Opens the identity provider without a server: its people, the answers that tests set, and its protocol. */
export function openIdentityProvider(settings: IdentityProviderSettings): RunningIdentityProvider {
  const file: StoredFile<IdpState> = openStoredFile<IdpState>(settings.path, { people: [], signing_key: null });
  const people = createPeople(file);
  const issuer = `${settings.url}/idp`;

  const queued: AnswerKind[] = [];
  let permanent: AnswerKind | null = null;
  let tokenRequests = 0;
  let protocol: Promise<Protocol> | undefined;

  return {
    protocol() {
      protocol ??= startProtocol();
      protocol.catch(() => {
        protocol = undefined;
      });
      return protocol;
    },
    choices,
    authUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    issuers: [issuer, withoutScheme(issuer)],
    people,
    answerNext: (kind) => void queued.push(known(kind)),
    setAnswer(kind) {
      queued.length = 0;
      permanent = kind && known(kind);
    },
    answer: () => queued[0] ?? permanent,
    tokenRequests: () => tokenRequests,
  };

  function choices(): Person[] {
    for (const email of settings.demoAddresses()) {
      if (!people.all().some((person) => person.email === email))
        people.add({ email, name: email.split('@')[0] ?? '' });
    }
    return people.all();
  }

  async function startProtocol(): Promise<Protocol> {
    const { createProtocol } = await import('./protocol.ts');
    const key = await readSigningKey(file);
    return createProtocol({
      issuer,
      key,
      people,
      clientId: settings.clientId,
      clientSecret: settings.clientSecret,
      redirectUri: () => `${settings.serviceUrl() ?? 'http://localhost'}/auth/idp/callback`,
      onTokenRequest() {
        tokenRequests += 1;
        const kind = queued.shift() ?? permanent;
        return kind && findAnswer(kind);
      },
    });
  }
}

async function readSigningKey(file: StoredFile<IdpState>): Promise<SigningKey> {
  if (file.value.signing_key) return file.value.signing_key;
  // Shared by all sandboxes of a process, because generating one takes 50 ms and tests start many sandboxes.
  newKey ??= makeSigningKey();
  file.value.signing_key = await newKey;
  file.save();
  return file.value.signing_key;
}

let newKey: Promise<SigningKey> | undefined;

function known(kind: AnswerKind): AnswerKind {
  if (!findAnswer(kind)) throw new Error(`The identity provider knows no answer called ${kind}.`);
  return kind;
}
