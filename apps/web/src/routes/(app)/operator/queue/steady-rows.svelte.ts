import type { Attachment } from 'svelte/attachments';

const ignoredMilliseconds = 300;

/**
 * Ignores clicks on a list for 300 ms after its rows have changed, so that a second click of the
 * user never reaches a row that moved under the pointer, nor a second press of Enter the row that
 * got the focus. `idsOf` returns the ids of the rows as they are shown.
 */
export function steadyRows(idsOf: () => string[]): Attachment<HTMLElement> {
  return (list) => {
    let movedAt = Number.NEGATIVE_INFINITY;
    let shown: string | null = null;
    $effect.pre(() => {
      const ids = idsOf().join(' ');
      if (shown !== null && ids !== shown) movedAt = performance.now();
      shown = ids;
    });

    function ignore(event: Event) {
      if (performance.now() - movedAt >= ignoredMilliseconds) return;
      event.preventDefault();
      event.stopPropagation();
    }

    list.addEventListener('click', ignore, { capture: true });
    return () => list.removeEventListener('click', ignore, { capture: true });
  };
}
