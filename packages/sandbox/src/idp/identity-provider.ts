import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openStoredFile, type StoredFile } from '@gatehouse/payment-sandbox/provider/stored-file';
import Provider, { type Configuration, interactionPolicy } from 'oidc-provider';
import { answerOf, withoutScheme } from './answer-of.ts';
import { type AnswerKind, findAnswer } from './answers.ts';
import { errorPage } from './chooser-page.ts';
import { clientRegistration } from './client.ts';
import { createGrants } from './grants.ts';
import { type Account, createPeople, type People, type PeopleState } from './people.ts';
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
  provider: Provider;
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** The people that the chooser offers. */
  choices(): Account[];
}

interface IdpState extends PeopleState {
  signing_key: SigningKey | null;
}

/** Starts the identity provider without a server: its people, its signing key and its protocol. */
export async function startIdentityProvider(settings: IdentityProviderSettings): Promise<RunningIdentityProvider> {
  const file: StoredFile<IdpState> = openStoredFile<IdpState>(settings.path, { people: [], signing_key: null });
  const key = await readSigningKey(file);
  const people = createPeople(file);
  const issuer = `${settings.url}/idp`;
  const provider = new Provider(issuer, configuration(settings, key, people));

  const queued: AnswerKind[] = [];
  let permanent: AnswerKind | null = null;
  let tokenRequests = 0;
  provider.use(async (ctx, next) => {
    const isTokenRequest = ctx.path === '/token' && ctx.method === 'POST';
    if (isTokenRequest) tokenRequests += 1;
    const kind = isTokenRequest ? (queued.shift() ?? permanent) : null;
    await next();
    if (kind) findAnswer(kind)?.give(answerOf(ctx, { issuer, clientId: settings.clientId, key }));
  });
  (provider as NodeJS.EventEmitter).on('error', (error: NodeJS.ErrnoException) => {
    // Clients are expected to disconnect from the endless answer.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') console.error(error);
  });
  // After use(): middleware that is added later has no effect.
  const handler = provider.callback();

  return {
    provider,
    handle,
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

  function choices(): Account[] {
    for (const email of settings.demoAddresses()) {
      if (!people.all().some((person) => person.email === email))
        people.add({ email, name: email.split('@')[0] ?? '' });
    }
    return people.all();
  }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    // oidc-provider compares the two addresses to find out where it is mounted.
    const mounted = Object.assign(req, { originalUrl: req.url });
    mounted.url = req.url?.replace(/^\/idp/, '') || '/';
    void handler(mounted, res);
  }
}

function configuration(settings: IdentityProviderSettings, key: SigningKey, people: People): Configuration {
  const policy = interactionPolicy.base();
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  const grants = createGrants();
  const client = clientRegistration({
    clientId: settings.clientId,
    clientSecret: settings.clientSecret,
    redirectUri: () => `${settings.serviceUrl() ?? 'http://localhost'}/auth/idp/callback`,
  });
  return {
    adapter: (model: string) => (model === 'Client' ? client : grants(model)),
    jwks: { keys: [key as never] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    pkce: { required: () => false },
    scopes: ['openid', 'email', 'profile'],
    responseTypes: ['code'],
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    interactions: { policy, url: (_ctx, interaction) => `/idp/interaction/${interaction.uid}` },
    cookies: {
      // All ports of localhost share their cookies, those of the service included.
      names: { session: 'sandbox_idp_session', interaction: 'sandbox_idp_attempt', resume: 'sandbox_idp_resume' },
      keys: [randomUUID()],
    },
    ttl: {
      AuthorizationCode: 600,
      AccessToken: 3600,
      IdToken: 3600,
      Interaction: 3600,
      Session: 86_400,
      Grant: 86_400,
    },
    async findAccount(_ctx, sub) {
      const person = people.find(sub);
      if (!person) return undefined;
      const { name, ...claims } = person;
      return { accountId: sub, claims: () => ({ ...claims, ...(name && { name }) }) };
    },
    async loadExistingGrant(ctx) {
      const { provider, session, client: asking } = ctx.oidc;
      if (!session?.accountId || !asking) return undefined;
      const grant = new provider.Grant({ accountId: session.accountId, clientId: asking.clientId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    renderError(ctx, out) {
      ctx.type = 'html';
      ctx.body = errorPage(String(out.error), String(out.error_description ?? ''));
    },
  };
}

async function readSigningKey(file: StoredFile<IdpState>): Promise<SigningKey> {
  if (file.value.signing_key) return file.value.signing_key;
  const key = file.value.people.length === 0 ? await memoryKey() : await makeSigningKey();
  file.value.signing_key = key;
  file.save();
  return key;
}

let shared: Promise<SigningKey> | undefined;

/** All sandboxes of a process share one key, because generating one takes 0.1 s and tests start many sandboxes. */
function memoryKey(): Promise<SigningKey> {
  shared ??= makeSigningKey();
  return shared;
}

function known(kind: AnswerKind): AnswerKind {
  if (!findAnswer(kind)) throw new Error(`The identity provider knows no answer called ${kind}.`);
  return kind;
}
