/** The result of one check, as a sentence. For what is wrong it also names the remedy. */
export type Finding = { about: string; level: 'right' | 'note' | 'wrong'; sentence: string };

/** Returns a finding of a check that passed. */
export function right(about: string, sentence: string): Finding {
  return { about, level: 'right', sentence };
}

/** Returns a finding that is worth knowing, and not a mistake. */
export function note(about: string, sentence: string): Finding {
  return { about, level: 'note', sentence };
}

/** Returns a finding of a mistake in the configuration, which makes the doctor's exit code 1. */
export function wrong(about: string, sentence: string): Finding {
  return { about, level: 'wrong', sentence };
}

/** Returns an error's code or the first line of its message, cut to 120 characters. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown failure';
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return code || (cause.message.split('\n')[0] ?? '').slice(0, 120) || cause.name;
}
