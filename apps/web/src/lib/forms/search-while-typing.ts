import type { Attachment } from 'svelte/attachments';

const pauseMilliseconds = 250;

/**
 * Submits a search form a quarter of a second after the last key in a text field, and at once after a choice in a list.
 * Without a script the form's button does.
 */
export const searchWhileTyping: Attachment<HTMLFormElement> = (form) => {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function type(event: Event) {
    clearTimeout(timer);
    if (event instanceof InputEvent && event.isComposing) return;
    timer = setTimeout(() => form.requestSubmit(), pauseMilliseconds);
  }
  function choose({ target }: Event) {
    if (target instanceof HTMLSelectElement) form.requestSubmit();
  }
  function submitted() {
    clearTimeout(timer);
  }

  form.addEventListener('input', type);
  form.addEventListener('compositionend', type);
  form.addEventListener('change', choose);
  form.addEventListener('submit', submitted);
  return () => {
    clearTimeout(timer);
    form.removeEventListener('input', type);
    form.removeEventListener('compositionend', type);
    form.removeEventListener('change', choose);
    form.removeEventListener('submit', submitted);
  };
};
