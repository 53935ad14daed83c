import { texts } from '#lib/language/texts.ts';

/** "Members" → "members", but "API calls" stays. */
function lowerFirst(name: string): string {
  return /^\p{Lu}\p{Ll}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

/** "Members" → "Member" */
function singular(name: string): string {
  return name.replace(/s$/, '');
}

const germanMeters: Record<string, { one: string; many: string }> = {
  members: { one: 'Mitglied', many: 'Mitglieder' },
  projects: { one: 'Projekt', many: 'Projekte' },
  api_calls: { one: 'API-Aufruf', many: 'API-Aufrufe' },
};

const germanFeatures: Record<string, string> = {
  sso: 'Single Sign-on',
  audit_log: 'Aktivitätsprotokoll',
  priority_support: 'Bevorzugter Support',
};

const englishFeatures: Record<string, string> = { sso: 'Single sign-on' };

/** Plans, limits and usage, as home and billing write them. Meters and features come with their English name. */
export const planTexts = texts({
  en: {
    status: {
      ended: 'Ended',
      ending: 'Ending',
      active: 'Active',
      trialing: 'On trial',
      past_due: 'Payment due',
      incomplete: 'Awaiting first payment',
      unpaid: 'Unpaid',
      paused: 'Paused',
      onHold: 'On hold',
      disputed: 'Payment disputed',
      bounced: 'Payment failed',
    },
    ended: (day: string) => `Your paid plan ended on ${day}. The payment provider hasn’t confirmed it yet.`,
    hasEnded: 'Free of charge. Your paid plan has ended.',
    free: 'Free of charge.',
    price: (amount: string, interval: string) => `${amount} ${interval}.`,
    offUntilPaid: 'Your paid plan is off until its invoice is paid.',
    startsWhenPaid: 'Your paid plan starts once its first payment arrives.',
    isPaused: 'Your paid plan is paused. Choose a plan to start it again.',
    disputed: 'A payment for your paid plan is disputed at the bank. The plan is off until that is settled.',
    bounced: 'Your first payment didn’t go through, so your paid plan hasn’t started. Choose a plan to try again.',
    unreadable: 'This service cannot read your subscription, so you have the free plan. Ask its operator.',
    endsOn: (day: string, next: string) => `Ends on ${day}, then ${next}.`,
    endsWithPeriod: (next: string) => `Ends with the paid period, then ${next}.`,
    renewsOn: (day: string) => `Renews on ${day}.`,
    trialEndsOn: (day: string) => `The trial ends on ${day}.`,
    untilThen: (plan: string, day: string, next: string) => `${plan} until ${day}, then ${next}.`,
    changesOn: (plan: string, day: string) => `${plan} until ${day}, then it changes.`,
    notCollected: 'Payments are paused.',
    credit: (amount: string) => `You have ${amount} in credit, which pays your next invoices.`,
    amountFrom: (amount: string, method: string) => `${amount} from ${method}.`,
    amountDue: (amount: string) => `${amount} is due.`,
    nextAttempt: (day: string) => `The next attempt is on ${day}.`,
    endingIn: (method: string, digits: string) => `${method} ending in ${digits}`,
    methods: {
      visa: 'Visa',
      mastercard: 'Mastercard',
      amex: 'American Express',
      sepa_debit: 'SEPA debit',
      bacs_debit: 'Bacs debit',
      us_bank_account: 'bank account',
      link: 'Link',
      paypal: 'PayPal',
    },
    meter: (_meter: string, name: string) => name,
    feature: (feature: string, name: string) => englishFeatures[feature] ?? name,
    amountOf: (meter: { meter: string; name: string }, count: number, amount: string) =>
      `${amount} ${lowerFirst(count === 1 ? singular(meter.name) : meter.name)}`,
    perPeriod: (amount: string, resets: 'calendar_month' | 'subscription_period') =>
      resets === 'calendar_month' ? `${amount} a month` : `${amount} in a billing period`,
    unlimitedOf: (meter: { meter: string; name: string }) => `Unlimited ${lowerFirst(meter.name)}`,
    noneOf: (meter: { meter: string; name: string }) => `No ${lowerFirst(meter.name)}`,
    without: (feature: string) => `No ${lowerFirst(feature)}`,
    unlimited: 'unlimited',
    insteadOf: (limit: string) => `instead of ${limit}`,
    noLimit: 'No limit',
    over: (meter: { meter: string; name: string }) => `Over the ${lowerFirst(singular(meter.name))} limit`,
    reached: (meter: { meter: string; name: string }) => `${singular(meter.name)} limit reached`,
    left: (amount: string) => `${amount} left`,
    roomFor: (amount: string) => `Room for ${amount} more`,
    resets: (text: string, day: string) => `${text}, resets ${day}`,
    of: (limit: string) => `of ${limit}`,
    usedOf: (used: number, limit: number) => `${used} of ${limit}`,
    usedWithoutLimit: (used: number) => `${used}, no limit`,
  },
  de: {
    status: {
      ended: 'Beendet',
      ending: 'Gekündigt',
      active: 'Aktiv',
      trialing: 'Testphase',
      past_due: 'Zahlung fällig',
      incomplete: 'Erste Zahlung steht aus',
      unpaid: 'Unbezahlt',
      paused: 'Pausiert',
      onHold: 'Angehalten',
      disputed: 'Zahlung angefochten',
      bounced: 'Zahlung fehlgeschlagen',
    },
    ended: (day) => `Ihr bezahlter Tarif ist am ${day} ausgelaufen. Der Zahlungsanbieter hat das noch nicht bestätigt.`,
    hasEnded: 'Kostenlos. Ihr bezahlter Tarif ist ausgelaufen.',
    free: 'Kostenlos.',
    price: (amount, interval) => `${amount} ${interval}.`,
    offUntilPaid: 'Ihr bezahlter Tarif ruht, bis die Rechnung bezahlt ist.',
    startsWhenPaid: 'Ihr bezahlter Tarif beginnt, sobald die erste Zahlung eingeht.',
    isPaused: 'Ihr bezahlter Tarif ist pausiert. Wählen Sie einen Tarif, um ihn wieder zu starten.',
    disputed: 'Eine Zahlung für Ihren Tarif wird bei der Bank angefochten. Bis das geklärt ist, ruht er.',
    bounced:
      'Ihre erste Zahlung ist fehlgeschlagen, daher hat Ihr Tarif nicht begonnen. Wählen Sie einen Tarif, um es noch einmal zu versuchen.',
    unreadable:
      'Dieser Dienst kann Ihr Abonnement nicht lesen, daher haben Sie den kostenlosen Tarif. Fragen Sie den Betreiber.',
    endsOn: (day, next) => `Endet am ${day}, danach ${next}.`,
    endsWithPeriod: (next) => `Endet mit dem bezahlten Zeitraum, danach ${next}.`,
    renewsOn: (day) => `Verlängert sich am ${day}.`,
    trialEndsOn: (day) => `Die Testphase endet am ${day}.`,
    untilThen: (plan, day, next) => `${plan} bis zum ${day}, danach ${next}.`,
    changesOn: (plan, day) => `${plan} bis zum ${day}, danach ändert sich der Tarif.`,
    notCollected: 'Die Zahlungen ruhen.',
    credit: (amount) => `Sie haben ${amount} Guthaben, das mit Ihren nächsten Rechnungen verrechnet wird.`,
    amountFrom: (amount, method) => `${amount} von ${method}.`,
    amountDue: (amount) => `${amount} sind fällig.`,
    nextAttempt: (day) => `Der nächste Versuch ist am ${day}.`,
    endingIn: (method, digits) => `${method} mit den Endziffern ${digits}`,
    methods: {
      visa: 'Visa',
      mastercard: 'Mastercard',
      amex: 'American Express',
      sepa_debit: 'SEPA-Lastschrift',
      bacs_debit: 'Bacs-Lastschrift',
      us_bank_account: 'Bankkonto',
      link: 'Link',
      paypal: 'PayPal',
    },
    meter: (meter, name) => germanMeters[meter]?.many ?? name,
    feature: (feature, name) => germanFeatures[feature] ?? name,
    amountOf: ({ meter, name }, count, amount) =>
      `${amount} ${(count === 1 ? germanMeters[meter]?.one : germanMeters[meter]?.many) ?? name}`,
    perPeriod: (amount, resets) =>
      resets === 'calendar_month' ? `${amount} pro Monat` : `${amount} pro Abrechnungszeitraum`,
    unlimitedOf: ({ meter, name }) => `${germanMeters[meter]?.many ?? name} unbegrenzt`,
    noneOf: ({ meter, name }) => `Keine ${germanMeters[meter]?.many ?? name}`,
    without: (feature) => `Ohne ${feature.replace(/^Bevorzugter /, 'bevorzugten ')}`,
    unlimited: 'unbegrenzt',
    insteadOf: (limit) => `statt ${limit}`,
    noLimit: 'Kein Limit',
    over: ({ meter, name }) => `Limit für ${germanMeters[meter]?.many ?? name} überschritten`,
    reached: ({ meter, name }) => `Limit für ${germanMeters[meter]?.many ?? name} erreicht`,
    left: (amount) => `${amount} übrig`,
    roomFor: (amount) => `Noch Platz für ${amount}`,
    resets: (text, day) => `${text}, neu ab ${day}`,
    of: (limit) => `von ${limit}`,
    usedOf: (used, limit) => `${used} von ${limit}`,
    usedWithoutLimit: (used) => `${used}, kein Limit`,
  },
});
