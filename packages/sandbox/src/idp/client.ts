import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Adapter, AdapterPayload } from 'oidc-provider';

export interface ClientSettings {
  clientId: string;
  clientSecret: string;
  /** Read at each request, because tests choose the service's port late. */
  redirectUri: () => string;
}

const currentRequest = new AsyncLocalStorage<IncomingMessage>();

/** Runs a request so that the client's registration can see how it authenticates. */
export function withRequest<T>(req: IncomingMessage, run: () => T): T {
  return currentRequest.run(req, run);
}

/**
 * The one registered client, as the adapter that the provider asks. The library
 * allows a client one way to authenticate; this one may use both, so it is
 * registered with the way that the request at hand has chosen.
 */
export function clientRegistration(settings: ClientSettings): Adapter {
  return {
    async find(id) {
      if (id !== settings.clientId) return undefined;
      const usesBasic = /^basic /i.test(currentRequest.getStore()?.headers.authorization ?? '');
      const client: AdapterPayload = {
        client_id: settings.clientId,
        client_secret: settings.clientSecret,
        redirect_uris: [settings.redirectUri()],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: usesBasic ? 'client_secret_basic' : 'client_secret_post',
      };
      return client;
    },
    async upsert() {},
    async findByUid() {
      return undefined;
    },
    async findByUserCode() {
      return undefined;
    },
    async consume() {},
    async destroy() {},
    async revokeByGrantId() {},
  };
}
