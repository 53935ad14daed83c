import { texts } from '#lib/language/texts.ts';

/** The field with a value to pass on. */
export const copyTexts = texts({
  en: { copy: 'Copy', copied: 'Copied' },
  de: { copy: 'Kopieren', copied: 'Kopiert' },
});
