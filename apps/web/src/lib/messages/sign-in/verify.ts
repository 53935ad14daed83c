import { texts } from '#lib/language/texts.ts';
import { say } from '#lib/notices/notice.ts';

/** /verify and /password: what a link opens. */
export const verifyTexts = texts({
  en: {
    alreadyConfirmed: 'Already confirmed',
    changeQuestion: 'Change your address?',
    linkFails: 'This link doesn’t work',
    ifYouAsked:
      'If you asked to sign in with {address}, you can still change your address here. You stay signed in where you asked for this, and are signed out elsewhere.',
    canStillChoose: 'You can still choose a password here.',
    canSignIn: 'You can sign in.',
    signIn: 'Sign in',
    linksWorkOnce: 'Links work once and for a short time. Use the link in the latest e-mail.',
    askForNew: 'Ask for a new link',
    nothingHappened:
      'Nothing happened, and the link still works. Click it in the e-mail, or copy it into your browser.',
    waitALittle: 'Wait a little, then open the link again.',
    choosePassword: 'Choose a password',
    continue: 'Continue',
    addressChanged: 'Address changed',
    fromNowOn:
      'From now on you sign in with this address. You stay signed in where you asked for this, and are signed out elsewhere.',
    changeMyAddress: 'Change my address',
    buttonWorks: 'The button works for 15 minutes. Didn’t ask for this? Close this page, and nothing changes.',
    accountAsked:
      'An account asked to sign in with {address} from now on. If it’s yours, change its address here. You stay signed in where you asked for this, and are signed out elsewhere.',
    confirmed: 'E-mail confirmed',
    oneStepLeft:
      'One step left: choose your password. The one from sign-up counts only where you open the link in the same browser.',
    signInAndJoin: 'Sign in, and join with your invitation.',
    nextApproval: 'Next: we approve your organisation.',
    isApproved: 'Your organisation is approved. Sign in.',
    approval: 'Approval',
    approved: 'Approved',
    byHand: 'We check each request by hand. We don’t e-mail you about it: sign in to see.',
    withPassword: 'With your password.',
    withPasswordOr: (idp: string) => `With your password or ${idp}.`,
    join: 'Join',
    openAgain: 'Open the invitation again if you don’t get there by yourself.',
    chooseNew: 'Choose a new password',
    forAddress: 'For {address}. Once it’s set you’re signed out everywhere; until then nothing changes.',
    didntAsk: 'Didn’t ask for this? Close this page. {signIn}',
    noApprovalNeeded: 'People from your domain don’t need approval.',
    approveMine: 'Approve my organisation',
    keepTyped: 'You signed up in this browser. You can keep what you typed here.',
    keepPassword: 'Use the password I chose',
    orAnother: 'or choose another one',
    within: 'Choose a password within 15 minutes. Then sign in with it.',
    organisation: 'Organisation',
    optional: 'optional',
    newPassword: 'New password',
    setPassword: 'Set the password',
    passwordFor: 'For {address}. You’ll be signed out everywhere. Then sign in with the new one.',
    passwordLead: 'You’ll be signed out everywhere. Then sign in with the new one.',
    passwordLinks: 'Password links work once, within an hour, and only the latest one works.',
  },
  de: {
    alreadyConfirmed: 'Schon bestätigt',
    changeQuestion: 'Ihre Adresse ändern?',
    linkFails: 'Dieser Link funktioniert nicht',
    ifYouAsked:
      'Wenn Sie sich mit {address} anmelden wollten, können Sie Ihre Adresse noch hier ändern. Wo Sie das angefordert haben, bleiben Sie angemeldet; anderswo werden Sie abgemeldet.',
    canStillChoose: 'Sie können hier noch ein Passwort wählen.',
    canSignIn: 'Sie können sich anmelden.',
    signIn: 'Anmelden',
    linksWorkOnce: 'Links funktionieren einmal und nur kurze Zeit. Nehmen Sie den Link aus der neuesten E-Mail.',
    askForNew: 'Neuen Link anfordern',
    nothingHappened:
      'Es ist nichts passiert, und der Link funktioniert noch. Klicken Sie in der E-Mail darauf, oder kopieren Sie ihn in Ihren Browser.',
    waitALittle: 'Warten Sie ein wenig und öffnen Sie den Link dann noch einmal.',
    choosePassword: 'Passwort wählen',
    continue: 'Weiter',
    addressChanged: 'Adresse geändert',
    fromNowOn:
      'Ab jetzt melden Sie sich mit dieser Adresse an. Wo Sie das angefordert haben, bleiben Sie angemeldet; anderswo werden Sie abgemeldet.',
    changeMyAddress: 'Meine Adresse ändern',
    buttonWorks:
      'Die Schaltfläche funktioniert 15 Minuten lang. Das waren nicht Sie? Schließen Sie diese Seite, dann ändert sich nichts.',
    accountAsked:
      'Für ein Konto soll ab jetzt {address} gelten. Wenn es Ihres ist, ändern Sie die Adresse hier. Wo Sie das angefordert haben, bleiben Sie angemeldet; anderswo werden Sie abgemeldet.',
    confirmed: 'E-Mail-Adresse bestätigt',
    oneStepLeft:
      'Noch ein Schritt: Wählen Sie Ihr Passwort. Das von der Registrierung gilt nur, wenn Sie den Link im selben Browser öffnen.',
    signInAndJoin: 'Melden Sie sich an und treten Sie mit Ihrer Einladung bei.',
    nextApproval: 'Als Nächstes geben wir Ihre Organisation frei.',
    isApproved: 'Ihre Organisation ist freigegeben. Melden Sie sich an.',
    approval: 'Freigabe',
    approved: 'Freigegeben',
    byHand: 'Wir prüfen jede Anfrage von Hand. Sie bekommen dazu keine E-Mail: Melden Sie sich an, um nachzusehen.',
    withPassword: 'Mit Ihrem Passwort.',
    withPasswordOr: (idp) => `Mit Ihrem Passwort oder ${idp}.`,
    join: 'Beitreten',
    openAgain: 'Öffnen Sie die Einladung noch einmal, falls Sie nicht von selbst dorthin kommen.',
    chooseNew: 'Neues Passwort wählen',
    forAddress: 'Für {address}. Sobald es festgelegt ist, werden Sie überall abgemeldet; bis dahin ändert sich nichts.',
    didntAsk: 'Das waren nicht Sie? Schließen Sie diese Seite. {signIn}',
    noApprovalNeeded: 'Wer eine Adresse Ihrer Domain hat, braucht keine Freigabe.',
    approveMine: 'Meine Organisation freigeben',
    keepTyped: 'Sie haben sich in diesem Browser registriert. Sie können behalten, was Sie hier eingegeben haben.',
    keepPassword: 'Mein gewähltes Passwort verwenden',
    orAnother: 'oder ein anderes wählen',
    within: 'Wählen Sie innerhalb von 15 Minuten ein Passwort. Melden Sie sich dann damit an.',
    organisation: 'Organisation',
    optional: 'optional',
    newPassword: 'Neues Passwort',
    setPassword: 'Passwort festlegen',
    passwordFor: 'Für {address}. Sie werden überall abgemeldet. Melden Sie sich dann mit dem neuen an.',
    passwordLead: 'Sie werden überall abgemeldet. Melden Sie sich dann mit dem neuen an.',
    passwordLinks: 'Passwort-Links funktionieren einmal, innerhalb einer Stunde, und nur der neueste gilt.',
  },
});

/** What the notices say after a form of these pages. The server writes them. */
export const verifyDoneTexts = texts({
  en: {
    approved: () => say`Your organisation is approved. Sign in.`,
    passwordSet: () => say`Your password is set. Sign in with it.`,
    passwordKept: () => say`Your password works now. Sign in with it.`,
    addressChanged: () => say`Your address is changed. Sign in with the new one.`,
  },
  de: {
    approved: () => say`Ihre Organisation ist freigegeben. Melden Sie sich an.`,
    passwordSet: () => say`Ihr Passwort ist festgelegt. Melden Sie sich damit an.`,
    passwordKept: () => say`Ihr Passwort gilt jetzt. Melden Sie sich damit an.`,
    addressChanged: () => say`Ihre Adresse ist geändert. Melden Sie sich mit der neuen an.`,
  },
});
