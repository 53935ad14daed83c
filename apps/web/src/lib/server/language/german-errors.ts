import type { ErrorCode } from '@gatehouse/api/platform/errors';

/** The German translations of the errors of packages/api that a form of a page can cause. */
export const germanSentences: Record<string, string> = {
  'A payment of this organisation is just being made. Try again in a moment.':
    'Gerade läuft eine Zahlung dieser Organisation. Versuchen Sie es gleich noch einmal.',
  'A password must not be your address, a part of it or the name of this service, with or without digits.':
    'Das Passwort darf nicht Ihre Adresse, ein Teil davon oder der Name dieses Dienstes sein, auch nicht mit Ziffern.',
  'An organisation cannot be deleted: it has a live customer, and the key is of test mode.':
    'Die Organisation lässt sich nicht löschen: Sie hat ein echtes Kundenkonto, und der Schlüssel gehört zum Testmodus.',
  'An organisation needs an owner. Make another member an owner first.':
    'Eine Organisation braucht eine Inhaberin oder einen Inhaber. Geben Sie diese Rolle zuerst einem anderen Mitglied.',
  'Another billing request of this organisation is still under way. Try again in a moment.':
    'Eine andere Anfrage zur Abrechnung dieser Organisation läuft noch. Versuchen Sie es gleich noch einmal.',
  'Billing is not available on this deployment.': 'In dieser Installation gibt es keine Abrechnung.',
  'Choose a password.': 'Wählen Sie ein Passwort.',
  'Choose a role.': 'Wählen Sie eine Rolle.',
  'Choose an organisation.': 'Wählen Sie eine Organisation.',
  'Choose at least one organisation.': 'Wählen Sie mindestens eine Organisation.',
  'Choose at most 200 organisations at once.': 'Wählen Sie höchstens 200 Organisationen auf einmal.',
  'Choose organisations from the list.': 'Wählen Sie Organisationen aus der Liste.',
  'Confirm that it’s you to do this.': 'Bestätigen Sie dafür, dass Sie es sind.',
  'Confirm that it’s you with your password.': 'Bestätigen Sie mit Ihrem Passwort, dass Sie es sind.',
  'Enter a code.': 'Geben Sie einen Code ein.',
  'Enter the code that the app shows.': 'Geben Sie den Code ein, den die App anzeigt.',
  'Enter your second factor.': 'Geben Sie Ihren zweiten Faktor an.',
  'Enter a date.': 'Geben Sie ein Datum an.',
  'Enter a day within a year.': 'Geben Sie einen Tag innerhalb eines Jahres an.',
  'Enter today or a later day.': 'Geben Sie heute oder einen späteren Tag an.',
  'Only the command line resets the second factor of an operator.':
    'Den zweiten Faktor einer Person im Betrieb setzt nur die Befehlszeile zurück.',
  'Only an owner may require a second factor.':
    'Nur Inhaberinnen und Inhaber dürfen einen zweiten Faktor vorschreiben.',
  'This password is known from a data breach. Choose another.':
    'Dieses Passwort ist aus einem Datenleck bekannt. Wählen Sie ein anderes.',
  'Set up a second factor of your own first.': 'Richten Sie zuerst selbst einen zweiten Faktor ein.',
  'You must have a second factor. Set up another one before you remove this one.':
    'Sie brauchen einen zweiten Faktor. Richten Sie einen anderen ein, bevor Sie diesen entfernen.',
  'Set up a second factor first.': 'Richten Sie zuerst einen zweiten Faktor ein.',
  'Sign in again.': 'Melden Sie sich noch einmal an.',
  'That code is wrong.': 'Dieser Code ist falsch.',
  'There is nothing to review.': 'Es gibt nichts zu prüfen.',
  'There is no such factor.': 'Diesen Faktor gibt es nicht.',
  'This deployment has no authenticator apps.': 'In dieser Installation gibt es keine Authenticator-Apps.',
  'E-mail or password is wrong.': 'E-Mail oder Passwort ist falsch.',
  'Enter a name.': 'Geben Sie einen Namen ein.',
  'Enter an e-mail address such as name@example.com.': 'Geben Sie eine E-Mail-Adresse ein, etwa name@example.com.',
  'Enter an e-mail address.': 'Geben Sie eine E-Mail-Adresse ein.',
  'Enter your current password.': 'Geben Sie Ihr bisheriges Passwort ein.',
  'Enter your e-mail address.': 'Geben Sie Ihre E-Mail-Adresse ein.',
  'Enter your password.': 'Geben Sie Ihr Passwort ein.',
  'No identity provider is connected to your account.': 'Mit Ihrem Konto ist kein Identitätsanbieter verbunden.',
  'No member has this address.': 'Kein Mitglied hat diese Adresse.',
  'No reason was given.': 'Es wurde kein Grund angegeben.',
  'Only the command line makes password links for operators.':
    'Passwort-Links für Betreiber entstehen nur auf der Kommandozeile.',
  'Only an owner may delete the organisation.': 'Nur Inhaber/-innen dürfen die Organisation löschen.',
  'Only an owner may make or unmake an owner.': 'Nur Inhaber/-innen dürfen die Rolle Inhaber/-in geben oder nehmen.',
  'Only an owner may transfer the ownership.': 'Nur Inhaber/-innen dürfen die Inhaberschaft übertragen.',
  'Only operators may do this.': 'Das darf nur der Betreiber.',
  'Say which event.': 'Nennen Sie das Ereignis.',
  'Say which subscription.': 'Nennen Sie das Abonnement.',
  'Set a password first: it is your only other way to sign in.':
    'Legen Sie zuerst ein Passwort fest: Es ist Ihre einzige andere Möglichkeit, sich anzumelden.',
  'Sign in first.': 'Melden Sie sich zuerst an.',
  'Send an API key.': 'Senden Sie einen API-Schlüssel.',
  'Send an API key, or sign in first.': 'Senden Sie einen API-Schlüssel, oder melden Sie sich zuerst an.',
  'Someone else changed this in the meantime. Check what it is now, then save again.':
    'Inzwischen hat das jemand anderes geändert. Sehen Sie nach, was jetzt gilt, und speichern Sie dann noch einmal.',
  'Something went wrong.': 'Etwas ist schiefgegangen.',
  'The organisations changed meanwhile. Try again.':
    'Die Organisationen haben sich inzwischen geändert. Versuchen Sie es noch einmal.',
  'The paid plan has already ended.': 'Der bezahlte Tarif ist schon ausgelaufen.',
  'The payment provider does not answer. Try again in a moment.':
    'Der Zahlungsanbieter antwortet nicht. Versuchen Sie es gleich noch einmal.',
  'The payment provider does not know this organisation’s plan. Ask the operator of this service.':
    'Der Zahlungsanbieter kennt den Tarif dieser Organisation nicht. Fragen Sie den Betreiber dieses Dienstes.',
  'The payment provider does not know this plan. Ask the operator of this service.':
    'Der Zahlungsanbieter kennt diesen Tarif nicht. Fragen Sie den Betreiber dieses Dienstes.',
  'The payment provider is slow to answer. Try again in a moment.':
    'Der Zahlungsanbieter antwortet langsam. Versuchen Sie es gleich noch einmal.',
  'The plan cannot be ended at the moment. Ask the operator of this service.':
    'Der Tarif lässt sich gerade nicht beenden. Fragen Sie den Betreiber dieses Dienstes.',
  'The scope is READ or WRITE.': 'Der Umfang ist READ oder WRITE.',
  'Nothing can be stored at the moment. Try again in a few minutes.':
    'Im Moment kann nichts gespeichert werden. Versuchen Sie es in einigen Minuten noch einmal.',
  'The service is busy. Try again in a moment.': 'Der Dienst ist überlastet. Versuchen Sie es gleich noch einmal.',
  'There is a password already. Change it instead.': 'Es gibt schon ein Passwort. Ändern Sie es stattdessen.',
  'There is no paid plan.': 'Es gibt keinen bezahlten Tarif.',
  'There is no live subscription to change.': 'Es gibt kein laufendes Abonnement, das sich ändern ließe.',
  'There is no such API key.': 'Diesen API-Schlüssel gibt es nicht.',
  'There is no such event.': 'Dieses Ereignis gibt es nicht.',
  'There is no such invitation.': 'Diese Einladung gibt es nicht.',
  'There is no such member.': 'Dieses Mitglied gibt es nicht.',
  'There is no such organisation.': 'Diese Organisation gibt es nicht.',
  'There is no such page.': 'Diese Seite gibt es nicht.',
  'There is no such person.': 'Diese Person gibt es nicht.',
  'There is no such session.': 'Diese Sitzung gibt es nicht.',
  'There is no such subscription here.': 'Dieses Abonnement gibt es hier nicht.',
  'These are not organisations.': 'Das sind keine Organisationen.',
  'That passkey was not accepted.': 'Dieser Passkey wurde nicht angenommen.',
  'This is not a passkey.': 'Das ist kein Passkey.',
  'You have 20 passkeys. Remove one first.': 'Sie haben 20 Passkeys. Entfernen Sie zuerst einen.',
  'This account is awaiting approval.': 'Dieses Konto wartet auf Freigabe.',
  'This account is closed.': 'Dieses Konto ist geschlossen.',
  'This account is not scoped to an organisation.': 'Dieses Konto gehört zu keiner Organisation.',
  'This account is suspended.': 'Dieses Konto ist gesperrt.',
  'This address is confirmed already.': 'Diese Adresse ist schon bestätigt.',
  'This contains characters we can’t store.': 'Das enthält Zeichen, die sich nicht speichern lassen.',
  'This deployment has no identity provider.': 'Diese Installation hat keinen Identitätsanbieter.',
  'This invitation is no longer valid.': 'Diese Einladung ist nicht mehr gültig.',
  'This is your address already.': 'Das ist schon Ihre Adresse.',
  'This link has been used already.': 'Dieser Link wurde schon verwendet.',
  'This link has expired.': 'Dieser Link ist abgelaufen.',
  'This link is no longer valid.': 'Dieser Link ist nicht mehr gültig.',
  'This link is not valid.': 'Dieser Link ist nicht gültig.',
  'This member is an owner already.': 'Dieses Mitglied hat die Inhaberschaft schon.',
  'This must be a text.': 'Das muss ein Text sein.',
  'This must be one line without control characters.': 'Das muss eine Zeile ohne Steuerzeichen sein.',
  'This must not contain invisible characters.': 'Das darf keine unsichtbaren Zeichen enthalten.',
  'This organisation is awaiting approval.': 'Diese Organisation wartet auf Freigabe.',
  'This organisation is closed.': 'Diese Organisation ist geschlossen.',
  'This page is out of date. Load it again.': 'Diese Seite ist veraltet. Laden Sie sie neu.',
  'This password is on every list of common passwords. Choose another.':
    'Dieses Passwort steht auf jeder Liste häufiger Passwörter. Wählen Sie ein anderes.',
  'This password is wrong.': 'Dieses Passwort ist falsch.',
  'This plan cannot be bought at the moment.': 'Dieser Tarif lässt sich gerade nicht kaufen.',
  'This request is not valid.': 'Diese Anfrage ist nicht gültig.',
  'Too many attempts. Wait a while and try again.':
    'Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es noch einmal.',
  'What ends with your account has changed. Load the page again.':
    'Was mit Ihrem Konto endet, hat sich geändert. Laden Sie die Seite noch einmal.',
  'You belong to an organisation already.': 'Sie gehören schon zu einer Organisation.',
  'You cannot suspend your own organisation.': 'Ihre eigene Organisation können Sie nicht sperren.',
  'You cannot suspend yourself.': 'Sich selbst können Sie nicht sperren.',
  'You cannot undo the approval of your own organisation.':
    'Die Freigabe Ihrer eigenen Organisation können Sie nicht rückgängig machen.',
  'A change of this plan is planned, and this service may not undo it. Ask its operator.':
    'Für diesen Tarif ist ein Wechsel geplant, den dieser Dienst nicht zurücknehmen darf. Fragen Sie den Betreiber.',
  'You switched organisation in another tab. Reload the page.':
    'Sie haben in einem anderen Tab die Organisation gewechselt. Laden Sie die Seite neu.',
  'Your account is connected already.': 'Ihr Konto ist schon verbunden.',
  'Your role does not allow this.': 'Ihre Rolle erlaubt das nicht.',
};

