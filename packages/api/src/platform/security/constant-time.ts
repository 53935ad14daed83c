import { timingSafeEqual } from 'node:crypto';
import { hashToken } from './token.ts';

/** Whether two strings are equal, in a time that does not depend on where they differ. */
export function constantTimeEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}
