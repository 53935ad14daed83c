import { expect, test } from 'vitest';
import { csvResponse, csvRow } from './csv.ts';

test.each([
  ['=1+1', `"'=1+1"`],
  ['+44', `"'+44"`],
  ['-2', `"'-2"`],
  ['@sum', `"'@sum"`],
  ['\t=1', `"'\t=1"`],
  ['  =1', `"'  =1"`],
  ['＝1', `"'＝1"`],
  ['a;=1+1;b', `"a;'=1+1;b"`],
  ['=A "quoted" name, with a comma', `"'=A ""quoted"" name, with a comma"`],
])('the text %j cannot run as a formula', (text, cell) => {
  expect(csvRow([text])).toBe(`${cell}\r\n`);
});

test('cells hold commas, quotes and line breaks, and null is empty', () => {
  expect(csvRow(['a,b', 'say "hi"', 'two\nlines', null, true, 7])).toBe('"a,b","say ""hi""","two\nlines",,true,7\r\n');
});

test('a page is read only after the client has read the one before', async () => {
  const reads: (string | undefined)[] = [];
  const response = await csvResponse('all.csv', ['id'], async (after) => {
    reads.push(after);
    return { rows: [[after ?? 'first']], next: reads.length < 50 ? String(reads.length) : null };
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(reads.length).toBeLessThanOrEqual(2);

  const text = await response.text();
  expect(reads).toHaveLength(50);
  expect(text.split('\r\n')).toHaveLength(52);
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="all.csv"');
});
