import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { string, webUrl } from './config-fields.ts';

/** A picture of the company on this machine, which the service serves. */
export type LogoFile = {
  type: string;
  body: Buffer;
  /** Changes with the content, so that a browser may keep the picture. */
  version: string;
  /** Whether it is more than twice as wide as high: such a picture holds the company's name already. */
  isWordmark: boolean;
};

type Logo = { url: string; file: null } | { url: null; file: LogoFile };

const types: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
};
const maxBytes = 1_000_000;

/**
 * The value of SERVICE_LOGO: a web address, or the absolute path of a picture, which is read once. A file that cannot be
 * read, is none of these pictures or is larger than 1 MB is a mistake of the configuration, and so ends the start.
 */
export const logo = string.transform((value, context): Logo => {
  if (!path.isAbsolute(value)) {
    const read = webUrl.safeParse(value);
    if (read.success) return { url: read.data, file: null };
    context.addIssue({ code: 'custom', message: 'must be a web address, or the absolute path of a picture.' });
    return z.NEVER;
  }

  const type = types[path.extname(value).toLowerCase()];
  const body = type === undefined ? null : readPicture(value);
  if (type === undefined || body === null || body.length === 0 || body.length > maxBytes) {
    context.addIssue({
      code: 'custom',
      message: 'must be a picture that can be read (svg, png, jpg, webp or gif) of at most 1 MB.',
    });
    return z.NEVER;
  }
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  return { url: null, file: { type, body, version, isWordmark: isWide(type, body) } };
});

function readPicture(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}

/** Whether a picture is more than twice as wide as high. Of a JPEG or WebP a browser finds out. */
function isWide(type: string, body: Buffer): boolean {
  const [width = 0, height = 0] = sizeOf(type, body);
  return width > 2 * height;
}

function sizeOf(type: string, body: Buffer): number[] {
  if (type === 'image/png' && body.length >= 24) return [body.readUInt32BE(16), body.readUInt32BE(20)];
  if (type === 'image/gif' && body.length >= 10) return [body.readUInt16LE(6), body.readUInt16LE(8)];
  if (type !== 'image/svg+xml') return [];
  const [root = ''] = body.toString('utf8').match(/<svg\b[^>]*>/) ?? [];
  const [, box] = root.match(/\bviewBox=["']([^"']*)["']/) ?? [];
  if (box !== undefined)
    return box
      .trim()
      .split(/[\s,]+/)
      .slice(2)
      .map(Number);
  return ['width', 'height'].map((name) =>
    Number.parseFloat(root.match(new RegExp(`\\s${name}=["']([^"']*)`))?.[1] ?? '0'),
  );
}
