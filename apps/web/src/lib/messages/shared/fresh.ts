import { texts } from '#lib/language/texts.ts';

/** What a form asks for before something that lasts: a sign-in of the last 15 minutes. */
export const freshTexts = texts({
  en: {
    yourPassword: 'Your password',
    title: 'Confirm that it’s you',
    lead: 'Some changes need a sign-in of the last 15 minutes.',
    confirm: 'Confirm',
    confirmed: 'Confirmed for the next 15 minutes.',
    withProvider: (idp: string) => `Sign in with ${idp} once more first. What you typed stays.`,
    continueWith: (idp: string) => `Continue with ${idp}`,
    setPassword: 'You have no password. Set one first: “Forgot your password?” on the sign-in page mails you a link.',
  },
  de: {
    yourPassword: 'Ihr Passwort',
    title: 'Bestätigen Sie, dass Sie es sind',
    lead: 'Manche Änderungen brauchen eine Anmeldung aus den letzten 15 Minuten.',
    confirm: 'Bestätigen',
    confirmed: 'Für die nächsten 15 Minuten bestätigt.',
    withProvider: (idp) => `Melden Sie sich zuerst noch einmal mit ${idp} an. Ihre Eingaben bleiben.`,
    continueWith: (idp) => `Weiter mit ${idp}`,
    setPassword:
      'Sie haben kein Passwort. Legen Sie zuerst eines fest: „Passwort vergessen?“ auf der Anmeldeseite schickt Ihnen einen Link.',
  },
});
