/** What a look at one thing found, in a sentence; of what is wrong also what to do about it. */
export type Finding = { about: string; verdict: 'right' | 'note' | 'wrong'; says: string };

export function right(about: string, says: string): Finding {
  return { about, verdict: 'right', says };
}

/** Neither right nor wrong, but worth knowing. */
export function note(about: string, says: string): Finding {
  return { about, verdict: 'note', says };
}

export function wrong(about: string, says: string): Finding {
  return { about, verdict: 'wrong', says };
}

/** A failure's own words, without what may be long or secret. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown failure';
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return code || (cause.message.split('\n')[0] ?? '').slice(0, 120) || cause.name;
}
