import type { ShownKey } from './key-form.ts';

/** "Active", "Expires on 3 December 2026": what a row says of a key's life. */
export function stateText({ state, expires_at }: ShownKey, formatDate: (iso: string) => string): string {
  if (state === 'revoked') return 'Revoked';
  if (state === 'expired') return 'Expired';
  return expires_at === null ? 'Active' : `Expires on ${formatDate(expires_at)}`;
}
