import { texts } from '#lib/language/texts.ts';
import { say } from '#lib/notices/notice.ts';

export const organisationTexts = texts({
  en: {
    title: 'Organisation',
    lead: 'Name, billing contact and ownership.',
    members: 'Members',
    keys: 'API keys',
    details: 'Details',
    name: 'Name',
    shortName: 'Short name',
    created: 'Created',
    shortNameStays: 'The short name stays when the organisation is renamed: other services know it by that name.',
    rename: 'Rename',
    billingContact: 'Billing contact',
    billingName: 'Name on invoices',
    email: 'E-mail',
    billingHint:
      'The payment provider sends invoices and reminders here. Leave it empty to use the address given at checkout.',
    whoChanges: 'Owners and admins can change these details.',
    ownership: 'Ownership',
    ownershipText: 'Make another member the owner. You become an admin and can still manage members and the plan.',
    transfer: 'Transfer ownership',
    delete: 'Delete the organisation',
    deleteText: 'Everyone loses access straight away. You’ll see what goes with it first.',
    deleteMore: 'Delete…',
    createTitle: 'Create an organisation',
    createLead: 'You’re not in one at the moment. You’ll be its owner.',
    create: 'Create organisation',
    byHand:
      'We check each request by hand. Until it’s approved you can only wait or join another organisation by invitation.',
    deleteQuestion: (name: string) => say`Delete ${name}?`,
    youLose: 'You lose access to it.',
    allLose: (others: number) =>
      `You and ${others === 1 ? 'one other member' : `${others} other members`} lose access. The accounts stay.`,
    final: 'This can’t be undone.',
    invitationsStop: 'Invitations stop working, and its usage is deleted.',
    planEnds: (plan: string) => `The ${plan} plan ends today. You won’t get a refund for the current period.`,
    cancel: 'Cancel',
    save: 'Save',
    transferQuestion: (name: string) => say`Transfer ${name}?`,
    newOwner: 'The new owner can do everything straight away, also remove you. You become an admin.',
    membersEmail: 'Member’s e-mail',
  },
  de: {
    title: 'Organisation',
    lead: 'Name, Rechnungskontakt und Inhaberschaft.',
    members: 'Mitglieder',
    keys: 'API-Schlüssel',
    details: 'Angaben',
    name: 'Name',
    shortName: 'Kurzname',
    created: 'Angelegt',
    shortNameStays:
      'Der Kurzname bleibt, wenn die Organisation umbenannt wird: Andere Dienste kennen sie unter diesem Namen.',
    rename: 'Umbenennen',
    billingContact: 'Rechnungskontakt',
    billingName: 'Name auf Rechnungen',
    email: 'E-Mail',
    billingHint:
      'Der Zahlungsanbieter sendet Rechnungen und Erinnerungen hierhin. Lassen Sie das Feld leer, damit die beim Bezahlen angegebene Adresse gilt.',
    whoChanges: 'Die Administration kann diese Angaben ändern.',
    ownership: 'Inhaberschaft',
    ownershipText:
      'Übertragen Sie die Inhaberschaft einem anderen Mitglied. Sie werden Admin und können weiterhin Mitglieder und den Tarif verwalten.',
    transfer: 'Inhaberschaft übertragen',
    delete: 'Organisation löschen',
    deleteText: 'Alle verlieren sofort den Zugriff. Sie sehen vorher, was damit verloren geht.',
    deleteMore: 'Löschen …',
    createTitle: 'Organisation anlegen',
    createLead: 'Sie gehören gerade zu keiner. Die neue gehört dann Ihnen.',
    create: 'Organisation anlegen',
    byHand:
      'Wir prüfen jede Anfrage von Hand. Bis zur Freigabe können Sie nur warten oder per Einladung einer anderen Organisation beitreten.',
    deleteQuestion: (name) => say`${name} löschen?`,
    youLose: 'Sie verlieren den Zugriff darauf.',
    allLose: (others) =>
      `Sie und ${others === 1 ? 'ein weiteres Mitglied' : `${others} weitere Mitglieder`} verlieren den Zugriff. Die Konten bleiben.`,
    final: 'Das lässt sich nicht rückgängig machen.',
    invitationsStop: 'Einladungen funktionieren nicht mehr, und der Verbrauch wird gelöscht.',
    planEnds: (plan) => `Der Tarif ${plan} endet heute. Für den laufenden Zeitraum gibt es kein Geld zurück.`,
    cancel: 'Abbrechen',
    save: 'Speichern',
    transferQuestion: (name) => say`${name} übertragen?`,
    newOwner: 'Die neue Inhaberin oder der neue Inhaber darf sofort alles, auch Sie entfernen. Sie werden Admin.',
    membersEmail: 'E-Mail des Mitglieds',
  },
});

/** What the notices say after a form of the page. The server writes them. */
export const organisationDoneTexts = texts({
  en: {
    renamed: (name: string) => say`The organisation is now called ${name}.`,
    contactEmptied: () => say`Invoices go to the address given at checkout.`,
    contactChanged: (email: string) => say`Invoices now go to ${email}.`,
    transferred: (email: string) => say`${email} is now an owner. You are an admin.`,
    deleted: (name: string) => say`${name} is deleted.`,
  },
  de: {
    renamed: (name) => say`Die Organisation heißt jetzt ${name}.`,
    contactEmptied: () => say`Rechnungen gehen an die beim Bezahlen angegebene Adresse.`,
    contactChanged: (email) => say`Rechnungen gehen jetzt an ${email}.`,
    transferred: (email) => say`${email} hat jetzt die Inhaberschaft. Sie sind Admin.`,
    deleted: (name) => say`${name} ist gelöscht.`,
  },
});
