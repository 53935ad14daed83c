import type { Taking, Throttle } from './throttle.ts';

/**
 * Judges an attempt that counts only where it fails. The points are taken before, so that
 * parallel guesses count, and given back where it was right, and where it could not be
 * judged: a service that is busy is nobody's mistake.
 *
 * @throws AppError TOO_MANY, and whatever `judge` throws.
 */
export async function countFailures<Answer extends { right: boolean }>(
  throttle: Throttle,
  taking: Taking,
  judge: () => Promise<Answer>,
): Promise<Answer> {
  await throttle.take(taking);
  let counts = false;
  try {
    const answer = await judge();
    counts = !answer.right;
    return answer;
  } finally {
    if (!counts) await throttle.giveBack(taking);
  }
}
