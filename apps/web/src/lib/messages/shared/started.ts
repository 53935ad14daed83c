import { texts } from '#lib/language/texts.ts';

/** What ends with a person's authority: invitations, password links and API keys that they made. */
export const startedTexts = texts({
  en: {
    invitations: (count: number) =>
      count === 1 ? '1 invitation that isn’t used yet' : `${count} invitations that aren’t used yet`,
    links: (count: number) => (count === 1 ? '1 password link' : `${count} password links`),
    keys: (names: string) => `API keys: ${names}`,
    yoursEnd: 'This also ends what you created:',
    theirsEnd: 'This also ends what they created:',
    yourKeys: 'You created these API keys. Services go on using them:',
    revokeKeys: 'Revoke them as well',
    keepKeys: 'Keep these API keys working',
    keyOf: (name: string, organisation: string) => `${name} (${organisation})`,
    keyOfDeployment: (name: string) => `${name} (of the whole deployment)`,
    ended: (what: string) => ` Ended as well: ${what}.`,
  },
  de: {
    invitations: (count) =>
      count === 1 ? '1 noch nicht benutzte Einladung' : `${count} noch nicht benutzte Einladungen`,
    links: (count) => (count === 1 ? '1 Passwort-Link' : `${count} Passwort-Links`),
    keys: (names) => `API-Schlüssel: ${names}`,
    yoursEnd: 'Damit endet auch, was Sie erstellt haben:',
    theirsEnd: 'Damit endet auch, was diese Person erstellt hat:',
    yourKeys: 'Diese API-Schlüssel haben Sie erstellt. Dienste verwenden sie weiter:',
    revokeKeys: 'Auch diese widerrufen',
    keepKeys: 'Diese API-Schlüssel weiter gelten lassen',
    keyOf: (name, organisation) => `${name} (${organisation})`,
    keyOfDeployment: (name) => `${name} (der ganzen Installation)`,
    ended: (what) => ` Ebenfalls beendet: ${what}.`,
  },
});
