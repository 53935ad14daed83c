import { passwordTexts } from '#lib/messages/shared/passwords.ts';

const minLength = 8;

/**
 * The hint below a new password while the user types. It rates length and repetition only. The service decides by
 * its own rules (NFKC, code points, a list of common passwords), so the hint never says that a password is accepted.
 */
export function passwordStrength(password: string): { enough: boolean; text: string } {
  const t = passwordTexts();
  const points = [...password.normalize('NFKC')];
  if (points.length === 0) return { enough: false, text: t.empty };
  if (points.length < minLength) return { enough: false, text: t.more(minLength - points.length) };

  const different = new Set(points).size;
  if (different < 5) return { enough: false, text: t.repetitive };
  if (points.length < 12) return { enough: true, text: t.fair };
  return points.length < 16 ? { enough: true, text: t.good } : { enough: true, text: t.strong };
}
