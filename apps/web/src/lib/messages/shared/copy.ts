import { texts } from '#lib/language/texts.ts';

/** The field with a value to copy. */
export const copyTexts = texts({
  en: { copy: 'Copy', copied: 'Copied' },
  de: { copy: 'Kopieren', copied: 'Kopiert' },
});
