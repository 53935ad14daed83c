/** More than any body has that the service reads, and far below the depth at which a recursive function fails. */
const mostLevels = 16;

/** Whether objects and lists are nested more than 16 levels deep. Looks no deeper than that. */
export function isNestedTooDeeply(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedTooDeeply(inner, levels - 1));
}
