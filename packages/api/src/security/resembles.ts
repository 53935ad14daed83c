import { domainToUnicode } from 'node:url';
import { foldPassword } from './fold-password.ts';

/**
 * Whether a password is one of these texts, or a part of an address among them, alone or
 * with digits: "jane.doe@company.example" refuses "JaneDoe1985" and "company2026".
 */
export function resembles(password: string, texts: string[]): boolean {
  const folded = foldPassword(password);
  const letters = lettersOf(folded);
  return texts.flatMap(partsOf).some((part) => part === folded || (letters !== '' && lettersOf(part) === letters));
}

/** A text, and of an address its local part, that without its tag, its domain and the domains above, and the words of both. */
function partsOf(text: string): string[] {
  const folded = foldPassword(text);
  const at = folded.lastIndexOf('@');
  if (at < 0) return [folded];

  const local = folded.slice(0, at);
  const domain = domainToUnicode(folded.slice(at + 1)) || folded.slice(at + 1);
  const labels = domain.split('.');
  const domains = labels.flatMap((label, index) => [
    label,
    labels.slice(index).join('.'),
    labels.slice(index, -1).join('.'),
  ]);
  const parts = [folded, local, local.split('+')[0] ?? '', ...domains, ...local.split(separators)];
  return parts.filter((part) => part !== '');
}

const separators = /[.+_\-\s]+/;

/** Without digits, and without what separates words. */
function lettersOf(text: string): string {
  return text.replace(/[\p{Nd}@.+_\-\s]/gu, '');
}
