import { formatDate } from '#lib/format/dates.ts';
import { texts } from '#lib/language/texts.ts';
import type { ShownKey } from './key-form.ts';

/** "Active", "Expires on 3 December 2026": the state of a key in its row. */
export function stateText({ state, expires_at }: ShownKey): string {
  const t = texts('key');
  return state === 'valid' && expires_at !== null ? t.expiresOn({ day: formatDate(expires_at) }) : t.state[state];
}
