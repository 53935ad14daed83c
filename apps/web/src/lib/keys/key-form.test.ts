import { expect, test } from 'vitest';
import { keyIn } from './key-form.ts';

function daysIn(days: string): number | undefined {
  const form = new FormData();
  form.set('name', 'Worker');
  form.set('days', days);
  return keyIn(form).expires_in_days;
}

test('days are written in digits alone', () => {
  expect([daysIn('30'), daysIn(' 30 ')]).toEqual([30, 30]);
  for (const days of ['1e3', '0x10', '3.0', '-3', 'soon']) expect(daysIn(days), days).toBeNaN();
});

test('empty days are left out', () => {
  expect(daysIn('')).toBeUndefined();
});
