import type { Language } from '@gatehouse/languages/generated/languages';
import type { App } from '../app.ts';
import type { Principal } from '../auth/principal.ts';
import type { Client, ClientAddress } from '../platform/security/client.ts';
import type { Caller } from '../router/root.ts';
import type { Context } from '../router/trpc.ts';
import type { RequestCookies } from './cookies.ts';

/** A request as the API's server and Kit's hook describe it to the steps that they share. */
export type RequestSource = {
  method: string;
  /** As in a URL: percent-encoded. */
  pathname: string;
  /** A header by its name in lower case; null if the request has none. */
  headers: Pick<Headers, 'get'>;
  cookies: RequestCookies;
  client: ClientAddress;
  /** Aborted if the client disconnects before the answer. */
  signal: AbortSignal;
  /** Chooses the language of what the request causes. Called when it is needed: most requests send no mail. */
  language: () => Language;
  /** @throws AppError TOO_LARGE if the body has more bytes. */
  readBytes: (maxBytes: number) => Promise<Buffer>;
};

/** A request to the API. `search` is the query of the URL without its "?". */
export type EndpointRequest = RequestSource & { search: string };

/** The answer to a request to the API. The names of headers are in lower case. */
export type EndpointAnswer = { status: number; headers: Record<string, string>; body: string };

/**
 * Why a request was refused: the code of its error, the names of the wrong fields, and the pseudonym of the user whom it
 * was about, if nobody was signed in.
 */
export type Failure = { code: string; fields?: string[]; user?: string };

/** What the steps of a request make of it, for its handler. */
export type RequestState = {
  app: App;
  requestId: string;
  /** The whole body, which was read before the principal was resolved; empty where the method has none. */
  body: Buffer;
  client: Client;
  /** Null without a session or API key, and on the routes that need none. */
  principal: Principal | null;
  /** Whether the request has a session that waits for its second step, and so no principal. */
  stepPending: boolean;
  /** Starts and ends sessions, and sets their cookies. */
  session: Context['session'];
  /** The router, called in this process for the principal. */
  api: Caller;
  /** Why the request was refused, for its log line. */
  failure?: Failure;
};
