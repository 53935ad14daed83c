import { texts } from '#lib/language/texts.ts';

/** Passkeys: signing in, confirming and managing them. */
export const passkeyTexts = texts({
  en: {
    use: 'Use a passkey',
    failed: 'No passkey was used. Try again, or use another way.',
    refused: 'That passkey was not accepted.',
    tooMany: 'Too many attempts. Wait a while and try again.',
    title: 'Passkeys',
    lead: 'A passkey is on your device or security key. It signs you in without a password.',
    name: 'Name of the passkey',
    nameHint: 'So that you recognise it later, such as “Work laptop”.',
    unnamed: 'Passkey',
    add: 'Add a passkey',
    added: 'Added on {date}',
    used: 'Last used on {date}',
    neverUsed: 'Not used yet',
    isRefused: 'Refused: there may be a copy of this passkey. Remove it.',
    remove: (name: string) => `Remove ${name}`,
    removeShort: 'Remove',
    needsScript: 'A passkey needs JavaScript. Switch it on to add or use one.',
    unsupported: 'This browser has no passkeys.',
    notAdded: 'No passkey was added. Try again.',
    errorOf: (code: string | undefined) =>
      code === 'TOO_MANY'
        ? 'Too many attempts. Wait a while and try again.'
        : code === 'UNAUTHENTICATED'
          ? 'That passkey was not accepted.'
          : code === 'CONFLICT'
            ? 'You have 20 passkeys. Remove one before you add another.'
            : 'That didn’t work. Try again in a moment.',
  },
  de: {
    use: 'Passkey verwenden',
    failed: 'Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.',
    refused: 'Dieser Passkey wurde nicht angenommen.',
    tooMany: 'Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es noch einmal.',
    title: 'Passkeys',
    lead: 'Ein Passkey liegt auf Ihrem Gerät oder Sicherheitsschlüssel. Damit melden Sie sich ohne Passwort an.',
    name: 'Name des Passkeys',
    nameHint: 'Damit Sie ihn später wiedererkennen, etwa „Arbeitslaptop“.',
    unnamed: 'Passkey',
    add: 'Passkey hinzufügen',
    added: 'Hinzugefügt am {date}',
    used: 'Zuletzt verwendet am {date}',
    neverUsed: 'Noch nicht verwendet',
    isRefused: 'Abgelehnt: Es könnte eine Kopie dieses Passkeys geben. Entfernen Sie ihn.',
    remove: (name) => `${name} entfernen`,
    removeShort: 'Entfernen',
    needsScript: 'Ein Passkey braucht JavaScript. Schalten Sie es ein, um einen hinzuzufügen oder zu verwenden.',
    unsupported: 'Dieser Browser hat keine Passkeys.',
    notAdded: 'Es wurde kein Passkey hinzugefügt. Versuchen Sie es noch einmal.',
    errorOf: (code) =>
      code === 'TOO_MANY'
        ? 'Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es noch einmal.'
        : code === 'UNAUTHENTICATED'
          ? 'Dieser Passkey wurde nicht angenommen.'
          : code === 'CONFLICT'
            ? 'Sie haben 20 Passkeys. Entfernen Sie einen, bevor Sie einen weiteren hinzufügen.'
            : 'Das hat nicht funktioniert. Versuchen Sie es gleich noch einmal.',
  },
});
