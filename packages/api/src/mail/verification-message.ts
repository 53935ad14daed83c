import type { Config } from '../config.ts';
import type { Mail } from '../providers/mailer.ts';
import { readableTextColour } from './readable-text-colour.ts';

type Content = {
  to: string;
  purpose: 'sign-up' | 'change-address' | 'lost-password';
  link: string;
  lifetimeSeconds: number;
  service: Config['service'];
};

/**
 * The one kind of mail: a link that confirms an address. It contains nothing that the
 * sender typed, because anyone may have it sent to a stranger.
 */
export function verificationMail({ to, purpose, link, lifetimeSeconds, service }: Content): Mail {
  const happened = {
    'sign-up': `You (or someone else) used this address at ${service.name}.`,
    'change-address': `You (or someone else) asked to use this address for an account at ${service.name}.`,
    'lost-password': `You (or someone else) used this address at ${service.name}.`,
  };
  const lines = {
    why: `${happened[purpose]} Confirm it's yours:`,
    lifetime: `The link works once, within ${lifetimeInWords(lifetimeSeconds)}.`,
    notYou: 'Not you? Ignore this e-mail and nothing happens.',
    help: service.supportEmail === null ? '' : `Questions? Write to ${service.supportEmail}.`,
  };

  return {
    to,
    subject: `Confirm your e-mail for ${service.name}`,
    text: [lines.why, link, lines.lifetime, lines.notYou, lines.help].filter((line) => line !== '').join('\n\n'),
    html: page(service, lines, link),
  };
}

function lifetimeInWords(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes === 60) return 'an hour';
  if (minutes < 120) return minutes === 1 ? 'one minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

function page(service: Config['service'], lines: Record<string, string>, link: string): string {
  const accent = service.brandColor ?? '#00605f';
  const soft = 'margin:0 0 12px;color:#5b6668;font-size:14px;line-height:22px';
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(service.name)}</title></head>
<body style="margin:0;padding:32px 16px;background:#f7f7f5;color:#1f2a2c;font-family:system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border:1px solid #e1e2df;border-radius:10px">
<p style="margin:0 0 24px;font-weight:600;font-size:16px">${sender(service)}</p>
<h1 style="margin:0 0 12px;font-size:22px;line-height:28px">Confirm your e-mail</h1>
<p style="margin:0 0 24px;font-size:16px;line-height:24px">${escapeHtml(lines.why ?? '')}</p>
<p style="margin:0 0 24px"><a href="${escapeHtml(link)}" style="display:inline-block;padding:12px 20px;background:${accent};color:${readableTextColour(accent)};border-radius:8px;text-decoration:none;font-weight:500">Confirm your e-mail</a></p>
<p style="${soft}">${escapeHtml(lines.lifetime ?? '')}</p>
<p style="${soft}">${escapeHtml(lines.notYou ?? '')}</p>
<p style="${soft}">If the button does nothing, copy this address into your browser:<br><a href="${escapeHtml(link)}" style="color:#5b6668;word-break:break-all">${escapeHtml(link)}</a></p>
${lines.help ? `<p style="${soft}">${escapeHtml(lines.help)}</p>` : ''}</div>
</body>
</html>
`;
}

/** The company's picture and name, which lead to its product where there is one. */
function sender({ name, logo, url }: Config['service']): string {
  const style = 'height:24px;vertical-align:middle;margin-right:8px';
  const picture = logo === null ? '' : `<img src="${escapeHtml(logo)}" alt="" height="24" style="${style}">`;
  const shown = `${picture}${escapeHtml(name)}`;
  return url === null ? shown : `<a href="${escapeHtml(url)}" style="color:#1f2a2c;text-decoration:none">${shown}</a>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
