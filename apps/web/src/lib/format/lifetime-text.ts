/** "an hour", "15 minutes", "2 days": how long a link works. */
export function lifetimeText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes === 60) return 'an hour';
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`;

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
