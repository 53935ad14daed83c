import { texts } from '#lib/language/texts.ts';

/** Dates are written by Intl. These are the words that it does not have. */
export const dateTexts = texts({
  en: {
    justNow: 'just now',
    underAMinute: 'less than a minute',
    minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
    hours: (count: number) => (count === 1 ? '1 hour' : `${count} hours`),
    days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
    within: {
      anHour: 'an hour',
      minutes: (count: number) => (count === 1 ? 'a minute' : `${count} minutes`),
      hours: (count: number) => `${count} hours`,
      days: (count: number) => `${count} days`,
    },
  },
  de: {
    justNow: 'gerade eben',
    underAMinute: 'weniger als eine Minute',
    minutes: (count) => (count === 1 ? '1 Minute' : `${count} Minuten`),
    hours: (count) => (count === 1 ? '1 Stunde' : `${count} Stunden`),
    days: (count) => (count === 1 ? '1 Tag' : `${count} Tage`),
    within: {
      anHour: 'einer Stunde',
      minutes: (count) => (count === 1 ? 'einer Minute' : `von ${count} Minuten`),
      hours: (count) => `von ${count} Stunden`,
      days: (count) => `von ${count} Tagen`,
    },
  },
});
