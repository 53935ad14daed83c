const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML content and for attributes in quotes of either kind. */
export function escapeHtml(unescaped: string): string {
  return unescaped.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
