import { toDate } from '../../providers/untrusted-json.ts';
import type { StatusClass } from './provider-objects.ts';
import { type Change, lastOfSecond } from './same-second.ts';

type RunEvent = Change & { created: number; number: number; state: { statusClass: StatusClass } };

type Run = {
  /** The second in which it began. */
  since: number;
  /** The number of the event of another status that precedes it; 0 if there is none. */
  brokenNumber: number;
};

/**
 * Returns the second in which the run of failed payments began that `last` belongs to: that of the first past-due
 * event after the newest event of another status. That event's own second counts if it certainly ends past due. Events
 * up to `settledNumber` belong to an earlier run.
 */
export function startOfRun(events: RunEvent[], last: RunEvent, settledNumber: number): Run {
  const others = events.filter(({ state }) => state.statusClass !== 'past_due');
  const broken = others.reduce((latest, { created }) => Math.max(latest, created), -1);
  const end = lastOfSecond(events.filter(({ created }) => created === broken));
  const first = end.certain && end.event?.state.statusClass === 'past_due' ? broken : broken + 1;

  const run = events.filter(
    ({ created, state, number }) => state.statusClass === 'past_due' && created >= first && number > settledNumber,
  );
  return {
    since: run.reduce((earliest, { created }) => Math.min(earliest, created), last.created),
    brokenNumber: others.reduce((last, { created, number }) => (created === broken ? Math.max(last, number) : last), 0),
  };
}

export type FirstPastDueAnswer = {
  /** When the provider first answered past due; null if its last answer was another status. */
  pastDueSince: Date | null;
  /** The number of the last event that was stored before that request; null if it is not known. */
  pastDueNumber: number | null;
};

/**
 * Returns the time of the run's first event or of the provider's first past-due answer: the earlier one, because the
 * first event may be lost. An answer before the event that precedes the run was about an earlier run.
 */
export function startOfGrace(
  answer: FirstPastDueAnswer | null,
  run: { pastDueSince: number | null; brokenNumber: number } | null,
): Date | null {
  const shown = toDate(run?.pastDueSince ?? null);
  const answered = answer?.pastDueSince ?? null;
  if (answer === null || run === null || shown === null || answered === null) return shown ?? answered;

  const isSameRun = answer.pastDueNumber !== null && run.brokenNumber <= answer.pastDueNumber;
  return isSameRun && answered < shown ? answered : shown;
}
