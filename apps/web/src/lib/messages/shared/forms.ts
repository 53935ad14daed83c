import { texts } from '#lib/language/texts.ts';

/** What a form says when it fails. */
export const formTexts = texts({
  en: {
    failed: 'That didn’t work',
    signedOut: 'You have been signed out. Sign in in a new tab, then press the button again.',
    tooMany: (minutes: number) =>
      `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    checkOne: 'Check one thing',
    check: (count: number) => `Check ${count} things`,
    signInInNewTab: 'Sign in in a new tab',
    otherUser: (email: string) =>
      `You are now signed in as ${email}; this page was opened for another account. Nothing was changed.`,
    reload: 'Reload the page',
    kept: {
      offline: 'You are offline. What you typed is still here.',
      broken: 'Something went wrong. What you typed is still here.',
      busy: 'The server is too busy right now. What you typed is still here.',
      unreached: 'We could not reach the server. What you typed is still here.',
    },
  },
  de: {
    failed: 'Das hat nicht funktioniert',
    signedOut:
      'Sie wurden abgemeldet. Melden Sie sich in einem neuen Tab an und drücken Sie die Schaltfläche dann noch einmal.',
    tooMany: (minutes) =>
      `Zu viele Versuche. Versuchen Sie es in ${minutes === 1 ? 'einer Minute' : `${minutes} Minuten`} noch einmal.`,
    checkOne: 'Prüfen Sie eine Angabe',
    check: (count) => `Prüfen Sie ${count} Angaben`,
    signInInNewTab: 'In einem neuen Tab anmelden',
    otherUser: (email) =>
      `Sie sind jetzt als ${email} angemeldet; diese Seite wurde für ein anderes Konto geöffnet. Es wurde nichts geändert.`,
    reload: 'Seite neu laden',
    kept: {
      offline: 'Sie sind offline. Ihre Eingaben sind noch da.',
      broken: 'Etwas ist schiefgegangen. Ihre Eingaben sind noch da.',
      busy: 'Der Server ist gerade überlastet. Ihre Eingaben sind noch da.',
      unreached: 'Der Server ist nicht erreichbar. Ihre Eingaben sind noch da.',
    },
  },
});
