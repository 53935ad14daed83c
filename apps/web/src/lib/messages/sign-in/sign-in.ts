import { texts } from '#lib/language/texts.ts';

/** /login, and what it shares with /signup. */
export const signInTexts = texts({
  en: {
    title: 'Sign in',
    toJoin: 'To join {name}.',
    welcome: 'Welcome back.',
    idpFailed: (idp: string) => `Signing in with ${idp} didn’t work. Try again, or sign in with your password.`,
    theIdp: 'the identity provider',
    email: 'E-mail',
    newHere: 'New here? {create}',
    createAccount: 'Create an account',
    createOrganisation: 'Create an organisation',
    justSignedUp: 'Just signed up? Open the link in your e-mail first',
    linkConfirms: 'The link confirms your address. You can sign in once it’s confirmed.',
    sendAgainTo: 'Send the link again to',
    sendLink: 'Send the link',
    forgot: 'Forgot your password?',
    forgotLead: 'We’ll e-mail you a link. Open it to choose a new password.',
    yourAddress: 'Your address',
    mailMe: 'E-mail me a link',
    orIdp: (idp: string) =>
      `Or continue with ${idp} if your address there is the same, and set a new password under Account.`,
    noMail: 'No e-mail? Write to {address}.',
    or: 'or',
    continueWith: (idp: string) => `Continue with ${idp}`,
  },
  de: {
    title: 'Anmelden',
    toJoin: 'Um {name} beizutreten.',
    welcome: 'Willkommen zurück.',
    idpFailed: (idp) =>
      `Die Anmeldung mit ${idp} hat nicht funktioniert. Versuchen Sie es noch einmal oder melden Sie sich mit Ihrem Passwort an.`,
    theIdp: 'dem Identitätsanbieter',
    email: 'E-Mail',
    newHere: 'Neu hier? {create}',
    createAccount: 'Konto anlegen',
    createOrganisation: 'Organisation anlegen',
    justSignedUp: 'Gerade registriert? Öffnen Sie zuerst den Link in Ihrer E-Mail',
    linkConfirms: 'Der Link bestätigt Ihre Adresse. Danach können Sie sich anmelden.',
    sendAgainTo: 'Link noch einmal senden an',
    sendLink: 'Link senden',
    forgot: 'Passwort vergessen?',
    forgotLead: 'Wir senden Ihnen einen Link. Öffnen Sie ihn, um ein neues Passwort zu wählen.',
    yourAddress: 'Ihre Adresse',
    mailMe: 'Link per E-Mail senden',
    orIdp: (idp) =>
      `Oder weiter mit ${idp}, falls Ihre Adresse dort dieselbe ist. Legen Sie dann unter „Konto“ ein neues Passwort fest.`,
    noMail: 'Keine E-Mail? Schreiben Sie an {address}.',
    or: 'oder',
    continueWith: (idp) => `Weiter mit ${idp}`,
  },
});
