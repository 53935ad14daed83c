/** Deeper than any body that the service reads, and far below where recursion over one would fail. */
const mostLevels = 16;

/** Whether objects and lists stand within each other more than 16 levels deep. Looks no deeper than that. */
export function isNestedTooDeeply(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedTooDeeply(inner, levels - 1));
}
