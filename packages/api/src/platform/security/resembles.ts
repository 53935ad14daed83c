import { domainToUnicode } from 'node:url';
import { foldWord } from './normalise-password.ts';

/**
 * Whether a folded password equals one of the words, or a part of an address among them, with or
 * without digits: "jane.doe@company.example" matches "JaneDoe1985" and "company2026".
 */
export function resembles(folded: string, words: string[]): boolean {
  const letters = lettersOf(folded);
  const parts = [...new Set(words.flatMap(partsOf))];
  return parts.some((part) => part === folded || (letters !== '' && lettersOf(part) === letters));
}

/**
 * Returns the word itself or, for an address, the local part with and without its tag, the domain, its
 * parent domains, and the words of all these.
 */
function partsOf(word: string): string[] {
  const folded = foldWord(word);
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

/** The word without digits and separators. */
function lettersOf(word: string): string {
  return word.replace(/[\p{Nd}@.+_\-\s]/gu, '');
}
