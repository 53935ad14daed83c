import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { type Configuration, errors, type InteractionResults, interactionPolicy } from 'oidc-provider';
import { answerOf } from './answer-of.ts';
import { errorPage } from './chooser-page.ts';
import { type ClientSettings, clientRegistration } from './client.ts';
import { createGrants } from './grants.ts';
import type { People } from './people.ts';
import type { SigningKey } from './signing-key.ts';
import type { Answer } from './token-answer.ts';

export interface ProtocolSettings extends ClientSettings {
  issuer: string;
  key: SigningKey;
  people: People;
  /** Called once for each token request. Returns the answer that replaces the correct one, if any. */
  onTokenRequest: () => Answer | null | undefined;
}

/** OpenID Connect as oidc-provider speaks it. */
export interface Protocol {
  /** Answers a request of the protocol. */
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** Checks that the cookie names this attempt. @throws errors.OIDCProviderError if not. */
  requireAttempt(req: IncomingMessage, res: ServerResponse, uid: string): Promise<void>;
  /** Ends the attempt of the cookie and redirects the browser. @throws errors.OIDCProviderError if there is none. */
  finish(req: IncomingMessage, res: ServerResponse, result: InteractionResults): Promise<void>;
  isProtocolError(error: unknown): error is errors.OIDCProviderError;
}

/** Makes the protocol of one issuer, whose requests come below /idp. */
export function createProtocol(settings: ProtocolSettings): Protocol {
  const { issuer, clientId, key } = settings;
  const provider = new Provider(issuer, configuration(settings));

  provider.use(async (ctx, next) => {
    const isTokenRequest = ctx.path === '/token' && ctx.method === 'POST';
    const replaced = isTokenRequest ? settings.onTokenRequest() : null;
    await next();
    replaced?.give(answerOf(ctx, { issuer, clientId, key }));
  });
  (provider as NodeJS.EventEmitter).on('error', (error: NodeJS.ErrnoException) => {
    // Clients are expected to disconnect from the endless answer.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') console.error(error);
  });
  // After use(): middleware that is added later has no effect.
  const handler = provider.callback();

  return {
    handle(req, res) {
      // oidc-provider compares the two addresses to find out where it is mounted.
      const mounted = Object.assign(req, { originalUrl: req.url });
      mounted.url = req.url?.replace(/^\/idp/, '') || '/';
      void handler(mounted, res);
    },
    async requireAttempt(req, res, uid) {
      const details = await provider.interactionDetails(req, res);
      if (details.uid !== uid) throw new errors.SessionNotFound('another sign-in was started in this browser');
    },
    finish: (req, res, result) => provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false }),
    isProtocolError: (error) => error instanceof errors.OIDCProviderError,
  };
}

function configuration({ key, people, ...client }: ProtocolSettings): Configuration {
  const policy = interactionPolicy.base();
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  const registration = clientRegistration(client);
  const grants = createGrants();
  return {
    adapter: (model: string) => (model === 'Client' ? registration : grants(model)),
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
