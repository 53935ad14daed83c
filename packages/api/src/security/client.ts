import type { Requester } from './client-key.ts';

/** The languages in which a mail can be written. */
export type MailLanguage = 'en' | 'de';

/** The client of a request: its address and browser, for rate limits and the audit log. */
export type Client = {
  address: string;
  /** The keys for limits and queues, where the request keeps them: see `requesterFor`. */
  requester?: Requester;
  userAgent: string | null;
  /** The cookie `known` of a browser that signed in before. It grants no access: see `isKnownBrowser`. */
  knownBrowser?: string | null;
  /** The language of the browser, for mail that the request causes; English where it is absent. */
  language?: MailLanguage;
};
