/** Shows a notice about a form that got no answer, in the page's live region. The focus stays. */
export function showNotice(text: string): void {
  const template = document.querySelector<HTMLTemplateElement>('#notice-template');
  const box = template?.content.cloneNode(true) as DocumentFragment | undefined;
  const sentence = box?.querySelector('p');
  if (!box || !sentence) return;
  sentence.textContent = text;
  document.querySelector('[role="status"]')?.replaceChildren(box);
}

export function hideNotice(): void {
  document.getElementById('notice')?.remove();
}

export function closeNotice(event: Event): void {
  event.preventDefault();
  hideNotice();
  document.getElementById('content')?.focus();
}

/** Keeps the page where a link would lead to the browser's own error. */
export function showOffline(event: Event): void {
  event.preventDefault();
  showNotice(document.getElementById('notice-template')?.dataset.offline ?? '');
}
