import type { Language } from '@gatehouse/languages/generated/languages';
import type { Config } from '../../platform/config.ts';
import { lifetimeText } from '../../platform/durations.ts';
import { renderMail } from '../../platform/mail/layout.ts';
import type { Mail } from '../../platform/providers/mailer.ts';
import { textsIn } from '../../platform/texts.ts';

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
 * because anyone may request it for another person's address. Every link has the same text, so that a mail does not tell
 * whether the address has an account; only the link that changes an address says so.
 */
export function verificationMail(
  service: Config['service'],
  { to, language, purpose, url, lifetimeSeconds }: Verification,
): Mail {
  const texts = textsIn(language, 'verificationMail');
  const subject = texts.subject({ service: service.name });
  const kind = purpose === 'change-address' ? purpose : 'link';
  return renderMail(service, {
    to,
    language,
    subject,
    heading: subject,
    introduction: `${texts.request[kind]({ service: service.name })} ${texts.confirmIt[kind]}`,
    link: { url, label: texts.confirm },
    notes: [texts.once({ lifetime: lifetimeText(textsIn(language, 'date').within, lifetimeSeconds) }), texts.ignore],
  });
}
