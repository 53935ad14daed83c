const shortest = 8;

/**
 * A hint while the user types. It rates length and repetition only. The service decides by its own
 * rules (NFKC, code points, a list of common passwords), so the hint never says that a password is accepted.
 */
export function passwordStrength(password: string): { enough: boolean; text: string } {
  const points = [...password.normalize('NFKC')];
  if (points.length === 0) return { enough: false, text: 'At least 8 characters. A few words are easy to remember.' };
  if (points.length < shortest) return { enough: false, text: `${missing(shortest - points.length)}.` };

  const different = new Set(points).size;
  if (different < 5) return { enough: false, text: 'Weak: too few different characters.' };
  if (points.length < 12) return { enough: true, text: 'Fair. Another word would make it stronger.' };
  return points.length < 16 ? { enough: true, text: 'Good.' } : { enough: true, text: 'Strong.' };
}

function missing(count: number): string {
  return count === 1 ? '1 more character' : `${count} more characters`;
}
