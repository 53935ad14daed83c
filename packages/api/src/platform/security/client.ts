/** The languages in which a mail can be written. */
export type MailLanguage = 'en' | 'de';

/** The requester of work that waits in turn: a client, and the network that it belongs to. */
export type Requester = { client: string; network: string };

/** A client by its address, with its requester where the server has computed it for the request. */
export type KeyedClient = { address: string; requester?: Requester | undefined };

/** The client of a request: its address and browser, for rate limits and the audit log. */
export type Client = KeyedClient & {
  userAgent: string | null;
  /** The cookie `known` of a browser that signed in before. It grants no access: see `isKnownBrowser`. */
  knownBrowser?: string | null;
  /** The language of the browser, for mail that the request causes; English where it is absent. */
  language?: MailLanguage;
};
