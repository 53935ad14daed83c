import { and, eq, gt, isNull, ne, or, sql } from 'drizzle-orm';
import type { App } from '../../../app.ts';
import type { Transaction } from '../../../db/client.ts';
import { verificationLinks } from '../../../db/schema/accounts.ts';

const pauseSeconds = 60;
const mailsAnHour = 5;
const mailsADay = 20;
const hour = 3600;
const day = 24 * hour;
/** Longer than sending a mail may take: a link that was not sent by then never will be. */
const sendingSeconds = 30;
/** The first of the two numbers of an advisory lock; the second one stands for the address. */
const lockClass = 7_240_313;

type MailRequest = {
  userId: string;
  email: string;
  /** The current job. Unsent links of its earlier runs are not mails. */
  jobId: string | null;
  /** Which of the two pairs of limits the mail counts in. */
  fromKnownBrowser: boolean;
  /** Whether the mail waits for a minute after the one before to this address for this user. */
  isResent: boolean;
};

/**
 * Whether an address has had as many mails as it may have: one resent mail a minute for
 * one account, and of all kinds and for all accounts five an hour and twenty a day, counted
 * from sent mails. Known browsers of the account have the second pair of their own, so that
 * other clients cannot use it up. RATE_LIMITS=off lifts that pair. The address is locked until
 * the transaction ends, so that of parallel jobs each one sees the links of the others.
 */
export async function isMailLimitReached(app: App, tx: Transaction, asked: MailRequest): Promise<boolean> {
  await tx.execute(sql`select pg_advisory_xact_lock(${lockClass}::int, hashtext(${asked.email}))`);
  const mailed = await mailedLinks(app, tx, { email: asked.email, jobId: asked.jobId, seconds: day });
  const now = app.now().getTime();
  const after = (seconds: number) => mailed.filter(({ at }) => at.getTime() > now - seconds * 1000);
  if (asked.isResent && after(pauseSeconds).some(({ userId }) => userId === asked.userId)) return true;
  if (!app.config.rateLimits) return false;

  const counted = (seconds: number) =>
    after(seconds).filter(({ fromKnownBrowser }) => fromKnownBrowser === asked.fromKnownBrowser).length;
  return counted(hour) >= mailsAnHour || counted(day) >= mailsADay;
}

/**
 * Whether a user has asked for as many changes of address within the hour as one may.
 * Asked while the user's row is locked.
 */
export async function isChangeLimitReached(
  app: App,
  tx: Transaction,
  { userId, jobId }: { userId: string; jobId: string | null },
): Promise<boolean> {
  if (!app.config.rateLimits) return false;
  const mailed = await mailedLinks(app, tx, { userId, jobId, seconds: hour });
  return mailed.filter(({ purpose }) => purpose === 'change-address').length >= mailsAnHour;
}

type Whose = { email: string } | { userId: string };

/**
 * The links of an address or a user whose mail left in the last `seconds`, and those that
 * other jobs are sending at this moment, each with its time.
 */
async function mailedLinks(app: App, tx: Transaction, asked: Whose & { jobId: string | null; seconds: number }) {
  const { jobId, seconds } = asked;
  const now = app.now().getTime();
  const isOthers = jobId === null ? undefined : or(isNull(verificationLinks.jobId), ne(verificationLinks.jobId, jobId));
  const isBeingSent = and(
    isNull(verificationLinks.sentAt),
    gt(verificationLinks.createdAt, new Date(now - sendingSeconds * 1000)),
    isOthers,
  );
  const isWanted =
    'email' in asked ? eq(verificationLinks.email, asked.email) : eq(verificationLinks.userId, asked.userId);
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
