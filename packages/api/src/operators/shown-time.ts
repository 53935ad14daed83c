import { z } from 'zod';

/**
 * When the decision or suspension was made that the operator's page showed. An action on it compares the time, so that a
 * later one of another operator stays.
 */
export const shownTime = z.iso
  .datetime({ error: 'This page is out of date. Load it again.' })
  .transform((time) => new Date(time));
