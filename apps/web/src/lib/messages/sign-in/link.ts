import { texts } from '#lib/language/texts.ts';

export const linkTexts = texts({
  en: { openByClicking: 'Open this link by clicking it.' },
  de: { openByClicking: 'Öffnen Sie diesen Link, indem Sie darauf klicken.' },
});
