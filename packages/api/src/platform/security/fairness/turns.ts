/**
 * For how long requests are started, and for how long connections are then accepted, before either continues. Also the
 * least number of each: on a busy machine the process may not have run in that time.
 */
const turnMilliseconds = 10;
const leastInTurn = 8;

/** Requests that wait. `next` takes the next one out of the queue. */
type Group = { next: () => (() => void) | undefined };

/**
 * Starts requests after all connections were read that have sent something. Otherwise a page that is rendered without
 * waiting would be finished before the next request is counted: a thousand of them would be rendered in one turn of
 * the event loop, while no limit is reached and every probe waits. Requests that one turn does not start wait for the
 * next ones, where the groups alternate. Node accepts one connection in each turn, so while
 * connections wait, turns that only accept and read alternate with those that work (docs/decisions/041).
 */
export function createTurns() {
  /** The groups with waiting requests, in the order of their turns. A group that became empty stays until its turn. */
  const groups = new Set<Group>();
  let waiting = 0;
  let calls = 0;
  let hasLeader = false;
  let isWorking = false;
  let hasAccepted = false;
  let until = 0;
  let done = 0;

  /**
   * Schedules a `setImmediate` call unless there is one for each waiting request. The call of a request that has left
   * stays scheduled. The first call of a turn leads it.
   */
  function setCall() {
    if (calls >= waiting) return;
    calls += 1;
    setImmediate(hasLeader ? startNext : leadTurn);
    hasLeader = true;
  }

  function leadTurn() {
    const wasWorking = isWorking;
    isWorking = !hasAccepted || (!wasWorking && isOver());
    if (isWorking || wasWorking) {
      until = performance.now() + turnMilliseconds;
      done = 0;
    }
    if (!isWorking) done += 1;
    hasAccepted = false;
    hasLeader = false;
    startNext();
  }

  function isOver() {
    return done >= leastInTurn && performance.now() > until;
  }

  /** Node runs promises between two calls, so that the next one begins when a page is rendered. */
  function startNext() {
    calls -= 1;
    if (!isWorking || isOver()) return setCall();

    for (const group of groups) {
      groups.delete(group);
      const run = group.next();
      if (run === undefined) continue;
      groups.add(group);
      waiting -= 1;
      done += 1;
      return run();
    }
  }

  return {
    /** To be called when a request of a group has begun to wait. */
    noteWaiting(group: Group) {
      waiting += 1;
      groups.add(group);
      setCall();
    },
    /** To be called when a request that waited has left its group. */
    noteLeft() {
      waiting -= 1;
    },
    /** Whether the latest turn has time left and no next one is scheduled, which would delay a lone page by 50 µs. */
    hasTime: () => !hasLeader && performance.now() < until,
    noteConnection() {
      hasAccepted = true;
    },
  };
}
