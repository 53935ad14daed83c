import type { Attachment } from 'svelte/attachments';

/**
 * Shows the page's search in its field without overwriting what the user types, neither before the
 * page's scripts have loaded nor while the search is pending. Another search, from a link or from the
 * browser's history, replaces the text of the field. The field must not bind or set `value`: its first
 * text is `defaultValue`.
 */
export function keepTyping(search: () => string): Attachment<HTMLInputElement> {
  return (field) => {
    let known = field.defaultValue;

    function submit() {
      known = field.value.trim();
    }

    $effect(() => {
      if (search() === known) return;
      known = search();
      field.value = known;
    });
    field.form?.addEventListener('submit', submit);
    return () => field.form?.removeEventListener('submit', submit);
  };
}
