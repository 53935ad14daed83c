import type { Adapter, AdapterPayload } from 'oidc-provider';

export interface ClientSettings {
  clientId: string;
  clientSecret: string;
  /** Read at each request, because tests choose the service's port late. */
  redirectUri: () => string;
}

/**
 * Returns the adapter with the only registered client. oidc-provider accepts its secret in the body and
 * by basic authentication.
 */
export function clientRegistration(settings: ClientSettings): Adapter {
  return {
    async find(id) {
      if (id !== settings.clientId) return undefined;
      const client: AdapterPayload = {
        client_id: settings.clientId,
        client_secret: settings.clientSecret,
        redirect_uris: [settings.redirectUri()],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
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
