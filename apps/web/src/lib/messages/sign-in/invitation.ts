import { texts } from '#lib/language/texts.ts';

export const invitationTexts = texts({
  en: {
    fails: 'This invitation doesn’t work',
    failsText: 'Invitations work once, within seven days, and can be revoked. Ask for a new one.',
    continue: 'Continue',
    belongs: 'You already belong to {name}',
    unused: 'The invitation is still unused. Someone else can join with it.',
    join: 'Join {name}',
    invited: (asRole: string) => `You are invited ${asRole}.`,
    signedInAs: 'You are signed in as {address}.',
    another: 'Use another account',
    notNow: 'Not now',
    createAccount: 'Create an account',
    signIn: 'Sign in',
    afterwards: 'Afterwards you come back here to join. The invitation works once, until {day}.',
  },
  de: {
    fails: 'Diese Einladung funktioniert nicht',
    failsText:
      'Einladungen funktionieren einmal, innerhalb von sieben Tagen, und lassen sich widerrufen. Bitten Sie um eine neue.',
    continue: 'Weiter',
    belongs: 'Sie gehören schon zu {name}',
    unused: 'Die Einladung ist noch unbenutzt. Jemand anderes kann damit beitreten.',
    join: '{name} beitreten',
    invited: (asRole) => `Sie sind ${asRole} eingeladen.`,
    signedInAs: 'Sie sind als {address} angemeldet.',
    another: 'Anderes Konto verwenden',
    notNow: 'Jetzt nicht',
    createAccount: 'Konto anlegen',
    signIn: 'Anmelden',
    afterwards: 'Danach kommen Sie hierher zurück, um beizutreten. Die Einladung funktioniert einmal, bis zum {day}.',
  },
});
