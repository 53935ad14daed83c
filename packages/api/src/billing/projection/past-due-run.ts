import { toDate } from '../../providers/untrusted-json.ts';
import type { StatusClass } from './provider-objects.ts';
import { lastOfSecond, type ObjectChange } from './same-second.ts';

type RunEvent = ObjectChange & { created: number; number: number; state: { statusClass: StatusClass } };

/**
 * Returns the second in which the run of failed payments began that `last` belongs to: that of the first past-due
 * event after `brokenSecond`, the newest second with an event of another status, or -1. That second itself counts if it
 * certainly ends past due. Events up to `settledNumber` belong to an earlier run; null if `last` is one of them.
 */
export function startOfRun(
  events: RunEvent[],
  last: RunEvent,
  brokenSecond: number,
  settledNumber: number,
): number | null {
  if (last.number <= settledNumber) return null;

  const end = lastOfSecond(events.filter(({ created }) => created === brokenSecond));
  const first = end.certain && end.event?.state.statusClass === 'past_due' ? brokenSecond : brokenSecond + 1;
  return events
    .filter(
      ({ created, state, number }) => state.statusClass === 'past_due' && created >= first && number > settledNumber,
    )
    .reduce((earliest, { created }) => Math.min(earliest, created), last.created);
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

/**
 * Returns the first of the provider's past-due answers about the current run, when it answers past due again: the one
 * that is stored, unless an event that was stored since shows that its run was over. `brokenNumber` is that event's.
 */
export function firstAnswerOfRun(
  stored: FirstPastDueAnswer,
  given: FirstPastDueAnswer,
  brokenNumber: number,
): FirstPastDueAnswer {
  if (stored.pastDueSince === null) return given;
  return stored.pastDueNumber !== null && brokenNumber > stored.pastDueNumber ? given : stored;
}
