import { texts } from '#lib/language/texts.ts';

/** What a comparison of all subscriptions with the payment provider found. The server writes it. */
export const reportTexts = texts({
  en: {
    compared: (count: number, repaired: number) =>
      `${count} ${count === 1 ? 'subscription' : 'subscriptions'} compared, ${repaired} repaired.`,
    repaired: (subscription: string, differences: string) => `Repaired: ${subscription} (${differences})`,
    difference: (what: string, was: string, is: string) => `${what} was ${was}, is ${is}`,
    leftOut: (subscription: string, why: string) => `Not synced: ${subscription} (${why})`,
    unknownOrganisation: (organisation: string, subscription: string) =>
      `Unknown organisation: ${organisation} of ${subscription}`,
    severalLive: (organisation: string, subscriptions: string) =>
      `Several live subscriptions: ${organisation} (${subscriptions})`,
    priceOfNoTier: (price: string, subscription: string) => `Price of no plan: ${price} of ${subscription}`,
    priceByMetadata: (price: string, subscription: string, tier: string) =>
      `Price matched by metadata alone: ${price} of ${subscription}, taken for ${tier}`,
    customerGone: (customer: string, organisation: string) => `Customer deleted: ${customer} of ${organisation}`,
    customerUnknown: (customer: string, organisation: string) =>
      `Unknown to the provider: ${customer} of ${organisation}`,
    problem: (problem: string, subscription: string) => `${problem}: ${subscription}`,
    facts: {
      row: 'record',
      status: 'status',
      tier: 'plan',
      price: 'price',
      'set to end': 'set to end',
      'period end': 'period end',
      end: 'end',
      problem: 'problem',
    },
  },
  de: {
    compared: (count, repaired) =>
      `${count} ${count === 1 ? 'Abonnement' : 'Abonnements'} verglichen, ${repaired} berichtigt.`,
    repaired: (subscription, differences) => `Berichtigt: ${subscription} (${differences})`,
    difference: (what, was, is) => `${what} war ${was}, ist ${is}`,
    leftOut: (subscription, why) => `Nicht abgeglichen: ${subscription} (${why})`,
    unknownOrganisation: (organisation, subscription) => `Unbekannte Organisation: ${organisation} von ${subscription}`,
    severalLive: (organisation, subscriptions) => `Mehrere laufende Abonnements: ${organisation} (${subscriptions})`,
    priceOfNoTier: (price, subscription) => `Preis ohne Tarif: ${price} von ${subscription}`,
    priceByMetadata: (price, subscription, tier) =>
      `Preis nur an den Metadaten erkannt: ${price} von ${subscription}, gilt als ${tier}`,
    customerGone: (customer, organisation) => `Kunde gelöscht: ${customer} von ${organisation}`,
    customerUnknown: (customer, organisation) => `Dem Anbieter unbekannt: ${customer} von ${organisation}`,
    problem: (problem, subscription) => `${problem}: ${subscription}`,
    facts: {
      row: 'Eintrag',
      status: 'Status',
      tier: 'Tarif',
      price: 'Preis',
      'set to end': 'gekündigt',
      'period end': 'Ende des Zeitraums',
      end: 'Ende',
      problem: 'Problem',
    },
  },
});
