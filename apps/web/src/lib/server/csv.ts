type Cell = string | number | boolean | null;

const opensFormula = /^[=+\-@\t\r]/;
/** Spreadsheets of some countries split a line at ; or |, so the text after it opens a cell there. */
const opensFormulaLater = /([;|]\s*)(?=[=+\-@＝＋－＠])/g;

/** Formats one row (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvRow(cells: Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  // Full-width forms and leading blanks count too: spreadsheets normalise them away.
  const text = String(cell);
  const opens = opensFormula.test(text.normalize('NFKC').trimStart()) || /^[\t\r\n]/.test(text);
  const safe = `${opens ? "'" : ''}${text}`.replace(opensFormulaLater, "$1'");
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Page = { rows: Cell[][]; next: string | null };

/**
 * Responds with a CSV file that is read page by page as fast as the client takes it, so that a
 * list of any length needs the memory of one page. The first page is read before the response
 * starts: an error there keeps its status.
 */
export async function csvResponse(
  filename: string,
  header: string[],
  read: (after: string | undefined) => Promise<Page>,
): Promise<Response> {
  const encoder = new TextEncoder();
  let page: Page | null = await read(undefined);
  // The byte order mark, without which spreadsheets read another encoding than UTF-8.
  let head = `\uFEFF${csvRow(header)}`;

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (page === null) return controller.close();
      controller.enqueue(encoder.encode(head + page.rows.map(csvRow).join('')));
      head = '';
      page = page.next === null ? null : await read(page.next);
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${filename}"`,
      'cache-control': 'no-store',
    },
  });
}
