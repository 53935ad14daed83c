import type { Language } from '@gatehouse/languages/generated/languages';
import type { Config } from '../config.ts';
import type { Mail } from '../providers/mailer.ts';
import { textsIn } from '../texts.ts';

type Branding = Config['service'];

/** The language of a mail whose reader's is not known, because no request of the reader causes it. */
export const defaultLanguage: Language = 'en';

/** What a message says. The layout adds the branding, the link in full and the support address. */
export type Message = {
  to: string;
  language: Language;
  subject: string;
  heading: string;
  introduction: string;
  link: { url: string; label: string };
  /** Sentences below the link, a paragraph each. */
  notes: string[];
};

/**
 * Renders a message as a mail with a text and an HTML part, in the company's branding.
 * Every text is escaped, so that no value of a message becomes markup.
 */
export function renderMail(branding: Branding, message: Message): Mail {
  const { to, language, subject, introduction, link, notes } = message;
  const support =
    branding.supportEmail === null ? [] : [textsIn(language, 'mail').support({ address: branding.supportEmail })];

  return {
    to,
    subject,
    text: [introduction, link.url, ...notes, ...support].join('\n\n'),
    html: renderHtml(branding, message, support),
  };
}

function renderHtml(
  branding: Branding,
  { language, heading, introduction, link, notes }: Message,
  support: string[],
): string {
  const accent = branding.brandColor ?? '#00605f';
  const url = escapeHtml(link.url);
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(branding.name)}</title></head>
<body style="margin:0;padding:32px 16px;background:#f7f7f5;color:#1f2a2c;font-family:system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border:1px solid #e1e2df;border-radius:10px">
<p style="margin:0 0 24px;font-weight:600;font-size:16px">${renderSender(branding, link.url)}</p>
<h1 style="margin:0 0 12px;font-size:22px;line-height:28px">${escapeHtml(heading)}</h1>
<p style="margin:0 0 24px;font-size:16px;line-height:24px">${escapeHtml(introduction)}</p>
<p style="margin:0 0 24px"><a href="${url}" style="display:inline-block;padding:12px 20px;background:${accent};color:${readableTextColour(accent)};border-radius:8px;text-decoration:none;font-weight:500">${escapeHtml(link.label)}</a></p>
${notes.map((note) => renderNote(escapeHtml(note))).join('')}\
${renderNote(`${textsIn(language, 'mail').copyLink}<br><a href="${url}" style="color:#5b6668;word-break:break-all">${url}</a>`)}\
${support.map((sentence) => renderNote(escapeHtml(sentence))).join('')}</div>
</body>
</html>
`;
}

function renderNote(html: string): string {
  return `<p style="margin:0 0 12px;color:#5b6668;font-size:14px;line-height:22px">${html}</p>\n`;
}

/**
 * The company's logo and name, linked to its product where SERVICE_URL is set. The alternative text of a wordmark is the
 * name. `baseUrl` is an address of the service, which may serve the logo.
 */
function renderSender({ name, logo, isWordmark, url }: Branding, baseUrl: string): string {
  const style = 'height:24px;vertical-align:middle;margin-right:8px';
  const image = (alt: string) =>
    logo === null
      ? ''
      : `<img src="${escapeHtml(new URL(logo, baseUrl).href)}" alt="${escapeHtml(alt)}" height="24" style="${style}">`;
  const sender = isWordmark ? image(name) : `${image('')}${escapeHtml(name)}`;
  return url === null
    ? sender
    : `<a href="${escapeHtml(url)}" style="color:#1f2a2c;text-decoration:none">${sender}</a>`;
}

/**
 * Returns black or white, whichever has the higher contrast on a background colour
 * (WCAG 2.2, relative luminance). Computed here, because mail programs do not support
 * CSS `contrast-color()`.
 */
export function readableTextColour(hex: string): '#000000' | '#ffffff' {
  const digits = hex.length === 4 ? hex.slice(1).replace(/./g, '$&$&') : hex.slice(1);
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((offset) =>
    linearise(Number.parseInt(digits.slice(offset, offset + 2), 16) / 255),
  );
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff';
}

function linearise(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML content and for attributes in quotes of either kind. */
function escapeHtml(unescaped: string): string {
  return unescaped.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