/** The German translations of errors that contain a value: `$1` is the value. */
export const germanPatterns: [RegExp, string][] = [
  [/^Use at least (\d+) characters\.$/, 'Verwenden Sie mindestens $1 Zeichen.'],
  [/^Use at most (\d+) characters\.$/, 'Verwenden Sie höchstens $1 Zeichen.'],
  [/^This must be at most (\d+) characters\.$/, 'Das dürfen höchstens $1 Zeichen sein.'],
  [/^You belong to (.+) already\.$/, 'Sie gehören schon zu $1.'],
  [/^This organisation is already on the (.+) plan\.$/, 'Diese Organisation hat den Tarif $1 schon.'],
  [
    /^The (.+) plan is set to end\. Resume it to keep it\.$/,
    'Der Tarif $1 ist gekündigt. Nehmen Sie die Kündigung zurück, um ihn zu behalten.',
  ],
  [
    /^The (.+) plan is set to end\. Resume it to change it\.$/,
    'Der Tarif $1 ist gekündigt. Nehmen Sie die Kündigung zurück, um ihn zu wechseln.',
  ],
  [
    /^A payment for the (.+) plan is disputed at the bank\. The plan is back once that is settled\.$/,
    'Eine Zahlung für den Tarif $1 wird bei der Bank angefochten. Sobald das geklärt ist, haben Sie ihn wieder.',
  ],
  [/^The (.+) plan allows 1 member\.$/, 'Der Tarif $1 erlaubt 1 Mitglied.'],
  [/^The (.+) plan allows (\d+) members\.$/, 'Der Tarif $1 erlaubt $2 Mitglieder.'],
  [/^Choose the (.+) or (.+) plan\.$/, 'Wählen Sie den Tarif $1 oder $2.'],
  [
    /^The (.+) plans? could not be cancelled\. .*$/,
    'Nicht gekündigt: $1. Sehen Sie nach, was jetzt gilt, und versuchen Sie es noch einmal.',
  ],
  [
    /^The (.+) plans? could not be resumed\. .*$/,
    'Nicht zurückgenommen ist die Kündigung von $1. Sehen Sie nach, was jetzt gilt, und versuchen Sie es noch einmal.',
  ],
  [
    /^(.+) has other members\. Make one of them an owner first\.$/,
    '$1 hat andere Mitglieder. Machen Sie zuerst jemanden davon zur Inhaberin oder zum Inhaber.',
  ],
  [/^(\d+) invitations are open\. Revoke some first\.$/, '$1 Einladungen sind offen. Widerrufen Sie zuerst einige.'],
  [
    /^An organisation has at most (\d+) keys\. .*$/,
    'Eine Organisation hat höchstens $1 Schlüssel. Widerrufen Sie einen.',
  ],
  [/^(.+) is suspended already\.$/, '$1 ist schon gesperrt.'],
  [/^(.+) is not suspended\.$/, '$1 ist nicht gesperrt.'],
  [/^(.+) was restored since this page was loaded\.$/, '$1 wurde entsperrt, seit diese Seite geladen wurde.'],
  [/^The account of (.+) is closed\.$/, 'Das Konto von $1 ist geschlossen.'],
  [/^(.+) has not confirmed the address yet\.$/, '$1 hat die Adresse noch nicht bestätigt.'],
  [
    /^The decision about (.+) can't be undone: it is older than a day or was changed since, or .+ pays or is suspended\.$/,
    'Die Entscheidung über $1 lässt sich nicht rückgängig machen: Sie ist älter als ein Tag oder wurde seither geändert, oder $1 zahlt oder ist gesperrt.',
  ],
  [/^The days must be a whole number from 1 to (.+)\.$/, 'Die Tage müssen eine ganze Zahl von 1 bis $1 sein.'],
];

