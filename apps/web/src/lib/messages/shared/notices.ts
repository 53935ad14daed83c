import { texts } from '#lib/language/texts.ts';
import { say } from '#lib/notices/notice.ts';

/** Notices that belong to no page. The server writes them. */
export const noticeTexts = texts({
  en: { signedOut: () => say`You have been signed out.` },
  de: { signedOut: () => say`Sie wurden abgemeldet.` },
});
