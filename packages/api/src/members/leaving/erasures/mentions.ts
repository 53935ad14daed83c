import { or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Whether a column contains one of the texts as whole words, in any case, also as JSON writes it. */
export function mentionsAny(column: SQLWrapper, texts: string[]): SQL {
  return or(...texts.map((text) => mentions(column, text))) ?? sql`false`;
}

/** Whether a column contains the text as whole words, in any case, also as JSON writes it. */
export function mentions(column: SQLWrapper, text: string): SQL {
  const forms = new Set([text, JSON.stringify(text).slice(1, -1), asciiJson(text)]);
  const pattern = [...forms].map((form) => form.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|');
  // mia@company.example is not anna-mia@company.example.
  const before = isAddress(text) ? '(^|[^\\w.+-])' : '(^|\\W)';
  return sql`${column} ~* ${`${before}(${pattern})(\\W|$)`}`;
}

export function isAddress(text: string): boolean {
  return text.includes('@');
}

function asciiJson(text: string): string {
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
