export const minLength = 8;

/** The hints below a new password. The page has them as data, because the page script loads no texts. */
export interface StrengthTexts {
  empty: string;
  /** How many characters are missing, from one on. */
  missing: string[];
  repetitive: string;
  fair: string;
  good: string;
  strong: string;
}

/**
 * The hint below a new password while the user types. It rates length and repetition only. The service decides by
 * its own rules (NFKC, code points, a list of common passwords), so the hint never says that a password is accepted.
 */
export function passwordStrength(password: string, t: StrengthTexts): { enough: boolean; text: string } {
  const points = [...password.normalize('NFKC')];
  if (points.length === 0) return { enough: false, text: t.empty };
  if (points.length < minLength) return { enough: false, text: t.missing[minLength - points.length - 1] ?? '' };

  const different = new Set(points).size;
  if (different < 5) return { enough: false, text: t.repetitive };
  if (points.length < 12) return { enough: true, text: t.fair };
  return points.length < 16 ? { enough: true, text: t.good } : { enough: true, text: t.strong };
}
