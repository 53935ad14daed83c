/**
 * The roles of a table's elements, to spread over them: a table whose rows are blocks on a phone
 * keeps its meaning for screen readers also in browsers that take it from the style (Safari).
 */
export const tableRoles = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  columnHeader: { role: 'columnheader', scope: 'col' },
  rowHeader: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;
