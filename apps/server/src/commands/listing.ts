/** Prints rows as lines of text or as JSON. `none` is the text of an empty list. */
export function listing<Row>(rows: Row[], json: boolean, lineOf: (row: Row) => string, none: string): string {
  if (json) return JSON.stringify(rows, null, 2);
  return rows.map(lineOf).join('\n') || none;
}
