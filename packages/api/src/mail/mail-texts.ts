import type { MailLanguage } from '../security/client.ts';

/** Every text of a mail. A language that lacks one does not compile. */
export type MailTexts = {
  /** Why the reader gets the verification mail. */
  request: Record<'sign-up' | 'change-address' | 'lost-password', (service: string) => string>;
  subject: (service: string) => string;
  confirm: string;
  /** What the link is for, as the page that sent it says. */
  confirmIt: Record<'sign-up' | 'change-address' | 'lost-password', string>;
  once: (lifetime: string) => string;
  ignore: string;
  support: (address: string) => string;
  /** Before the link in full. */
  copyLink: string;
  anHour: string;
  minutes: (count: number) => string;
  hours: (count: number) => string;
  days: (count: number) => string;
};

const usedHere = {
  en: (service: string) => `You (or someone else) used this address at ${service}.`,
  de: (service: string) => `Sie (oder jemand anderes) haben diese Adresse bei ${service} angegeben.`,
};

export const mailTexts: Record<MailLanguage, MailTexts> = {
  en: {
    request: {
      'sign-up': usedHere.en,
      'change-address': (service) => `You (or someone else) asked to use this address for an account at ${service}.`,
      'lost-password': usedHere.en,
    },
    subject: (service) => `Confirm your e-mail for ${service}`,
    confirm: 'Confirm your e-mail',
    confirmIt: {
      'sign-up': "Confirm it's yours:",
      'change-address': "Confirm it's yours, to sign in with it from now on:",
      'lost-password': "Confirm it's yours. Then you can choose a new password:",
    },
    once: (lifetime) => `The link works once, within ${lifetime}.`,
    ignore: 'Not you? Ignore this e-mail and nothing happens.',
    support: (address) => `Questions? Write to ${address}.`,
    copyLink: 'If the button does nothing, copy this address into your browser:',
    anHour: 'an hour',
    minutes: (count) => (count === 1 ? 'one minute' : `${count} minutes`),
    hours: (count) => `${count} hours`,
    days: (count) => `${count} days`,
  },
  de: {
    request: {
      'sign-up': usedHere.de,
      'change-address': (service) =>
        `Sie (oder jemand anderes) möchten diese Adresse für ein Konto bei ${service} verwenden.`,
      'lost-password': usedHere.de,
    },
    subject: (service) => `Bestätigen Sie Ihre E-Mail-Adresse für ${service}`,
    confirm: 'E-Mail-Adresse bestätigen',
    confirmIt: {
      'sign-up': 'Bestätigen Sie, dass sie Ihnen gehört:',
      'change-address': 'Bestätigen Sie, dass sie Ihnen gehört, um sich künftig damit anzumelden:',
      'lost-password': 'Bestätigen Sie, dass sie Ihnen gehört. Danach können Sie ein neues Passwort wählen:',
    },
    once: (lifetime) => `Der Link funktioniert einmal, innerhalb ${lifetime}.`,
    ignore: 'Das waren nicht Sie? Ignorieren Sie diese E-Mail, dann passiert nichts.',
    support: (address) => `Fragen? Schreiben Sie an ${address}.`,
    copyLink: 'Falls die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:',
    anHour: 'einer Stunde',
    minutes: (count) => (count === 1 ? 'einer Minute' : `von ${count} Minuten`),
    hours: (count) => `von ${count} Stunden`,
    days: (count) => `von ${count} Tagen`,
  },
};