/** The German sentence for any other error, by its code. */
export const germanByCode: Record<ErrorCode, string> = {
  SECOND_FACTOR_SETUP: 'Richten Sie zuerst einen zweiten Faktor ein.',
  SECOND_FACTOR_REQUIRED: 'Geben Sie Ihren zweiten Faktor an.',
  FRESH_SIGN_IN_REQUIRED: 'Bestätigen Sie dafür, dass Sie es sind.',
  VALIDATION: 'Diese Angabe ist nicht gültig.',
  BILLING_UNAVAILABLE: 'In dieser Installation gibt es keine Abrechnung.',
  NO_ORGANISATION: 'Dieses Konto gehört zu keiner Organisation.',
  UNAUTHENTICATED: 'Melden Sie sich zuerst an.',
  FORBIDDEN: 'Das ist Ihnen nicht erlaubt.',
  AWAITING_APPROVAL: 'Dieses Konto wartet auf Freigabe.',
  LIMIT_REACHED: 'Das Limit Ihres Tarifs ist erreicht.',
  FOREIGN_ORIGIN: 'Diese Anfrage kam von einer anderen Seite.',
  NOT_FOUND: 'Das gibt es nicht.',
  METHOD_NOT_ALLOWED: 'Das geht hier nicht.',
  CONFLICT: 'Das hat sich inzwischen geändert. Laden Sie die Seite noch einmal.',
  GONE: 'Das gibt es nicht mehr.',
  TOO_LARGE: 'Das ist zu groß.',
  NOT_JSON: 'Das lässt sich nicht lesen.',
  TOO_MANY: 'Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es noch einmal.',
  INTERNAL: 'Etwas ist schiefgegangen.',
  PROVIDER_UNAVAILABLE: 'Der Zahlungsanbieter antwortet nicht. Versuchen Sie es gleich noch einmal.',
  BUSY: 'Der Dienst ist überlastet. Versuchen Sie es gleich noch einmal.',
};
