import { texts } from '#lib/language/texts.ts';

export const signOutTexts = texts({
  en: {
    title: 'Sign out?',
    lead: 'You’ll be signed out in this browser.',
    leadsBack: 'You’ll be signed out in this browser, and go back to {host}.',
    signOut: 'Sign out',
  },
  de: {
    title: 'Abmelden?',
    lead: 'Sie werden in diesem Browser abgemeldet.',
    leadsBack: 'Sie werden in diesem Browser abgemeldet und kommen zurück zu {host}.',
    signOut: 'Abmelden',
  },
});
