import { texts } from '#lib/language/texts.ts';
import { plain, say } from '#lib/notices/notice.ts';

/** The pages of requests: those that await a decision, and those that are decided. */
export const requestTexts = texts({
  en: {
    title: 'Requests',
    leadNone: 'Organisations that sign up wait here for a decision.',
    lead: (count: number, words: string) =>
      count === 1 ? 'One organisation waits for a decision.' : `${words} organisations wait for a decision.`,
    oldest: (duration: string) => `The oldest has waited ${duration}.`,
    waiting: 'Waiting',
    approvedThisWeek: 'Approved this week',
    selectAll: 'Select all',
    selected: (count: number) => `${count} selected`,
    tickSeveral: 'Tick several to decide them together',
    approve: 'Approve',
    decline: 'Decline',
    approveSelected: 'Approve the selected requests',
    declineSelected: 'Decline the selected requests',
    approveOne: (name: string) => `Approve ${name}`,
    declineOne: (name: string) => `Decline ${name}`,
    selectOne: (name: string) => `Select ${name}`,
    searchFor: 'Search by organisation or address',
    nothingMatches: 'Nothing matches “{search}”',
    showAll: 'Show all requests',
    nobody: 'Nobody is waiting',
    nobodyHint: 'A new organisation appears here once its owner has confirmed the address.',
    select: 'Select',
    organisation: 'Organisation',
    owner: 'Owner',
    decide: 'Decide',
    evidence: 'What is known',
    declineQuestion: (name: string) => say`Decline ${name}?`,
    declineSeveral: (count: number) => say`Decline ${plain(String(count))} organisations?`,
    declineEffect: 'The owner can no longer sign in and isn’t told by e-mail. You can still approve it later.',
    keptWithDecision: 'Kept with the decision, for other operators.',
    decidedLead: 'A decision can be undone for a day. After that, approve or suspend instead.',
    approved: 'Approved',
    declined: 'Declined',
    undo: 'Undo',
    undoAbout: (name: string) => `Undo the decision about ${name}`,
    noneDecided: 'Nothing is decided yet',
    noneDecidedHint: 'Approved and declined requests appear here.',
  },
  de: {
    title: 'Anfragen',
    leadNone: 'Organisationen, die sich registrieren, warten hier auf eine Entscheidung.',
    lead: (count, words) =>
      count === 1
        ? 'Eine Organisation wartet auf eine Entscheidung.'
        : `${words} Organisationen warten auf eine Entscheidung.`,
    oldest: (duration) => `Längste Wartezeit: ${duration}.`,
    waiting: 'Wartend',
    approvedThisWeek: 'Diese Woche freigegeben',
    selectAll: 'Alle auswählen',
    selected: (count) => `${count} ausgewählt`,
    tickSeveral: 'Wählen Sie mehrere aus, um sie gemeinsam zu entscheiden',
    approve: 'Freigeben',
    decline: 'Ablehnen',
    approveSelected: 'Freigeben: ausgewählte Anfragen',
    declineSelected: 'Ablehnen: ausgewählte Anfragen',
    approveOne: (name) => `Freigeben: ${name}`,
    declineOne: (name) => `Ablehnen: ${name}`,
    selectOne: (name) => `Auswählen: ${name}`,
    searchFor: 'Nach Organisation oder Adresse suchen',
    nothingMatches: 'Nichts passt zu „{search}“',
    showAll: 'Alle Anfragen zeigen',
    nobody: 'Niemand wartet',
    nobodyHint: 'Eine neue Organisation erscheint hier, sobald ihre Adresse bestätigt ist.',
    select: 'Auswählen',
    organisation: 'Organisation',
    owner: 'Inhaber/-in',
    decide: 'Entscheiden',
    evidence: 'Was bekannt ist',
    declineQuestion: (name) => say`${name} ablehnen?`,
    declineSeveral: (count) => say`${plain(String(count))} Organisationen ablehnen?`,
    declineEffect:
      'Die Person kann sich nicht mehr anmelden und bekommt keine E-Mail dazu. Sie können die Anfrage auch später noch freigeben.',
    keptWithDecision: 'Steht bei der Entscheidung, für andere im Betrieb.',
    decidedLead:
      'Eine Entscheidung lässt sich einen Tag lang rückgängig machen. Danach können Sie stattdessen freigeben oder sperren.',
    approved: 'Freigegeben',
    declined: 'Abgelehnt',
    undo: 'Rückgängig',
    undoAbout: (name) => `Rückgängig: Entscheidung über ${name}`,
    noneDecided: 'Noch nichts entschieden',
    noneDecidedHint: 'Freigegebene und abgelehnte Anfragen erscheinen hier.',
  },
});

/** What is known about the owner of a request. */
export const evidenceTexts = texts({
  en: {
    joinedNothing: 'Invited, joined nothing',
    identityProvider: 'Signed in through the identity provider',
    confirmedIn: (duration: string) => `Confirmed in ${duration}`,
    sameBrowser: 'Same browser',
    differentBrowser: 'Different browser',
    sameDomain: (count: number, digits: string, domain: string) =>
      count === 1 ? `One other account at ${domain}` : `${digits} other accounts at ${domain}`,
    seconds: (count: number) => (count === 1 ? '1 second' : `${count} seconds`),
    minutes: (count: number) => `${count} minutes`,
    hours: (count: number) => `${count} hours`,
  },
  de: {
    joinedNothing: 'Eingeladen, nicht beigetreten',
    identityProvider: 'Über den Identitätsanbieter angemeldet',
    confirmedIn: (duration) => `In ${duration} bestätigt`,
    sameBrowser: 'Gleicher Browser',
    differentBrowser: 'Anderer Browser',
    sameDomain: (count, digits, domain) =>
      count === 1 ? `Ein weiteres Konto bei ${domain}` : `${digits} weitere Konten bei ${domain}`,
    seconds: (count) => (count === 1 ? '1 Sekunde' : `${count} Sekunden`),
    minutes: (count) => `${count} Minuten`,
    hours: (count) => `${count} Stunden`,
  },
});

/** What the notices say after a decision. The server writes them. */
export const requestDoneTexts = texts({
  en: {
    approved: (name: string) => say`${name} is approved.`,
    declined: (name: string) => say`${name} is declined.`,
    severalApproved: (count: number) => say`${plain(String(count))} organisations are approved.`,
    severalDeclined: (count: number) => say`${plain(String(count))} organisations are declined.`,
    alreadyDecided: () => say`Someone else already decided this.`,
    waitsAgain: (name: string) => say`${name} waits for a decision again.`,
    undo: 'Undo',
    showThem: 'Show them',
  },
  de: {
    approved: (name) => say`${name} ist freigegeben.`,
    declined: (name) => say`${name} ist abgelehnt.`,
    severalApproved: (count) => say`${plain(String(count))} Organisationen sind freigegeben.`,
    severalDeclined: (count) => say`${plain(String(count))} Organisationen sind abgelehnt.`,
    alreadyDecided: () => say`Jemand anderes hat das schon entschieden.`,
    waitsAgain: (name) => say`${name} wartet wieder auf eine Entscheidung.`,
    undo: 'Rückgängig',
    showThem: 'Zeigen',
  },
});
