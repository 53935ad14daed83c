import { formatDate } from '#lib/format/dates.ts';
import { keyTexts } from '#lib/messages/app/keys.ts';
import type { ShownKey } from './key-form.ts';

/** "Active", "Expires on 3 December 2026": the state of a key in its row. */
export function stateText({ state, expires_at }: ShownKey): string {
  const t = keyTexts();
  return state === 'valid' && expires_at !== null ? t.expiresOn(formatDate(expires_at)) : t.state[state];
}
