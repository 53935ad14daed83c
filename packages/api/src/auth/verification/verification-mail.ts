import type { Language } from '@gatehouse/languages/generated/languages';
import type { Config } from '../../platform/config.ts';
import { type MailLanguage, mailLanguage, renderMail } from '../../platform/mail/layout.ts';
import type { Mail } from '../../platform/providers/mailer.ts';

/** What a verification link does. */
export type Purpose = 'sign-up' | 'change-address' | 'lost-password';

type Verification = {
  to: string;
  language: Language;
  purpose: Purpose;
  url: string;
  lifetimeSeconds: number;
};

/**
 * Renders the mail with a verification link. It contains nothing that the requester typed,
 * because anyone may request it for another person's address.
 */
export function verificationMail(
  service: Config['service'],
  { to, language, purpose, url, lifetimeSeconds }: Verification,
): Mail {
  const written = mailLanguage(language);
  const texts = verificationTexts[written];
  return renderMail(service, {
    to,
    language: written,
    subject: texts.subject(service.name),
    heading: texts.confirm,
    introduction: `${texts.request[purpose](service.name)} ${texts.confirmIt[purpose]}`,
    link: { url, label: texts.confirm },
    notes: [texts.once(formatLifetime(texts, lifetimeSeconds)), texts.ignore],
  });
}

function formatLifetime({ anHour, minutes, hours, days }: Texts, seconds: number): string {
  const inMinutes = Math.round(seconds / 60);
  if (inMinutes === 60) return anHour;
  if (inMinutes < 120) return minutes(inMinutes);
  const inHours = Math.round(inMinutes / 60);
  return inHours < 48 ? hours(inHours) : days(Math.round(inHours / 24));
}

/** Every text of this mail. A language that lacks one does not compile. */
type Texts = {
  /** Why the reader gets the verification mail. */
  request: Record<Purpose, (service: string) => string>;
  subject: (service: string) => string;
  confirm: string;
  /** What the link is for, as the page that sent it says. */
  confirmIt: Record<Purpose, string>;
  once: (lifetime: string) => string;
  ignore: string;
  anHour: string;
  minutes: (count: number) => string;
  hours: (count: number) => string;
  days: (count: number) => string;
};

const usedHere = {
  en: (service: string) => `You (or someone else) used this address at ${service}.`,
  de: (service: string) => `Sie (oder jemand anderes) haben diese Adresse bei ${service} angegeben.`,
};

export const verificationTexts: Record<MailLanguage, Texts> = {
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
    anHour: 'einer Stunde',
    minutes: (count) => (count === 1 ? 'einer Minute' : `von ${count} Minuten`),
    hours: (count) => `von ${count} Stunden`,
    days: (count) => `von ${count} Tagen`,
  },
};
