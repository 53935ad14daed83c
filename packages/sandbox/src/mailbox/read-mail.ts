import { randomUUID } from 'node:crypto';
import type { Mail } from './mailbox.ts';

/** Parses a mail that was received over SMTP. Its recipients are those of the envelope, not of the header To. */
export async function readMail(source: Buffer, from: string, to: string[]): Promise<Mail> {
  // At the first mail: the parser's tables of characters take a fifth of the sandbox's start.
  const { simpleParser } = await import('mailparser');
  const parsed = await simpleParser(source, { skipTextToHtml: true, skipImageLinks: true });
  const text = parsed.text ?? '';
  const html = typeof parsed.html === 'string' ? parsed.html : null;
  return {
    id: randomUUID(),
    from: parsed.from?.text ?? from,
    to,
    subject: parsed.subject ?? '',
    text,
    html,
    links: findLinks(text, html ?? ''),
    received_at: new Date().toISOString(),
    headers: readHeaders(parsed.headerLines),
  };
}

function findLinks(text: string, html: string): string[] {
  const inText = text.match(/https?:\/\/[^\s<>"]+/g) ?? [];
  const inHtml = [...html.matchAll(/href\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)]
    .map((match) => decodeEntities(match[1] ?? match[2] ?? ''))
    .filter((link) => /^https?:\/\//i.test(link));
  return [...new Set([...inText.map(withoutTrailingPoint), ...inHtml])];
}

/** Removes the punctuation of the sentence that the address ends. */
function withoutTrailingPoint(link: string): string {
  return link.replace(/[.,;:!?)\]]+$/, '');
}

function decodeEntities(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name) return named[name.toLowerCase()] ?? whole;
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function readHeaders(lines: readonly { key: string; line: string }[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { key, line } of lines) {
    if (key === '__proto__') continue;
    const value = line
      .slice(line.indexOf(':') + 1)
      .replace(/\r?\n\s+/g, ' ')
      .trim();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  return headers;
}
