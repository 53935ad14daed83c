import { texts } from '#lib/language/texts.ts';
import { say } from '#lib/notices/notice.ts';

const small = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
const klein = ['Keine', 'Ein', 'Zwei', 'Drei', 'Vier', 'Fünf', 'Sechs', 'Sieben', 'Acht', 'Neun', 'Zehn'];

/** The sentence, the notices and the steps of the home page. The server writes the steps. */
export const overviewTexts = texts({
  en: {
    /** A number at the start of a sentence: a word up to ten, digits above. */
    count: (count: number, digits: string) => small[count] ?? digits,
    justYou: 'Just you so far.',
    members: (count: string) => `${count} members.`,
    until: (plan: string, day: string) => `${plan} until ${day}.`,
    untilThen: (plan: string, day: string, next: string) => `${plan} until ${day}, then ${next}.`,
    untilPeriodEnds: (plan: string) => `${plan} until the end of the paid period.`,
    renews: (plan: string, day: string) => `${plan}, renews on ${day}.`,
    plan: (plan: string) => `${plan} plan.`,
    confirmTitle: 'Your bank wants you to confirm the payment',
    firstPaymentOpen: 'Your first payment is still open',
    paymentFailed: 'Your payment failed',
    disputed: 'A payment is disputed',
    payBy: (day: string, plan: string) => `Pay by ${day} to keep ${plan}.`,
    payToKeep: (plan: string) => `Pay to keep ${plan}.`,
    confirmBy: (day: string, plan: string) => `Confirm it by ${day} to keep ${plan}.`,
    confirmToKeep: (plan: string) => `Confirm it to keep ${plan}.`,
    startsWhenPaid: 'Your paid plan starts once its first payment arrives.',
    offUntilPaid: 'Your paid plan is off until its invoice is paid.',
    confirm: 'Confirm',
    payNow: 'Pay now',
    seeBilling: 'See billing',
    paidPlan: 'Your paid plan',
    endsOn: (plan: string, day: string) => `${plan} ends on ${day}`,
    endsWithPeriod: (plan: string) => `${plan} ends with the paid period`,
    thenMoves: (plan: string) => `Then you move to ${plan}. Change your mind any time before.`,
    overMembers: 'Over your member limit',
    everyoneStays: 'Everyone stays, but you can’t add anyone.',
    newSignIn: (count: number) =>
      count === 1 ? 'A sign-in from a new browser' : `${count} sign-ins from new browsers`,
    newSignInText: 'Check that it was you.',
    seeSignIns: 'See sign-ins',
    seeMembers: 'See members',
    hidden: () => say`The next steps are hidden in this browser.`,
    showThem: 'Show them',
    name: {
      title: 'Add your name',
      text: 'It tells the people you work with who you are.',
      action: 'Add name',
    },
    invite: {
      title: 'Invite the people you work with',
      text: 'Create a link and send it yourself. It lets one person join.',
      action: 'Invite',
    },
    choose: {
      title: 'Choose a plan',
      text: (free: string, paid: string, count: number) =>
        `You can stay on ${free}. ${paid} ${count === 1 ? 'gives' : 'give'} you more room.`,
      action: 'See plans',
    },
  },
  de: {
    count: (count, digits) => klein[count] ?? digits,
    justYou: 'Bisher nur Sie.',
    members: (count) => `${count} Mitglieder.`,
    until: (plan, day) => `${plan} bis ${day}.`,
    untilThen: (plan, day, next) => `${plan} bis zum ${day}, danach ${next}.`,
    untilPeriodEnds: (plan) => `${plan} bis zum Ende des bezahlten Zeitraums.`,
    renews: (plan, day) => `${plan}, verlängert sich am ${day}.`,
    plan: (plan) => `Tarif ${plan}.`,
    confirmTitle: 'Ihre Bank möchte, dass Sie die Zahlung bestätigen',
    firstPaymentOpen: 'Ihre erste Zahlung ist noch offen',
    paymentFailed: 'Ihre Zahlung ist fehlgeschlagen',
    disputed: 'Eine Zahlung wird angefochten',
    payBy: (day, plan) => `Zahlen Sie bis zum ${day}, um ${plan} zu behalten.`,
    payToKeep: (plan) => `Zahlen Sie, um ${plan} zu behalten.`,
    confirmBy: (day, plan) => `Bestätigen Sie sie bis zum ${day}, um ${plan} zu behalten.`,
    confirmToKeep: (plan) => `Bestätigen Sie sie, um ${plan} zu behalten.`,
    startsWhenPaid: 'Ihr bezahlter Tarif beginnt, sobald die erste Zahlung eingeht.',
    offUntilPaid: 'Ihr bezahlter Tarif ruht, bis die Rechnung bezahlt ist.',
    confirm: 'Bestätigen',
    payNow: 'Jetzt zahlen',
    seeBilling: 'Zum Tarif',
    paidPlan: 'Ihr bezahlter Tarif',
    endsOn: (plan, day) => `${plan} endet am ${day}`,
    endsWithPeriod: (plan) => `${plan} endet mit dem bezahlten Zeitraum`,
    thenMoves: (plan) => `Danach wechseln Sie zu ${plan}. Bis dahin können Sie es sich anders überlegen.`,
    overMembers: 'Mehr Mitglieder als Ihr Tarif vorsieht',
    everyoneStays: 'Alle bleiben, aber Sie können niemanden hinzufügen.',
    newSignIn: (count) =>
      count === 1 ? 'Anmeldung aus einem neuen Browser' : `${count} Anmeldungen aus neuen Browsern`,
    newSignInText: 'Prüfen Sie, ob Sie das waren.',
    seeSignIns: 'Anmeldungen ansehen',
    seeMembers: 'Zu den Mitgliedern',
    hidden: () => say`Die nächsten Schritte sind in diesem Browser ausgeblendet.`,
    showThem: 'Einblenden',
    name: {
      title: 'Ihren Namen eintragen',
      text: 'So wissen die anderen, mit wem sie es zu tun haben.',
      action: 'Namen eintragen',
    },
    invite: {
      title: 'Die Menschen einladen, mit denen Sie arbeiten',
      text: 'Erstellen Sie einen Link und verschicken Sie ihn selbst. Damit tritt eine Person bei.',
      action: 'Einladen',
    },
    choose: {
      title: 'Einen Tarif wählen',
      text: (free, paid, count) =>
        `Sie können bei ${free} bleiben. ${paid} ${count === 1 ? 'bietet' : 'bieten'} Ihnen mehr Raum.`,
      action: 'Tarife ansehen',
    },
  },
});
