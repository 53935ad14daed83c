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
    nextSteps: 'Nächste Schritte',
    stepsDone: (done, all) => `${done} von ${all} erledigt`,
    done: ' (erledigt)',
    hide: 'Ausblenden',
    hideSteps: 'Ausblenden: nächste Schritte',
  },
});
