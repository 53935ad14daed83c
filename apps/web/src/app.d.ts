import type { RequestState } from '@gatehouse/api/http/request';
import type { Language } from '#lib/language/language.ts';
import type { VerificationFailure } from '#lib/server/http/open-verification-link.ts';

declare global {
  namespace App {
    interface Locals extends RequestState {
      /** Whether the request came with the cookie of a session that has ended. */
      sessionEnded: boolean;
      /** Whether this request stored a notice for the page that it redirects to. */
      noticeIsForNextPage?: boolean;
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
