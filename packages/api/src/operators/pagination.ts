import { z } from 'zod';
import { zodMessage } from '../platform/messages.ts';
import { freeLine } from '../platform/security/text.ts';

/** The `next` of the previous page. */
export const cursorInput = z.string(zodMessage('not_text')).optional();

const maxRows = 1000;

/** The input for a page of a list that is ordered by id, or of the rows that a search finds in it. */
export const listInput = z.object({
  search: freeLine(100).optional(),
  /** The `next` of the previous page. */
  after: z.uuid('This must be an id.').optional(),
  /** The number of rows. Exports read larger pages than users do. */
  rows: z.number('This must be a number.').int().min(1).max(maxRows).default(50),
});
