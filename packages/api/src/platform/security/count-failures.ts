import type { Points, Throttle } from './throttle.ts';

/**
 * Checks an attempt that uses up points only if it fails. The points are taken before the
 * check, so that parallel guesses count, and given back if the attempt was right or the check
 * threw: a busy service must not count against the client.
 *
 * @throws AppError TOO_MANY if no points are left; what `check` throws.
 */
export async function countFailures<Answer extends { right: boolean }>(
  throttle: Throttle,
  points: Points,
  check: () => Promise<Answer>,
): Promise<Answer> {
  await throttle.take(points);
  let isFailure = false;
  try {
    const answer = await check();
    isFailure = !answer.right;
    return answer;
  } finally {
    if (!isFailure) await throttle.giveBack(points);
  }
}
