import type { Config } from '../config.ts';
import type { Mail } from '../providers/mailer.ts';
import type { MailLanguage } from '../security/client.ts';
import { renderMail } from './layout.ts';
import { type MailTexts, mailTexts } from './mail-texts.ts';

type Verification = {
  to: string;
  language: MailLanguage;
  purpose: keyof MailTexts['request'];
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
  const texts = mailTexts[language];
  return renderMail(service, {
    to,
    language,
    subject: texts.subject(service.name),
    heading: texts.confirm,
    introduction: `${texts.request[purpose](service.name)} ${texts.confirmIt[purpose]}`,
    link: { url, label: texts.confirm },
    notes: [texts.once(formatLifetime(texts, lifetimeSeconds)), texts.ignore],
  });
}

function formatLifetime({ anHour, minutes, hours, days }: MailTexts, seconds: number): string {
  const inMinutes = Math.round(seconds / 60);
  if (inMinutes === 60) return anHour;
  if (inMinutes < 120) return minutes(inMinutes);
  const inHours = Math.round(inMinutes / 60);
  return inHours < 48 ? hours(inHours) : days(Math.round(inHours / 24));
}
