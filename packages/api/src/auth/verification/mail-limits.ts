import { and, eq, gt, isNull, ne, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { daySeconds, hourSeconds } from '../../platform/durations.ts';

const pauseSeconds = 60;
const mailsAnHour = 5;
const mailsADay = 20;
/** Longer than sending a mail may take. A link that is unsent after this time is never sent. */
const sendingSeconds = 30;
/** The first of the two numbers of an advisory lock; the second one is a hash of the address. */
const lockClass = 7_240_313;

type MailRequest = {
  userId: string;
  email: string;
  /** The current job. Unsent links of its earlier runs are not mails. */
  jobId: string | null;
  /** Which of the two pairs of limits the mail counts in. */
  fromKnownBrowser: boolean;
  /** Whether a minute must have passed since the user's last mail to this address. */
  isResent: boolean;
};

/**
 * Whether an address has reached its mail limits: one resent mail a minute per account, and in
 * total five mails an hour and twenty a day. Only sent mails count. Known browsers of the account
 * have their own limits per hour and day, so that other clients cannot use them up.
 * RATE_LIMITS=off removes the limits per hour and day. The address is locked until the transaction
 * ends, so that concurrent jobs see each other's links.
 */
export async function isMailLimitReached(app: App, tx: Transaction, request: MailRequest): Promise<boolean> {
  await tx.execute(sql`select pg_advisory_xact_lock(${lockClass}::int, hashtext(${request.email}))`);
  const mailed = await mailedLinks(app, tx, { email: request.email, jobId: request.jobId, seconds: daySeconds });
  const now = app.now().getTime();
  const after = (seconds: number) => mailed.filter(({ at }) => at.getTime() > now - seconds * 1000);
  if (request.isResent && after(pauseSeconds).some(({ userId }) => userId === request.userId)) return true;
  if (!app.config.rateLimits) return false;

  const counted = (seconds: number) =>
    after(seconds).filter(({ fromKnownBrowser }) => fromKnownBrowser === request.fromKnownBrowser).length;
  return counted(hourSeconds) >= mailsAnHour || counted(daySeconds) >= mailsADay;
}

/**
 * Whether a user has reached the hourly limit of changes of address. The caller has locked the
 * user's row.
 */
export async function isChangeLimitReached(
  app: App,
  tx: Transaction,
  { userId, jobId }: { userId: string; jobId: string | null },
): Promise<boolean> {
  if (!app.config.rateLimits) return false;
  const mailed = await mailedLinks(app, tx, { userId, jobId, seconds: hourSeconds });
  return mailed.filter(({ purpose }) => purpose === 'change-address').length >= mailsAnHour;
}

type LinkOwner = { email: string } | { userId: string };

/**
 * Returns the links of an address or a user that were mailed in the last `seconds`, or that other
 * jobs are mailing at this moment, each with its time.
 */
async function mailedLinks(app: App, tx: Transaction, request: LinkOwner & { jobId: string | null; seconds: number }) {
  const { jobId, seconds } = request;
  const now = app.now().getTime();
  const isOthers = jobId === null ? undefined : or(isNull(verificationLinks.jobId), ne(verificationLinks.jobId, jobId));
  const isBeingSent = and(
    isNull(verificationLinks.sentAt),
    gt(verificationLinks.createdAt, new Date(now - sendingSeconds * 1000)),
    isOthers,
  );
  const isWanted =
    'email' in request ? eq(verificationLinks.email, request.email) : eq(verificationLinks.userId, request.userId);
  const links = await tx
    .select({
      userId: verificationLinks.userId,
      purpose: verificationLinks.purpose,
      fromKnownBrowser: verificationLinks.fromKnownBrowser,
      createdAt: verificationLinks.createdAt,
      sentAt: verificationLinks.sentAt,
    })
    .from(verificationLinks)
    .where(and(isWanted, or(gt(verificationLinks.sentAt, new Date(now - seconds * 1000)), isBeingSent)));
  return links.map(({ createdAt, sentAt, ...link }) => ({ ...link, at: sentAt ?? createdAt }));
}
