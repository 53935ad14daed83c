// The explicit roles of a table that a phone shows as cards: browsers may take the roles away
// with the display of a table. To be spread, because each is the role that the element has anyway.
export const asTable = { role: 'table' } as const;
export const asRowGroup = { role: 'rowgroup' } as const;
export const asRow = { role: 'row' } as const;
export const asCell = { role: 'cell' } as const;
export const asColumnHeader = { role: 'columnheader', scope: 'col' } as const;
