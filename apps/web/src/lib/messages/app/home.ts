import { texts } from '#lib/language/texts.ts';

export const homeTexts = texts({
  en: {
    title: 'Home',
    open: (service: string) => `Open ${service}`,
    usage: 'Usage',
    billing: 'Billing',
    recentActivity: 'Recent activity',
    allActivity: 'All activity',
    none: 'No organisation',
    notInOne: 'You’re not in an organisation',
    howToGetIn: 'An owner or admin of one can invite you: their link lets you in. Or {create} of your own.',
    create: 'create an organisation',
    refusedBy: (host: string) => `${host} sent you back`,
    refusedByText:
      'You’re signed in here, but it didn’t see that. Allow its cookies and try again. If it stays like this, tell the people who run it that the session’s cookie doesn’t reach it.',
    tryAgain: 'Try again',
    nextSteps: 'Next steps',
    stepsDone: (done: number, all: number) => `${done} of ${all} done`,
    done: ' (done)',
    hide: 'Hide',
    hideSteps: 'Hide the next steps',
  },
  de: {
    title: 'Startseite',
    open: (service) => `${service} öffnen`,
    usage: 'Verbrauch',
    billing: 'Tarif',
    recentActivity: 'Letzte Aktivitäten',
    allActivity: 'Alle Aktivitäten',
    none: 'Keine Organisation',
    notInOne: 'Sie gehören zu keiner Organisation',
    howToGetIn:
      'Die Administration einer Organisation kann Sie einladen: Mit dem Link treten Sie bei. Oder Sie können selbst {create}.',
    create: 'eine Organisation anlegen',
    refusedBy: (host) => `${host} hat Sie zurückgeschickt`,
    refusedByText:
      'Sie sind hier angemeldet, dort ist das aber nicht angekommen. Erlauben Sie die Cookies der Seite und versuchen Sie es noch einmal. Bleibt es dabei, sagen Sie den Betreibern, dass das Cookie der Sitzung dort nicht ankommt.',
    tryAgain: 'Noch einmal versuchen',
    nextSteps: 'Nächste Schritte',
    stepsDone: (done, all) => `${done} von ${all} erledigt`,
    done: ' (erledigt)',
    hide: 'Ausblenden',
    hideSteps: 'Ausblenden: nächste Schritte',
  },
});
