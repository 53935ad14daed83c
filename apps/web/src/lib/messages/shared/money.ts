import { texts } from '#lib/language/texts.ts';

/** How often a price is paid. */
export const moneyTexts = texts({
  en: {
    intervals: { day: 'a day', week: 'a week', month: 'a month', year: 'a year' },
    anInterval: (interval: string) => `a ${interval}`,
  },
  de: {
    intervals: { day: 'pro Tag', week: 'pro Woche', month: 'pro Monat', year: 'pro Jahr' },
    anInterval: (interval) => `pro ${interval}`,
  },
});
