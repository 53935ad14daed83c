/** Changes the theme of the page at once when a button of the form is pressed; the request only stores the choice. */
export function changeThemeInPlace(form: HTMLFormElement): void {
  const root = document.documentElement;
  const buttons = form.querySelectorAll('button');
  function show() {
    const current = root.dataset.theme ?? 'system';
    for (const button of buttons) button.ariaPressed = String(button.value === current);
  }

  show();
  form.addEventListener('submit', (event) => {
    const { submitter } = event;
    if (!(submitter instanceof HTMLButtonElement)) return;

    event.preventDefault();
    if (submitter.value === 'system') delete root.dataset.theme;
    else root.dataset.theme = submitter.value;
    show();
    const body = new URLSearchParams({ theme: submitter.value, stay: 'yes' });
    void fetch(form.action, { method: 'POST', body }).catch(() => null);
  });
}
