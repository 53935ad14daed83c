import { language } from '#lib/language/language.ts';

// The names of meters and features are configured in English (PLANS_FILE). Other languages have words of their own for
// the usual ones, and take any other name as it is.

/** "Members" → "members" within an English sentence, but "API calls" stays. */
export function inSentence(name: string): string {
  return language() === 'en' && /^\p{Lu}\p{Ll}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

/** "Members" → "Member" in English. */
export function singular(name: string): string {
  return language() === 'en' ? name.replace(/s$/, '') : name;
}
