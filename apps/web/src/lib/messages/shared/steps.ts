import { texts } from '#lib/language/texts.ts';

export const stepTexts = texts({
  en: { done: ' (done)' },
  de: { done: ' (erledigt)' },
});
