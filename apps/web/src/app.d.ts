import type { App as Service } from '@gatehouse/api/app';
import type { Principal } from '@gatehouse/api/auth/principal';
import type { Client } from '@gatehouse/api/platform/security/client';
import type { Caller } from '@gatehouse/api/router/root';
import type { Context } from '@gatehouse/api/router/trpc';
import type { Language } from '#lib/language/language.ts';
import type { GuardedRequest } from '#lib/server/guards/request-guard.ts';
import type { VerificationFailure } from '#lib/server/http/open-verification-link.ts';
import type { Failure } from '#lib/server/http/record-failure.ts';
import type { RequestSource } from '#lib/server/http/router-context.ts';

declare global {
  namespace App {
    interface Locals {
      app: Service;
      requestId: string;
      client: Client;
      /** What the request guard read of the request. */
      accepted: GuardedRequest;
      /** What the principal was resolved from. */
      source: RequestSource;
      /** Whether the body had arrived before the principal was resolved. */
      hasWholeBody: boolean;
      /** Null without a session or API key, and on the routes that need none. */
      principal: Principal | null;
      /** Whether the request came with the cookie of a session that has ended. */
      sessionEnded: boolean;
      /** Whether this request stored a notice for the page that it redirects to. */
      noticeIsForNextPage?: boolean;
      /** Starts and ends sessions, and sets their cookies. */
      session: Context['session'];
      /** The router, called in this process for the principal. */
      api: Caller;
      /** Why the request was refused, for its log line. */
      failure?: Failure;
      /** Resolves when the route may be run. Requests to REST endpoints, and those of the development server, have none. */
      nextTurn?: (() => Promise<void>) | undefined;
      /** The language of the answer's texts. `languageOf` chooses it when it is first needed. */
      language?: Language;
    }
    interface Error {
      message: string;
      requestId?: string;
      verification?: VerificationFailure;
    }
  }
}
