// Written by `npm run languages` from the files of the languages.

/** Each language's name in itself, and the locale by which its dates, numbers and lists are written. */
export const languages = {
  en: { name: 'English', locale: 'en-GB' },
  de: { name: 'Deutsch', locale: 'de-DE' },
  fr: { name: 'Français', locale: 'fr-FR' },
} as const;

export type Language = keyof typeof languages;
