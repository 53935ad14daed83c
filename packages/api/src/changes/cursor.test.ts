import { expect, it } from 'vitest';
import { type ChangeReader, cursorAt, positionOf } from './cursor.ts';

const feed = { deployment: '6b1d3c02-6d1f-4f0e-9a55-0d1c6d7b9a11', last: 70_000, deletedTo: 10 };
const whole: ChangeReader = { reads: 'deployment' };
const one: ChangeReader = { reads: 'organisation', organisationId: 'one' };
const other: ChangeReader = { reads: 'organisation', organisationId: 'other' };
const wrong = expect.objectContaining({ code: 'VALIDATION' });

it('names a position for its reader, the same each time', () => {
  for (const reader of [whole, one, other]) {
    const cursor = cursorAt(feed, reader, 12_345);
    expect(cursorAt({ ...feed, last: 80_000 }, reader, 12_345)).toBe(cursor);
    expect(positionOf(feed, reader, cursor)).toBe(12_345);
  }
});

it('is another reader’s, another deployment’s and a changed one’s for nobody', () => {
  const cursor = cursorAt(feed, one, 12_345);
  const refused = (read: () => unknown) => expect(read).toThrow(wrong);
  refused(() => positionOf(feed, other, cursor));
  refused(() => positionOf(feed, whole, cursor));
  refused(() => positionOf({ ...feed, deployment: '9b1d3c02-6d1f-4f0e-9a55-0d1c6d7b9a11' }, one, cursor));
  refused(() => positionOf(feed, one, cursorAt(feed, one, 70_001)));
  for (const text of [
    '',
    'x',
    `${cursor}A`,
    cursor.slice(1),
    `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`,
  ]) {
    refused(() => positionOf(feed, one, text));
  }
});

it('shows neither the position nor how far two positions are apart', () => {
  const cursors = [1000, 1001, 60_000].map((position) => cursorAt(feed, one, position));
  for (const cursor of cursors)
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/1000|1001|60000/);
  expect(new Set(cursors.map((cursor) => cursor.slice(0, 8))).size).toBe(3);
  expect(() => positionOf(feed, one, cursorAt(feed, one, 9))).toThrow(expect.objectContaining({ code: 'GONE' }));
});
