import type { Page } from '@playwright/test';

/**
 * Gives a page of Chromium an authenticator whose user is verified and present, so that passkeys are made and used
 * without a prompt (WebAuthn §11.2). The page must be on localhost: WebAuthn refuses 127.0.0.1.
 */
export async function addAuthenticator(page: Page) {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    /** Whether the user answers what is asked. */
    answers: (enabled: boolean) => client.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
  };
}
