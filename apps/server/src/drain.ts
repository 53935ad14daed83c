const shutdownNoticeMilliseconds = 5_000;
const probeMemoryMilliseconds = 10_000;

/**
 * Notices whether a reverse proxy watches GET /readyz. If one does, a node that shuts down keeps
 * serving for five seconds, in which the proxy sees /readyz answer 503 and chooses other nodes.
 * Without a proxy nothing would be gained.
 */
export function watchProbes(now: () => number = () => performance.now()) {
  let last = Number.NEGATIVE_INFINITY;
  let before = Number.NEGATIVE_INFINITY;

  return {
    /** To be called for each request of /readyz on a node that is ready. */
    noteProbe() {
      before = last;
      last = now();
    },
    /** How long to keep serving. One probe alone is that of a script that waited for the start. */
    noticeMilliseconds(): number {
      const isWatched = now() - before < probeMemoryMilliseconds;
      return isWatched ? shutdownNoticeMilliseconds : 0;
    },
  };
}
