import type { Attachment } from 'svelte/attachments';

/**
 * Shows a search in its field without overwriting what the user types: neither before the page's
 * scripts are there nor while the answer is on its way. Another search, of a link or of the
 * browser's history, replaces what the field has. The field's `value` must not be bound or set:
 * it starts by `defaultValue`.
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
