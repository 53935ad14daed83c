import { timingSafeEqual } from 'node:crypto';
import { hashToken } from './token.ts';

/** Whether two texts are equal, in a time that tells nothing about where they differ. */
export function constantTimeEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));
}
