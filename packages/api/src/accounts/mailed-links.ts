import { and, eq, gt, isNull, ne, or } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Transaction } from '../db/client.ts';
import { verificationLinks } from '../db/schema.ts';

/** Longer than a mail server may take over a mail: a link that was not sent by then never will be. */
const leavingSeconds = 30;

type Asked = { userId: string; jobId: string | null; seconds: number };

/**
 * A person's links whose mail left in the last `seconds`, and those that other jobs are
 * just handing to the mail server, each with when. What a job that died left behind is
 * none: not for that job once it is begun anew, and soon not for others. Asked while the
 * user's row is locked, so that two jobs see each other's.
 */
export async function mailedLinks(app: App, tx: Transaction, { userId, jobId, seconds }: Asked) {
  const now = app.now().getTime();
  const isOthers = jobId === null ? undefined : or(isNull(verificationLinks.jobId), ne(verificationLinks.jobId, jobId));
  const isLeaving = and(
    isNull(verificationLinks.sentAt),
    gt(verificationLinks.createdAt, new Date(now - leavingSeconds * 1000)),
    isOthers,
  );
  const links = await tx
    .select({
      email: verificationLinks.email,
      purpose: verificationLinks.purpose,
      signUpId: verificationLinks.signUpId,
      createdAt: verificationLinks.createdAt,
      sentAt: verificationLinks.sentAt,
    })
    .from(verificationLinks)
    .where(
      and(
        eq(verificationLinks.userId, userId),
        or(gt(verificationLinks.sentAt, new Date(now - seconds * 1000)), isLeaving),
      ),
    );
  return links.map(({ createdAt, sentAt, ...link }) => ({ ...link, at: sentAt ?? createdAt }));
}
