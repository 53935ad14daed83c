import type { TestMethod } from './test-method.ts';

export const cards: readonly TestMethod[] = [
  {
    type: 'card',
    number: '4242424242424242',
    about: 'pays',
    saved: 'works',
    onSession: 'works',
    offSession: 'works',
    token: 'pm_card_visa',
  },
  {
    type: 'card',
    number: '4000000000000002',
    about: 'is declined',
    saved: 'declines',
    onSession: 'declines',
    offSession: 'declines',
    token: 'pm_card_visa_chargeDeclined',
  },
  {
    type: 'card',
    number: '4000000000000341',
    about: 'can be saved, is declined at each charge',
    saved: 'works',
    onSession: 'declines',
    offSession: 'declines',
    token: 'pm_card_chargeCustomerFail',
  },
  {
    type: 'card',
    number: '4000002760003184',
    about: 'requires authentication at each charge',
    saved: 'authenticates',
    onSession: 'authenticates',
    offSession: 'authenticates',
    token: 'pm_card_authenticationRequired',
  },
  {
    // The real provider has no such card: the number is the sandbox's own.
    type: 'card',
    number: '4000000007007000',
    about: 'pays, is declined at the charge of a plan change',
    saved: 'works',
    onSession: 'works',
    offSession: 'works',
    planChange: 'declines',
    token: 'pm_card_sandbox_planChangeDeclined',
  },
];

/** The number of a card that pays. */
export const goodCard = '4242424242424242';
