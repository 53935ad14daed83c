import type { Config } from '../config.ts';
import type { Mail } from '../providers/mailer.ts';
import { renderMail } from './layout.ts';

type Verification = {
  to: string;
  purpose: 'sign-up' | 'change-address' | 'lost-password';
  url: string;
  lifetimeSeconds: number;
};

/**
 * Renders the mail with a verification link. It contains nothing that the requester typed,
 * because anyone may request it for another person's address.
 */
export function verificationMail(
  service: Config['service'],
  { to, purpose, url, lifetimeSeconds }: Verification,
): Mail {
  const request = {
    'sign-up': `You (or someone else) used this address at ${service.name}.`,
    'change-address': `You (or someone else) asked to use this address for an account at ${service.name}.`,
    'lost-password': `You (or someone else) used this address at ${service.name}.`,
  };

  return renderMail(service, {
    to,
    subject: `Confirm your e-mail for ${service.name}`,
    heading: 'Confirm your e-mail',
    introduction: `${request[purpose]} Confirm it's yours:`,
    link: { url, label: 'Confirm your e-mail' },
    notes: [
      `The link works once, within ${formatLifetime(lifetimeSeconds)}.`,
      'Not you? Ignore this e-mail and nothing happens.',
    ],
  });
}

function formatLifetime(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes === 60) return 'an hour';
  if (minutes < 120) return minutes === 1 ? 'one minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
