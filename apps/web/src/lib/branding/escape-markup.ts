const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes text for use between the tags of HTML or SVG; not for attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}
