import type { App } from '../../app.ts';
import { identityRedirectUri } from '../../platform/links.ts';
import type { IdentityProvider } from '../../platform/providers/identity.ts';
import { type Finding, note, reasonOf, right, wrong } from './finding.ts';

/** Checks whether the identity provider accepts our redirect URI and our credentials. */
export async function checkIdentity(app: App): Promise<Finding[]> {
  if (app.idp === null) {
    return [note('Identity provider', 'Off, because IDP_CLIENT_ID or IDP_CLIENT_SECRET is not set.')];
  }
  if (app.config.publicBaseUrl === null) return [];

  const redirectUri = identityRedirectUri(app.config);
  return [await checkRedirect(app.idp, redirectUri), await checkClient(app.idp, redirectUri)];
}

async function checkRedirect(idp: IdentityProvider, redirectUri: string): Promise<Finding> {
  const about = 'Redirect address';
  try {
    if (await idp.acceptsRedirectUri(redirectUri)) return right(about, `The identity provider takes ${redirectUri}.`);
    return wrong(
      about,
      `The identity provider refuses it. Register ${redirectUri} there, for the client of IDP_CLIENT_ID.`,
    );
  } catch (error) {
    return wrong(
      about,
      `Nothing answers at IDP_AUTH_URL (${reasonOf(error)}). Correct it, or let the network through.`,
    );
  }
}

async function checkClient(idp: IdentityProvider, redirectUri: string): Promise<Finding> {
  const about = 'Identity provider';
  try {
    if (await idp.acceptsClient(redirectUri)) return right(about, 'It knows our client id and secret.');
    return wrong(about, 'It refuses our credentials. Copy IDP_CLIENT_ID and IDP_CLIENT_SECRET from it anew.');
  } catch (error) {
    return wrong(
      about,
      `Nothing answers at IDP_TOKEN_URL (${reasonOf(error)}). Correct it, or let the network through.`,
    );
  }
}
