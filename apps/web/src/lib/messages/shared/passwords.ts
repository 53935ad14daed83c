import { texts } from '#lib/language/texts.ts';

/** The password field and its hint. */
export const passwordTexts = texts({
  en: {
    label: 'Password',
    show: 'Show',
    hide: 'Hide',
    password: ' password',
    empty: 'At least 8 characters. A few words are easy to remember.',
    more: (count: number) => (count === 1 ? '1 more character.' : `${count} more characters.`),
    repetitive: 'Weak: too few different characters.',
    fair: 'Fair. Another word would make it stronger.',
    good: 'Good.',
    strong: 'Strong.',
  },
  de: {
    label: 'Passwort',
    show: 'Zeigen',
    hide: 'Verbergen',
    password: ': Passwort',
    empty: 'Mindestens 8 Zeichen. Ein paar Wörter sind leicht zu merken.',
    more: (count) => `Noch ${count} Zeichen.`,
    repetitive: 'Schwach: zu wenige verschiedene Zeichen.',
    fair: 'Ausreichend. Ein weiteres Wort macht es stärker.',
    good: 'Gut.',
    strong: 'Stark.',
  },
});
