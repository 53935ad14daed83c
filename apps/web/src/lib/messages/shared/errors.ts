import { texts } from '#lib/language/texts.ts';

/** Error pages. */
export const errorTexts = texts({
  en: {
    goHome: 'Go to the home page',
    number: (status: number) => `Error ${status}`,
    numberOf: (status: number) => `Number ${status}`,
    unreached: { title: 'We could not reach the server', text: 'Check your connection, then load the page again.' },
    signInFirst: { title: 'Sign in first', text: 'This page is for people who are signed in.' },
    noAccess: { title: 'You don’t have access', text: 'Ask an owner or admin.' },
    notFound: { title: 'Page not found', text: 'The address may be mistyped, or the page has moved.' },
    wrongMethod: { title: 'That doesn’t work here', text: 'This page does not accept this kind of request.' },
    tooLarge: { title: 'That’s too large', text: 'Send less, and try again.' },
    tooMany: { title: 'Too many attempts', text: 'Wait a few minutes, then try again.' },
    providerAway: {
      title: 'The payment provider doesn’t answer',
      text: 'Nothing was changed. Try again in a few minutes.',
    },
    busy: { title: 'Too busy right now', text: 'Nothing was changed. Load the page again in a moment.' },
    failed: { title: 'That didn’t work', text: 'Go back and try again.' },
    broken: { title: 'Something went wrong', text: 'Load the page again in a moment.' },
  },
  de: {
    goHome: 'Zur Startseite',
    number: (status) => `Fehler ${status}`,
    numberOf: (status) => `Nummer ${status}`,
    unreached: {
      title: 'Der Server ist nicht erreichbar',
      text: 'Prüfen Sie Ihre Verbindung und laden Sie die Seite neu.',
    },
    signInFirst: { title: 'Melden Sie sich zuerst an', text: 'Diese Seite ist nur für angemeldete Personen.' },
    noAccess: { title: 'Sie haben keinen Zugriff', text: 'Wenden Sie sich an die Administration Ihrer Organisation.' },
    notFound: {
      title: 'Seite nicht gefunden',
      text: 'Vielleicht enthält die Adresse einen Tippfehler, oder die Seite ist umgezogen.',
    },
    wrongMethod: { title: 'Das geht hier nicht', text: 'Diese Seite nimmt diese Art von Anfrage nicht an.' },
    tooLarge: { title: 'Das ist zu groß', text: 'Senden Sie weniger und versuchen Sie es noch einmal.' },
    tooMany: {
      title: 'Zu viele Versuche',
      text: 'Warten Sie ein paar Minuten und versuchen Sie es dann noch einmal.',
    },
    providerAway: {
      title: 'Der Zahlungsanbieter antwortet nicht',
      text: 'Es wurde nichts geändert. Versuchen Sie es in ein paar Minuten noch einmal.',
    },
    busy: {
      title: 'Gerade überlastet',
      text: 'Es wurde nichts geändert. Laden Sie die Seite gleich noch einmal.',
    },
    failed: { title: 'Das hat nicht funktioniert', text: 'Gehen Sie zurück und versuchen Sie es noch einmal.' },
    broken: { title: 'Etwas ist schiefgegangen', text: 'Laden Sie die Seite gleich noch einmal.' },
  },
});
