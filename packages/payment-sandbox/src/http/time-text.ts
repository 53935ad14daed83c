/** Formats a Unix time as a date: "3 December 2026". */
export function dateText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}

/** Formats a Unix time: "3 December 2026 at 14:05:09 UTC". */
export function momentText(seconds: number): string {
  const time = new Date(seconds * 1000).toISOString().slice(11, 19);
  return `${dateText(seconds)} at ${time} UTC`;
}
