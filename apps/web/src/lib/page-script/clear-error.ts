/**
 * Removes the error of a field that the user changes. A field that is marked without a sentence of its own
 * shares its error with the other fields of the form, which lose their marks with it.
 */
export function clearErrorOf(field: HTMLInputElement): void {
  if (field.ariaInvalid !== 'true') return;

  const sentence = document.getElementById(`${field.id}-error`);
  const fields = sentence ? [field] : [...(field.form?.querySelectorAll('input') ?? [])].filter(isMarkedAlone);
  for (const each of fields) {
    each.removeAttribute('aria-invalid');
    const hint = document.getElementById(`${each.id}-hint`);
    if (hint) hint.hidden = false;
    if (hint) each.setAttribute('aria-describedby', hint.id);
    else each.removeAttribute('aria-describedby');
  }
  sentence?.remove();
}

function isMarkedAlone({ ariaInvalid, id }: HTMLInputElement): boolean {
  return ariaInvalid === 'true' && document.getElementById(`${id}-error`) === null;
}
