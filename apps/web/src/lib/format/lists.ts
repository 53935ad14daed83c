const both = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** "Silver, Gold and Platinum". */
export function formatList(names: string[]): string {
  return both.format(names);
}
